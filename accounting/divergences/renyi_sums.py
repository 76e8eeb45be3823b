"""Rényi sums M(a) = sum P(x)^a Q(x)^(1-a) of a shifted pair, with derivatives in the order a.

With the loss L = log P/Q, M(a) = E_P e^((a-1)L), and the derivatives weigh each term with a power
of L. A window around the largest term is summed in balls; what lies outside is bounded:

*Left of the window* the loss is positive. Where it is bounded, the rest is at most
e^((a-1) sup L) P(X < low). Elsewhere neighbouring terms t(y-1)/t(y) have the ratio
exp(-s(y) + (a-1)(s(y-d) - s(y))), s(y) = log p(y)/p(y-1); s falls (log-concavity) and
`BoundedCurvature.steepening` bounds the bracket for all y <= low: a geometric series.

*Right of the window*, if it reaches d: the loss is negative there and for log-concave p still
falls, so the terms fall at least as fast as p. If the window ends left of 0, the ratio
t(x+1)/t(x) = exp(s(x+1) - (a-1)(s(x+1-d) - s(x+1))) is at most that at the window's end, with
`BoundedCurvature.flattening` bounding the bracket from below up to 0; beyond 0, L <= L(0).

*Powers of the loss.* Left, L(y-1)/L(y) <= 1 + steepening/L(low): one more factor in the ratio.
Right, up to 0 at most the value at the window's end, up to d at most that at 0 (by symmetry);
beyond, y^j <= 2.2 e^(y/2) for y >= 0, j = 1, 2 (the maximum of y^2 e^(-y/2) is 16 e^-2) makes
p(x)|L|^j <= 2.2 sqrt(p(x) p(x-d)) <= 2.2 p(x-d), as p falls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from flint import arb, arb_series, ctx
from numpy.typing import NDArray

from ...exact.budget import spend
from ...exact.number import ball
from ...mechanisms.laws.closed_forms import BoundedCurvature, ClosedRenyi, RenyiSeries
from ...mechanisms.laws.law import Law
from ...mechanisms.shift_pair import ShiftPair

_MOST_TERMS = 12_000_000
_FARTHEST = 1 << 60
_GRID = 1024
_BLOCK = 1024
_LONGEST_BLOCK = 1 << 16
_MOST_EXTENSIONS = 30
_FIRST, _TERM = 0.3, 0.5  # units that the law at an outcome takes, and each factor of its term


class Window:
    """log p and the loss, outcome by outcome, computed in blocks as orders need them."""

    def __init__(self, pair: ShiftPair) -> None:
        self.pair = pair
        # the first value of a block costs an integral: about as many blocks for every spread
        spread = int(min(float(pair.law.moments().variance.upper) ** 0.5, _LONGEST_BLOCK))
        self.length = max(_BLOCK, 2 * pair.shift, min(8 * spread, _LONGEST_BLOCK))
        self.blocks: dict[int, tuple[list[arb], list[arb]]] = {}

    def between(self, low: int, high: int) -> tuple[list[arb], list[arb]]:
        """log p(x) and loss(x) for x = low, ..., high."""
        if high - low > _MOST_TERMS:
            raise ArithmeticError(
                f"a Rényi sum over {high - low} outcomes is too long (at most {_MOST_TERMS})"
            )
        log_p: list[arb] = []
        losses: list[arb] = []
        for index in range(low // self.length, high // self.length + 1):
            logs, lost = self._block(index)
            first = max(low - index * self.length, 0)
            last = high + 1 - index * self.length
            log_p += logs[first:last]
            losses += lost[first:last]
        return log_p, losses

    def _block(self, index: int) -> tuple[list[arb], list[arb]]:
        if index not in self.blocks:
            shift, first = self.pair.shift, index * self.length
            spend(_FIRST * self.length)
            balls = self.pair.law.balls(first - shift, first + self.length - 1)
            logs = [p.log() for p in balls]
            losses = [p - q for p, q in zip(logs[shift:], logs, strict=False)]
            self.blocks[index] = (logs[shift:], losses)
        return self.blocks[index]


class RenyiSums:
    """Rényi sums of one pair at the working precision of its creation."""

    def __init__(self, pair: ShiftPair) -> None:
        self.pair = pair
        self.window = Window(pair)

    def closed(self, order: Fraction) -> arb | None:
        """M(order) in closed form, if the law has one."""
        law, shift = self.pair.law, self.pair.shift
        return law.renyi_sum(ball(order), shift) if isinstance(law, ClosedRenyi) else None

    def at(self, order: Fraction) -> arb:
        """M(order), order > 1."""
        closed = self.closed(order)
        return self.summed(order, 0)[0] if closed is None else closed

    def derivatives(self, order: Fraction) -> tuple[arb, arb, arb]:
        """M, M' and M'' at order >= 1."""
        law = self.pair.law
        if isinstance(law, RenyiSeries):
            series = law.renyi_series(arb_series([ball(order), 1], prec=3), self.pair.shift)
            return series[0], series[1], 2 * series[2]
        first, second, third = self.summed(order, 2)
        return first, second, third

    def summed(self, order: Fraction, powers: int) -> list[arb]:
        """sum P^order Q^(1-order) L^j for j = 0, ..., powers, by the window."""
        low, high = _bulk(self.pair, float(order))
        rise = ball(order - 1)
        spend(_TERM * (high - low) * (powers + 2))
        logs, losses = self.window.between(low, high)
        terms = [(log + rise * loss).exp() for log, loss in zip(logs, losses, strict=True)]
        sums = []
        for power in range(powers + 1):
            if power:
                terms = [term * loss for term, loss in zip(terms, losses, strict=True)]
            sums.append(sum(terms, arb(0)))
        left, right = edges(self.pair, logs, losses)
        for power in range(powers + 1):
            rest = left_rest(self.pair, rise, low, left, power)
            rest += _right_rest(self.pair, rise, high, right, power)
            sums[power] += (-rest).union(rest) if power % 2 else arb(0).union(rest)
        return sums

    def within(self, order: Fraction) -> tuple[int, int, arb]:
        """A window low, ..., high around the bulk, and the part of M(order) that it has."""
        low, high = _bulk(self.pair, float(order))
        rise, law, shift = ball(order - 1), self.pair.law, self.pair.shift
        ends = []
        for x, inward in ((low, low + 1), (high, high - 1)):
            end = Edge(law.ball(x).log(), law.loss(x, shift))
            if law.log_concave:
                end = end._replace(next_p=law.ball(inward).log(), next_loss=law.loss(inward, shift))
            ends.append(end)
        outside = left_rest(self.pair, rise, low, ends[0], 0)
        outside += _right_rest(self.pair, rise, high, ends[1], 0)
        return low, high, (self.at(order) - outside).max(arb(0))


