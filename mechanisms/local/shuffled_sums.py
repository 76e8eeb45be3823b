"""E(S)^+ of S = X_1 + ... + X_n, independent and alike, X one of a few real numbers, or 0.

*Few values*: all sums, by their multinomial probabilities.

*Smoothed.* With Z a standard normal number, U = E(S + sigma Z)^+ is at least E(S)^+ (Jensen), and
E(S)^+ >= E[S; S + sigma Z > 0] = U - sigma E phi(S/sigma), phi the normal density: the event's coin
is a test as any other. Both are integrals along Re s = c > 0 of M(s) = E e^(sS),

    U = (1/2 pi) int M(s) e^(sigma^2 s^2/2) s^-2 dt,
    sigma E phi(S/sigma) = (1/2 pi) int M(s) e^(sigma^2 s^2/2) sigma^2 dt,    s = c + i t.

*Sums in place of integrals.* At the points t = m h, L = 2 pi/h, Poisson's formula turns the first
into the sum over all whole l of e^(-c l L) E(S + l L + sigma Z)^+, and so the second: no term is
negative. As x^+ <= e^(b x)/(e b), one is at most e^((b - c) l L) M(b) e^(sigma^2 b^2/2)/(e b) for
any b > 0: b < c where l >= 1, b > c where l <= -1.

*Points left out.* |M(s)| <= M(c). Beyond T, h sum of e^(-sigma^2 t^2/2) (t^-2 + sigma^2) is at most
2 e^(-sigma^2 T^2/2)/T. With f(t) = |phi(c + i t)|/phi(c), phi = E e^(sX): f moves by at most the
mean of |X| under the law tilted by c for each unit of t, so that where f = 1 - d all points are
passed by that are nearer than (d - D/n)/mean: there f^n <= e^-D.

*The event's other side.* With marks b(X) >= 0, E sum b(X_i) 1(S + sigma Z > 0) is n/(2 pi) int
E[b e^(sX)] phi^(n-1) e^(sigma^2 s^2/2) s^-1 dt; what wraps round is at most as above, with n E[b
e^(bX)] phi(b)^(n-1) in place of M(b)/(e b): an indicator of x > 0 is at most e^(b x).

Floats choose c, b, h, sigma; balls do all the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from flint import acb, arb, ctx

from ...exact.budget import spend
from ...exact.precision import working_precision
from ...exact.roots import float_root

_MOST_SUMS = 20_000  # that are listed
_FAR = 38.0  # nats that count for nothing
_CUT = 9.2  # sigma times the last point: e^(-_CUT^2/2) is e^-42
_BITS = 128
_HELD = 1e150  # what floats hold, and its square
_LEAST_C, _LARGEST_C = 1e-12, 1e9


@frozen(eq=False)
class Summand:
    """X: its values with their probabilities, as balls; what is left of 1 is at 0.

    marks: a number >= 0 that comes with each value, 0 with what is left; its mean is at most 1.
    """

    values: Sequence[arb]
    masses: Sequence[arb]
    marks: Sequence[arb]

    @property
    def rest(self) -> arb:
        """The probability of 0."""
        return (1 - sum(self.masses, arb(0))).max(arb(0))


@frozen(eq=False)
class Excess:
    """Bounds of E(S)^+; lower: E[S; a test], and bounds of the mean of all marks with this test."""

    lower: arb
    upper: arb
    marked: tuple[arb, arb]


def excess(one: Summand, count: int, width: float) -> Excess:
    """Of so many, at the working precision; width: the relative width to aim at."""
    if math.comb(count + len(one.values), count) <= _MOST_SUMS:
        return _listed(one, count)
    with working_precision(max(_BITS + 2 * count.bit_length(), ctx.prec)):
        found = _smoothed(one, count, width)
    return Excess(+found.lower, +found.upper, (+found.marked[0], +found.marked[1]))


def _listed(one: Summand, count: int) -> Excess:
    """By all numbers of times that each value is met."""
    rest, total, gain, marked = one.rest, arb(0), arb(0), arb(0)
    powers = [[arb(1)] for _ in range(len(one.values) + 1)]
    for found, mass in zip(powers, (*one.masses, rest), strict=True):
        for k in range(1, count + 1):
            found.append(found[-1] * mass / k)
    last = len(one.values)
    stack = [(0, count, arb(1), arb(0), arb(0))]
    while stack:
        at, left, weight, value, marks = stack.pop()
        if at == last:
            weight *= powers[last][left]
            total += weight * value.max(arb(0))
            if value.mid() > 0:
                gain += weight * value
                marked += weight * marks
            continue
        for k in range(left + 1):
            more = weight * powers[at][k]
            value_k, marks_k = value + k * one.values[at], marks + k * one.marks[at]
            stack.append((at + 1, left - k, more, value_k, marks_k))
    ways = arb(count).fac()
    marked *= ways
    return Excess(
        (gain * ways).lower().max(arb(0)), (total * ways).upper(), (marked.lower(), marked.upper())
    )


class _Tilted:
    """In floats: log E e^(cX) and what belongs to it."""

    def __init__(self, one: Summand, count: int) -> None:
        kept = [
            (float(v.mid()), float(m.mid())) for v, m in zip(one.values, one.masses, strict=True)
        ]
        values, masses = zip(*[*kept, (0.0, float(one.rest.mid()))], strict=True)
        self.values, self.count = np.array(values), count
        with np.errstate(divide="ignore"):
            self.logs = np.log(np.array(masses))

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
            c = math.exp(log_c)
            return c * self.moments(c)[1] - 2

        low, high = math.log(_LEAST_C), math.log(_LARGEST_C)
        scale = 1 / float(np.abs(self.values).max())
        low, high = math.log(scale) + low, math.log(scale) + high
        if slope(high) <= 0:
            return math.exp(high)
        return math.exp(float_root(slope, low, high, 1e-6))


def _smoothed(one: Summand, count: int, width: float) -> Excess:
    none, held = not any(v > 0 for v in one.values), all(abs(v) < _HELD for v in one.values)
    if none or not held:  # the mean of each X^+; all marks together have at most the mean `count`
        most = sum((m * v.max(arb(0)) for v, m in zip(one.values, one.masses, strict=True)), arb(0))
        return Excess(arb(0), (count * most).upper(), (arb(0), arb(0 if none else count)))
    tilted = _Tilted(one, count)
    c = tilted.saddle()
    variance = tilted.moments(c)[2]
    sigma = math.sqrt(width) / c
    length = max((_FAR + 4) / c, 2 / c + 10 * math.sqrt(variance)) + 10 * sigma
    around = [arb(_other_tilt(tilted, c, length, way)) for way in (1, -1)]
    return _summed(one, count, arb(c), arb(sigma), arb(length), around)


def _other_tilt(tilted: _Tilted, c: float, length: float, way: int) -> float:
    """A b > c (way 1) or b < c with which what wraps round from there is little."""
    best, least = c, math.inf
    base = tilted.moments(c)[0]
    for power in range(-12, 12) if way > 0 else range(1, 24):
        b = c * (1 + 2.0**power) if way > 0 else c * (1 - 2.0 ** (-power / 2))
        value = tilted.moments(b)[0] - base - abs(b - c) * length - math.log(b / c)
        if value < least:
            best, least = b, value
    return best


def _summed(
    one: Summand, count: int, c: arb, sigma: arb, length: arb, around: Sequence[arb]
) -> Excess:
    step, square = 2 * arb.pi() / length, sigma * sigma
    tilted = [m * (c * v).exp() for m, v in zip(one.masses, one.values, strict=True)]
    whole = sum(tilted, one.rest)
    masses, rest = [mass / whole for mass in tilted], one.rest / whole
    turns = [acb(0, value * step) for value in one.values]
    mean = sum((m * abs(v) for m, v in zip(masses, one.values, strict=True)), arb(0)).upper()
    level, gap = arb(_FAR) / count, float((mean * step).upper())
    last = math.ceil(_CUT / float(sigma.mid()) / float(step.mid())) + 1
    sums, m = _Sums(square), 0
    passed: arb | None = None  # h times the sum of |s|^-2 over points passed by, at most
    while m <= last:
        if m % 64 == 0:
            spend()
        phi, marked = acb(rest), acb(0)
        for mass, mark, turn in zip(masses, one.marks, turns, strict=True):
            term = mass * (m * turn).exp()
            phi += term
            marked += mark * term
        drop = (1 - abs(phi) - level).lower()
        if drop > 0:
            if passed is None:
                passed = 2 * step / (c * c + (m * step) ** 2) + 2 / (m * step)
            m += 1 + int(float(drop) / gap * (1 - 1e-9))
            continue
        sums.add(acb(c, m * step), phi ** (count - 1), phi, marked, 1 if m == 0 else 2)
        m += 1
    end = last * step
    smooth = (square * c * c / 2).exp()
    lost = 4 * (-square * end * end / 2).exp() / end
    if passed is not None:
        lost += 2 * (-arb(_FAR)).exp() * (passed + square * end)
    lost *= smooth / (2 * arb.pi())
    top, share = whole**count, step / (2 * arb.pi())
    high = (share * sums.upper + lost) * top
    low = (share * sums.lower - lost) * top
    # of the marks, whose kernel is 1/|s| <= 1/t, and E[b e^(sX)]/phi(c) at most their tilted mean
    most = sum((m * b for m, b in zip(masses, one.marks, strict=True)), arb(0)) * count
    less = 4 * (-square * end * end / 2).exp() / (square * end * end)
    if passed is not None:
        less += 2 * (-arb(_FAR * (1 - 1 / count))).exp() * (2 + (end / step).log() + 1)
    less *= most * smooth / (2 * arb.pi())
    marks = (share * count * sums.marked).real
    wrapped = marked_wrapped = arb(0)
    for b in around:
        fall = (-abs(b - c) * length).exp()
        times = fall / (1 - fall) * (square * b * b / 2).exp()
        each = list(zip(one.masses, one.values, one.marks, strict=True))
        base = sum((m * (b * v).exp() for m, v, _ in each), one.rest)
        wrapped += times * base**count / (arb(1).exp() * b)
        both = sum((m * mark * (b * v).exp() for m, v, mark in each), arb(0))
        marked_wrapped += times * count * both * base ** (count - 1)
    return Excess(
        (low - wrapped).lower().max(arb(0)),
        high.upper(),
        (
            ((marks - less) * top - marked_wrapped).lower().max(arb(0)),
            ((marks + less) * top).upper(),
        ),
    )


class _Sums:
    """The three sums over points, of functions whose values at -t are conjugate to those at t."""

    def __init__(self, square: arb) -> None:
        self.square, self.upper, self.lower, self.marked = square, arb(0), arb(0), acb(0)

    def add(self, s: acb, power: acb, phi: acb, marked: acb, times: int) -> None:
        smooth = (self.square * s * s / 2).exp() * power * times
        first = smooth * phi / (s * s)
        self.upper += first.real
        self.lower += (first - self.square * smooth * phi).real
        self.marked += (smooth * marked / s).real
