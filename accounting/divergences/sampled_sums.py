"""Rényi sums of a sampled shifted pair, with derivatives in the order a.

Of the pair that is faced, let A and B be the laws, l = log A/B the loss: positive, then negative
(`AdditiveNoise.pairs`). With 0 < q < 1 the terms are

    removing  ((1-q) Q + q P, Q):  B r^a,      r = 1 - q + q e^l,    L = log r,   A = P, B = Q,
    adding    (Q, (1-q) Q + q P):  A r^(1-a),  r = 1 - q + q e^-l,   L = -log r,  A = Q, B = P,

each times L^j. A window is summed in balls. As |L| <= |l| on either side, what lies outside is

*Left of it*, where l >= m > 0 (the end's l, which rises from there on, or the limit to which it
falls). Removing: r <= c e^l, c = q + (1-q) e^-m, makes it at most c^a times what
`renyi_sums.left_rest` bounds, of A^a B^(1-a) l^j. Adding: r >= 1 - q makes it at most
(1-q)^(1-a) log(1/(1-q))^j A(left).

*Right of it*, where l <= 0. Removing: 1 - q <= r <= 1 makes it at most log(1/(1-q))^j B(right).
Adding: r >= 1, so that it is at most A(right), or the sum of A |l|^j, j = 1, 2: at most 2.2
B(right), by y^j <= 2.2 e^(y/2) and A e^(|l|/2) = sqrt(A B) <= B.

At whole orders, removing, the binomial theorem gives the sum of C(a, k) (1-q)^(a-k) q^k M(k) of the
unsampled sums M, which some laws have in closed form.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import cast

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...exact.budget import spend
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...mechanisms.pair import SampledPair
from ...mechanisms.shift_pair import ShiftPair
from .renyi_sums import RenyiSums, Window, edges, highest, left_end, left_rest

_MOST_SEARCHED = 20_000  # outcomes of a sum with derivatives
_ORDER = 4_000  # units of work for the tails at an order
_LARGEST_WHOLE = 2000  # orders up to which the binomial theorem is used


class SampledSums:
    """Rényi sums of one sampled pair at the working precision of its creation."""

    def __init__(self, pair: SampledPair) -> None:
        assert isinstance(pair.facing, ShiftPair)
        self.pair, self.facing = pair, pair.facing
        self.rate = ball(pair.rate)
        self.window, self.plain = Window(pair.facing), RenyiSums(pair.facing)
        self.bulk = lru_cache(maxsize=None)(self._bulk)
        self.upper_tail = lru_cache(maxsize=None)(pair.facing.law.upper_tail)
        self.log_ratios = lru_cache(maxsize=4)(self._log_ratios)

    def at(self, order: Fraction) -> arb:
        """M(order), order > 1."""
        closed = self._by_binomial(order)
        return self.summed(order, 0)[0] if closed is None else closed

    def derivatives(self, order: Fraction) -> tuple[arb, arb, arb]:
        """M, M' and M'' at order >= 1."""
        first, second, third = self.summed(order, 2)
        return first, second, third

    def summed(self, order: Fraction, powers: int) -> list[arb]:
        """The sums of the terms times L^j for j = 0, ..., powers."""
        low, high = self.bulk(_rounded(order))
        if powers and high - low > _MOST_SEARCHED:
            raise DoesNotApplyError(f"{high - low} outcomes are too many to search all orders")
        sums = self._inside(order, low, high, powers)
        for power in range(powers + 1):
            rest = self._left(order, low, high, power) + self._right(low, high, power)
            sums[power] += (-rest).union(rest) if power % 2 else arb(0).union(rest)
        return sums

    def two_way(self, order: Fraction) -> arb:
        """1 + sum over r > 1 of Q (r^a - r)(1 - r^-a), removing; left of the window below Q r^a."""
        low, high = self.bulk(_rounded(order))
        logs, losses = self.window.between(low, high)
        ratios, power, total = self.log_ratios(low, high), ball(order), arb(1)
        for log, loss, ratio in zip(logs, losses, ratios, strict=True):
            if ratio <= 0:
                continue
            rise = (power * ratio).exp() - ratio.exp()
            term = (log - loss).exp() * rise * -(-power * ratio).expm1()
            total += term if ratio > 0 else arb(0).union(term.abs_upper())
        if not losses[-1] <= 0:
            return arb.pos_inf()
        return total + arb(0).union(self._left(order, low, high, 0))

    def within(self, order: Fraction) -> tuple[int, int, arb]:
        """A window low, ..., high around the bulk, and the part of M(order) that it has."""
        low, high = self.bulk(_rounded(order))
        return low, high, self._inside(order, low, high, 0)[0]

    def _inside(self, order: Fraction, low: int, high: int, powers: int) -> list[arb]:
        spend(_ORDER + (high - low) * (powers + 2) / 4)
        logs, losses = self.window.between(low, high)
        ratios = self.log_ratios(low, high)
        if self.pair.removing:
            power, sign = ball(order), 1
            weights = [log - loss for log, loss in zip(logs, losses, strict=True)]
        else:
            power, sign, weights = ball(1 - order), -1, logs
        each = zip(weights, ratios, strict=True)
        terms = [(weight + power * ratio).exp() for weight, ratio in each]
        sums = [sum(terms, arb(0))]
        for _ in range(powers):
            terms = [sign * term * ratio for term, ratio in zip(terms, ratios, strict=True)]
            sums.append(sum(terms, arb(0)))
        return sums

    def _log_ratios(self, low: int, high: int) -> list[arb]:
        """log r, for orders asked for in turn."""
        sign = 1 if self.pair.removing else -1
        losses = self.window.between(low, high)[1]
        return [(self.rate * (sign * loss).expm1()).log1p() for loss in losses]

    # -- outside ------------------------------------------------------------------------------

    def _left(self, order: Fraction, low: int, high: int, power: int) -> arb:
        pair = self.facing
        logs, losses = self.window.between(low, high)
        if self.pair.removing:
            end, _ = edges(pair, logs, losses)
            limit = pair.law.loss_limit(pair.shift)
            least = losses[0] if limit is None else losses[0].min(ball(limit))
            share = self.rate + (1 - self.rate) * (-least).exp()
            return share ** ball(order) * left_rest(pair, ball(order - 1), low, end, power)
        if low == pair.law.support[0]:
            return arb(0)
        if not losses[0] >= 0:
            return arb.pos_inf()
        most = -(-self.rate).log1p()
        return (most * ball(order - 1)).exp() * most**power * pair.law.lower_tail(low - 1)

    def _right(self, low: int, high: int, power: int) -> arb:
        law, shift = self.facing.law, self.facing.shift
        if high == law.support[1] and not self.pair.removing:
            return arb(0)
        if not self.window.between(low, high)[1][-1] <= 0:
            return arb.pos_inf()
        other = self.upper_tail(high + 1 - shift)
        if self.pair.removing:
            return (-(-self.rate).log1p()) ** power * other
        return arb("2.2") * other if power else self.upper_tail(high + 1)

    # -- where --------------------------------------------------------------------------------

    def _by_binomial(self, order: Fraction) -> arb | None:
        if not self.pair.removing or order.denominator != 1 or order > _LARGEST_WHOLE:
            return None
        if self.plain.closed(Fraction(2)) is None:
            return None
        whole, total = int(order), arb(0)
        odds = self.rate / (1 - self.rate)
        for k in range(whole + 1):
            own = self.plain.closed(Fraction(k)) if k > 1 else arb(1)
            assert own is not None
            total += math.comb(whole, k) * odds**k * own
        return total * (1 - self.rate) ** whole

    def _bulk(self, order: float) -> tuple[int, int]:
        """A window, chosen in floats, from where the loss is positive to where it is negative."""
        law, shift = self.facing.law, self.facing.shift
        moments = law.moments()
        spread = 10 * float(moments.variance.upper) ** 0.5 + 10
        centre = round(float(moments.mean.lower))
        reach = (order - 1) * shift if self.pair.removing else 0
        low, high = highest(
            lambda grid: self._heights(order, grid),
            round(reach + spread) + abs(centre),
            round(shift + spread) + abs(centre),
        )
        low, high = min(low, centre), max(high, centre + shift)
        if self.pair.removing:  # so that the support has no ends, and the law is symmetric
            return left_end(self.facing, order, low, high), high
        least, most = law.support
        return low if least is None else max(low, least), high if most is None else min(high, most)

    def _heights(self, order: float, grid: NDArray[np.int64]) -> NDArray[np.float64]:
        """Logarithms of the terms, about."""
        law, q = self.facing.law, float(self.pair.rate)
        near, far = law.log_pmf(grid), law.log_pmf(grid - self.facing.shift)
        base, other = (far, near) if self.pair.removing else (near, far)
        with np.errstate(invalid="ignore"):
            mixture = np.logaddexp(math.log1p(-q) + base, math.log(q) + other)
            power = order if self.pair.removing else 1 - order
            heights = base + power * (mixture - base)
        return cast("NDArray[np.float64]", np.where(np.isnan(heights), -np.inf, heights))


def _rounded(order: Fraction) -> float:
    """An order nearby whose window serves: orders that are searched share a few."""
    return 1 + 2 ** (math.ceil(8 * math.log2(order - 1)) / 8) if order > 1 else 1.0


@lru_cache(maxsize=4)
def sampled_sums(pair: SampledPair, bits: int) -> SampledSums:
    """The sums of this pair at the working precision: orders asked for in turn share a window."""
    return SampledSums(pair)