@lru_cache(maxsize=4)
def shared_sums(pair: ShiftPair, bits: int) -> RenyiSums:
    """The sums of this pair at the working precision: orders asked for in turn share a window."""
    return RenyiSums(pair)


class Edge(NamedTuple):
    """log p and the loss at an end of a window, and one outcome further in (p log-concave).

    For log-concave p the slope s at the end bounds all slopes beyond it.
    """

    log_p: arb
    loss: arb
    next_p: arb | None = None
    next_loss: arb | None = None


def edges(pair: ShiftPair, logs: Sequence[arb], losses: Sequence[arb]) -> tuple[Edge, Edge]:
    """Both ends of a window with these log p and losses."""
    left, right = Edge(logs[0], losses[0]), Edge(logs[-1], losses[-1])
    if pair.law.log_concave:
        left = left._replace(next_p=logs[1], next_loss=losses[1])
        right = right._replace(next_p=logs[-2], next_loss=losses[-2])
    return left, right


def left_rest(pair: ShiftPair, rise: arb, low: int, edge: Edge, power: int) -> arb:
    """A bound of the sum of P e^(rise L) L^power left of a window from `low` <= 0 on."""
    law, limit = pair.law, pair.law.loss_limit(pair.shift)
    if limit is not None:
        largest = edge.loss if law.log_convex_sides else ball(limit)
        return (rise * largest).exp() * law.lower_tail(low - 1) * largest**power
    growth = _bent(law).steepening(low, pair.shift)
    if edge.next_p is None or not edge.loss > 0:
        return arb.pos_inf()
    ratio = (rise * growth - (edge.next_p - edge.log_p)).exp()
    ratio *= (1 + growth / edge.loss) ** power
    return (edge.log_p + rise * edge.loss).exp() * edge.loss**power * _geometric(ratio)


