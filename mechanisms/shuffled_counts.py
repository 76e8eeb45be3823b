"""Shuffled categories where others hold known values: what is seen is how often each is reported.

Of the others a hold x, b hold x' and c third values; a true report has the probability p, every
other one q. How often x, x' and the rest are reported adds up over users, so that these counts have
a law that is a convolution of multinomial ones, and delta(epsilon) is the sum of the positive part
of

    D = (p - g q) P(n_x - 1, n_x') - (g p - q) P(n_x, n_x' - 1) - q (g - 1) sum of P(one y less),

y over third values, P the law of the others' counts, g = e^epsilon.

*All third values are the same* in the worst case, given that n_x + n_x' > a + b. Let s reports be
third values, s <= c then. Each of the c users holds one; a random one of these values, without
replacement, is given to each of the s reports, and the one value that all hold is exchanged with
it there. Whoever else reports third values reports each of them as likely, before and after; of
the c users each subset is as likely to report them. So counts where all hold the same are processed
into counts where they hold others.

*Otherwise told*: where n_x + n_x' <= a + b, it is told which of the c users' third values were
reported truly, as in the blanket: then it does not matter which values they hold.

*Boxes of (a, b).* At least a, b of its least corner hold x and x', and at least c third values, and
the reports of all others are told: that bounds all of the box. Boxes are halved where they are more
than is asked for.

*Floats.* Probabilities are products of few balls, rounded, and sums of products of them: no two are
subtracted, and each is right to a share of _ROUNDED, 10^5 terms of 2^-53 each and more. D's terms
are widened by as much before they are subtracted. What lies beyond the counts that are listed has a
probability of at most e^-m (e m/j)^j each way (Chernoff's bound for sums of independent bits of
mean m, of at least j > m or at most j < m); it adds at most itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ..exact.deadline import check_time
from ..exact.number import ball
from ..exact.precision import working_precision
from .local_families import Categories

_ROUNDED = 1e-10
_LEAST_FAR, _MOST_FAR = 18, 36  # nats that what is left out is below
_BITS = 128
_MOST_EACH, _MOST_TOLD, _MOST_REST = 12, 4, 40  # on average
_MOST_WORK, _MOST_CELLS = 4e9, 400_000
_MOST_TURNS = 400
_HOPELESS = 10  # times what is asked for: where less is told it is more as well

Array = NDArray[np.float64]


class Holders(NamedTuple):
    """How many of the others hold her one value, her other value and third values."""

    first: int
    second: int
    third: int


class _Rates(NamedTuple):
    """Of reporting the true value, any other one, a third one that all hold, and the rest.

    Where true reports of third values are told, the rest are all that are not true.
    """

    true: arb
    other: arb
    third: arb
    rest: arb


class _Law(NamedTuple):
    """Probabilities of counts of (x, x', the rest) from these on; at most what is missing."""

    first: tuple[int, int, int]
    masses: Array
    missing: float


def fits(local: Categories, users: int) -> bool:
    """Are reports that say nothing of the value so few that all counts can be listed?"""
    with working_precision(_BITS):
        rates = _rates(local, False)
        if local.categories == 3:
            return bool(users * rates.other < _MOST_EACH)
        few = bool(users * rates.other < _MOST_TOLD and users * rates.rest < _MOST_REST)
        return few and local.categories > 3


@lru_cache(maxsize=32)
def _rates(local: Categories, told: bool) -> _Rates:
    odds, k = ball(local.epsilon).exp(), local.categories
    other = 1 / (odds + k - 1)
    if told:
        return _Rates(odds * other, other, arb(0), (k - 2) * other)
    return _Rates(odds * other, other, other, (k - 3) * other)


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
            a, last_a, b, last_b = half
            crowd = Holders(a, b, max(n - last_a - last_b, 0))
            boxes.append((_at_most(local, crowd, odds, known, goal), half))
            turns += 1
    return True


Box = tuple[int, int, int, int]


def _halves(box: Box, n: int) -> list[Box]:
    a, last_a, b, last_b = box
    if last_a - a >= last_b - b:
        middle = (a + last_a) // 2
        found = [(a, middle, b, last_b), (middle + 1, last_a, b, last_b)]
    else:
        middle = (b + last_b) // 2
        found = [(a, last_a, b, middle), (a, last_a, middle + 1, last_b)]
    return [
        (i, min(last_i, n - j), j, min(last_j, n - i))
        for i, last_i, j, last_j in found
        if i + j <= n
    ]


def attained(local: Categories, crowd: Holders, odds: arb, about: float) -> float:
    """What these neighbours cost, all who hold third values the same one: at least.

    about: delta, which says how much may be left out.
    """
    law = _law(local, crowd, False, _far(about))
    if law is None:
        return 0.0
    own, *off = _weights(local, False, odds)
    gains = _gains(law.masses, own * (1 - _ROUNDED), [w * (1 + _ROUNDED) for w in off])
    found = float(np.maximum(gains, 0).sum()) * (1 - _ROUNDED)
    return max(found - 2 * sum(off) * law.missing, 0.0)


def _far(about: float) -> int:
    wanted = _LEAST_FAR if about >= 1 else 11 - math.log(max(about, 1e-99))
    return int(min(max(wanted, _LEAST_FAR), _MOST_FAR)) // 2 * 2


def _at_most(local: Categories, crowd: Holders, odds: arb, known: float, goal: float) -> float:
    """What all cost of whose others at least so many hold these; no more than what is known."""
    if not any(crowd):
        return known
    mixed = crowd.first + crowd.second
    if local.categories == 3 or not mixed:
        found = _excess(local, crowd, odds, known, False)
        return (
            _at_most(local, _fewer(crowd), odds, known, goal)
            if found is None
            else min(known, found)
        )
    told = _excess(local, crowd, odds, known, True)
    if told is None:
        return _at_most(local, _fewer(crowd), odds, known, goal)
    if min(told, known) <= goal or told > _HOPELESS * goal:
        return min(told, known)
    hidden = _excess(local, crowd, odds, known, False, mixed)
    rest = _excess(local, crowd, odds, known, True, mixed)
    return min(told, known) if hidden is None or rest is None else min(told, known, hidden + rest)


def _excess(
    local: Categories, crowd: Holders, odds: arb, known: float, told: bool, mixed: int | None = None
) -> float | None:
    """The sum of all D > 0, at most; of n_x + n_x' > mixed only, or, told, of the others only."""
    law = _law(local, crowd, told, _far(known))
    if law is None:
        return None
    own, *off = _weights(local, told, odds)
    gains = _gains(law.masses, own * (1 + _ROUNDED), [w * (1 - _ROUNDED) for w in off])
    by_counts = np.maximum(gains, 0).sum(axis=2)
    if mixed is not None:
        sizes = zip(law.first, by_counts.shape, strict=False)
        first, second = np.ix_(*(at + np.arange(size) for at, size in sizes))
        by_counts = by_counts[(first + second <= mixed) == told]
    return float(by_counts.sum()) * (1 + _ROUNDED) + 2 * own * law.missing


def _fewer(crowd: Holders) -> Holders:
    """Of whom the counts are fewer: the reports of all others are told."""
    a, b, c = crowd
    if min(a, b):
        return Holders(a, b // 2, c) if a >= b else Holders(a // 2, b, c)
    return Holders(0, 0, c) if a + b else Holders(0, 0, 0)


def _chernoff(mean: float, j: int) -> float:
    return j - mean + j * math.log(mean / j) if mean > 0 else -math.inf


def _weights(local: Categories, told: bool, odds: arb) -> list[float]:
    """Those of D: of x, and, to be taken off, of x', the third value and the rest."""
    with working_precision(_BITS):
        rates = _rates(local, told)
    own = (rates.true - odds * rates.other).max(arb(0))
    less = (odds - 1).max(arb(0))
    off = (odds * rates.true - rates.other, rates.third * less, rates.rest * less)
    return [float(own.mid()), *(float(weight.mid()) for weight in off)]


def _gains(masses: Array, own: float, off: Sequence[float]) -> Array:
    """D, of one more report than these."""
    found = np.zeros([size + 1 for size in masses.shape])
    found[1:, :-1, :-1] = own * masses
    found[:-1, 1:, :-1] -= off[0] * masses
    found[:-1, :-1, :-1] -= off[1] * masses
    found[:-1, :-1, 1:] -= off[2] * masses
    return found


@lru_cache(maxsize=256)
def _law(local: Categories, crowd: Holders, told: bool, far: int) -> _Law | None:
    """Of the counts of x, x' and the rest among these; None where they are too many."""
    check_time()
    with working_precision(_BITS):
        rates = _rates(local, told)
        parts = []
        if crowd.third:
            parts.append(_of_third(crowd.third, rates, far))
        for count, place in ((crowd.first, 0), (crowd.second, 1)):
            if count:
                parts.append(_of_own(count, place, rates, far))
    found: _Law | None = None
    for part in parts:
        if part is None:
            return None
        if found is None:
            found = part
            continue
        found = _convolved(found, part, math.exp(-far) * 3e-6)
        if found is None or found.masses.size > _MOST_CELLS:
            return None
    return found


class _Counts(NamedTuple):
    """Poisson probabilities of first, first + 1, ..."""

    first: int
    masses: Array


def _poisson(count: int, rate: arb, far: int) -> _Counts:
    """Of so many users' reports of this rate, but for what is left out."""
    mean = float((count * rate).mid())
    if mean == 0:
        return _Counts(0, np.ones(1))
    first, last = int(mean), int(mean) + 1
    while first > 0 and _chernoff(mean, first) > -far - 1:
        first -= 1
    while last < count and _chernoff(mean, last) > -far - 1:
        last += 1
    exact = count * rate
    mass = (first * exact.log() - exact - arb(first + 1).lgamma()).exp()
    found = []
    for j in range(first, last + 1):
        found.append(float(mass.mid()))
        mass *= exact / (j + 1)
    return _Counts(first, np.array(found))


def _together(count: int, base: arb, most: int) -> Array:
    """What makes multinomial probabilities of Poisson ones, by how many do not report the base."""
    mass = base**count * (count * (1 - base)).exp()
    found = []
    for s in range(most + 1):
        found.append(float(mass.mid()) if s <= count else 0.0)
        mass *= arb(max(count - s, 0)) / (count * base)
    return np.array(found)


def _left_out(far: int) -> float:
    """Both ends of three counts, or four."""
    return 8 * math.exp(-far)


def _of_third(count: int, rates: _Rates, far: int) -> _Law | None:
    one, rest = _poisson(count, rates.other, far), _poisson(count, rates.rest, far)
    if len(one.masses) ** 2 * len(rest.masses) > _MOST_CELLS:
        return None
    base = 1 - 2 * rates.other - rates.rest
    first = (one.first, one.first, rest.first)
    sizes = (len(one.masses), len(one.masses), len(rest.masses))
    i, j, k = np.ix_(*(at + np.arange(size) for at, size in zip(first, sizes, strict=True)))
    together = _together(count, base, sum(first) + sum(sizes))
    masses = one.masses[:, None, None] * one.masses[:, None] * rest.masses * together[i + j + k]
    return _Law(first, masses, _left_out(far))


def _of_own(count: int, place: int, rates: _Rates, far: int) -> _Law | None:
    """Of those who hold x or x'."""
    away = _poisson(count, 1 - rates.true, far)
    other, rest = _poisson(count, rates.other, far), _poisson(count, rates.rest, far)
    third = _poisson(count, rates.third, far)
    sizes = len(away.masses), len(other.masses), len(rest.masses)
    if math.prod(sizes) > _MOST_CELLS:
        return None
    gone, i, j = np.ix_(
        away.first + np.arange(sizes[0])[::-1],
        other.first + np.arange(sizes[1]),
        rest.first + np.arange(sizes[2]),
    )
    left = gone - i - j - third.first
    listed = (left >= 0) & (left < len(third.masses))
    masses = (
        np.where(listed, third.masses[np.clip(left, 0, len(third.masses) - 1)], 0)
        * other.masses[:, None]
        * rest.masses
        * _together(count, rates.true, away.first + sizes[0])[gone]
    )
    least = count - away.first - sizes[0] + 1
    if place == 0:
        return _Law((least, other.first, rest.first), masses, _left_out(far))
    return _Law((other.first, least, rest.first), masses.transpose(1, 0, 2), _left_out(far))


def _convolved(one: _Law, other: _Law, tiny: float) -> _Law | None:
    """By one probability of the shorter law at a time, all lines of the longer one in a row."""
    if one.masses.size < other.masses.size:
        one, other = other, one
    shape = tuple(a + b - 1 for a, b in zip(one.masses.shape, other.masses.shape, strict=True))
    cells = np.argwhere(other.masses > tiny)
    if len(cells) * math.prod(shape) > _MOST_WORK:
        return None
    long = np.zeros((one.masses.shape[0], *shape[1:]))
    long[:, : one.masses.shape[1], : one.masses.shape[2]] = one.masses
    line = long.ravel()[: long.size - (long.shape[1] - one.masses.shape[1]) * shape[2]]
    found = np.zeros(math.prod(shape) + long.size)
    places = cells @ (shape[1] * shape[2], shape[2], 1)
    share = np.empty_like(line)
    for at, mass in zip(places, other.masses[other.masses > tiny], strict=True):
        np.multiply(line, mass, out=share)
        found[at : at + len(line)] += share
    check_time()
    first = tuple(a + b for a, b in zip(one.first, other.first, strict=True))
    missing = one.missing + other.missing + other.masses.size * tiny
    masses = found[: math.prod(shape)].reshape(shape)
    return _trimmed(_Law((first[0], first[1], first[2]), masses, missing), tiny)


def _trimmed(law: _Law, tiny: float) -> _Law:
    """Without counts at either end that hardly ever are."""
    first, masses, missing = list(law.first), law.masses, law.missing
    for axis in range(3):
        line = masses.sum(axis=tuple(other for other in range(3) if other != axis))
        kept = np.flatnonzero(line > 100 * tiny)
        low, high = (int(kept[0]), int(kept[-1]) + 1) if len(kept) else (0, len(line))
        missing += float(line[:low].sum() + line[high:].sum()) * (1 + _ROUNDED)
        masses = np.take(masses, np.arange(low, high), axis=axis)
        first[axis] += low
    return _Law((first[0], first[1], first[2]), masses, missing)
