"""One use on a lattice: which of its cells every outcome is in, and what bounds it from both sides.

*From above, split.* A cell holds outcomes with losses from a = k h to b = a + h, of P- and Q-masses
p and q. Each is split among the losses a and b with its own p and q kept: merging the halves gives
it back, so the split pair dominates. Together that is (p - q e^a)/(1 - e^-h) at b and
(q e^a - p e^-h)/(1 - e^-h) at a. An outcome of which only loss <= b is certain has at b what it had
if it were above a, and all of p at a: less of it there, or a loss below a, costs less.
*From below.* The cell's number is a statistic of the outcome (`grid`). Any would do.

Losses that are known to lie on the lattice are not rounded at all.

*Several pairs* of which an adversary may pick one at every use: one that dominates all of them.
H(g) = sup over the pairs of sum (P - g Q)+ is convex, so that its chords between any points
g = e^(k h), from H(0) = 1 on the left and flat on the right, lie above it. They are the profile of
a pair with the losses k h whose P-masses are g times the changes of slope. Splitting keeps every
pair's own profile at these points. Between two losses the profiles are lines in g: points are the
losses of all, and where the highest changes in between.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from mpmath import iv

from .arithmetic import Interval, OpenError, ceiling, certainly, exp, floor, value
from .deadline import check_time
from .divergences import Listed
from .grid import MOST_POINTS, Grid, Sum

_MOST_STEPS = 64  # by which a cell that floats tell is corrected
_LARGEST = 700.0  # exponents of doubles


@dataclass
class Points:
    """One loss: masses by their place on a lattice of 2^level steps, in fixed point."""

    level: int = 0

    dear: dict[int, int] = field(default_factory=dict)
    p: dict[int, int] = field(default_factory=dict)
    q: dict[int, int] = field(default_factory=dict)
    infinite: tuple[int, int] = (0, 0)  # P from below and from above

    def below(self, grid: Grid) -> Sum:
        """P from below and Q from above."""
        return self._dense([self.p, self.q], self.infinite[0], grid)

    def above(self, grid: Grid) -> Sum:
        """P from above."""
        return self._dense([self.dear], self.infinite[1], grid)

    def _dense(self, columns: Sequence[dict[int, int]], infinite: int, grid: Grid) -> Sum:
        first, last = min(columns[0], default=0), max(columns[0], default=0)
        if last - first > 4 * MOST_POINTS:
            raise OpenError("the grid is too fine to compose on")
        whole = tuple([each.get(k, 0) for k in range(first, last + 1)] for each in columns)
        return Sum(first, whole, infinite, self.level, 1).kept(grid)


def _add(masses: dict[int, int], k: int, mass: int) -> None:
    masses[k] = masses.get(k, 0) + mass


@dataclass(frozen=True)
class Range:
    """Losses, in nats, below and above which nothing is told apart."""

    lowest: float
    highest: float


def on_lattice(pair: Listed, places: Sequence[int], grid: Grid) -> Points:
    """Losses at these places."""
    found, bits = Points(), grid.bits
    least, most = 0, ceiling(pair.rest, bits)
    for place, p, q in zip(places, pair.p, pair.q, strict=True):
        low, high = max(floor(p, bits), 0), ceiling(p, bits)
        if not certainly(q > 0):
            most += max(high, 0)
            least += low if certainly(q <= 0) else 0
        elif high > 0:
            _add(found.dear, place, high)
            _add(found.p, place, low)
            _add(found.q, place, ceiling(q, bits))
    found.infinite = least, most
    return found


def off_lattice(pairs: Sequence[Listed], within: Range, grid: Grid) -> Points:
    """From below, of the first pair; and from above, of all of them."""
    placed = [_Placed(pair, within, grid) for pair in pairs]
    level = max(one.level for one in placed)
    found = [one.on(level) for one in placed]
    if len(found) > 1:
        found[0].dear, most = _enveloped(found, level, grid)
        found[0].infinite = found[0].infinite[0], most
    return found[0]


class _Placed:
    """Outcomes as integers, and about where their losses are."""

    def __init__(self, pair: Listed, within: Range, grid: Grid) -> None:
        self._pair, self._within, self._grid, bits = pair, within, grid, grid.bits
        self._outcomes: list[tuple[int, int, int, int, float]] = []
        self._infinite = [0, ceiling(pair.rest, bits)]
        for p, q in zip(pair.p, pair.q, strict=True):
            p_low, p_high = max(floor(p, bits), 0), ceiling(p, bits)
            q_low, q_high = max(floor(q, bits), 0), ceiling(q, bits)
            if p_high <= 0:
                continue
            if q_high <= 0:
                self._infinite[0] += p_low
                self._infinite[1] += p_high
                continue
            loss = math.log(p_low + p_high) - math.log(q_low + q_high)
            loss = max(min(loss, within.highest), within.lowest)
            self._outcomes.append((p_low, p_high, q_low, q_high, loss))
        self._step = float(value(grid.step)[1])
        losses = [each[-1] for each in self._outcomes]
        span = max(losses, default=0.0) - min(losses, default=0.0)
        self.level = pair.level
        while span > grid.longest * self._step * 2.0**self.level:
            self.level += 1

    def on(self, level: int) -> Points:
        """In cells of so many steps."""
        bits, infinite = self._grid.bits, list(self._infinite)
        edge = _Edges(self._grid.step * 2**level, bits)
        step = self._step * 2.0**level
        found = Points(level)
        inside: dict[int, list[int]] = {}
        for p_low, p_high, q_low, q_high, loss in self._outcomes:
            k = math.floor(loss / step)
            _add(found.p, k, p_low)
            _add(found.q, k, q_high)
            top = k + _MOST_STEPS if q_low else k
            while k < top and p_high << bits > q_low * edge.below(k + 1):
                k += 1
            if k >= top or loss >= self._within.highest:
                infinite[1] += p_high
            elif p_low << bits >= q_high * edge.above(k):
                cell = inside.setdefault(k, [0, 0, 0, 0])
                for index, mass in enumerate((p_low, p_high, q_low, q_high)):
                    cell[index] += mass
            else:
                _add(found.dear, k, p_high)
                far = edge.far(p_high, q_low, k)
                if far:
                    _add(found.dear, k + 1, far)
        for k, (p_low, p_high, q_low, q_high) in inside.items():
            _add(found.dear, k, edge.near(p_low, p_high, q_high, k))
            _add(found.dear, k + 1, edge.far(p_high, q_low, k))
        found.infinite = infinite[0], infinite[1]
        return found


class _Edges:
    """Between the cells: e^(k h), and what is split among the two of a cell."""

    def __init__(self, step: Interval, bits: int) -> None:
        self._step, self._bits = step, bits
        self._known: dict[int, tuple[int, int]] = {}
        shrunk = exp(-step)
        self._share = ceiling(1 / (1 - shrunk), bits)
        self._shrunk = floor(shrunk, bits)

    def below(self, k: int) -> int:
        """2^bits e^(k h) from below."""
        return self._at(k)[0]

    def above(self, k: int) -> int:
        """And from above."""
        return self._at(k)[1]

    def _at(self, k: int) -> tuple[int, int]:
        if k not in self._known:
            found = exp(self._step * k)
            self._known[k] = floor(found, self._bits), ceiling(found, self._bits)
        return self._known[k]

    def far(self, p_high: int, q_low: int, k: int) -> int:
        """Of the cell's mass what is at its upper end, at most."""
        rest = (p_high << self._bits) - q_low * self.below(k)
        return min(self._shared(rest), p_high)

    def near(self, p_low: int, p_high: int, q_high: int, k: int) -> int:
        """And at its lower end."""
        return min(self._shared(q_high * self.above(k) - p_low * self._shrunk), p_high)

    def _shared(self, rest: int) -> int:
        return max(-(-rest * self._share >> 2 * self._bits), 0)