def _right_rest(pair: ShiftPair, rise: arb, high: int, edge: Edge, power: int) -> arb:
    law, shift = pair.law, pair.shift
    if edge.next_p is None or edge.next_loss is None:
        return arb("2.2") * law.upper_tail(high + 1 - shift) if power else law.upper_tail(high + 1)
    slope = edge.log_p - edge.next_p
    if high >= shift:
        if not power:
            return (edge.log_p.exp() * _geometric(slope.exp())).min(arb(1))
        log_q, next_q = edge.log_p - edge.loss, edge.next_p - edge.next_loss
        return arb("2.2") * (log_q.exp() * _geometric((log_q - next_q).exp())).min(arb(1))
    flat = _bent(law).flattening(high + 1, shift)  # `_bulk` ends no other window left of the shift
    to_zero = (edge.log_p + rise * edge.loss).exp() * edge.loss**power
    to_zero *= _geometric((slope - rise * flat).exp())
    at_zero = _loss_at_zero(pair, ctx.prec)
    return to_zero + (rise * at_zero).exp() * at_zero**power + (arb("2.2") if power else 0)


def _bent(law: Law) -> BoundedCurvature:
    if isinstance(law, BoundedCurvature):
        return law
    raise NotImplementedError(f"{type(law).__name__} has no bound on its second differences")


def _geometric(ratio: arb) -> arb:
    """The sum of ratio^k over k >= 1, infinite unless ratio < 1 for certain."""
    return ratio / (1 - ratio) if ratio < 1 else arb.pos_inf()


@lru_cache(maxsize=64)
def _loss_at_zero(pair: ShiftPair, bits: int) -> arb:
    return pair.law.loss(0, pair.shift)


def _extended(pair: ShiftPair, order: float, low: int, step: int) -> int:
    """Move this end out until `left_rest` can bound what precedes it by a geometric series."""
    law, shift = pair.law, pair.shift
    growth = float(_bent(law).steepening(low, shift).mid())
    for _ in range(_MOST_EXTENSIONS):
        inner, here, shifted = law.log_pmf(np.array([low + 1, low, low - shift]))
        if inner - here > (order - 1) * growth + 2.1 * growth / max(here - shifted, 1e-300):
            break
        low -= step
    return low


def _ends_falling(pair: ShiftPair, order: float, high: int) -> bool:
    """Can `_right_rest` bound what follows this end, left of 0, by a geometric series?"""
    law = pair.law
    if not isinstance(law, BoundedCurvature) or law.loss_limit(pair.shift) is not None:
        return False
    flat = law.flattening(high + 1, pair.shift)
    inner, here = pair.law.log_pmf(np.array([high - 1, high]))
    return float(here - inner) < 0.999 * (order - 1) * float(flat.mid())


def _bulk(pair: ShiftPair, order: float) -> tuple[int, int]:
    """The window outside which the terms are negligible at the working precision.

    Chosen in floats on a grid: a poor choice makes the result wide, never wrong.
    """
    law, shift = pair.law, pair.shift
    spread = 10 * float(law.moments().variance.upper) ** 0.5 + 10

    def height(grid: NDArray[np.int64]) -> NDArray[np.float64]:
        return order * law.log_pmf(grid) - (order - 1) * law.log_pmf(grid - shift)

    low, high = highest(height, round((order - 1) * shift + spread), round(shift + spread))
    low = left_end(pair, order, low, high)
    if high >= -1 or not _ends_falling(pair, order, high):
        high = max(high, shift)
    return low, high


def highest(
    height: Callable[[NDArray[np.int64]], NDArray[np.float64]], left: int, right: int
) -> tuple[int, int]:
    """About where the terms of these logarithms matter, from a first guess -left, ..., right."""
    drop = 0.42 * ctx.prec
    while True:
        if left + right > _FARTHEST:
            raise ArithmeticError("the terms of a Rényi sum lie too far out")
        grid = np.unique(np.linspace(-left, right, _GRID).round().astype(np.int64))
        heights = height(grid)
        kept = np.flatnonzero(heights > heights.max() - drop)
        if not kept.size:
            raise ArithmeticError("where the terms of a Rényi sum matter is not known in floats")
        if kept[0] == 0:
            left *= 4
        elif kept[-1] == len(grid) - 1:
            right *= 4
        elif len(kept) < _GRID // 64 and len(grid) == _GRID:
            left, right = -int(grid[kept[0] - 1]), int(grid[kept[-1] + 1])
        else:
            return int(grid[kept[0] - 1]), int(grid[kept[-1] + 1])


def left_end(pair: ShiftPair, order: float, low: int, high: int) -> int:
    """From where on `left_rest` can bound what lies left of a window that starts about here."""
    low = min(low, 0)
    if pair.law.log_concave and pair.law.loss_limit(pair.shift) is None:
        return _extended(pair, order, low, max(1, (high - low) // 4))
    return low
