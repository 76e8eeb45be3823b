"""Shuffled reports of one user, and of others whose reports have one law: tests by one integral.

With g = e^epsilon, (p, q, v)(y) the probabilities of a report y by the laws of x, of x' and of all
others, and (a, b) = (p, q)/v at a report drawn from v, a test of the n reports that does not tell
their places says "x" of x and of x' (`shuffled`) with the probabilities

    power = (1/n) E[a_1 + ... + a_n; test],    level = (1/n) E[b_1 + ... + b_n; test],

where what is left of v to 1 has a = b = 0. The best test is that S = X_1 + ... + X_n > 0, X = a - g
b: it has power - g level = E(S)^+/n, the largest.

*Few reports*: all sums, by their multinomial probabilities.

*Smoothed.* With Z a standard normal number, let the test be S + sigma Z > 0. By how much it is less
than the best one is at most sigma^2 f/n, f the density of S + sigma Z at 0: E(S + sigma Z)^+ is at
least E(S)^+ (Jensen), and more than E[S; test] by sigma E[Z; Z > -S/sigma] = sigma^2 f. With phi =
E e^(sX), these are integrals along Re s = c > 0,

    n power = (n/2 pi) int E[a e^(sX)] phi^(n-1) e^(sigma^2 s^2/2) s^-1 dt,
    f = (1/2 pi) int phi^n e^(sigma^2 s^2/2) dt,    s = c + i t, and level as power with b.

*Sums in place of integrals.* At the points t = m h, L = 2 pi/h, Poisson's formula turns the first
into the sum over all whole l of e^(-c l L) E[a_1 + ... + a_n; S + l L + sigma Z > 0], the other one
into that of e^(-c l L) times densities: no term is negative. As 1(x > 0) <= e^(b x), one is at most
e^((b - c) l L) n E[a e^(bX)] phi(b)^(n-1) e^(sigma^2 b^2/2) for any b > 0: b < c where l >= 1, b >
c where l <= -1. Of f what is too much may stay.

*Points left out.* |phi(s)| <= phi(c), and so E[a e^(sX)]. Beyond T, h sum of e^(-sigma^2 t^2/2)/t
is at most 2 e^(-sigma^2 T^2/2)/(sigma T)^2, that of e^(-sigma^2 t^2/2) at most T times as much.
With F(t) = |phi(c + i t)|/phi(c): F moves by at most the mean of |X| under the law tilted by c for
each unit of t, so that where F = 1 - d all points are passed by that are nearer than (d -
D/n)/mean: there F^n <= e^-D.

Floats choose c, b, h, sigma; balls do all the rest.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from flint import acb, arb, ctx

from ...exact.budget import spend
from ...exact.precision import working_precision
from ...exact.roots import float_root
from .randomizer import LocalRandomizer, Row, probabilities, total

_ROUGH = 1e-2
_MOST_SUMS = 20_000  # that are listed
_FAR = 42.0  # nats that count for nothing
_CUT = 9.6  # sigma times the last point: e^(-_CUT^2/2) is e^-46
_BITS = 128
_POINT = 10  # units of work for a report at a point
_HELD = 1e150  # what floats hold, and its square
_LEAST_C, _LARGEST_C = 1e-12, 1e9
_Box = TypeVar("_Box")


class Measured(NamedTuple):
    """How often a test of the reports says that she holds x, if she does, and if she holds x'.

    more: by so much more, at most, is power - odds level of any other test; may be infinite.
    """

    power: arb
    level: arb
    more: arb

    def attained(self, odds: arb) -> arb:
        """delta at e^epsilon = odds is at least this."""
        return (self.power - odds * self.level).lower().max(arb(0))

    def bound(self, odds: arb) -> arb:
        """delta there is at most this, for these others."""
        return (self.power - odds * self.level + self.more).upper().max(arb(0)).min(arb(1))


def largest(
    boxes: Iterable[_Box],
    cost: Callable[[_Box, float], float],
    halves: Callable[[_Box], Sequence[_Box]],
    goal: float,
    turns: int,
) -> float:
    """At most the cost of anything in these boxes.

    cost: of all that a box holds, at most; given what is known of a box around it. halves: smaller
    boxes that hold the same, none of a single thing. The dearest is halved until it costs no more
    than the goal, or so many have been measured.
    """
    heap = [(-cost(box, 1.0), number, box) for number, box in enumerate(boxes)]
    heapq.heapify(heap)
    number = len(heap)
    while -heap[0][0] > goal and number < turns and (smaller := halves(heap[0][2])):
        known = -heapq.heappop(heap)[0]
        for box in smaller:
            heapq.heappush(heap, (-min(cost(box, known), known), number, box))
            number += 1
    return -heap[0][0]


class _Report(NamedTuple):
    """X, and the probabilities of this report by v and by the laws of x and x'."""

    x: arb
    v: arb
    p: arb
    q: arb


