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
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...exact.budget import spend
from ...exact.number import ball
from ...exact.precision import working_precision
from .local_families import Categories

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

    first: tuple[int, int, int]
    masses: Array
    missing: float


class _Range(NamedTuple):
    """Of a count, the first and the last that are listed."""

    first: int
    last: int

    def values(self) -> NDArray[np.int64]:
        return np.arange(self.first, self.last + 1)


class _Rates(NamedTuple):
    """Of a true report, and of any other value."""

    true: arb
    other: arb


def _rates(local: Categories) -> _Rates:
    odds, k = ball(local.epsilon).exp(), local.categories
    return _Rates(odds / (odds + k - 1), 1 / (odds + k - 1))


def fits(local: Categories, users: int) -> bool:
    """Are reports that say nothing of the value so few that all counts can be listed?"""
    if local.categories < 3:
        return False
    with working_precision(_BITS):
        if not users * _rates(local).other < _MOST_EACH:
            return False
        return _law(local, Holders(users - 1, 0, 0), 0, _LEAST_FAR, True) is not None


def costs_at_most(local: Categories, users: int, odds: arb, goal: float, known: float) -> bool:
    """Is delta at e^epsilon = odds this at most, whatever others hold? known: a bound of it."""
    n, turns = users - 1, 0
    boxes = [(known, (0, n, 0, n))]
    while boxes:
        known, box = boxes.pop()
        if known <= goal:
            continue
        if turns >= _MOST_TURNS or (box[0] == box[1] and box[2] == box[3]):
            return False
        for half in reversed(_halves(box, n)):
            boxes.append((_at_most(local, half, n, odds, known, goal), half))
            turns += 1
    return True


Box = tuple[int, int, int, int]


def _halves(box: Box, n: int) -> list[Box]:
    """By whether anybody holds x', which hides most, and then the longer side in halves."""
    a, last_a, b, last_b = box
    if b < last_b and (b == 0 or last_b - b > last_a - a):
        middle = (b + last_b) // 2 if b else 0
        found = [(a, last_a, b, middle), (a, last_a, middle + 1, last_b)]
    else:
        middle = (a + last_a) // 2
        found = [(a, middle, b, last_b), (middle + 1, last_a, b, last_b)]
    return [
        (i, min(last_i, n - j), j, min(last_j, n - i))
        for i, last_i, j, last_j in found
        if i + j <= n
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


def _at_most(
    local: Categories, box: Box, others: int, odds: arb, known: float, goal: float
) -> float:
    """What all of this box cost, if that is at most `goal`; else what is known."""
    a, last_a, b, last_b = box
    crowd = Holders(a, b, max(others - last_a - last_b, 0))
    told = others - sum(crowd)
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
        rate = local.categories * _rates(local).other
        mean = float((told * rate).mid())
        last = _range(mean, told, _MOST_FAR).last
        masses = _binomial(told, rate, _Range(0, last))
    middle, step = int(mean), max(round(_SPREAD * math.sqrt(mean)), 1)
    if cost(middle) > _HOPELESS * goal:
        return known
    places = sorted({0, *range(middle, 0, -step), middle + step, middle + 2 * step})
    found = 2 * math.exp(-_MOST_FAR)
    for place, following in reversed(list(pairwise([*places, last + 1]))):
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


def _chernoff(mean: float, j: int) -> float:
    return j - mean + j * math.log(mean / j) if j else -mean


def _range(mean: float, most: int, far: int) -> _Range:
    """Of a sum of so many independent bits: beyond either end is less than e^-far."""
    if not mean:
        return _Range(0, 0)
    first, last = int(mean), min(int(mean) + 1, most)
    while first > 0 and _chernoff(mean, first) > -far - 1:
        first -= 1
    while last < most and _chernoff(mean, last) > -far - 1:
        last += 1
    return _Range(first, last)


def _weights(local: Categories, odds: arb) -> tuple[float, float, float]:
    """Those of D: of x, and, to be taken off, of x' and of third values."""
    with working_precision(_BITS):
        true, other = _rates(local)
        less = (local.categories - 2) * other * (odds - 1).max(arb(0))
        own, off = (true - odds * other).max(arb(0)), (odds * true - other).max(arb(0))
        return float(own.mid()), float(off.mid()), float(less.mid())


def _poisson(mean: arb, counts: _Range) -> Array:
    mass = (counts.first * mean.log() - mean - arb(counts.first + 1).lgamma()).exp()
    found = []
    for j in range(counts.first, counts.last + 1):
        found.append(float(mass.mid()))
        mass *= mean / (j + 1)
    return np.array(found)


def _binomial(count: int, rate: arb, counts: _Range) -> Array:
    found = np.zeros(counts.last - counts.first + 1)
    first, last = max(counts.first, 0), min(counts.last, count)
    if first > last:
        return found
    ways = arb(count + 1).lgamma() - arb(first + 1).lgamma() - arb(count - first + 1).lgamma()
    mass, odds = ways.exp() * rate**first * (1 - rate) ** (count - first), rate / (1 - rate)
    for j in range(first, last + 1):
        found[j - counts.first] = float(mass.mid())
        mass *= odds * (count - j) / (j + 1)
    return found


@lru_cache(maxsize=64)
def _law(
    local: Categories, crowd: Holders, reports: int, far: int, asked: bool = False
) -> _Law | None:
    """P, with so many random reports of others; None where it is too long, or too small for floats.

    asked: only whether it is too long.
    """
    a, b, c = crowd
    k = local.categories
    with working_precision(_BITS):
        rate = k * _rates(local).other
        mean = sum(crowd) * float(rate.mid()) / k + reports / k
        users = sum(crowd) + reports
        each, third = _range(mean, users, far), _range(mean * (k - 2), users, far)
        i, j = (_range(count * float(rate.mid()), count, far) for count in (a, b))
        n_x, n_y = (
            _Range(held + each.first - own.last, held + each.last - own.first)
            for held, own in ((a, i), (b, j))
        )
        shape = tuple(one.last - one.first + 1 for one in (n_x, n_y, third))
        if math.prod(shape) > _MOST_CELLS:
            return None
        if asked:
            return _Law((0, 0, 0), np.zeros(0), 0.0)
        scale = arb(max(mean, _LEAST_MEAN))
        total = _Range(2 * each.first + third.first, 2 * each.last + third.last)
        rest = _Range(total.first - i.last - j.last - reports, total.last - i.first - j.first)
        of_each, of_third = _poisson(scale, each), _poisson(scale * (k - 2), third)
        totals = _poisson(scale * k, total)
        if not totals.min() > _LEAST_TOTAL:
            return None
        over = 1 / totals
        of_i, of_j = _binomial(a, rate, i), _binomial(b, rate, j)
        of_rest = _binomial(c, rate, rest)
    masses = np.zeros(shape)
    x, r = each.values()[:, None], third.values()
    both = np.arange(each.first + third.first, each.last + third.last + 1)  # x' and third values
    for from_b, share_b in zip(j.values(), of_j, strict=True):
        lines = np.zeros((shape[0], len(both)))
        for from_a, share_a in zip(i.values(), of_i, strict=True):
            at = int(each.first + a - from_a - n_x.first)
            left = x + both - from_a - from_b - reports - rest.first
            lines[at : at + len(x)] += (
                share_a * of_each[:, None] * over[x + both - total.first] * of_rest[left]
            )
        at = int(each.first + b - from_b - n_y.first)
        masses[:, at : at + len(x)] += (share_b * of_each[:, None] * of_third) * lines[
            :, x + r - both[0]
        ]
    return _Law((n_x.first, n_y.first, third.first), masses, 12 * math.exp(-far))
