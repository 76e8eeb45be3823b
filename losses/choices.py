"""The exact cost of adversaries who choose at every use: delta(level) and its inverse.

Each use has a menu of losses, each of one pair (P, Q). Knowing all outcomes so far, the adversary
chooses which is next. With x = e^level still to beat, an optimal test gains V_0(x), where

    V_K(x) = (1 - x)^+,    V_k(x) = max over the menu of E_P V_(k+1)(x e^-L) + P(L = infinity):

P(accept) - x Q(accept) is linear in what follows, so that after one outcome of ratio e^L = P/Q the
rest is the same game at x e^-L, times P, and Q(outcome) > 0 = P(outcome) is never accepted. (1-x)^+
is convex, non-increasing, 1 at x = 0 and within [0, 1]; each step keeps all of it, since x e^-L is
linear in x, maxima of convex functions are convex, and at x = 0 the probabilities add up to 1.

*Order.* Nothing promises the order of the uses: delta is the supremum over all orders, chosen on
the way as well. Let T and M be the step of a use with one loss and of one with a menu. T M V =
E_T max_P (...) >= max_P E_T (...) = M T V, as steps of single losses commute: it never hurts to put
the uses with one loss first, where the adversary still learns from them. So these come first in
time, in any order, and only the uses of several different menus need all ways to interleave them:
a table for each way to count what is left.

*Above.* Let x = e^-y. V rises in y and is convex in e^-y, so that coins (`cells`), one in each use,
only raise E V(y + L), and what they raise keeps all of that: the game with W in place of L, played
on a lattice through y = -level, is worth at least as much. Missing outcomes count as infinite
losses: V <= 1. Beyond the last point V lies below the chord from (x = 0, V = 1) to it, before the
first one below its value there; V_0 between two levels below the chord in x.

*Below.* A policy goes by the sum of a statistic W' of the outcomes, here losses rounded to steps,
and accepts in the end with probability a under P and b under Q: it gains a - b x at every x,
whatever x it was made for. With beta = b x at each point, one use more makes sum P(W' = k) a and
sum Q(W' = k) e^(k step) beta, of the points k steps on. Before the first point stands the policy
that accepts infinite losses alone, beyond the last one that of the last. Missing outcomes are never
accepted.

*Width.* Chords and rounded losses cost O(step^2) a use. The level of a delta is found by moving the
lattice to where the best policy reaches it: Newton's method for a convex function.

*Rounding.* A sum of n non-negative products of floats is off by at most a factor (1 + u)^(n+1),
u = 2^-53, in any order, and by n 2^-1075 for products that underflow. Both are charged at every
step, in the right direction.

*Ends* of tables, chosen in floats, decide no more than the width. (1 - x)^+ <= C x^-c and (x - 1)^+
<= C x^(1+c), C = c^c/(1+c)^(1+c), give Chernoff bounds of what V is above its limit at infinity,
and above its tangent at 0.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from flint import arb

from ..exact.budget import spend
from ..exact.enclosure import Enclosure
from ..exact.errors import DoesNotApplyError
from ..exact.number import Real, ball
from ..exact.precision import enclose_between, floor_of, lower_float, upper_float, working_precision
from .cells import Loss, Reals, log_about, on_lattice

# The losses to pick from, and the number of uses.
Menu: TypeAlias = tuple[Sequence[Loss], int]
Counts: TypeAlias = tuple[float, ...]  # of uses, menu by menu
_Bounds: TypeAlias = tuple[arb, arb, arb | None]  # and through which level the next lattice goes

_BITS = 128
_SPEED = 1.2e9  # weights times points a second, about
_CALL = 600  # points that one more call of numpy is worth
_FEWEST, _FIRST = 48, 256  # points of a lattice
_LEAST_WIDTH = 1e-13  # what the rounding of floats allows
_FINER, _FINEST = 1.1, 8.0  # so much finer a lattice is than the one before
_ENOUGH = 8  # steps of a level, which then is a multiple of them
_LITTLE = 1e-9  # Newton's method aims at no more than that below a delta, relatively
_CHUNK = 8192  # points at a time: they stay in the processor's first cache
_UNIT, _TINY = 2.0**-52, 1e-305  # _TINY: more than what underflows in a sum of a million products
_FAR = 37  # e^-37 is below the roundoff
_NEVER = -1e9  # logarithm of what is 0
_UPWARD = np.array([[1.0], [-1.0], [1.0]])  # which way the rows of a table are rounded
_SLOPES = np.geomspace(1e-3, 1e6, 73)
_CONSTANTS = _SLOPES * np.log(_SLOPES) - (1 + _SLOPES) * np.log1p(_SLOPES)


def adaptive_delta(
    menus: Sequence[Menu],
    level: Real | int,
    width: Fraction = Fraction(1, 10**6),
    work: float = 4.0,
) -> Enclosure:
    """The largest delta(level), level >= 0, over all adversaries who choose at every use.

    width: the relative width to aim at.
    work: about how many seconds it may take; the result is as wide as that makes it.
    Raises DoesNotApplyError where even a coarse lattice is too much work.
    """
    with working_precision(_BITS):
        here = ball(level)
        game = _Game(menus, float(here))
        if game.largest <= here:
            return enclose_between(*game.limits)
        about = float(np.min(game.above(game.counts) - _SLOPES * game.level)) - 8
        game.log_delta = max(about, log_about(game.limits[0]), _NEVER)

        def measured(lattice: _Lattice, table: _Table) -> _Bounds:
            upper, a, beta = (arb(float(x)) for x in table.values[:, lattice.start - table.first])
            return (a - beta).max(game.limits[0]), upper, None

        return _narrowed(game, here, measured, width, work)


def adaptive_epsilon(
    menus: Sequence[Menu], delta: Fraction, width: Fraction = Fraction(1, 10**6), work: float = 4.0
) -> Enclosure:
    """The least level >= 0 with delta(level) <= delta, 0 < delta <= 1; see `adaptive_delta`."""
    with working_precision(_BITS):
        game, target = _Game(menus), ball(delta)
        if game.limits[0] > target:
            return Enclosure.infinite()
        most = game.largest.max(arb(0)) if game.limits[1] <= target else arb.pos_inf()
        if delta == 1 or most == 0 or game.is_void:
            return enclose_between(arb(0), arb(0) if delta == 1 else most)
        game.log_delta = log_about((target - game.limits[1]).lower().max(target.lower() * 1e-12))

        def measured(lattice: _Lattice, table: _Table) -> _Bounds:
            low, high, start = lattice.crossing(table, target)
            return low.min(most), high.min(most), start

        about = float(np.min((game.above(game.counts) - game.log_delta) / _SLOPES))
        return _narrowed(game, arb(max(about, 0.0)).min(game.largest), measured, width, work)


def _narrowed(
    game: _Game,
    level: arb,
    measured: Callable[[_Lattice, _Table], _Bounds],
    width: Fraction,
    work: float,
) -> Enclosure:
    """On ever finer lattices through this level, until the width is reached or the work is done."""
    left, aim = max(work, 0.01) * _SPEED, max(float(width), _LEAST_WIDTH)
    game.log_tail, step = math.log(aim), arb(game.span / _FIRST)
    low, high, gap = arb(0), arb.pos_inf(), math.inf
    while game.cost(step) > left and step * _FEWEST < game.span:
        step *= _FINER
    if game.cost(step) > 4 * left:
        raise DoesNotApplyError(
            f"tables for {game.tables} ways to play are more than the work allows"
        )
    while True:
        # the kink of V_K, at 0, is on the lattice as well
        enough = level > _ENOUGH * step
        lattice = _Lattice(game, level / -floor_of(-level / step) if enough else step)
        left -= game.cost(lattice.step)
        lower, upper, start = measured(lattice, lattice.played(level))
        low, high = low.max(lower).lower(), high.min(upper).upper()
        gap = math.inf if high == math.inf else float((high - low) / high) if high > low else 0.0
        if gap <= aim:
            break
        level = level if start is None else start.mid()
        finer = min(math.sqrt(gap / aim) * 1.2, _FINEST) if gap < 0.3 else 4.0
        while finer > _FINER and game.cost(step / finer) > left:
            finer /= 1.05
        if finer <= _FINER:
            break
        step = (step / finer).mid()
    return enclose_between(low, high)


class _Game:
    """All uses: the losses, which of them each menu has, and how often it is used."""

    def __init__(self, menus: Sequence[Menu], level: float = 0.0) -> None:
        """level: what the last table reaches at least."""
        menus = sorted((menu for menu in menus if menu[1]), key=lambda menu: len(menu[0]) == 1)
        self.losses = [loss for among, _ in menus for loss in among]
        numbers = iter(range(len(self.losses)))
        self.among = [[next(numbers) for _ in among] for among, _ in menus]
        self.counts = tuple(times for _, times in menus)
        self.choosing = sum(len(among) > 1 for among, _ in menus)  # menus, the first ones
        self.tables = math.prod(count + 1 for count in self.counts[: self.choosing])
        self.level, self.log_delta, self.log_tail = level, 0.0, 0.0
        kept, certain, self.largest = arb(1), arb(1), arb(0)  # no infinite loss, and certainly none
        for among, times in menus:
            kept *= (1 - max(loss.escaping().lower() for loss in among)) ** times
            beyond = max((loss.escaping() + loss.missing()).upper() for loss in among)
            certain *= (1 - beyond).max(arb(0)) ** times
            self.largest += times * max(loss.largest().upper() for loss in among)
        self.limits = (1 - kept).lower().max(arb(0)), (1 - certain).upper().min(arb(1))
        sketches = [loss.sketch() for loss in self.losses]
        self._above, self._below = (
            np.array([_cumulants(*sketch, slopes) for sketch in sketches])
            for slopes in (_SLOPES, -1 - _SLOPES)
        )
        self._ends = np.array([[x.min(initial=0), x.max(initial=0)] for x, _ in sketches])
        self._sizes = np.array([len(x) for x, _ in sketches])
        self.is_void = not self._sizes.any()  # are all losses infinite?

    def _of_all(self, left: Counts, terms: Reals) -> Reals:
        """The sum over all uses of the largest of each menu."""
        kinds = zip(self.among, left, strict=True)
        most = [count * terms[among].max(axis=0) for among, count in kinds]
        return np.asarray(np.sum(most, axis=0), dtype=np.float64)

    def above(self, left: Counts) -> Reals:
        """The logarithm of a bound of E (1 - e^-L)^+ by slope, with so many uses left."""
        return self._of_all(left, self._above) + _CONSTANTS

    def ends(self, left: Counts) -> tuple[float, float]:
        """Of y, beyond which about e^log_tail of delta is decided, with so many uses left."""
        log_tail = self.log_tail - 5 - math.log(sum(self.counts))
        lowest = float(np.min((self.above(left) - self.log_delta - log_tail) / _SLOPES))
        below = self._of_all(left, self._below) + _CONSTANTS - log_tail
        # beyond the largest loss all is constant, beyond the least linear
        least, most = self._of_all(left, self._ends * [-1, 1])
        lowest = max(min(lowest, float(most)), self.level if left == self.counts else 0.0)
        return -lowest, max(min(float(np.min(below / (1 + _SLOPES))), float(least)), 0.0)

    @property
    def span(self) -> float:
        """Of the longest table; single losses are not far more steps than it has points."""
        low, high = self.ends(self.counts)
        return max(high - low, min(float(np.abs(self._ends).max()), 50.0) / 50)

    def cost(self, step: arb) -> float:
        """Weights times points: two weights a loss above, one in two arrays below."""
        cost, h, parts = 0.0, float(step), range(1, 5)
        ends = [self.ends(tuple(i / 4 * count for count in self.counts)) for i in parts]
        points = sum(high - low for low, high in ends) / len(parts) / h + _CALL
        for kind, (among, count) in enumerate(zip(self.among, self.counts, strict=True)):
            shifts = self._ends[among].dot([-1 / h, 1 / h]) + 2
            weights = np.sum(16 + 4 * np.minimum(self._sizes[among], shifts))
            cost += float(weights) * (self.tables if kind < self.choosing else count)
        return cost * points


def _cumulants(losses: Reals, logs: Reals, slopes: Reals) -> Reals:
    """log E e^(slope L), about."""
    heights = np.outer(slopes, np.append(losses, 0)) + np.append(logs, _NEVER)
    most = heights.max(axis=1)
    return np.asarray(most + np.log(np.exp(heights - most[:, None]).sum(axis=1)))


class _Table(NamedTuple):
    """At the points from `first` on, by row: V from above, a from below, beta from above.

    infinite: a of the policy that accepts infinite losses alone.
    """

    first: int
    values: Reals
    infinite: float


class _Stencil(NamedTuple):
    """One use: the weights of the points so many steps on, row by row, and of infinite losses.

    finite: P of all others, from below.
    """

    rows: tuple[Sequence[tuple[int, float]], ...]
    infinite: Reals
    finite: float


class _Lattice:
    """A lattice of this step, and the losses' weights on it."""

    def __init__(self, game: _Game, step: arb) -> None:
        self.game, self.step, self.h = game, step.mid(), float(step.mid())
        self.start, self.origin = 0, arb(0)  # the point of the level; y of point 0
        self._far = math.ceil((game.span + _FAR) / self.h) + 16  # beyond which all ends alike
        self._stencils = [self._stencil(loss) for loss in game.losses]
        shifts = [k for stencil in self._stencils for row in stencil.rows for k, _ in row]
        self._down, self._up = min([0, *shifts]), max([0, *shifts])

    def _powers(self, indices: Reals, origin: float) -> Reals:
        """Bounds of e^-y at these points, from below and above."""
        y = origin + self.h * indices
        # exp is right within 4 units, its argument within 2 units of each of its parts
        error = _UNIT * (8 + 4 * (np.abs(y) + self.h))
        with np.errstate(over="ignore"):
            x = np.exp(-y)
        return np.asarray(np.stack((x * (1 - error), x * (1 + error) + _TINY)))

    def played(self, level: arb) -> _Table:
        """V_0, on points one of which is at this level."""
        self.start = -floor_of(level / self.step)
        self.origin = -level - self.step * self.start
        game, chosen = self.game, self.game.counts[: self.game.choosing]
        none = (0,) * len(game.counts)
        low, high = self._powers(np.arange(-2.0, 4.0), float(self.origin))
        upper, accept = np.maximum((1 - low) * (1 + 2 * _UNIT), 0), high < 1
        last = np.stack((upper, accept, np.where(accept, high, 0.0)))
        tables = {none[: game.choosing]: _Table(-2, last, 0.0)}
        for counts in itertools.product(*(range(count + 1) for count in chosen)):
            choices = []
            for kind in (kind for kind, count in enumerate(counts) if count):
                before = (*counts[:kind], counts[kind] - 1, *counts[kind + 1 :])
                choices.append((tables[before], game.among[kind]))
            if choices:
                tables[counts] = self._best(choices, (*counts, *none[game.choosing :]))
                # this was the last one made of the table with one use less of the first menu
                tables.pop((counts[0] - 1, *counts[1:]), None)
        table = tables[chosen]
        for kind in range(game.choosing, len(none)):
            for done in range(game.counts[kind]):
                left = (*game.counts[:kind], done + 1, *none[kind + 1 :])
                table = self._best([(table, game.among[kind])], left)
        return table

    def _best(self, choices: Sequence[tuple[_Table, Sequence[int]]], left: Counts) -> _Table:
        """One use more: the best over what may come after it and the losses to pick from."""
        low, high = self.game.ends(left)
        first, end = math.floor(low / self.h) - 2, math.ceil(high / self.h) + 3
        if left == self.game.counts:
            first, end = min(first, self.start - 2), max(end, self.start + 3)
        best, infinite = np.zeros((3, end - first)), 0.0
        for table, among in choices:
            padded, start = self._padded(table, first, end)
            for stencil in (self._stencils[number] for number in among):
                spend()
                pairs = zip(padded, stencil.rows, strict=True)
                rows = np.array([_summed(x, start, end - first, row) for x, row in pairs])
                error = _UNIT * (max(map(len, stencil.rows)) + 8)
                rows = (rows + stencil.infinite) * (1 + _UPWARD * error) + _UPWARD * _TINY
                np.maximum(best[0], rows[0], out=best[0])
                better = rows[1] - rows[2] > best[1] - best[2]
                np.copyto(best[1:], rows[1:], where=better)
                rare = (stencil.infinite[1, 0] + stencil.finite * table.infinite) * (
                    1 - 8 * _UNIT
                ) - _TINY
                infinite = max(infinite, rare)
        return _Table(first, np.minimum(best, [[1.0], [1.0], [np.inf]]), infinite)

    def _padded(self, table: _Table, first: int, end: int) -> tuple[Reals, int]:
        """With what is beyond its ends, and where the first point of another table is."""
        before = max(table.first - first - self._down, 0)
        after = max(end + self._up - table.first - table.values.shape[1], 0)
        upper, a, beta = table.values[:, -1]
        less, more = self._powers(np.arange(1.0, after + 1), 0.0)
        chord = np.minimum(1 - (1 - upper) * less * (1 - 4 * _UNIT) + 2 * _UNIT, 1)
        tail = np.array([chord, np.full(after, a), beta * more * (1 + 2 * _UNIT) + _TINY])
        head = np.repeat([[table.values[0, 0]], [table.infinite], [0.0]], before, axis=1)
        return np.concatenate((head, table.values, tail), axis=1), first - table.first + before

    def _stencil(self, loss: Loss) -> _Stencil:
        """Above, larger losses than `_far` count as infinite; below, they are rounded to it."""
        cells = loss.cells(self.step, 0.0, self._far)
        beyond, finite = (loss.escaping() + cells.missing).upper(), arb(0)
        rows = [defaultdict[int, arb](arb) for _ in range(3)]
        for k, (p, _) in on_lattice(cells.cells, self.step).items():
            if k > self._far:
                beyond += p.upper()
            else:
                rows[0][max(k, -self._far)] += p
        for low, high, p, q, _ in cells.cells:
            middle = (self.step * (low + high) / 2).exp()
            k = max(min(high if p > q * middle else low, self._far), -self._far)
            rows[1][k] += p
            rows[2][k] += q * (self.step * k).exp()
            finite += p
        bounds = (upper_float, _at_most, upper_float)
        weights = tuple(
            [(k, end(x)) for k, x in row.items()] for row, end in zip(rows, bounds, strict=True)
        )
        infinite = np.array([[upper_float(beyond)], [_at_most(loss.escaping())], [0.0]])
        return _Stencil(weights, infinite, _at_most(finite))

    def crossing(self, table: _Table, target: arb) -> tuple[arb, arb, arb]:
        """Bounds of the level >= 0 where V_0 is this; about where it is."""

        def level(point: int) -> arb:
            return -self.origin - self.step * (table.first + point)

        upper, a, beta = table.values
        low, high, start = arb(0), arb.pos_inf(), arb(0)
        useful = np.flatnonzero((a > upper_float(target)) & (beta > 0))
        if len(useful):
            logs = np.log((a[useful] - float(target)) / beta[useful])
            best = int(useful[np.argmax(logs - self.h * useful)])
            gain, b = arb(float(a[best])) - target, arb(float(beta[best]))
            error = arb(float(upper[best])) - float(a[best]) + b
            low = ((gain / b).log() + level(best)).max(low)
            start = (((gain + 2 * error.min(target * _LITTLE)) / b).log() + level(best)).max(low)
        under = np.flatnonzero(upper <= lower_float(target))
        if len(under):
            point = int(under[-1])
            high = level(point)
            if point + 1 < len(upper):
                here, before = arb(float(upper[point])), arb(float(upper[point + 1]))
                share = ((target - here) / (before - here)).min(arb(1))  # of the chord
                high += (1 + share * (-self.step).expm1()).log()
        return low, high.max(arb(0)), start


def _summed(padded: Reals, start: int, count: int, row: Sequence[tuple[int, float]]) -> Reals:
    """The sum of weight * padded[start + i + shift], for every i < count."""
    total, scratch = np.zeros(count), np.empty(min(_CHUNK, count))
    for low in range(0, count, _CHUNK):
        part = total[low : low + _CHUNK]
        terms = scratch[: len(part)]
        for shift, weight in row:
            at = start + low + shift
            np.multiply(padded[at : at + len(part)], weight, out=terms)
            part += terms
    return total


def _at_most(value: arb) -> float:
    return max(lower_float(value), 0.0)
