"""What a report asks of a composition, each figure in its share of the work."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..exact import Enclosure, OutOfTimeError, spend
from ..exact.budget import share

NARROW = Fraction(1, 10**4)  # relative width where many figures stand side by side
_SHARE = 0.9  # of what is left
NOT_COMPUTED = "not found in the time allowed"


def part_of(waiting: int) -> float:
    """The share of the first of so many that wait; a little is left for what comes after them."""
    return _SHARE / waiting


def measured(
    compute: Callable[[], Enclosure], part: float, otherwise: Enclosure | None = None
) -> Enclosure:
    """The figure, by this part of the work that is left; where that is too little, nothing but that
    it is not negative.
    """
    unknown = Enclosure.unknown() if otherwise is None else otherwise
    try:
        with share(part):
            found = compute()
            if found in (Enclosure.unknown(), Enclosure.probability()):
                spend()
            return found
    except OutOfTimeError:
        return unknown.because(NOT_COMPUTED)
    except (ArithmeticError, NotImplementedError) as error:
        return unknown.because(str(error))
