"""Rényi sums M(a) = sum P^a Q^(1-a) of noise, sampled or not, with derivatives in the order a.

Of the pair that is faced, let A and B be the laws, l = log A/B the loss: positive, then negative
(`AdditiveNoise.pairs`). At the rate 0 < q <= 1 (1: nobody is sampled) the terms are

    removing  ((1-q) Q + q P, Q):  B r^a,      r = 1 - q + q e^l,    L = log r,   A = P, B = Q,
    adding    (Q, (1-q) Q + q P):  A r^(1-a),  r = 1 - q + q e^-l,   L = -log r,  A = Q, B = P,

each times L^j: the first law's mass, B r or A, times e^((a-1) L) L^j. A window is summed in balls.
As |L| <= |l| on either side, what lies outside is

*Left of it*, where l >= m (the end's l, which rises from there on, or the limit to which it falls).
Removing: r <= c e^l, c = q + (1-q) e^-m, makes it at most c^a times the sum of A^a B^(1-a) l^j.
Where the loss is bounded, that is at most e^((a-1) sup l) (sup l)^j A(left). Elsewhere neighbouring
terms t(y-1)/t(y) have the ratio exp(-s(y) + (a-1)(s(y-d) - s(y))), s(y) = log p(y)/p(y-1); s falls
(log-concavity) and `Law.steepening` bounds the bracket for all y <= low: a geometric
series. As l(y-1)/l(y) <= 1 + steepening/l(low), each power is one more factor in the ratio.
Adding: r >= 1 - q makes it at most (1-q)^(1-a) log(1/(1-q))^j A(left).

*Right of it*, where l <= 0. Removing, q < 1: 1 - q <= r <= 1 makes it at most log(1/(1-q))^j
B(right). Else a term is at most A, as r <= 1, removing, and r >= 1, adding: the sum is at most
A(right), or that of A |l|^j, j = 1, 2: at most 2.2 B(right), by y^j <= 2.2 e^(y/2) for y >= 0 (the
maximum of y^2 e^(-y/2) is 16 e^-2) and A e^(|l|/2) = sqrt(A B) <= B.

At whole orders, removing, the binomial theorem gives the sum of C(a, k) (1-q)^(a-k) q^k M(k) of the
unsampled sums M, which some laws have in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from flint import acb, arb, ctx

from ...exact.budget import spend
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.roots import first_met_near
from ...mechanisms.pairs.pair import Pair, SampledPair, ShiftPair, faced
from ...mechanisms.pairs.sampling import Sampling
from ..losses.of_pair import closed_law, listed_between, listed_law, two_way, window_of

_Columns: TypeAlias = tuple[list[arb], list[arb]]  # masses of the first law, and losses L

_MOST_SEARCHED = 20_000  # outcomes of a sum of sampled noise with derivatives
_LARGEST_WHOLE = 2000  # orders up to which the binomial theorem is used
_MOST_EXTENSIONS = 30
_TERM, _ORDER = 0.5, 4_000  # units of work: each factor of a term, and the tails at an order


class RenyiSums:
    """Rényi sums of one pair at the working precision of its creation."""

    def __init__(self, pair: ShiftPair | SampledPair) -> None:
        plain, self.sampling = faced(pair)
        assert isinstance(plain, ShiftPair)
        self.pair, self.law, self.shift = plain, plain.law, plain.shift
        self.ends = lru_cache(maxsize=None)(self._ends)
        self.after = lru_cache(maxsize=None)(self._after)
        self.log = lru_cache(maxsize=None)(lambda x: self.law.ball(x).log())

    def at(self, order: Fraction) -> arb:
        """M(order), order > 1."""
        closed = self._closed(order) if self.sampling.rate == 1 else self._by_binomial(order)
        return self.summed(order, 0)[0] if closed is None else closed

    def summed(self, order: Fraction, powers: int) -> list[arb]:
        """The sums of the terms times L^j for j = 0, ..., powers, by the window."""
        low, high, columns = self.window(order)
        if powers and self.sampling.rate < 1 and high - low > _MOST_SEARCHED:
            raise DoesNotApplyError(f"{high - low} outcomes are too many to search all orders")
        spend(_ORDER)
        sums = moments(*columns, ball(order), powers)
        for power in range(powers + 1):
            rest = self._left(order, low, power) + self._right(high, power)
            sums[power] += (-rest).union(rest) if power % 2 else arb(0).union(rest)
        return sums

    def two_way(self, order: Fraction) -> arb:
        """The same of the `TwoWayPair`, removing; left of the window its terms are below Q r^a."""
        low, _, columns = self.window(order)
        if not columns[1][-1] <= 0:
            return arb.pos_inf()
        total = moments(*two_way(*columns, arb(0)), ball(order), 0)[0]
        return total + arb(0).union(self._left(order, low, 0))

    # -- the window: chosen in floats; a poor choice makes the result wide, never wrong ------------

    def window(self, order: Fraction) -> tuple[int, int, _Columns]:
        """Outcomes low, ..., high, outside of which next to nothing lies at this order."""
        low, high = self.ends(_rounded(order))
        return low, high, _columns(self.pair, low, high, self.sampling, ctx.prec)

    def _ends(self, order: Fraction) -> tuple[int, int]:
        need = 0.42 * ctx.prec + 5
        low, high = window_of(self.pair, -need, self.sampling)
        if not self.sampling.removing:
            return low, high
        moments = self.law.moments()
        centre = round(float(moments.mean.lower))
        step = 1 + int(float(moments.variance.upper) ** 0.5) // 4

        def height(x: int) -> float:
            p, q = self.law.log_pmf(np.array([x, x - self.shift]))
            loss, log = self.sampling.losses(np.array([p - q]), np.array([p]))
            return float(log[0] + float(order - 1) * loss[0])

        def falls(k: int) -> bool:
            return height(centre - (k + 1) * step) <= height(centre - k * step)

        peak = first_met_near(falls, 0, -1)
        least = height(centre - peak * step) - need
        edge = first_met_near(lambda k: height(centre - k * step) < least, peak + 1, peak)
        low = min(low, centre - edge * step)
        for _ in range(_MOST_EXTENSIONS):
            if self._left(order, low, 2).is_finite():
                break
            low -= 1 + (high - low) // 4
        return low, high

    # -- in closed form ---------------------------------------------------------------------------

    def _closed(self, order: Fraction) -> arb | None:
        """M(order) where nobody is sampled."""
        law, closed = self.law, closed_law(self.pair)
        if closed is not None:
            return closed.transform(acb(ball(order - 1))).real
        return law.renyi_sum(ball(order), self.shift)

    def _by_binomial(self, order: Fraction) -> arb | None:
        if not self.sampling.removing or order.denominator != 1 or order > _LARGEST_WHOLE:
            return None
        if self._closed(Fraction(2)) is None:
            return None
        whole, total, rate = int(order), arb(0), ball(self.sampling.rate)
        odds = rate / (1 - rate)
        for k in range(whole + 1):
            own = self._closed(Fraction(k)) if k > 1 else arb(1)
            assert own is not None
            total += math.comb(whole, k) * odds**k * own
        return total * (1 - rate) ** whole

    # -- outside ----------------------------------------------------------------------------------

    def _after(self, x: int) -> arb:
        """The mass of p beyond x; of log-concave p at most a geometric series."""
        ratio = (self.log(x) - self.log(x - 1)).exp()
        if self.law.log_concave and ratio < 1:
            return (self.log(x).exp() * ratio / (1 - ratio)).min(arb(1))
        return self.law.upper_tail(x + 1)

    def _left(self, order: Fraction, low: int, power: int) -> arb:
        law, rate = self.law, ball(self.sampling.rate)
        if not self.sampling.removing and low == law.support[0]:
            return arb(0)
        loss = self.log(low) - self.log(low - self.shift)
        if not self.sampling.removing:
            if not loss >= 0:
                return arb.pos_inf()
            most = -(-rate).log1p()
            return (most * ball(order - 1)).exp() * most**power * law.lower_tail(low - 1)
        limit, rise = law.loss_limit(self.shift), ball(order - 1)
        if limit is not None:  # on log-convex sides the loss falls from the end on
            largest = loss if law.log_convex_sides else ball(limit)
            least = loss.min(ball(limit))
            found = (rise * largest).exp() * law.lower_tail(low - 1) * largest**power
        else:
            if not (law.log_concave and loss > 0):
                return arb.pos_inf()
            least, growth = loss, law.steepening(low, self.shift)
            ratio = (rise * growth - (self.log(low + 1) - self.log(low))).exp()
            ratio *= (1 + growth / loss) ** power
            if not ratio < 1:
                return arb.pos_inf()
            found = (self.log(low) + rise * loss).exp() * loss**power * ratio / (1 - ratio)
        return (rate + (1 - rate) * (-least).exp()) ** ball(order) * found

    def _right(self, high: int, power: int) -> arb:
        if not self.sampling.removing and high == self.law.support[1]:
            return arb(0)
        if not self.log(high) <= self.log(high - self.shift):
            return arb.pos_inf()
        if self.sampling.removing and self.sampling.rate < 1:
            return (-(-ball(self.sampling.rate)).log1p()) ** power * self.after(high - self.shift)
        return arb("2.2") * self.after(high - self.shift) if power else self.after(high)


def moments(masses: Sequence[arb], losses: Sequence[arb], order: arb, powers: int) -> list[arb]:
    """sum P e^((order-1) L) L^j for j = 0, ..., powers, of P's masses and the losses."""
    spend(_TERM * len(masses) * (powers + 2))
    sums = [arb(0)] * (powers + 1)
    for mass, loss in zip(masses, losses, strict=True):
        term = mass * ((order - 1) * loss).exp()
        for power in range(powers + 1):
            sums[power] += term
            term *= loss
    return sums


