"""What floats choose before anything is proved: tilt, window, step, which losses are rare.

Nothing certain rests on this file: a poor choice makes bounds wide, never wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .cells import Reals

_SEEN = 500  # losses of one use that are looked at
# The most that tilt times deviation is: so much, and so many sqrt(2 log 1/delta).
_STEEPEST, _STEEPER = 6.0, 2.0
_DOUBLINGS = 4  # how often twice that is tried where it does not reach
_FEW_USES, _FEW_LOSSES = 2, 100
_MOST_RARE = 30  # uses that may have such a loss
_RARE = 1.0  # large losses that are expected in all uses, if these are told apart
_SPARE = -2.0  # e^-nats may be outside of a window of N points: 2 log N and so much
_SHARES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5)  # of the tilt, that are tried
_FURTHEST = 16.0  # further tilt times the deviation: with more, one step at an edge weighs too much
LEAST_STEP = 2.0**-36  # of the largest loss: what is finer, floats do not tell
_FLATTEST = -16.0  # the logarithm of the least tilt


class Window(NamedTuple):
    """From which loss on, how long, and by which tilts beyond it the rest is bounded."""

    first: float
    length: float
    up: float
    down: float


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

    @property
    def gap(self) -> float:
        """How far apart a few losses of few uses lie: so much Chernoff's bound may be off."""
        few = self.releases <= _FEW_USES and len(self.losses) < _FEW_LOSSES
        return float(np.ptp(self.losses)) / len(self.losses) if few else 0.0

    def cumulant(self, tilt: float) -> Reals:
        """log E e^(tilt L) of all uses, and its first two derivatives."""
        tilted = self.logs + tilt * self.losses
        most = float(tilted.max())
        weights = np.exp(tilted - most)
        total = float(weights.sum())
        mean = float((weights * self.losses).sum()) / total
        spread = float((weights * (self.losses - mean) ** 2).sum()) / total
        return self.releases * np.array([most + math.log(total), mean, spread])

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

    def cumulant(self, tilt: float) -> Reals:
        """As of one."""
        total: Reals = np.sum([sketch.cumulant(tilt) for sketch in self], axis=0)
        return total

    def deviation(self, tilt: float) -> float:
        """The standard deviation of the tilted sum, or what numbers of its size can tell."""
        _, mean, spread = self.cumulant(tilt)
        return max(math.sqrt(float(spread)), 1e-5 * abs(float(mean)), 1e-8)

    def saddle(self, log_delta: float | None, epsilon: float | None) -> tuple[float, float, float]:
        """The tilt for this delta, or for this level; between which levels the answer is, about.

        Chernoff: log delta(x) <= K(c) - c x + c log c - (1 + c) log(1 + c), least in c.
        """

        def falls(log_c: float) -> bool:
            c = math.exp(log_c)
            value, slope, _ = self.cumulant(c)
            if log_delta is None:
                return bool(slope + log_c - math.log1p(c) < epsilon)
            return bool(c * slope - value + math.log1p(c) + log_delta < 0)

        nats = -log_delta if log_delta is not None else self._nats(epsilon)
        steepest = _STEEPEST + _STEEPER * math.sqrt(2 * max(nats, 0.0))
        low, high = _FLATTEST, math.log(steepest / self.deviation(0.0))
        for _ in range(_DOUBLINGS):
            if falls(high):
                low, high = high, high + math.log(2)
        for _ in range(45):
            middle = (low + high) / 2
            low, high = (middle, high) if falls(middle) else (low, middle)
        best = c = math.exp(high)
        value, _, spread = self.cumulant(c)
        if log_delta is not None:
            epsilon = float(value + c * math.log(c) - (1 + c) * math.log1p(c) - log_delta) / c
            if epsilon < 0:
                return self.saddle(None, 0.0)
        assert epsilon is not None
        for share in _SHARES:  # a few huge losses may outweigh all others: leave these out
            other, _, less = self.cumulant(share * c)
            if other - share * c * epsilon - value + c * epsilon < 3 and 2 * less < spread:
                best, spread = share * c, less
        if log_delta is None:
            return best, epsilon, epsilon
        off = (math.log1p(c * math.sqrt(2 * math.pi * spread)) + 3) / c  # of Chernoff, at most
        low = min(epsilon - off, float(self.cumulant(best)[1]) - 1 / best)
        return best, max(low - max(sketch.gap for sketch in self), 0.0), epsilon

    def log_delta(self, epsilon: float) -> float:
        """The logarithm of delta at this level, about: by Chernoff."""
        c, *_ = self.saddle(None, epsilon)
        value = float(self.cumulant(c)[0])
        return value - c * epsilon + c * math.log(c) - (1 + c) * math.log1p(c)

    def _nats(self, epsilon: float | None) -> float:
        """About the logarithm of 1/delta(level): of a Gaussian of this deviation."""
        assert epsilon is not None
        return max(epsilon - float(self.cumulant(0.0)[1]), 0.0) ** 2 / 2 / self.deviation(0.0) ** 2

    def edge(
        self, tilt: float, nats: float, sign: int, most: float = math.inf
    ) -> tuple[float, float]:
        """Beyond which tilted sums weigh e^-nats, by Chernoff, and by which further tilt."""
        value, mean, _ = self.cumulant(tilt)
        further = np.geomspace(0.01, _FURTHEST, 50) / self.deviation(tilt)
        further = np.append(further[further < most], min(most, float(further[-1])))
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

    def window(self, tilt: float, nats: float, low: float, high: float) -> Window:
        """The same, or of what matters to tails from between these two on, if that is shorter."""
        whole = self.whole(tilt, nats)
        more = max(whole.first - low, 0.0)
        whole = whole._replace(first=whole.first - more, length=whole.length + more)
        (top, up), (bottom, down) = self.edge(tilt, nats, 1), self.edge(tilt, nats, -1, tilt)
        half = 1.03 * max(top - low, high - bottom) + self.deviation(tilt) / 50
        return Window(low - half / 100, half, up, down) if half < whole.length else whole


class Plan(NamedTuple):
    """The last lattice: its step, an exact float; its window; nats that may be outside of it."""

    step: float
    tilt: float
    window: Window
    nats: float
    points: int
    sketches: Sketches


def planned(
    sketches: Sequence[Sketch], points: int, log_delta: float | None, epsilon: float | None
) -> Plan:
    """For a lattice of so many points, and this delta or this level."""
    all_uses = Sketches(sketches)
    tilt, low, high = all_uses.saddle(log_delta, epsilon)
    nats = 2 * math.log(points) + math.log1p(tilt) + _SPARE  # of Q counts 1 + tilt times more
    window = all_uses.window(tilt, nats, low, high)
    most = max(sketch.most for sketch in sketches)
    step = max(window.length / (points - 16), most * LEAST_STEP)
    return Plan(step, tilt, window._replace(first=window.first - 6 * step), nats, points, all_uses)
