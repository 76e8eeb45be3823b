"""The least whole number at which a falling probability has come down to a level, certified."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.precision import refine
from ..laws.law import UndecidedError

__all__ = ["compared", "first"]

_FAR = 10**24  # nothing is sought beyond this


def first(meets: Callable[[int], bool], guess: int = 1) -> int:
    """The least t >= 0 with meets(t), which is false up to some t and true from there on.

    guess: about where. Raises UndecidedError where none is found.
    """
    if meets(0):
        return 0
    low, step = 0, 1
    high = max(guess, 1)
    while not meets(high):
        low, high = high, high + step
        step *= 4
        if high > _FAR:
            raise UndecidedError(f"no whole number up to {_FAR} meets what is asked")
    step = 1
    while high - step > low and meets(high - step):  # the guess may be far too large
        high, step = high - step, 4 * step
    low = max(low, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def compared(compute: Callable[[], arb], level: Fraction, what: str) -> tuple[bool, Enclosure]:
    """Is the number at most the level? With the enclosure that decided it.

    compute: evaluated inside `working_precision`. Raises UndecidedError, naming `what`, where it
    cannot be told.
    """
    found = refine(
        compute,
        width=Fraction(0),
        enough=lambda value: value.at_most(level) is not None,
    )
    answer = found.at_most(level)
    if answer is None:
        raise UndecidedError(f"{what} = {found} cannot be told from {level}")
    return answer, found