class Crowd(NamedTuple):
    """The laws of two values, and v: a law that all others have, or what they all have at least.

    mirrored: the same with the two values exchanged and reports renamed.
    """

    p: Sequence[arb]
    q: Sequence[arb]
    v: Sequence[arb]
    mirrored: bool

    def swapped(self) -> Crowd:
        """With the two values exchanged."""
        return Crowd(self.q, self.p, self.v, self.mirrored)

    def measured(self, users: int, odds: arb, width: float) -> Measured:
        """About the best test at e^epsilon = odds >= 1, at the working precision."""
        power = level = more = arb(0)
        shared = list[_Report]()
        for p, q, v in zip(self.p, self.q, self.v, strict=True):
            gain = p - odds * q
            if v != 0:
                shared.append(_Report(gain / v, v, p, q))
            elif not gain <= 0:  # a report that only she may make
                power, level, more = power + p, level + q, more + (-gain).max(arb(0))
        rest = (1 - sum((one.v for one in shared), arb(0))).max(arb(0))
        if math.comb(users + len(shared), users) <= _MOST_SUMS:
            found = _listed([*shared, _Report(arb(0), rest, arb(0), arb(0))], users, odds)
        elif any(one.x > 0 for one in shared) and all(abs(one.x) < _HELD for one in shared):
            with working_precision(max(_BITS + 2 * users.bit_length(), ctx.prec)):
                found = _smoothed(shared, rest, users, width)
        else:  # none is believed; E(S)^+/n is at most the mean of X^+
            gains = (one.p - odds * one.q for one in shared)
            found = Measured(arb(0), arb(0), sum((gain.max(arb(0)) for gain in gains), arb(0)))
        return Measured(
            (power + found.power).min(arb(1)),
            (level + found.level).min(arb(1)),
            (more + found.more).upper(),
        )


@lru_cache(maxsize=16)
def crowds(local: LocalRandomizer, bits: int) -> tuple[tuple[Crowd, ...], tuple[Crowd, ...]]:
    """Those that are attained, and blankets."""
    attained, blankets = dict[object, Crowd](), dict[object, Crowd]()
    for scene in local.scenes(True):
        for first, second in ((scene.first, scene.second), (scene.second, scene.first)):
            p, q = probabilities(first), probabilities(second)
            for other in scene.others:
                key = _kinds(first, second, other)
                if key not in attained:
                    mirrored = key == _kinds(second, first, other)
                    attained[key] = Crowd(p, q, probabilities(other), mirrored)
            rows = scene.others if scene.least is None else (scene.least,)
            columns = zip(*rows, strict=True)
            kinds = [tuple(sorted(each, key=lambda weight: weight.terms)) for each in columns]
            key = _kinds(first, second, kinds)
            if key not in blankets:
                mirrored = key == _kinds(second, first, kinds)
                blankets[key] = Crowd(p, q, scene.blanket(), mirrored)
    return tuple(attained.values()), tuple(blankets.values())


def _kinds(first: Row, second: Row, others: Sequence[object]) -> object:
    """The same for rows that differ in the order of their reports only."""
    each = Counter(zip(first, second, others, strict=True))
    return total(first), total(second), frozenset(each.items())


def costliest(crowds: Sequence[Crowd], users: int, odds: arb) -> list[tuple[arb, Crowd]]:
    """With what each costs at most, roughly measured: the dearest first."""
    if len(crowds) == 1:
        return [(arb(1), crowds[0])]
    rough = [(crowd.measured(users, odds, _ROUGH).bound(odds), crowd) for crowd in crowds]
    return sorted(rough, key=lambda each: -float(each[0].log().mid()) if each[0] > 0 else 1e9)


def _listed(reports: Sequence[_Report], count: int, odds: arb) -> Measured:
    """By all numbers of times that each report is drawn."""

    def sums(at: int, left: int, chance: arb, a: arb, b: arb) -> Iterator[tuple[arb, arb, arb]]:
        _, v, p, q = reports[at]
        if at == len(reports) - 1:
            yield chance * v**left / arb(left).fac(), a, b
            return
        for k in range(left + 1):
            yield from sums(at + 1, left - k, chance, a, b)
            chance, a, b = chance * v / (k + 1), a + p / v, b + q / v

    power = level = more = arb(0)
    for chance, a, b in sums(0, count, arb(count).fac() / count, arb(0), arb(0)):
        value = a - odds * b
        if value.mid() > 0:
            power, level, value = power + chance * a, level + chance * b, -value
        more += chance * value.max(arb(0))
    return Measured(power, level, more)


