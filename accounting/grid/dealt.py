"""Random allocation of several steps: what the sum of one function of every step tells.

Each user is in k of t steps. T = sum of f(Z_i) over all of them is a statistic of the outcome, for
every f. Its law is the same whichever k steps these are, so that with p and q the laws of f(Z)
where the user is there and is not,

    P(T = .) = p^k * q^(t-k),   Q(T = .) = q^t   (convolutions).

f is the loss of one step sampled at the rate k/t, log(1 + r X) but for constants, X its likelihood
ratio, r = k/(t - k): dP/dQ is an elementary symmetric polynomial of all X, whose logarithm is about
the sum of these less k log r, by the saddle point in the middle. Rounded is each f, and T of a
whole epoch: were sums on the way, their law would depend on which steps these are.

What is left out of a window, or known less well than floats show, counts as P's at every point, and
less is Q's by as much: a randomised test may leave out outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from attrs import frozen
from flint import arb

from ...exact.number import ball
from ...exact.precision import floor_of
from ...losses.cells import Cell, Cells, Pair, Reals
from ...losses.lattice import Power, Weights, added, weights_of
from ...losses.planning import Sketch, Sketches, Window
from ...mechanisms.pairs.sampling import Sampling
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..losses.law import LossLaw
from .cells import DividedLoss

_ROUNDED = 1e-3  # of the variance of T, by which rounding may raise it
_WIDE, _MOST_POINTS = 16.0, 1 << 15  # deviations that the points span
_NATS, _LEAST = 45.0, 1e-290  # e^-nats may be outside the window; mass
_POINT = 2000  # units of work


@frozen(slots=False)
class DealtSteps(LossLaw):
    """T of one epoch, a statistic: no loss, which bounds nothing from above.

    log_tail: of what may be left out. tilt: where delta is decided, about.
    """

    noise: Fraction
    taken: int
    steps: int
    removing: bool
    log_tail: float
    tilt: float

    def sketch(self) -> tuple[Reals, Reals]:
        """Values and logarithms of P-masses, about."""
        total, step, tilt, _ = self._sum
        p = total.p - total.stray - total.noise
        values: Reals = np.asarray(total.indices[p > 0] * float(step), dtype=np.float64)
        logs: Reals = np.log(p[p > 0]) + float(total.scale[0]) - float(tilt) * values
        return values, logs

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """Of the values of T: P's masses at least, Q's at most; none where P may have no mass."""
        total, h, c, ratio = self._sum
        cells, off = list[Cell](), arb(total.stray) + total.noise
        columns = total.indices.tolist(), total.p.tolist(), total.q.tolist()
        for k, p, q in zip(*columns, strict=True):
            if p > off:
                at, of_p = floor_of(h * k / step), (total.scale[0] - c * h * k).exp()
                of_q = of_p * (-h * k).exp() * ratio
                cells.append(Cell(at, at, (p - off) * of_p, (q + off) * of_q))
        return Cells(cells, arb(0), _POINT * len(cells))

    @cached_property
    def _sum(self) -> tuple[Weights, arb, arb, arb]:
        """Tilted masses of T, the step, the tilt, and how much less Q's are than these."""
        law = SampledGaussian(self.noise, Sampling(Fraction(self.taken, self.steps), self.removing))
        loss = DividedLoss(law, self.log_tail - math.log(self.steps))
        variance = Sketch.of(*loss.sketch(), self.steps).cumulant(0.0)[2]
        fine = max(math.sqrt(12 * _ROUNDED / self.steps), _WIDE / _MOST_POINTS)
        step = arb(2.0 ** math.floor(math.log2(math.sqrt(variance) * fine)))
        kinds = self._kinds(law, loss, step)
        sides = [Sketches(_sketch(*kind, step, which) for kind in kinds) for which in (0, 1)]
        tilt = min(self.tilt, sides[0].saddle(self.log_tail + _NATS, None).c)
        windows = [side.whole(tilt, _NATS) for side in sides]
        low, high = min(windows), max(windows, key=lambda window: window.first + window.length)
        window = Window(low.first, high.first + high.length - low.first, high.up, low.down)
        size = 1 << math.ceil(window.length / float(step) + 16).bit_length()
        factors, ratio, c = list[Power](), arb(1), arb(tilt)
        for masses, count in kinds:
            p = sum((pair[0] * (c * step * k).exp() for k, pair in masses), arb(0)).mid()
            q = sum((pair[1] * ((c + 1) * step * k).exp() for k, pair in masses), arb(0)).mid()
            # one use weighs the same under both then, so that no bound of all together grows
            scaled = [(k, (of_p, of_q * p / q)) for k, (of_p, of_q) in masses]
            factors.append(Power(weights_of(scaled, step, c, p.log().mid()), count))
            ratio *= (q / p) ** count
        total = added(factors, step, c, window, size).closed(step)
        if not total.p.max() > total.stray + total.noise:
            raise ArithmeticError("floats do not tell what several steps of an epoch reveal")
        return total, step, c, ratio

    def _kinds(
        self, law: SampledGaussian, loss: DividedLoss, step: arb
    ) -> list[tuple[list[tuple[int, Pair]], int]]:
        """Masses of f under P and Q, of steps with the user and of those without; how many.

        All beyond the cells is at their end.
        """
        q, found = ball(law.sampling.rate), dict[int, Pair]()
        cells = loss.cells(step, self.tilt, _MOST_POINTS).cells  # rising
        ends = [((cell.low + cell.high) // 2, cell.p, cell.q) for cell in cells]
        for k, *both in [*ends, (cells[-1].high, *law.tail(step * cells[-1].high))]:
            mixed, plain = both if self.removing else both[::-1]
            user, before = (mixed - (1 - q) * plain) / q, found.get(k, (arb(0), arb(0)))
            found[k] = before[0] + user.max(arb(0)), before[1] + plain
        there = [(k, pair if self.removing else pair[::-1]) for k, pair in found.items()]
        without = [(k, (plain, plain)) for k, (_, plain) in found.items()]
        return [(there, self.taken), (without, self.steps - self.taken)][: 1 + (q < 1)]


def _sketch(masses: Sequence[tuple[int, Pair]], count: int, step: arb, which: int) -> Sketch:
    """Of P's masses, or of Q's as if they were tilted by 1."""
    values = np.array([k for k, _ in masses]) * float(step)
    logs = np.log(np.maximum([float(pair[which]) for _, pair in masses], _LEAST))
    return Sketch.of(values, logs + which * values, count)
