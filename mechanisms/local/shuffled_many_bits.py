"""Shuffled bits of many users: two values, what others hold in blocks, sums by roots of unity.

Of the others `zeros` hold 0, `ones` hold 1, and `fair` report what does not depend on their value:
their number W of ones is a sum of independent bits. With g = e^epsilon, r the rates of reporting 1,
mu = r_1 - g r_0 and nu = g (1 - r_0) - (1 - r_1), the two datasets differ by

    D(w) = mu P(W = w - 1) - nu P(W = w).

W is log-concave: D changes its sign once, to above 0, and delta is the sum of D from there on.
Where D(t - 2) <= 0 <= D(t + 1), that is at most D's sum from t on, D(t - 1)^+ and D(t)^- together.

*Sums.* With M(s) = E e^(sW), s_j = c + 2 pi i j/L, c > 0, the mean of M(s_j) e^(-s_j w) over j is
P(W = w) and, for each whole l other than 0, P(W = w + l L) e^(c l L): at most M(b) e^(-b w) times
e^(-(b - c) l L), b beyond c on l's side. With the factor 1/(1 - e^-s) it is P(W >= w) and at most
as much for each l > 0, and e^(-c l L) for each l > 0 as well. |M(s)| falls in |Im s| up to pi,
which bounds the points that are left out.

*Blocks.* Between `low` and `high` of the others hold 0. Those of whom it is not known report, each
with probability v = v_0 + v_1, v_y the least probability of y, what does not depend on their value,
and the rest is told. More of them hide more: so many as are missed with probability `rare` at most
(of independent bits of mean m at most m - d are 1 with probability at most e^(-d^2/2m)), added.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import acb, arb

from ...exact.budget import spend
from .shuffled_bits import Rates

_SPREAD, _NATS = 10.0, 44.0  # standard deviations; nats that count for nothing
_AROUND = 6
_MOST_TURNS = 3000
_MOST_POINTS = 4000
_NOTHING = arb(2) ** -2000  # less than that is 0 from below


class Group(NamedTuple):
    """So many bits of one rate."""

    bits: int
    rate: arb


def attained_bits(rates: Rates, users: int, odds: arb, log_delta: float) -> arb:
    """What some numbers of zeros attain at e^epsilon = odds; log_delta: about."""
    others, most = users - 1, arb(0)
    for way in _ways(rates):
        for zeros in {others * k // 4 for k in range(5)}:
            groups = [Group(zeros, way.zero), Group(others - zeros, way.one)]
            found = _excess(way, groups, odds, log_delta)
            if found is not None:
                most = most.max(found.lower())
    return most.lower() if most > _NOTHING else arb(0)


def costs_at_most(rates: Rates, users: int, odds: arb, goal: arb) -> bool:
    """Is delta at most this, however many hold 0? As far as blocks of numbers say."""
    n, turns, width, low = users - 1, 0, max(users // 8, 1), 0
    ways = _ways(rates)
    while low <= n:
        high = min(low + width - 1, n)
        turns += 1
        if turns > _MOST_TURNS:
            return False
        if all(_block(way, low, high, n, odds, goal) <= goal for way in ways):
            low, width = high + 1, width * 2
        elif width == 1:
            return False
        else:
            width = max(width // 3, 1)
    return True


def _ways(rates: Rates) -> list[Rates]:
    """She holds 1 and not 0, or 0 and not 1: that is 1 and not 0 with 0 and 1 exchanged."""
    low, high = (rates.zero, rates.one) if rates.zero < rates.one else (rates.one, rates.zero)
    return [Rates(low, high), Rates(1 - high, 1 - low)]


def _block(rates: Rates, low: int, high: int, others: int, odds: arb, goal: arb) -> arb:
    """At most what any number of zeros from low to high costs."""
    v_1, v_0 = rates.zero, 1 - rates.one
    log_goal = float(goal.log().mid())
    mean = (high - low) * (v_0 + v_1)
    least = max(int(float((mean - (2 * mean * (20 - log_goal)).sqrt()).mid())), 0)
    rare = (-((mean - least) ** 2) / (2 * mean)).exp() if least else arb(0)
    fair = Group(least, v_1 / (v_0 + v_1))
    groups = [Group(low, rates.zero), Group(others - high, rates.one), fair]
    found = _excess(rates, groups, odds, log_goal)
    return arb(1) if found is None else (found + rare).upper()


def _moments(groups: list[Group], c: float) -> tuple[float, float]:
    """The mean and the variance of W, tilted."""
    mean = variance = 0.0
    for count, rate in groups:
        odds = float(rate.mid()) / (1 - float(rate.mid())) * math.exp(c)
        share = odds / (1 + odds)
        mean, variance = mean + count * share, variance + count * share * (1 - share)
    return mean, variance


def _excess(rates: Rates, groups: list[Group], odds: arb, log_delta: float) -> arb | None:
    """The sum of D from where it is above 0 on; a ball, or None."""
    spend()
    groups = [group for group in groups if group.bits]
    mu = rates.one - odds * rates.zero
    nu = odds * (1 - rates.zero) - (1 - rates.one)
    if mu <= 0:
        return arb(0)
    if not (mu > 0 and nu > 0) or not groups:
        return None
    crossing = max(float((nu / mu).log().mid()), 0.0)
    mean, variance = _moments(groups, crossing)
    middle = round(mean + 0.5)
    tilt = max(crossing, 1 / math.sqrt(variance + 1))
    spread = math.sqrt(_moments(groups, tilt)[1] + 1)
    length = math.ceil((_NATS - log_delta) / tilt + _SPREAD * spread) + 2 * _AROUND
    sums = _sums(groups, tilt, length, middle, mu, nu)
    if sums is None:
        return None
    excess, each = sums
    for near in (1, 2):
        for place in range(2, 2 * _AROUND):
            if each[place - near] <= 0 and each[place + near - 1] >= 0:
                least, zero = excess[place], arb(0)
                more = each[place - 1].max(zero).upper() + (-each[place]).max(zero).upper()
                return least.lower().max(zero).union((least.upper() + more).max(zero))
    return None


def _sums(
    groups: list[Group], tilt: float, length: int, middle: int, mu: arb, nu: arb
) -> tuple[list[arb], list[arb]] | None:
    """D's sums from middle - _AROUND, ... on, and D there."""
    c = arb(tilt)
    first = middle - _AROUND
    places = 2 * _AROUND + 1
    excess, each = [arb(0)] * places, [arb(0)] * places
    top = _power(groups, acb(c)).real
    small = top * (-arb(_NATS)).exp()
    points = length // 2 + 1
    left = arb(0)
    for j in range(points):
        if j > _MOST_POINTS:
            return None
        s = acb(c, 2 * arb.pi() * j / length)
        power = _power(groups, s)
        if abs(power) < small:
            left = abs(power).upper()  # not below any from here on
            break
        turn = (-s).exp()
        term = power * (-s * first).exp() * (mu / turn - nu)
        times = 1 if j == 0 or 2 * j == length else 2
        for place in range(places):
            each[place] += times * term.real
            excess[place] += times * (term / (1 - turn)).real
            term *= turn
    around = (-c * length).exp() / (1 - (-c * length).exp())
    beside = arb(0)
    for b in (c * 1.5, c / 2):
        fall = (-abs(b - c) * length).exp()
        beside += _power(groups, acb(b)).real * fall / (1 - fall) * (-b * (first - 1)).exp()
    weights = mu * c.exp() + nu
    lost = left * weights * (-c * first).exp()
    for place in range(places):
        error = (lost + weights * beside).upper()
        each[place] = each[place] / length + arb(0, error)
        error = (lost / (1 - (-c).exp()) + weights * (beside + around)).upper()
        excess[place] = excess[place] / length + arb(0, error)
    return excess, each


def _power(groups: list[Group], s: acb) -> acb:
    """M(s)."""
    found, grown = acb(1), s.exp()
    for count, rate in groups:
        found *= (1 - rate + rate * grown) ** count
    return found
