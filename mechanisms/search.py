"""The least whole number at which a falling probability has come down to a level, certified."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from ..exact.enclosure import UndecidedError
from ..exact.precision import CAP, refine

__all__ = ["first", "first_within"]

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


def first_within(
    tail: Callable[[int], arb],
    level: Fraction,
    what: str,
    guess: int = 1,
    end: int | None = None,
    cap: int = CAP,
) -> int:
    """The least t >= 0 at which a falling tail has come down to the level.

    tail: evaluated inside `working_precision`. end: from there on it is 0. Raises UndecidedError,
    naming `what` ("P(|X| > {})"), where tail(t) cannot be told from the level with `cap` bits.
    """

    def meets(t: int) -> bool:
        if end is not None and t >= end:
            return True
        found = refine(
            lambda: tail(t),
            width=Fraction(0),
            enough=lambda value: value.at_most(level) is not None,
            cap=cap,
        )
        answer = found.at_most(level)
        if answer is None:
            raise UndecidedError(f"{what.format(t)} = {found} cannot be told from {level}")
        return answer

    return first(meets, guess if end is None else min(guess, end))
