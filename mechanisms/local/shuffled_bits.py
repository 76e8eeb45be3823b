"""Shuffled bits of two values: what is seen is the number of ones, and others hold 0 or 1.

Of the others `zeros` hold 0, `ones` hold 1, and `fair` report what does not depend on their value:
their number W of ones is a sum of independent bits. With g = e^epsilon, r the rates of reporting 1,
mu = r_1 - g r_0 and nu = g (1 - r_0) - (1 - r_1), the two datasets differ by

    D(w) = mu P(W = w - 1) - nu P(W = w).

If mu <= 0, no D is above 0. Else R(w) = D(w)/P(W = w) rises in w, since W is log-concave, and with
any t where R(t - 1) <= 0, delta is at most the sum of D from t on, and R(t)^- P(W >= t).

*Intervals of zeros.* Between `low` and `high` of the others hold 0. Those of whom it is not known
report, each with probability v = v_0 + v_1, v_y the least probability of y, what does not depend on
their value, and the rest is told. More of them hide more: so many as are missed with probability
`rare` at most (of independent bits of mean m at most m - d are 1 with probability at most
e^(-d^2/2m)), added. delta is the largest over all numbers of zeros.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from flint import acb, arb

from ...exact.budget import spend
from ...exact.precision import upper_float
from .shuffled_crowd import Measured, largest

_NATS = 60.0  # that count for nothing
_AROUND = 3  # places on either side of where D changes its sign, about
MOST_TURNS = 600
_TRIED = 8  # one number of zeros more is tried first


class Rates(NamedTuple):
    """The probabilities of a report of those who hold x', and, not below, of those who hold x."""

    zero: arb
    one: arb


class Group(NamedTuple):
    """So many bits of one rate."""

    bits: int
    rate: arb


def measured(rates: Rates, groups: Sequence[Group], odds: arb) -> Measured:
    """The best test at e^epsilon = odds >= 1 beside these bits: from a number of ones on."""
    spend()
    low, high = rates
    mu, nu = high - odds * low, odds * (1 - low) - (1 - high)
    if not (mu > 0 and nu > 0):
        return Measured(arb(0), arb(0), (mu.max(arb(0)) + (-nu).max(arb(0))).upper())
    crossing = float((nu / mu).log().mid())  # of a tilt that has P(W = w - 1)/P(W = w) = nu/mu
    mean, deviation = _tilted(groups, crossing)
    first = round(mean + 0.5) - _AROUND
    masses, tails = _sums(groups, max(crossing, 5 / deviation), first, deviation)
    for at in range(2, 2 * _AROUND):
        falls = [mu * masses[w - 1] <= nu * masses[w] for w in (at - 1, at)]
        if falls == [True, False]:
            power, level = (rate * masses[at - 1] + tails[at] for rate in (high, low))
            ratio = mu * masses[at - 1] / masses[at] if tails[at] != 0 else arb(0)
            less = (nu - ratio).max(arb(0)) * tails[at]
            return Measured(power, level, less.upper())
    return Measured(arb(0), arb(0), mu.upper())


def _tilted(groups: Sequence[Group], c: float) -> tuple[float, float]:
    """The mean and the deviation of W, tilted by e^(c W); the latter from 1 on."""
    mean, variance = 0.0, 0.0
    for bits, rate in groups:
        against = (1 / rate - 1).mid()  # 0 or less where the rate is 1 within its ball
        share = 1 / (1 + math.exp(min(float(against.log()) - c, 700))) if against > 0 else 1.0
        mean, variance = mean + bits * share, variance + bits * share * (1 - share)
    return mean, math.sqrt(max(variance, 1.0))


def _transform(groups: Sequence[Group], s: acb) -> acb:
    found, grown = acb(1), s.exp()
    for bits, rate in groups:
        found *= (1 - rate + rate * grown) ** bits
    return found


