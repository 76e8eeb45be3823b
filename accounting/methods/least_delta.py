"""The least delta at which a condition holds, for conditions that hold from some delta on.

Located in floats, each end then proved by the condition itself just above and just below. With
delta = 10^-(y^2), what methods report is nearly linear in y.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from ...exact import Enclosure, UndecidedError
from ...exact.number import log_about
from ...exact.roots import float_root
from ...exact.search import Grid, Search
from .classical import DoesNotApplyError

# (delta, width) to a number of that relative width, and the bound that it must not exceed
Condition: TypeAlias = Callable[[Fraction, Fraction], tuple[Enclosure, Fraction]]

_NARROWER = Fraction(1, 1000)  # the numbers are known so much better than delta is to be
_FARTHEST = 64.0  # delta is sought down to 10^-(64^2)
_NEAREST = 1e-15


def least_delta(condition: Condition, width: Fraction) -> Enclosure:
    """Enclose the least delta in (0, 1] at which the condition holds; 1 if there is none."""
    narrow = width * _NARROWER

    def holds(delta: Fraction) -> bool | None:
        try:
            value, bound = condition(delta, narrow)
        except DoesNotApplyError:
            return None
        return value.at_most(bound)

    delta = _located(condition, narrow)
    search = Search(holds, Grid(Fraction(0), Fraction(1), 40), lambda *_: None, "delta")
    lower, upper = Fraction(0), Fraction(1)
    with suppress(UndecidedError):
        lower = search.first(delta, -1, width / 4, False)
    with suppress(UndecidedError):
        upper = search.first(delta, 1, width / 4, True)
    return Enclosure(upper if upper == 1 and holds(upper) is False else lower, upper)


def _located(condition: Condition, narrow: Fraction) -> Fraction:
    """About the least delta."""

    def excess(y: float) -> float:
        try:
            value, bound = condition(_power_of_ten(-y * y), narrow)
        except DoesNotApplyError:
            return math.inf  # too small a delta
        return _log_ratio(value, bound)

    low, high = 0.0, 1.0
    while excess(high) <= 0:
        low, high = high, 2 * high
        if high > _FARTHEST:
            return _power_of_ten(-low * low)
    y = float_root(excess, low, high, _NEAREST)
    return _power_of_ten(-y * y)


def _log_ratio(value: Enclosure, bound: Fraction) -> float:
    """log(value/bound), exact to the last digits near 0; infinite for a bound of 0."""
    if value.lower == Decimal("Infinity") or not bound:
        return -math.inf if value.at_most(bound) else math.inf
    lower = Fraction(value.lower)
    ratio = (lower + Fraction(value.upper)) / (2 * bound) if value.is_finite() else lower / bound
    if ratio <= 0:
        return -math.inf
    if abs(ratio - 1) < Fraction(1, 2):
        return math.log1p(float(ratio - 1))
    return log_about(ratio)


def _power_of_ten(exponent: float) -> Fraction:
    """10^exponent, nearly; also where that is too small for a float."""
    whole = math.floor(exponent)
    return Fraction(10.0 ** (exponent - whole)) * Fraction(10) ** whole
