"""Sums of independent losses on a lattice: masses are integers, rounded one way, and multiplied.

*One column* holds P from above: more mass, or mass moved to larger losses, costs more. *Two* hold P
from below and Q from above of a statistic T of what is seen, a whole number, over the event that
all sums of T on the way stayed in a window: delta >= P(T >= t) - e^level Q(T >= t) on it, for every
t. Which statistic is free; it is the number of the loss's cell.

Sums of n losses, each rounded by about a step, may live on a lattice coarser by sqrt(n). A mass
between two points of it is split among them above, as `cells` splits those of a cell, and counts
with the one below in T.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from mpmath import iv

from .arithmetic import (
    INFINITY,
    End,
    Interval,
    ceiling,
    convolve,
    exp,
    floor,
    interval,
    repeated,
    value,
)
from .deadline import check_time

MOST_POINTS = 40_000
_LONGEST = 12_000_000  # bits of a polynomial that is multiplied
_HIGHEST = 4000  # exponents that are told apart


@dataclass(frozen=True)
class Grid:
    """A lattice 2^level step, how masses are kept on it, and how fine sums of n losses are told.

    tiny: what may be cut off at either end of one loss. coarse: a step for one loss that is fine
    enough; None: no sum need be rounded.
    """

    step: Interval
    bits: int
    tiny: int
    coarse: float | None
    shrunk: Callable[[int], Interval]  # e^(-2^level step)

    @staticmethod
    def of(step: Interval, bits: int, tiny: int, coarse: float | None) -> Grid:
        return Grid(
            step, bits, tiny, coarse, lru_cache(maxsize=None)(lambda level: exp(-step * 2**level))
        )

    @property
    def longest(self) -> int:
        """Points of a sum."""
        return min(MOST_POINTS, _LONGEST // (2 * self.bits))

    def is_fine(self, level: int, uses: int) -> bool:
        """Are sums of so many losses told finely on a lattice twice as coarse as this?"""
        if self.coarse is None:
            return False
        return float(value(self.step)[1]) * 2.0 ** (level + 1) <= self.coarse * math.sqrt(uses)


@dataclass(frozen=True)
class Sum:
    """So many losses: masses at (low + k) 2^level step, k = 0, 1, ..., and at infinity."""

    low: int
    columns: tuple[list[int], ...]
    infinite: int
    level: int = 0
    uses: int = 0

    def plus(self, other: Sum, grid: Grid) -> Sum:
        """The sum of two independent ones."""
        a, b = self, other
        while a.level < b.level:
            a = a._coarsened(grid)
        while b.level < a.level:
            b = b._coarsened(grid)
        bits, up = grid.bits, len(a.columns) == 1
        columns = tuple(
            convolve(p, q, bits, up or index == 1)
            for index, (p, q) in enumerate(zip(a.columns, b.columns, strict=True))
        )
        # 1 - (1 - a)(1 - b), rounded up or down: it rises in both up to 1
        far = [min(each.infinite, 1 << bits) for each in (a, b)]
        both = far[0] * far[1]
        infinite = sum(far) - ((both if up else both + (1 << bits) - 1) >> bits)
        found = Sum(a.low + b.low, columns, max(infinite, 0), a.level, a.uses + b.uses)
        return found.kept(grid)

    def times(self, count: int, grid: Grid) -> Sum:
        """So many of these, count > 0."""
        return repeated(self, count, lambda a, b: a.plus(b, grid))

    def kept(self, grid: Grid) -> Sum:
        """Without what hardly weighs at either end, and as coarse as it may be."""
        found = self._cut(grid.tiny * self.uses)
        while grid.is_fine(found.level, found.uses) or len(found.columns[0]) > grid.longest:
            found = found._coarsened(grid)
        return found

    def _cut(self, most: int) -> Sum:
        p, infinite = self.columns[0], self.infinite
        first, last, lost, cut = 0, len(p), 0, 0
        while first < last - 1 and lost + p[first] <= most:
            lost += p[first]
            first += 1
        while last - 1 > first and cut + p[last - 1] <= most:
            last -= 1
            cut += p[last]
        kept = tuple(column[first:last] for column in self.columns)
        if len(kept) == 1:  # small losses count as the least one kept, large ones as infinite
            kept[0][0] += lost
            infinite += cut
        return Sum(self.low + first, kept, infinite, self.level, self.uses)

    def _coarsened(self, grid: Grid) -> Sum:
        """On a lattice of twice the step."""
        check_time()
        odd = self.low % 2
        padded = [[0] * odd + column + [0] * ((len(column) + odd) % 2) for column in self.columns]
        if len(padded) == 1:
            (column,), bits, shrunk = padded, grid.bits, grid.shrunk(self.level)
            up, down = ceiling(1 / (1 + shrunk), bits), ceiling(shrunk / (1 + shrunk), bits)
            between = column[1::2]
            raised = zip([*column[::2], 0], [*between, 0], [0, *between], strict=True)
            columns = [
                [mass - (-(here * down + below * up) >> bits) for mass, here, below in raised]
            ]
        else:
            columns = [list(map(sum, zip(each[::2], each[1::2], strict=True))) for each in padded]
        low = (self.low - odd) // 2
        return Sum(low, tuple(columns), self.infinite, self.level + 1, self.uses)

    def at_most(self, level: End, origin: Interval, grid: Grid, spare: Interval) -> End:
        """An upper bound of delta(level), level >= 0: of sum P (1 - e^(level - loss))+.

        origin: to be added to all losses. spare: what any probability may be off by.
        """
        if level == INFINITY:
            return Fraction(1)
        here, (masses,) = interval(Fraction(level)), self.columns
        step = grid.step * 2**self.level
        above = origin + step * (self.low + len(masses) - 1) - here
        bits = grid.bits + 16 + max(0, math.ceil(1.5 * min(value(above)[1], _HIGHEST)))
        one, found = 1 << bits, 0
        weight, growth = floor(exp(-above), bits), floor(exp(step), bits)
        for mass in reversed(masses):  # from the largest loss down, e^(level - loss) from below
            if weight >= one:
                break
            found += mass * (one - weight)
            weight = weight * growth >> bits
        check_time()
        whole = (iv.ldexp(iv.mpf(found), -bits) + self.infinite) * iv.ldexp(iv.mpf(1), -grid.bits)
        return min(value(whole + spare * (1 + exp(here)))[1], Fraction(1))

    def at_least(self, level: End, grid: Grid, spare: Interval) -> End:
        """A lower bound of delta(level), level >= 0."""
        unit = iv.ldexp(iv.mpf(1), -grid.bits)
        if level == INFINITY:  # a pair within the slack has some Q everywhere
            return Fraction(0) if value(spare)[1] else Fraction(value(self.infinite * unit)[0])
        odds = exp(interval(Fraction(level)))
        about, gain, best, start = ceiling(odds, 64), 0, 0, len(self.columns[0])
        both = zip(*self.columns, strict=True)
        for k, (p, q) in reversed(list(enumerate(both))):  # the threshold, about
            gain += (p << 64) - about * q
            if gain > best:
                best, start = gain, k
        check_time()
        p, q = (sum(column[start:]) for column in self.columns)
        least = (iv.mpf(p + self.infinite) - odds * q) * unit
        return max(Fraction(value(least - spare * (1 + odds))[0]), Fraction(0))
