"""Gaussian and Laplace noise, each user sampled or not: closed forms, sums, and cells of outcomes.

In units in which the query moves by 1, Q is the noise and P the noise moved, e^u = dP/dQ. A user
who takes part with probability q makes of them (1-q) Q + q P against Q ("removing"), or the other
way round, whose loss is L = log r(u) or -log r(u), r(u) = 1 - q + q e^u.

*One use.* sup over events S of P(S) - g Q(S), at g = e^level, is H(g) of (P, Q). Then
    H(g) of ((1-q)Q + qP, Q) is q H((g-1+q)/q), 1 - g where g <= 1 - q;
    H(g) of (Q, (1-q)Q + qP) is (1 - g(1-q)) H(gq/(1-g(1-q))), 0 where g (1-q) >= 1
(both laws are symmetric, so that H of (Q, P) is that of (P, Q)).

*Cells.* Outcomes whose loss lies between neighbouring points of a grid are merged into one. That is
post-processing, which bounds every cost from below; and the composition, which splits each of these
among the two points with its P- and its Q-mass kept, makes of it what dominates all of the cell.

*Several uses that are not sampled* of Gaussian noise are one use of noise 1/sqrt(sum 1/noise^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from mpmath import iv

from .arithmetic import (
    INFINITY,
    Enclosure,
    End,
    Interval,
    OpenError,
    at_least,
    certainly,
    exp,
    hull,
    interval,
    log,
    upper,
    value,
)
from .deadline import check_time
from .grid import MOST_POINTS
from .mechanisms import Continuous, FixedSize
from .normal import Table, cdf
from .scenarios import Uses

_ZERO: Enclosure = (Fraction(0), Fraction(0))


def pure(one: Continuous) -> Enclosure:
    """The largest loss."""
    if one.rate == 1:
        return (INFINITY, INFINITY) if one.is_gaussian else (1 / one.noise,) * 2
    q = interval(one.rate)
    if one.is_gaussian:
        return (INFINITY, INFINITY) if one.removing else value(-log(1 - q))
    e = interval(1 / one.noise)
    if one.removing:
        return value(log(1 - q + q * exp(e)))
    return value(-log(1 - q + q * exp(-e)))


# -- closed forms of (epsilon, delta) -------------------------------------------------------------


def closed_profile(uses: Uses) -> Callable[[End], Enclosure] | None:
    """delta(level) of one use, or of Gaussians that are not sampled; None for anything else."""
    if len(uses) == 1 == uses[0][1] and isinstance(uses[0][0], FixedSize):
        uses = [(uses[0][0].attained, 1)]  # which all others are dominated by at every level >= 0
    continuous = [(one, count) for one, count in uses if isinstance(one, Continuous)]
    if not continuous or len(continuous) < len(uses):
        return None
    one, count = continuous[0]
    if len(continuous) == 1 and count == 1:
        mu = 1 / one.size()
        rate, removing, is_gaussian = one.rate, one.removing, one.is_gaussian
    elif all(each.is_gaussian and each.rate == 1 for each, _ in continuous):
        squares = sum((times / each.variance for each, times in continuous), Fraction(0))
        mu, rate, removing, is_gaussian = iv.sqrt(interval(squares)), Fraction(1), True, True
    else:
        return None
    plain = _gaussian if is_gaussian else _laplace

    def delta(level: End) -> Enclosure:
        if level == INFINITY:
            return _ZERO
        found = _sampled(rate, removing, interval(Fraction(level)), lambda at: plain(mu, at))
        low, high = value(found)
        return max(low, Fraction(0)), min(high, Fraction(1))

    return delta


def _sampled(
    rate: Fraction, removing: bool, level: Interval, plain: Callable[[Interval], Interval]
) -> Interval:
    """H(e^level), level >= 0, by the rules above."""
    if rate == 1:
        return plain(level)
    q, g = interval(rate), exp(level)
    if removing:
        return q * plain(log((g - 1 + q) / q))
    rest = 1 - g * (1 - q)
    if certainly(rest <= 0):
        return iv.mpf(0)
    if not certainly(rest > 0):
        return hull(iv.mpf(0), upper(rest))
    return rest * plain(log(g * q / rest))


def _gaussian(mu: Interval, level: Interval) -> Interval:
    """Phi(mu/2 - level/mu) - e^level Phi(-mu/2 - level/mu)."""
    found = cdf(mu / 2 - level / mu) - exp(level) * cdf(-mu / 2 - level / mu)
    return at_least(found, 0)


def _laplace(e: Interval, level: Interval) -> Interval:
    """1 - e^((level - e)/2) up to level = e, 0 beyond; level >= 0."""
    return at_least(1 - exp((level - e) / 2), 0)


# -- cells ----------------------------------------------------------------------------------------

Masses = tuple[Interval, Interval]  # of Q and of P
Cells = tuple[list[Interval], list[Interval], Interval, Interval, int]


def cells(one: Continuous, step: Fraction, tail: float) -> Cells:
    """P and Q of every cell of the grid, what P and Q have besides, about 2^-tail, and the level.

    The grid's points are the multiples of 2^level step, the level as small as may be.
    """
    kept, rest, level = _cells(replace(one, removing=True), step, math.ceil(tail), iv.prec)
    q = interval(one.rate)
    without, with_user = ([own for own, _ in kept], [(1 - q) * a + q * b for a, b in kept])
    outside = [upper(rest[0]), upper((1 - q) * rest[0] + q * rest[1])]
    if one.removing:
        return with_user, without, outside[1], outside[0], level
    return without, with_user, outside[0], outside[1], level


@lru_cache(maxsize=4)
def _cells(
    one: Continuous, step: Fraction, tail: int, bits: int
) -> tuple[list[Masses], Masses, int]:
    """Q- and P-mass of every cell by rising loss, what is outside of all of them, and the level."""
    is_gaussian, rate, most = one.is_gaussian, one.rate, float(1 / one.noise)
    least = -most
    if is_gaussian:
        far = math.sqrt(1.4 * tail) + 1
        most = most**2 / 2 + far * most
        least = -math.inf if rate < 1 else -most
    low, high = _log_ratio(float(rate), least), _log_ratio(float(rate), most)
    level = 0
    while (high - low) > MOST_POINTS * float(step) * 2.0**level:
        level += 1
    width = step * 2**level
    first, last = math.floor(low / float(width)) - 1, math.ceil(high / float(width)) + 1
    edges = (_edge(rate, k * width) for k in range(first, last + 1))
    found = gaussian_below(one.size(), edges) if is_gaussian else _laplace_below(one, edges)
    below = [*found]
    (q_first, p_first), (q_last, p_last) = below[0], below[-1]
    return _differences(below), (q_first + 1 - q_last, p_first + 1 - p_last), level


def _edge(rate: Fraction, loss: Fraction) -> Interval | None:
    """u where log r(u) is this; None where r is larger throughout."""
    if rate == 1:
        return interval(loss)
    odds = interval(rate)
    over = exp(interval(loss)) - 1 + odds
    if certainly(over > 0):
        return log(over / odds)
    if certainly(over <= 0):
        return None
    raise OpenError("a loss lies on the grid")


def _log_ratio(q: float, u: float) -> float:
    if q == 1:
        return u
    return u + math.log(q) if u > 30 else math.log1p(q * math.expm1(u))


def gaussian_below(t: Interval, edges: Iterable[Interval | None]) -> Iterator[Masses]:
    """u = (2x - 1)/(2 t^2), so x/t = t u + 1/(2t); under P it is less by 1/t."""
    table, half = Table(iv.prec), 1 / (2 * t)
    for u in edges:
        if u is None:
            yield iv.mpf(0), iv.mpf(0)
        else:
            yield _phi(table, t * u + half), _phi(table, t * u - half)


def _differences(below: list[Masses]) -> list[Masses]:
    """Of neighbours; without what is nothing."""
    found = []
    for (q_low, p_low), (q_high, p_high) in pairwise(below):
        check_time()
        found.append((q_high - q_low, p_high - p_low))
    return [each for each in found if not certainly(each[0] == 0)]


def _phi(table: Table, z: Interval) -> Interval:
    low, high = table.at(z)
    return hull(iv.ldexp(iv.mpf(low), -table.bits), iv.ldexp(iv.mpf(high), -table.bits))


def _laplace_below(one: Continuous, edges: Iterable[Interval | None]) -> Iterator[Masses]:
    """u is -e below x = 0, 2x - e up to x = e, and e beyond: Q has half of it at -e."""
    e = interval(1 / one.noise)
    for u in edges:
        if u is None or certainly(u <= -e):
            yield iv.mpf(0), iv.mpf(0)
        elif certainly(u > e):
            yield iv.mpf(1), iv.mpf(1)
        elif certainly(u > -e) and certainly(u <= e):
            yield 1 - exp(-(u + e) / 2) / 2, exp((u - e) / 2) / 2
        else:
            raise OpenError("a loss lies on the grid, for all that is known")
