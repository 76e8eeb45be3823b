"""Random allocation: each user in one of t steps of Gaussian noise, which one drawn at random.

P, the average of N(mu e_i, I) over the steps i, against Q = N(0, I) dominates (Feldman and
Shenfeld, "Privacy amplification by random allocation", 2025). dP/dQ is S = (R_1 + ... + R_t)/t,
R_i = e^u with u of N(-mu^2/2, mu^2) under Q, so that E R_i = 1.

*From above, spread.* H_g of (P, Q) is E_Q (S - g)+, of (Q, P) E_Q (1 - g S)+: convex in each
ratio, so that neither falls where a ratio is spread and its mean kept. The ratios of a cell from a
to b, of Q-mass q and P-mass p, which is q times their mean, become a of the mass (q b - p)/(b - a)
and b of (p - q a)/(b - a); what lies between the points of a coarser lattice goes half to either.
Then S is on a lattice, and P of a point is S times its Q. Masses that are too large cost more.
*From below, count.* T is the sum of the cells' numbers, halved on the way where it gets long: any
statistic will do. It has Q's law q and P's r/n: r adds up what n ratios give of which the i-th is
of P, over all i; of sums q = q_a q_b and r = r_a q_b + q_a r_b.
*Lost* is what is beyond all cells, or was cut off: its Q-mass, and its mean of the sum of R_i,
which is t times its P-mass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from mpmath import iv

from .arithmetic import Interval, OpenError, ceiling, convolve, floor, interval, log, repeated
from .continuous import gaussian_below
from .divergences import Listed
from .grid import MOST_POINTS
from .mechanisms import Allocation

_HIGHEST = 600.0  # of the logarithm of a ratio
_MOST_CELLS = MOST_POINTS // 4
_FINE = 6  # bits of a ratio by which cells are told apart


@dataclass(frozen=True)
class _Masses:
    """By the number of the cell, in fixed point: under Q, and under P summed over all places."""

    q: list[int]
    r: list[int]

    def plus(self, other: _Masses, bits: int, up: bool) -> _Masses:
        crossed = (convolve(self.r, other.q, bits, up), convolve(self.q, other.r, bits, up))
        return _Masses(
            convolve(self.q, other.q, bits, up), list(map(sum, zip(*crossed, strict=True)))
        )

    def halved(self) -> _Masses:
        return _Masses(*(_paired(each) for each in (self.q, self.r)))


def _paired(column: Sequence[int]) -> list[int]:
    return list(map(sum, zip(column[::2], [*column[1::2], 0], strict=False)))


@dataclass(frozen=True)
class _Ratios:
    """A sum of so many ratios, on the multiples of a width.

    spread: under Q, from above. low and high: counted, from both sides. lost: under Q, its mean.
    """

    count: int
    width: Fraction
    spread: list[int]
    low: _Masses
    high: _Masses
    lost: tuple[int, int]

    @property
    def whole(self) -> tuple[int, int]:
        """All Q-mass, and the mean of the sum."""
        moment = sum(k * mass for k, mass in enumerate(self.spread))
        return sum(self.spread) + self.lost[0], math.ceil(self.width * moment) + self.lost[1]

    def plus(self, other: _Ratios, rule: _Rule) -> _Ratios:
        a, b, bits = self, other, rule.bits
        while a.width < b.width:
            a = a._halved()
        while b.width < a.width:
            b = b._halved()
        (mass_a, mean_a), (mass_b, mean_b) = a.whole, b.whole
        lost = a.lost[0] * mass_b + b.lost[0] * mass_a
        lost_mean = (
            a.lost[1] * mass_b + a.lost[0] * mean_b + b.lost[1] * mass_a + b.lost[0] * mean_a
        )
        found = _Ratios(
            a.count + b.count,
            a.width,
            convolve(a.spread, b.spread, bits, True),
            a.low.plus(b.low, bits, False),
            a.high.plus(b.high, bits, True),
            (-(-lost >> bits), -(-lost_mean >> bits)),
        )
        return found.kept(rule)

    def times(self, count: int, rule: _Rule) -> _Ratios:
        """So many of these, count > 0."""
        return repeated(self, count, lambda a, b: a.plus(b, rule))

    def kept(self, rule: _Rule) -> _Ratios:
        """Without what hardly weighs, and as coarse as it may be."""
        last, mass, mean = len(self.spread), 0, 0
        while last > 1:
            more = math.ceil(self.width * (last - 1) * self.spread[last - 1])
            if mean + more > rule.tiny * self.count:
                break
            last, mass, mean = last - 1, mass + self.spread[last - 1], mean + more
        lost = self.lost[0] + mass, self.lost[1] + mean
        low, high = (_Masses(each.q[:last], each.r[:last]) for each in (self.low, self.high))
        found = _Ratios(self.count, self.width, self.spread[:last], low, high, lost)
        while (
            4 * found.width <= rule.width * math.isqrt(self.count)
            or len(found.spread) > MOST_POINTS
        ):
            found = found._halved()
        return found

    def _halved(self) -> _Ratios:
        even, odd = self.spread[::2], [-(-mass // 2) for mass in self.spread[1::2]]
        split = zip([*even, 0], [*odd, 0, 0], [0, *odd, 0], strict=False)
        spread = list(map(sum, split))
        low, high = self.low.halved(), self.high.halved()
        return _Ratios(self.count, 2 * self.width, spread, low, high, self.lost)


@dataclass(frozen=True)
class _Rule:
    bits: int
    width: Fraction
    tiny: int


def allocated(one: Allocation, step: Fraction, tail: float) -> tuple[Listed, Listed]:
    """Two pairs that the mechanism lies between, its losses known about as finely as by the step.

    tail: about 2^-tail of P is left out.
    """
    bits, steps = iv.prec, one.steps
    found = _summed(one.noise, steps, step, math.ceil(tail), bits)
    share = found.width / steps

    def scaled(masses: Sequence[int], by: Fraction = Fraction(1)) -> list[Interval]:
        unit = iv.ldexp(interval(by), -bits)
        return [unit * mass for mass in masses]

    places = range(len(found.spread))
    above = scaled([k * found.spread[k] for k in places], share), scaled(found.spread)
    rest = scaled([found.lost[1]], Fraction(1, steps))[0], scaled([found.lost[0]])[0]
    if one.removing:
        below = scaled(found.low.r, Fraction(1, steps)), scaled(found.high.q)
        return Listed(*below, iv.mpf(0), iv.mpf(0)), Listed(*above, *rest)
    below = scaled(found.low.q), scaled(found.high.r, Fraction(1, steps))
    return Listed(*below, iv.mpf(0), iv.mpf(0)), Listed(*above[::-1], *rest[::-1])


@lru_cache(maxsize=2)  # both ways round ask
def _summed(noise: Fraction, steps: int, step: Fraction, tail: int, bits: int) -> _Ratios:
    width = Fraction(2) ** math.floor(math.log2(step) + math.log2(steps) / 2)
    one = _single(noise, width, tail, bits)
    rule = _Rule(bits, one.width, 1 << max(bits - tail, 0))
    return one.kept(rule).times(steps, rule)


def _single(noise: Fraction, width: Fraction, tail: int, bits: int) -> _Ratios:
    """One ratio: cells of this width, and from 64 of them on as wide as 1/64 to 1/32 of it."""
    mu = float(1 / noise)
    highest = mu * mu / 2 + mu * math.sqrt(1.4 * tail)
    if highest > _HIGHEST:
        raise OpenError("the noise of random allocation is too little")
    while math.exp(highest) > _MOST_CELLS * width:
        width *= 2
    places, last = [0], math.ceil(math.exp(highest) / width)
    while places[-1] < last:
        places.append(places[-1] + max(1 << places[-1].bit_length() >> _FINE, 1))
    edges = (log(interval(j * width)) if j else None for j in places)
    below = [*gaussian_below(interval(noise), edges)]
    spread = [0] * (places[-1] + 1)
    low, high = (_Masses([0] * len(spread), [0] * len(spread)) for _ in range(2))
    for (i, (q_here, p_here)), (j, (q_next, p_next)) in pairwise(zip(places, below, strict=True)):
        q, p = q_next - q_here, p_next - p_here
        means = p / interval(width)
        for at, part in ((i, q * j - means), (j, means - q * i)):
            spread[at] += max(ceiling(part / (j - i), bits), 0)
        for masses, cut in ((low, floor), (high, ceiling)):
            middle = (i + j) // 2
            masses.q[middle], masses.r[middle] = max(cut(q, bits), 0), max(cut(p, bits), 0)
    lost = [max(ceiling(1 - each, bits), 0) for each in below[-1]]
    return _Ratios(1, width, spread, low, high, (lost[0], lost[1]))