class _Tilted:
    """In floats: log E e^(cX) and what belongs to it."""

    def __init__(self, reports: Sequence[_Report], rest: arb, count: int) -> None:
        self.values = np.array([*(float(one.x.mid()) for one in reports), 0.0])
        self.count = count
        with np.errstate(divide="ignore"):
            self.logs = np.log([*(float(one.v.mid()) for one in reports), float(rest.mid())])

    def moments(self, c: float) -> tuple[float, float, float]:
        """log M(c), and the mean and variance of S tilted."""
        heights = self.logs + c * self.values
        top = float(heights.max())
        weights = np.exp(heights - top)
        total = float(weights.sum())
        mean = float(weights @ self.values) / total
        variance = float(weights @ (self.values - mean) ** 2) / total
        n = self.count
        return n * (top + math.log(total)), n * mean, n * variance

    def saddle(self) -> float:
        """Where log M(c) - 2 log c is least."""

        def slope(log_c: float) -> float:
            return math.exp(log_c) * self.moments(math.exp(log_c))[1] - 2

        scale = -math.log(float(np.abs(self.values).max()))
        ends = scale + math.log(_LEAST_C), scale + math.log(_LARGEST_C)
        return math.exp(float_root(slope, *ends, 1e-6))

    def other(self, c: float, length: float, way: int) -> float:
        """A b > c (way 1) or b < c with which what wraps round from there is little."""
        powers = range(-12, 12) if way > 0 else range(-24, 0)
        tried = (c * (1 + way * 2.0 ** (power if way > 0 else power / 2)) for power in powers)
        return min(tried, key=lambda b: self.moments(b)[0] - abs(b - c) * length)


def _smoothed(reports: Sequence[_Report], rest: arb, count: int, width: float) -> Measured:
    """By sums over points; width: of what the test is less than the best one, about."""
    floats = _Tilted(reports, rest, count)
    c = arb(floats.saddle())
    sigma = math.sqrt(width) / float(c)
    deviation = math.sqrt(floats.moments(float(c))[2])
    length = max((_FAR + 4) / float(c), 2 / float(c) + 10 * deviation) + 10 * sigma
    step, square = 2 * arb.pi() / length, arb(sigma) * sigma

    def raised(s: arb) -> tuple[arb, list[_Report], arb, arb]:
        """phi(s); all of it by reports, phi its unit; E[a e^(sX)] and E[b e^(sX)] in it."""
        waves = [(s * one.x).exp() for one in reports]
        whole = sum((one.v * wave for one, wave in zip(reports, waves, strict=True)), rest)
        tilted = [
            _Report(x, v * wave / whole, p * wave / whole, q * wave / whole)
            for (x, v, p, q), wave in zip(reports, waves, strict=True)
        ]
        p, q = (sum((one[i] for one in tilted), arb(0)) for i in (2, 3))
        return whole, tilted, p, q

    whole, tilted, *most = raised(c)
    mean = sum((one.v * abs(one.x) for one in tilted), arb(0)).upper()
    turns = [acb(0, one.x * step) for one in tilted]
    gap, last = float((mean * step).upper()), math.ceil(_CUT / sigma / float(step.mid())) + 1
    power, level, density, m = acb(0), acb(0), arb(0), 0
    is_passed = False  # are some points
    while m <= last:
        spend(_POINT * (2 + len(tilted)))
        phi, a, b = acb(rest / whole), acb(0), acb(0)
        for (_, v, p, q), turn in zip(tilted, turns, strict=True):
            wave = (m * turn).exp()
            phi, a, b = phi + v * wave, a + p * wave, b + q * wave
        drop = (1 - abs(phi) - _FAR / arb(count)).lower()
        if drop > 0:
            is_passed = True
            m += 1 + int(float(drop) / gap * (1 - 1e-9))
            continue
        s = acb(c, m * step)
        wave = (square * s * s / 2).exp() * phi ** (count - 1) * (1 if m == 0 else 2)
        power, level, density = (
            power + wave * a / s,
            level + wave * b / s,
            density + (wave * phi).real,
        )
        m += 1
    end = last * step
    smooth, beyond = (square * c * c / 2).exp(), 4 * (-square * end * end / 2).exp()
    lost, unseen = beyond / (square * end * end), beyond / (square * end)
    if is_passed:
        lost += 2 * (-arb(_FAR * (1 - 1 / count))).exp() * (3 + (end / step).log())
        unseen += 2 * (-arb(_FAR)).exp() * (end + step)
    share = whole**count / (2 * arb.pi())
    wrapped = [arb(0), arb(0)]
    for other in (arb(floats.other(float(c), length, way)) for way in (1, -1)):
        grown, _, *means = raised(other)
        fall = (-abs(other - c) * length).exp()
        times = fall / (1 - fall) * (square * other * other / 2).exp() * grown**count
        wrapped = [before + times * one for before, one in zip(wrapped, means, strict=True)]
    likely, unlikely = (
        share * (step * total.real + smooth * lost * arb(0, one.upper())) - arb(0).union(around)
        for total, one, around in zip((power, level), most, wrapped, strict=True)
    )
    more = square * share / count * (step * density + smooth * unseen)
    return Measured(likely, unlikely, more.upper())
