"""Shuffled categories where others hold known values: what is seen is how often each is reported.

With probability k q a report is random, any of the k categories alike, and true otherwise: p is
that of the true value, q of any other. Of the others a hold x, b hold x' and c third values; of w
more it is told who reports truly, and what, so that m random reports are left of them. Let r be how
many random reports are third values, of all who are not told of. The counts (n_x, n_x', r) have the
law P without hers; with hers the two datasets differ, g = e^epsilon, by

    D = (p - g q) P(n_x - 1, n_x', r) - (g p - q) P(n_x, n_x' - 1, r)
        - (k - 2) q (g - 1) P(n_x, n_x', r - 1),

and what is seen of r is seen of D: delta(epsilon) is the sum of the positive part of that.

*What is seen of r.* s = a + b + c + m + 1 - n_x - n_x' reports are third values, t = s - r of them
true. If all c hold the same one, how many others are reported: of r each with probability
(k - 3)/(k - 2). *Nothing is worse but for what is told here:* where s > c, the values of s - c of
the r random ones, any of them alike. These are uniform and independent of all else. Of the others,
min(s, c), each is given a random one of the c users' values, without replacement, and this value is
exchanged with the one that all hold. The t true reports become those of t random users, which is
what they are where the c users hold different values; a random report stays as likely to be any.
So counts where all hold the same are processed into counts where they hold others; they are seen of
r less so many as are told.

*Boxes of (a, b).* At least a, b of its least corner hold x and x', and at least c third values; of
the w others it is told who reports truly: that bounds all of the box. m has a binomial law, and
more random reports hide more, as anybody could add one: delta at some numbers m bounds those up to
the next. Boxes are halved where they are more than is asked for.

*P.* Of i, j and l random reports by those who hold x, x' and third values, i + j + l + m in all:

    P = sum of B_a(i) B_b(j) B_c(l) (multinomial probability of n_x - a + i, n_x' - b + j, r),

B binomial of the rate k q, and the last a product of three Poisson probabilities over one.

*Floats.* Probabilities are products of few balls, rounded, and sums of products of them: no two are
subtracted, and each is right to a share of _ROUNDED, 10^5 terms of 2^-53 each and more. D's terms
are widened by as much before they are subtracted. What lies beyond the counts that are listed has a
probability of at most e^-m (e m/j)^j each way (Chernoff's bound for sums of independent bits of
mean m, of at least j > m or at most j < m); it adds at most itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate, pairwise
from operator import mul
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...exact.budget import spend
from ...exact.number import ball
from ...exact.precision import working_precision
from .local_families import Categories
from .shuffled_crowd import largest

_ROUNDED = 1e-10
_LEAST_FAR, _MOST_FAR = 18, 36  # nats that what is left out is below
_BITS = 128
_MOST_EACH = 20  # on average
_MOST_CELLS = 3_000_000
_MOST_TURNS = 150
_SPREAD = 0.6  # standard deviations of m from one that is looked at to the next
_HOPELESS = 1.5  # times what is asked for: where m is about its mean
_LITTLE = 0.01  # of what is asked for
# products of floats that vanish, divided by such a total, of all cells together are less than that
_LEAST_TOTAL, _UNDERFLOW = 1e-100, 1e-190
_LEAST_MEAN = 0.1  # of Poisson probabilities, whose quotients are floats then

Array = NDArray[np.float64]


class Holders(NamedTuple):
    """How many of the others hold her one value, her other value and third values."""

    first: int
    second: int
    third: int


class _Law(NamedTuple):
    """Probabilities of (n_x, n_x', r) from these on; at most what is missing."""

    first: tuple[int, ...]
    masses: Array
    missing: float


def _rates(local: Categories) -> tuple[arb, arb]:
    """Of a true report, and of any other value."""
    odds, k = ball(local.epsilon).exp(), local.categories
    return odds / (odds + k - 1), 1 / (odds + k - 1)


@lru_cache(maxsize=16)
def fits(local: Categories, users: int) -> bool:
    """Are reports that say nothing of the value so few that all counts can be listed?"""
    if local.categories < 3:
        return False
    with working_precision(_BITS):
        few = users * _rates(local)[1] < _MOST_EACH
    return bool(few) and _law(local, Holders(users - 1, 0, 0), 0, _LEAST_FAR) is not None


def bound(local: Categories, users: int, odds: arb, goal: float) -> float:
    """delta at e^epsilon = odds, whatever others hold, at most; near the goal if few boxes do."""

    def cost(box: _Box, known: float) -> float:
        return _at_most(local, box, odds, known, goal)

    whole = _Box(users - 1, 0, users - 1, 0, users - 1)
    return largest([whole], cost, _Box.halves, goal, _MOST_TURNS)


class _Box(NamedTuple):
    """So many others, of whom from one number to another hold x, and x'."""

    others: int
    a: int
    last_a: int
    b: int
    last_b: int

    def halves(self) -> list[_Box]:
        """By whether anybody holds x', which hides most, and then the longer side in halves."""
        n, a, last_a, b, last_b = self
        if a == last_a and b == last_b:
            return []
        if b < last_b and (b == 0 or last_b - b > last_a - a):
            middle = (b + last_b) // 2 if b else 0
            found = [self._replace(last_b=middle), self._replace(b=middle + 1)]
        else:
            middle = (a + last_a) // 2
            found = [self._replace(last_a=middle), self._replace(a=middle + 1)]
        return [
            box._replace(last_a=min(box.last_a, n - box.b), last_b=min(box.last_b, n - box.a))
            for box in found
            if box.a + box.b <= n
        ]


def attained(local: Categories, crowd: Holders, odds: arb, about: float) -> float:
    """What these neighbours cost, all who hold third values the same one: at least.

    about: delta, which says how much may be left out.
    """
    law = _law(local, crowd, 0, _far(about))
    if law is None:
        return 0.0
    weights = _weights(local, odds)
    found = _positive(local, law, weights, None, -_ROUNDED) * (1 - _ROUNDED)
    return max(found - 2 * sum(weights[1:]) * (law.missing + _UNDERFLOW), 0.0)


def _far(about: float) -> int:
    wanted = _LEAST_FAR if about >= 1 else 11 - math.log(max(about, 1e-99))
    return int(min(max(wanted, _LEAST_FAR), _MOST_FAR)) // 2 * 2


def _at_most(local: Categories, box: _Box, odds: arb, known: float, goal: float) -> float:
    """What all of this box cost, if that is at most `goal`; else what is known."""
    crowd = Holders(box.a, box.b, max(box.others - box.last_a - box.last_b, 0))
    told = box.others - sum(crowd)
    weights, far = _weights(local, odds), _far(goal)
    alone = weights[0] * (1 + _ROUNDED)

    @lru_cache
    def cost(reports: int) -> float:
        """Where so many of those who are told of report at random: no more than her report alone.

        What is known of the box is known of the mean over all numbers, not of each.
        """
        spend()
        law = _law(local, crowd, reports, far)
        if law is None:
            return alone
        found = _positive(local, law, weights, (crowd, reports), _ROUNDED) * (1 + _ROUNDED)
        return min(found + 2 * weights[0] * (law.missing + _UNDERFLOW), alone)

    if not told:
        return min(cost(0), known)
    with working_precision(_BITS):
        rate = local.categories * _rates(local)[1]
        mean = float((told * rate).mid())
        listed = _window(mean, told, _MOST_FAR)
        masses = _binomial(told, rate, range(listed.stop))
    middle, step = int(mean), max(round(_SPREAD * math.sqrt(mean)), 1)
    if cost(middle) > _HOPELESS * goal:
        return known
    places = sorted({0, *range(middle, 0, -step), middle + step, middle + 2 * step})
    found = 2 * math.exp(-_MOST_FAR)
    for place, following in reversed(list(pairwise([*places, listed.stop]))):
        share = float(masses[place:following].sum()) * (1 + _ROUNDED)
        found += share * (alone if share * alone < _LITTLE * goal else cost(place))
        if found > goal:
            return known
    return min(found, known)


def _positive(
    local: Categories,
    law: _Law,
    weights: tuple[float, float, float],
    told: tuple[Holders, int] | None,
    rounded: float,
) -> float:
    """The sum of all D > 0, widened by this share, as it is seen; told: of more as said above."""
    own, off, third = weights
    up = np.zeros([size + 1 for size in law.masses.shape])
    down = np.zeros_like(up)
    up[1:, :-1, :-1] = own * (1 + rounded) * law.masses
    down[:-1, 1:, :-1] = off * (1 - rounded) * law.masses
    down[:-1, :-1, 1:] += third * (1 - rounded) * law.masses
    if local.categories == 3:
        return float(np.maximum(up.sum(axis=2) - down.sum(axis=2), 0).sum())
    less = np.zeros(up.shape[:2], dtype=np.int64)
    if told is not None:
        crowd, reports = told
        ends = (at + np.arange(size) for at, size in zip(law.first, up.shape[:2], strict=False))
        first, second = np.ix_(*ends)
        less = np.maximum(crowd.first + crowd.second + reports + 1 - first - second, 0)
    found = 0.0
    for each in np.unique(less):
        seen = _seen(law.first[2], up.shape[2], int(each), local.categories)
        here = less == each
        found += float(np.maximum(up[here] @ seen - down[here] @ seen, 0).sum())
    return found


def _seen(first: int, size: int, less: int, categories: int) -> Array:
    """Of first, first + 1, ... random reports, less so many: how many are not of one value."""
    most = max(first + size - 1 - less, 0)
    found, row = np.zeros((size, most + 1)), np.zeros(most + 1)
    row[0] = 1.0
    one, others = 1 / (categories - 2), (categories - 3) / (categories - 2)
    for count in range(most + 1):
        if count:
            row[1:] = row[1:] * one + row[:-1] * others
            row[0] *= one
        if first <= count + less < first + size:
            found[count + less - first] = row
    return found


def _window(mean: float, most: int, far: int) -> range:
    """Of a sum of so many independent bits: beyond either end is less than e^-far."""

    def is_rare(j: int) -> bool:
        return j - mean + j * math.log(mean / j) <= -far - 1

    if not mean:
        return range(1)
    first = next((j for j in range(int(mean), 0, -1) if is_rare(j)), 0)
    last = next((j for j in range(int(mean) + 1, most) if is_rare(j)), most)
    return range(first, last + 1)


def _weights(local: Categories, odds: arb) -> tuple[float, float, float]:
    """Those of D: of x, and, to be taken off, of x' and of third values."""
    with working_precision(_BITS):
        true, other = _rates(local)
        less = (local.categories - 2) * other * (odds - 1).max(arb(0))
        own, off = (true - odds * other).max(arb(0)), (odds * true - other).max(arb(0))
        return float(own.mid()), float(off.mid()), float(less.mid())


def _floats(first: arb, ratios: Iterable[arb]) -> Array:
    """Masses, each by its ratio to the one before."""
    return np.array([float(mass.mid()) for mass in accumulate(ratios, mul, initial=first)])


def _poisson(mean: arb, counts: range) -> Array:
    first = mean**counts.start * (-mean).exp() / arb(counts.start).fac()
    return _floats(first, (mean / j for j in counts[1:]))


def _binomial(count: int, rate: arb, counts: range) -> Array:
    found, odds = np.zeros(len(counts)), rate / (1 - rate)
    some = range(max(counts.start, 0), min(counts.stop, count + 1))
    if some:
        first = math.comb(count, some.start) * rate**some.start * (1 - rate) ** (count - some.start)
        masses = _floats(first, (odds * (count - j + 1) / j for j in some[1:]))
        found[some.start - counts.start :][: len(some)] = masses
    return found


@lru_cache(maxsize=64)
def _law(local: Categories, crowd: Holders, reports: int, far: int) -> _Law | None:
    """P, with so many random reports of others; None where it is too long, or too small for
    floats.
    """
    a, b, c = crowd
    k = local.categories
    with working_precision(_BITS):
        rate = k * _rates(local)[1]
        users, mean = sum(crowd) + reports, (sum(crowd) * float(rate.mid()) + reports) / k
        each, third = _window(mean, users, far), _window(mean * (k - 2), users, far)
        i, j = (_window(count * float(rate.mid()), count, far) for count in (a, b))
        n_x, n_y = (
            range(held + each.start - own.stop + 1, held + each.stop - own.start)
            for held, own in ((a, i), (b, j))
        )
        if len(n_x) * len(n_y) * len(third) > _MOST_CELLS:
            return None
        scale = arb(max(mean, _LEAST_MEAN))
        both = range(each.start + third.start, each.stop + third.stop - 1)  # x' and third values
        total = range(each.start + both.start, each.stop + both.stop - 1)
        of_each, of_third = _poisson(scale, each), _poisson(scale * (k - 2), third)
        totals = _poisson(scale * k, total)
        if not totals.min() > _LEAST_TOTAL:
            return None
        of_i, of_j = _binomial(a, rate, i), _binomial(b, rate, j)
        rest = range(total.start - i[-1] - j[-1] - reports, total.stop - i[0] - j[0])
        of_rest = _binomial(c, rate, rest)
    masses = np.zeros((len(n_x), len(n_y), len(third)))
    x, sums = np.array(each)[:, None], np.array(both)
    at_both = np.add.outer(np.arange(len(each)), np.arange(len(third)))
    for from_b, share_b in zip(j, of_j, strict=True):
        lines = np.zeros((len(n_x), len(both)))
        for from_a, share_a in zip(i, of_i, strict=True):
            at = each.start + a - from_a - n_x.start
            left = x + sums - from_a - from_b - reports - rest.start
            over = of_rest[left] / totals[x + sums - total.start]
            lines[at : at + len(each)] += share_a * of_each[:, None] * over
        at = each.start + b - from_b - n_y.start
        masses[:, at : at + len(each)] += share_b * of_each[:, None] * of_third * lines[:, at_both]
    return _Law((n_x.start, n_y.start, third.start), masses, 12 * math.exp(-far))