def _enveloped(pairs: Sequence[Points], level: int, grid: Grid) -> tuple[dict[int, int], int]:
    """One pair that dominates all of these: its masses, and that of an infinite loss."""
    step, bits = grid.step * 2**level, grid.bits
    losses = sorted(set().union(*(one.dear for one in pairs))) or [0]
    edges = _Edges(step, bits)
    profiles = [_Profile(one, losses[-1], edges) for one in pairs]

    @cache
    def highest(k: int) -> tuple[int, int]:
        """The highest profile at e^(k h), and whose it is."""
        check_time()
        return max((one.above(k), index) for index, one in enumerate(profiles))

    chosen, pending = set(losses), list(itertools.pairwise(losses))
    while pending:
        k, end = pending.pop()
        two = profiles[highest(k)[1]], profiles[highest(end)[1]]
        if two[0] is not two[1] and end - k > 1:
            gain, less = (two[0].above(x) - two[1].above(x) for x in (k, end))
            meet = k + _where_met(gain, less, float(value(step)[1]), end - k)
            chosen.add(meet)
            pending += [(k, meet), (meet, end)]
    ordered, found = sorted(chosen), {}
    heights = list(itertools.accumulate((highest(k)[0] for k in reversed(ordered)), max))[::-1]
    change = iv.mpf((1 << bits) - heights[0])
    for index, k in enumerate(ordered):
        found[k] = change
        if k != ordered[-1]:
            fall, gap = heights[index] - heights[index + 1], step * (ordered[index + 1] - k)
            found[k], change = change - fall / (exp(gap) - 1), fall / (1 - exp(-gap))
    return {k: max(ceiling(mass, 0), 0) for k, mass in found.items()}, heights[-1]


class _Profile:
    """P(L > k h) - e^(k h) Q(L > k h) of one pair from above."""

    def __init__(self, points: Points, last: int, edges: _Edges) -> None:
        self._losses, self._last, self._edges = sorted(points.dear), last, edges
        self._p, self._q = [points.infinite[1]], [0]  # of the k largest; Q times e^(last h)
        for k in reversed(self._losses):
            self._p.append(self._p[-1] + points.dear[k])
            self._q.append(self._q[-1] + points.dear[k] * edges.below(last - k))

    def above(self, k: int) -> int:
        larger = len(self._losses) - bisect_right(self._losses, k)
        return self._p[larger] - self._q[larger] // self._edges.above(self._last - k)


def _where_met(gain: int, less: int, step: float, gap: int) -> int:
    """About where a line in e^(k h) that falls from a gain is 0. Any place between would do."""
    span = math.expm1(min(gap * step, _LARGEST)) * max(gain / max(gain - less, 1), 0.0)
    return max(min(round(math.log1p(span) / step), gap - 1), 1)
