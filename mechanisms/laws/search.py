"""Whole numbers that are certain: the least at which a falling probability has come down to a
level, and ceilings and floors of irrational numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import arb

from ...exact.enclosure import Enclosure, UndecidedError
from ...exact.precision import CAP, refine
from ...exact.roots import first_met_near


def first_within(
    tail: Callable[[int], arb],
    level: Fraction,
    what: str,
    guess: int = 0,
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

    return first_met_near(meets, guess if end is None else min(guess, end), -1)


def certain_ceiling(compute: Callable[[], arb], name: str) -> int:
    """The ceiling of an irrational number. Raises UndecidedError where it stays open."""
    return _certain(compute, math.ceil, name)


def certain_floor(compute: Callable[[], arb], name: str) -> int:
    """The floor of an irrational number. Raises UndecidedError where it stays open."""
    return _certain(compute, math.floor, name)


def _certain(compute: Callable[[], arb], rounded: Callable[[Any], int], name: str) -> int:
    def settled(found: Enclosure) -> bool:
        return found.is_finite() and rounded(found.lower) == rounded(found.upper)

    found = refine(compute, width=Fraction(0), enough=settled)
    if not settled(found):
        raise UndecidedError(
            f"{name} = {rounded.__name__}({found}) is not certain at the precision allowed"
        )
    return rounded(found.upper)