def _sums(
    groups: Sequence[Group], tilt: float, first: int, deviation: float
) -> tuple[list[arb], list[arb]]:
    """P(W = w) and P(W >= w), w from `first` on, by the trapezoidal rule as in `laws.contour`."""
    window, nats = range(first, first + 2 * _AROUND), _NATS + _AROUND * tilt
    c, u = arb(tilt), arb(min(tilt, 9 / deviation))
    top, left = _transform(groups, acb(c)).real, arb(0)
    ends = [(_transform(groups, acb(s)).real / top, s) for s in (c + u, c - u)]
    around = sum((end * ((c - s) * window[_AROUND]).exp() for end, s in ends), arb(0))
    length = math.ceil((nats + float(around.log().mid())) / float(u)) + 2 * _AROUND
    masses, tails = [arb(0)] * len(window), [arb(0)] * len(window)
    for j in range(length // 2 + 1):
        s = acb(c, 2 * arb.pi() * j / length)
        value, turn = _transform(groups, s) / top, (-s).exp()
        if abs(value) < (-arb(nats)).exp():
            left = abs(value).upper()  # not below any from here on
            break
        term = value * turn**first * (1 if j == 0 or 2 * j == length else 2) / length
        for at in range(len(window)):
            masses[at] += term.real
            tails[at] += (term / (1 - turn)).real
            term *= turn
    beyond = (-u * length).exp() / (1 - (-u * length).exp())
    for at, w in enumerate(window):
        if not 0 <= w <= sum(group.bits for group in groups):
            masses[at], tails[at] = arb(0), arb(w < 0)
            continue
        lost = arb(0, (left * (-c * w).exp()).upper())
        around = arb(0).union(sum((end * (-s * w).exp() for end, s in ends), arb(0)) * beyond)
        masses[at] = (masses[at] + lost - around) * top
        tails[at] = (tails[at] + lost / (1 - (-c).exp()) - around) * top
    return masses, tails


def attained(ways: Sequence[Rates], others: int, odds: arb) -> arb:
    """What some numbers of zeros attain at e^epsilon = odds."""
    most = arb(0)
    for way in ways:

        @cache
        def cost(zeros: int, way: Rates = way) -> arb:
            groups = [Group(zeros, way.zero), Group(others - zeros, way.one)]
            return measured(way, groups, odds).attained(odds)

        best, step = max((others * k // _TRIED for k in range(_TRIED + 1)), key=cost), others
        while (step := step // 2) > others // 1000:
            near = (best - step, best, best + step)
            best = max((zeros for zeros in near if 0 <= zeros <= others), key=cost)
        most = most.max(cost(best))
    return most


def bound(ways: Sequence[Rates], others: int, odds: arb, goal: arb, turns: int) -> arb:
    """What no number of zeros exceeds; as near to the goal as so many intervals tell."""
    log_goal = float(goal.log().mid()) if goal > 0 else -1000.0

    def cost(interval: _Interval, known: float) -> float:
        way, low, high = interval
        v_1, v_0 = way.zero, 1 - way.one
        mean = (high - low) * (v_0 + v_1)
        about = max(float(mean.mid()), 0.0)
        least = max(int(about - math.sqrt(2 * about * (20 - log_goal))), 0)
        rare = (-((mean - least) ** 2) / (2 * mean)).exp() if least else arb(0)
        groups = (
            Group(low, way.zero),
            Group(others - high, way.one),
            Group(least, v_1 / (v_0 + v_1)),
        )
        return upper_float(measured(way, groups, odds).bound(odds) + rare)

    whole = [_Interval(way, 0, others) for way in ways]
    return arb(largest(whole, cost, _Interval.halves, upper_float(goal), turns))


class _Interval(NamedTuple):
    way: Rates
    low: int
    high: int

    def halves(self) -> list[_Interval]:
        middle = (self.low + self.high) // 2
        if self.low == self.high:
            return []
        return [self._replace(high=middle), self._replace(low=middle + 1)]
