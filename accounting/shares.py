"""How a total delta is shared out, for theorems that see each use's (epsilon_i, delta_i) only.

The split is part of what such a theorem reports. As in Appendix I of the distributed-bandits paper,
half of delta goes to the K uses in equal shares, delta_i = delta/(2K), and half to the theorem,
delta' = delta/2. Where all pure epsilons are finite, delta_i = 0 and delta' = delta is tried too,
and the smaller result counts. Basic composition needs no delta': each use gets delta/K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from ..exact.enclosure import Enclosure
from ..exact.precision import WIDTH
from . import classical, divergence
from .budget import Budget
from .classical import DoesNotApplyError, Each

__all__ = [
    "advanced",
    "advanced_delta",
    "basic",
    "basic_delta",
    "optimal",
    "optimal_delta",
    "theorem7",
    "theorem7_delta",
]

_ROUGHLY = Fraction(1, 10**6)
_NARROWER = Fraction(1, 1000)  # epsilon(delta) is known so much better than delta is to be
_FARTHEST = 64.0  # delta is sought down to 10^-(64^2)
_NEAR = 1e-3
_MOST_STEPS = 60

# slack delta' and uses to a bound, given the width
Theorem: TypeAlias = Callable[[list[Each], Fraction, Fraction], Enclosure]
Report: TypeAlias = Callable[[Fraction, Fraction], Enclosure]  # (delta, width) to epsilon


def each_at(budget: Budget, delta: Fraction, width: Fraction = WIDTH) -> list[Each]:
    """What every use is at this delta_i: its exact epsilon_i."""
    return [
        Each(divergence.epsilon(use.mechanism, delta, width), delta, use.times)
        for use in budget.uses
    ]


def basic(budget: Budget, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """`classical.basic`, each use at delta/K."""
    return classical.basic(each_at(budget, delta / budget.times, width))


def basic_delta(budget: Budget, epsilon: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The least delta at which `basic` reports at most this epsilon."""
    if basic(budget, Fraction(0)).at_most(epsilon):
        return Enclosure.exactly(0)
    if len(budget.uses) > 1:
        return _least_delta(lambda delta, width: basic(budget, delta, width), epsilon, width)
    ((mechanism, times),) = budget.uses
    share = divergence.delta(mechanism, epsilon / times, width)
    return Enclosure(
        *(min(times * Fraction(end), Fraction(1)) for end in (share.lower, share.upper))
    )


