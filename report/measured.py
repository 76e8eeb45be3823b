"""What a report asks of a composition, each figure in its share of the time."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..exact import Enclosure, OutOfTimeError, spend, time_limit

NARROW = Fraction(1, 10**4)  # relative width where many figures stand side by side
NOT_COMPUTED = "not found in the time allowed"


def measured(
    compute: Callable[[], Enclosure], seconds: float, otherwise: Enclosure | None = None
) -> Enclosure:
    """The figure; nothing but that it is not negative where it cannot be found in time."""
    unknown = Enclosure.unknown() if otherwise is None else otherwise
    try:
        with time_limit(seconds):
            found = compute()
            if found in (Enclosure.unknown(), Enclosure.probability()):
                spend()
            return found
    except OutOfTimeError:
        return unknown.because(NOT_COMPUTED)
    except (ArithmeticError, NotImplementedError) as error:
        return unknown.because(str(error))