def listed_moments(pair: Pair) -> Callable[[Fraction, int], Sequence[arb]]:
    """The same of a listed pair, at an order; nan where outcomes are too small to tell."""
    law = listed_law(pair, -math.inf)

    def sums(order: Fraction, powers: int) -> Sequence[arb]:
        if law.escaping() > 0:
            return [arb.pos_inf()] * (powers + 1)
        if not law.missing() <= 0:
            return [arb.nan()] * (powers + 1)
        return moments(law.masses, law.losses, ball(order), powers)

    return sums


@lru_cache(maxsize=64)
def shared_sums(pair: ShiftPair | SampledPair, bits: int) -> RenyiSums:
    """The sums of this pair at the working precision: orders asked for in turn share a window."""
    return RenyiSums(pair)


def _rounded(order: Fraction) -> Fraction:
    """An order nearby whose window serves: orders that are searched share a few."""
    return 1 + Fraction(2 ** (math.ceil(8 * math.log2(order - 1)) / 8)) if order > 1 else order


@lru_cache(maxsize=16)
def _columns(pair: ShiftPair, low: int, high: int, sampling: Sampling, bits: int) -> _Columns:
    """Kept, as orders near by share a window; bits: the working precision."""
    law = listed_between(pair, low, high, sampling)
    if len(law) <= high - low:
        raise DoesNotApplyError("a probability is too small to tell at this precision")
    return law.masses, law.losses