def advanced(budget: Budget, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """`classical.advanced`. Raises DoesNotApplyError at delta = 0."""
    return _reported(budget, delta, width, classical.advanced)


def advanced_delta(budget: Budget, epsilon: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The least delta at which `advanced` reports at most this epsilon; 1 if there is none."""
    return _least_delta(lambda delta, width: advanced(budget, delta, width), epsilon, width)


def theorem7(budget: Budget, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """`classical.theorem7`. Raises DoesNotApplyError also at delta = 0."""
    return _reported(budget, delta, width, classical.theorem7)


def theorem7_delta(budget: Budget, epsilon: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The least delta at which `theorem7` reports at most this epsilon.

    Raises DoesNotApplyError where it does not apply there.
    """

    def number(delta: Fraction, width: Fraction) -> Enclosure:
        return _reported(budget, delta, width, classical.theorem7_number)

    if epsilon >= 1:
        raise DoesNotApplyError("stated for results below 1")
    found = _least_delta(number, epsilon, width)
    if theorem7(budget, Fraction(found.upper), width * _NARROWER).at_most(epsilon) is not True:
        raise DoesNotApplyError("false in general for so large a delta'")
    return found


def optimal(budget: Budget, delta: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """`classical.optimal`: no theorem can make more of the (epsilon_i, delta_i) of either split."""
    if delta == 0:
        return budget.pure(width)
    return _reported(
        budget, delta, width, lambda uses, _, width: classical.optimal(uses, delta, width)
    )


def optimal_delta(budget: Budget, epsilon: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The least delta at which `optimal` reports at most this epsilon."""
    if budget.pure(width).at_most(epsilon):
        return Enclosure.exactly(0)

    def split(delta: Fraction, width: Fraction) -> Enclosure:
        return classical.optimal(each_at(budget, delta / (2 * budget.times), width), delta, width)

    found = _least_delta(split, epsilon, width)
    pure = each_at(budget, Fraction(0), width)
    if all(each.epsilon.at_most(classical.LARGEST_EPSILON) for each in pure):
        found = _smaller(found, classical.optimal_delta(pure, epsilon, width))
    return found


def _reported(budget: Budget, delta: Fraction, width: Fraction, theorem: Theorem) -> Enclosure:
    """The smaller result of both splits."""
    if delta == 0:
        raise DoesNotApplyError("needs delta above 0")
    found: Enclosure | None = None
    reason = ""
    for share, slack in ((delta / (2 * budget.times), delta / 2), (Fraction(0), delta)):
        uses = each_at(budget, share, width)
        try:
            if not all(each.epsilon.is_finite() for each in uses):
                raise DoesNotApplyError(f"some use has no finite epsilon at {float(share):.3g}")
            value = theorem(uses, slack, width)
        except DoesNotApplyError as error:
            reason = reason or str(error)
            continue
        found = value if found is None else _smaller(found, value)
    if found is None:
        raise DoesNotApplyError(reason)
    return found


def _smaller(one: Enclosure, other: Enclosure) -> Enclosure:
    """The smaller of two finite numbers."""
    return Enclosure(
        min(Fraction(one.lower), Fraction(other.lower)),
        min(Fraction(one.upper), Fraction(other.upper)),
    )


def _least_delta(report: Report, epsilon: Fraction, width: Fraction) -> Enclosure:
    """Enclose the least delta with report(delta) <= epsilon, for a report that never grows.

    1 where no smaller delta will do. Located in floats; each end is then proved by a report.
    """
    narrow = width * _NARROWER

    def enough(delta: Fraction) -> bool | None:
        try:
            return report(delta, narrow).at_most(epsilon)
        except DoesNotApplyError:
            return None

    delta = _located(report, epsilon, narrow)
    lower, upper = Fraction(0), Fraction(1)
    step = width / 4
    while step < 1 and (lower == 0 or upper == 1):
        if lower == 0 and enough(delta * (1 - step)) is False:
            lower = delta * (1 - step)
        if upper == 1 and delta * (1 + step) < 1 and enough(delta * (1 + step)) is True:
            upper = delta * (1 + step)
        step *= 8
    if upper == 1 and enough(Fraction(1)) is False:
        lower = Fraction(1)
    return Enclosure(lower, upper)


def _located(report: Report, epsilon: Fraction, narrow: Fraction) -> Fraction:
    """About the least delta, 10^-(y^2): for most reports epsilon is nearly linear in y."""

    def excess(y: float, width: Fraction) -> float:
        try:
            value = report(_power_of_ten(-y * y), width)
        except DoesNotApplyError:
            return math.inf  # too small a delta
        return float((Fraction(value.lower) + Fraction(value.upper)) / 2 - epsilon)

    low, high, at_high = 0.0, 1.0, excess(1.0, _ROUGHLY)
    before, at_before = 0.0, -float(epsilon)
    while at_high <= 0 and high < _FARTHEST:
        low, before, at_before, high = high, high, at_high, 2 * high
        at_high = excess(high, _ROUGHLY)
    y, at_y, near = high, at_high, False
    for _ in range(_MOST_STEPS):
        there = _secant(before, at_before, y, at_y)
        if not near and not low < there < high:
            there = (low + high) / 2
        if near and not abs(there - y) <= 10 * _NEAR * y:
            break
        near = near or abs(there - y) <= _NEAR * y  # from here on narrow, and free of the bracket
        before, at_before = y, at_y
        y, at_y = there, excess(there, narrow if near else _ROUGHLY)
        low, high = (low, y) if at_y > 0 else (y, high)
        if at_y == 0 or abs(y - before) <= 1e-15 * y:
            break
    return _power_of_ten(-y * y)


def _secant(a: float, at_a: float, b: float, at_b: float) -> float:
    slope = (at_b - at_a) / (b - a) if b != a else math.nan
    return max(b - at_b / slope, 0.0) if slope and math.isfinite(slope) else math.nan


def _power_of_ten(exponent: float) -> Fraction:
    """10^exponent, nearly; also where that is too small for a float."""
    whole = math.floor(exponent)
    return Fraction(10.0 ** (exponent - whole)) * Fraction(10) ** whole
