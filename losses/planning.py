"""What floats choose before anything is proved: tilt, window, step, which losses are rare.

Nothing certain rests on this file: a poor choice makes bounds wide, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ..exact.roots import float_root
from .cells import Reals

_SEEN = 500  # losses of one use that are looked at
# The most that tilt times deviation is: so much, and so many sqrt(2 log 1/delta).
_STEEPEST, _STEEPER = 96.0, 32.0
_MOST_RARE = 30  # uses that may have such a loss
_RARE = 1.0  # large losses that are expected in all uses, if these are told apart
_SPARE = -2.0  # e^-nats may be outside of a window of N points: 2 log N and so much
_SHARES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)  # of the tilt, that are tried
_FURTHEST = 16.0  # further tilt times the deviation: with more, one step at an edge weighs too much
LEAST_STEP = 2.0**-36  # of the largest loss: what is finer, floats do not tell
_RANGE = math.log(1e-9), math.log(1e12)  # of the logarithms of tilts


class Window(NamedTuple):
    """From which loss on, how long, and by which tilts beyond it the rest is bounded."""

    first: float
    length: float
    up: float
    down: float


class Cumulant(NamedTuple):
    """log E_P e^(cL) and its first two derivatives in c."""

    value: float
    slope: float
    curvature: float


def cumulant_of(heights: Reals, losses: Reals) -> Cumulant:
    """At c, of these losses, by the logarithms of their masses times e^(c loss)."""
    top = float(heights.max())
    weights = np.exp(heights - top)
    total = float(weights.sum())
    # not by @, whose threads wait for each other where the processors are busy
    mean = float((weights * losses).sum()) / total
    variance = float((weights * (losses - mean) ** 2).sum()) / total
    return Cumulant(top + math.log(total), mean, variance)


class Saddle(NamedTuple):
    """A tilt c, or a line Re s = c; a level, and the logarithm of what delta(level) is, about."""

    c: float
    level: float
    log_delta: float


def saddle(
    cumulant: Callable[[float], Cumulant], log_delta: float | None, where: float | None
) -> Saddle:
    """At the level `where`, or at that >= 0 where delta is about e^log_delta.

    Chernoff: log delta(x) <= K(c) - c x + c log c - (1 + c) log(1 + c), least in c. About delta
    itself is, by the Gaussian of this curvature, e^(height - c x).
    """

    def excess(log_c: float) -> float:
        c = math.exp(log_c)
        value, slope, _ = cumulant(c)
        if where is not None:
            return slope - math.log1p(1 / c) - where
        return c * slope - value + math.log1p(c) + (log_delta or 0.0)

    c = math.exp(float_root(excess, *_RANGE, 1e-5))
    value, slope, curvature = cumulant(c)
    curvature = max(curvature, 0.0) + 1 / c**2 + 1 / (c + 1) ** 2
    height = value - math.log(c) - math.log1p(c) - 0.5 * math.log(2 * math.pi * curvature)
    if where is None:
        where = min((height - (log_delta or 0.0)) / c, slope - math.log1p(1 / c))
        if where < 0:
            return saddle(cumulant, None, 0.0)
    return Saddle(c, where, height - c * where)


class Sketch(NamedTuple):
    """Losses and logarithms of P-masses of one use, in runs; and how many uses there are."""

    losses: Reals
    logs: Reals
    releases: int

    @staticmethod
    @np.errstate(all="ignore")
    def of(losses: Reals, logs: Reals, count: int) -> Sketch:
        """Of runs of outcomes, where there are many."""
        order = np.argsort(losses, kind="stable")
        sorted_losses = losses[order]
        marks = np.linspace(sorted_losses[0], sorted_losses[-1], _SEEN)
        starts = np.unique(
            np.append(
                np.arange(0, len(order), -(-len(order) // _SEEN)),
                np.minimum(np.searchsorted(sorted_losses, marks), len(order) - 1),
            )
        )  # runs of few outcomes, and of losses near each other
        most = np.maximum.reduceat(logs[order], starts)
        masses = np.exp(logs[order] - np.repeat(most, np.diff(np.append(starts, len(order)))))
        totals = np.add.reduceat(masses, starts)
        means = np.add.reduceat(masses * losses[order], starts) / totals
        return Sketch(means, most + np.log(totals), count)

    @property
    def most(self) -> float:
        """No loss is farther from 0."""
        return float(np.abs(self.losses).max())

    def cumulant(self, tilt: float) -> Cumulant:
        """log E e^(tilt L) of all uses, and its first two derivatives."""
        one = cumulant_of(self.logs + tilt * self.losses, self.losses)
        return Cumulant(*(self.releases * part for part in one))

    def rare(self, tilt: float, nats: float) -> tuple[float, int] | None:
        """From which loss on losses are so rare that few are expected, and how many there may be.

        None where there are none.
        """
        order = np.argsort(-self.losses)
        tilted = self.logs + tilt * self.losses - self.cumulant(tilt)[0] / self.releases
        expected = self.releases * np.cumsum(np.exp(tilted)[order])
        some = int(np.searchsorted(expected, _RARE))
        if some == 0:
            return None
        mean, most = 1.5 * float(expected[some - 1]) + 1e-30, 1  # the cut may lie a little lower
        while (most + 1) * math.log(mean) - math.lgamma(most + 2) > -nats:
            most += 1
        if most > _MOST_RARE:
            return None
        return float(self.losses[order[some - 1]]), most


class Sketches(tuple[Sketch, ...]):
    """Of all uses together."""

    __slots__ = ()

    def cumulant(self, tilt: float) -> Cumulant:
        """As of one."""
        return Cumulant(*map(sum, zip(*(sketch.cumulant(tilt) for sketch in self), strict=True)))

    def deviation(self, tilt: float) -> float:
        """The standard deviation of the tilted sum, or what numbers of its size can tell."""
        _, mean, spread = self.cumulant(tilt)
        return max(math.sqrt(spread), 1e-5 * abs(mean), 1e-8)

    def saddle(self, log_delta: float | None, epsilon: float | None) -> Saddle:
        """For this delta, or at this level: with a tilt that lattices bear."""
        line = saddle(self.cumulant, log_delta, epsilon)
        steepest = _STEEPEST + _STEEPER * math.sqrt(max(-line.log_delta, 0.0))
        best = c = min(line.c, steepest / self.deviation(0.0))
        value, _, spread = self.cumulant(c)
        for share in _SHARES:  # a few huge losses may outweigh all others: leave these out
            other, _, less = self.cumulant(share * c)
            if other - value + (1 - share) * c * line.level < 3 and 2 * less < spread:
                best, spread = share * c, less
        return line._replace(c=best)

    def edge(
        self, tilt: float, nats: float, sign: int, most: float = math.inf
    ) -> tuple[float, float]:
        """Beyond which tilted sums weigh e^-nats, by Chernoff, and by which further tilt."""
        value, mean, _ = self.cumulant(tilt)
        further = np.minimum(np.geomspace(0.01, _FURTHEST, 50) / self.deviation(tilt), most)
        ends = [
            sign * (float(self.cumulant(tilt + sign * t)[0] - value) + nats) / t for t in further
        ]
        best = int(np.argmin(sign * np.array(ends)))
        return sign * max(sign * ends[best], sign * float(mean)), float(further[best])

    def whole(self, tilt: float, nats: float) -> Window:
        """A window of all that matters."""
        (high, up), (low, down) = self.edge(tilt, nats, 1), self.edge(tilt, nats, -1)
        margin = 0.02 * (high - low) + self.deviation(tilt) / 100  # coins spread losses a little
        return Window(low - margin, high - low + 2 * margin, up, down)

    def half(self, tilt: float, nats: float, low: float, high: float) -> Window:
        """Of what matters to tails from between these two on."""
        (top, up), (bottom, down) = self.edge(tilt, nats, 1), self.edge(tilt, nats, -1, tilt)
        length = 1.03 * max(top - low, high - bottom) + self.deviation(tilt) / 50
        return Window(low - length / 100, length, up, down)


class Plan(NamedTuple):
    """The last lattice: its step, an exact float; its window; nats that may be outside of it."""

    step: float
    tilt: float
    window: Window
    nats: float
    points: int
    sketches: Sketches


def planned(
    sketches: Sequence[Sketch],
    points: int,
    log_delta: float | None,
    epsilon: float | None,
    near: tuple[float, float] | None,
) -> Plan:
    """For a lattice of so many points, and this delta or this level.

    near: between which levels the answer is known to lie: half of a window may do then.
    """
    all_uses = Sketches(sketches)
    tilt, answer, _ = all_uses.saddle(log_delta, epsilon)
    nats = 2 * math.log(points) + math.log1p(tilt) + _SPARE  # of Q counts 1 + tilt times more
    window = all_uses.whole(tilt, nats)
    more = max(window.first - answer, 0.0)
    window = window._replace(first=window.first - more, length=window.length + more)
    if near and (half := all_uses.half(tilt, nats, *near)).length < window.length:
        window = half
    most = max(sketch.most for sketch in sketches)
    step = max(window.length / (points - 16), most * LEAST_STEP)
    return Plan(step, tilt, window._replace(first=window.first - 6 * step), nats, points, all_uses)
