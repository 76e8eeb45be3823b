"""Random allocation of several steps: what the sum of one function of every step tells.

Each user is in k of t steps. T = sum of f(Z_i) over all of them is a statistic of the outcome, for
every f. Its law is the same whichever k steps these are, so that with p and q the laws of f(Z)
where the user is there and is not,

    P(T = .) = p^k * q^(t-k),   Q(T = .) = q^t   (convolutions).

f is the loss of one step sampled at the rate k/t, log(1 + r X) but for constants, X its likelihood
ratio, r = k/(t - k): dP/dQ is an elementary symmetric polynomial of all X, whose logarithm is about
the sum of these less k log r, by the saddle point in the middle. Rounded is each f, and T of a
whole epoch: were sums on the way, their law would depend on which steps these are.

Of Q what is cut off on the way, of a tilted mass r at places unknown, has at most r e^(-(tilt + 1)
t h) of {T >= t}: masses with these tails are added to Q.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ball
from ...exact.precision import floor_of
from ...losses.cells import Cell, Cells
from ...losses.planning import cumulant_of
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..losses.law import LossLaw
from .cells import DividedLoss
from .weights import Weights

_ROUNDED = 1e-3  # of the variance of T, by which rounding may raise it
_WIDE, _MOST_POINTS = 16.0, 1 << 15  # deviations that the points span
_ACCURACY, _SPARE = 48, 64  # bits; points that are rounded up weigh so much less
_POINT = 2000  # units of work
_FAR, _POINTS = 12.0, 2000  # of noise, to choose by


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

    def largest(self) -> arb:
        """Nothing is known of it."""
        return arb.pos_inf()

    def sketch(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values and logarithms of P-masses, about."""
        p, _ = self._laws
        logs = np.array([math.log(max(int(mass), 1)) for mass in p.masses.coeffs()])
        values = (p.first + np.arange(len(logs), dtype=np.float64)) * float(p.step)
        logs = logs + p.log_unit - float(p.tilt) * values
        return values, logs

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """Of the values of T: P's masses at least, Q's at most."""
        p, q = self._laws
        h, fall = ball(p.step), -(-ball(q.tilt * q.step)).expm1()
        here, other = (dict(enumerate(map(int, w.masses.coeffs()), w.first)) for w in (p, q))
        cells, last = list[Cell](), max(p.first + len(p), q.first + len(q)) - 1
        for k in range(min(p.first, q.first), last + 1):
            at, level = floor_of(h * k / step), h * k
            cut = arb(1) if k == last else fall  # of the rest
            of_q = q.untilted(other.get(k, 0), level) + cut * q.untilted(q.rest, level)
            cells.append(Cell(at, at, p.untilted(here.get(k, 0), level), of_q))
        return Cells(cells, arb(0), _POINT * len(cells))

    @cached_property
    def _laws(self) -> tuple[Weights, Weights]:
        """P's weights, rounded down, and Q's, rounded up."""
        rate, mu = Fraction(self.taken, self.steps), 1 / float(self.noise)
        z = np.linspace(-_FAR, _FAR + 2 * mu, _POINTS)
        f = np.logaddexp(math.log1p(-float(rate)), math.log(rate) + mu * z - mu * mu / 2)
        spread = math.sqrt(self.steps * cumulant_of(-z * z / 2, f).curvature)
        fine = max(math.sqrt(12 * _ROUNDED / self.steps), _WIDE / _MOST_POINTS)
        width = Fraction(2) ** math.floor(math.log2(spread * fine))
        there, without = self._one(rate, width)
        bits = _ACCURACY + (_SPARE * _MOST_POINTS * self.steps**2).bit_length()
        most = max((1 << bits - _ACCURACY) // (8 * self.steps * self.steps.bit_length()), 1)
        tilt = Fraction(self.tilt)

        def summed(taken: int, up: bool) -> Weights:
            total: Weights | None = None
            for masses, count in ((there, taken), (without, self.steps - taken)):
                if count:
                    one = {k: m.upper() if up else m.lower() for k, m in masses.items()}
                    each = Weights.of(one, up, bits, width, tilt + up, most).power(count, most)
                    total = each if total is None else total.times(each).cut(most * self.steps)
            assert total is not None
            return total

        taken = (self.taken, 0) if self.removing else (0, self.taken)
        return summed(taken[0], False), summed(taken[1], True)

    def _one(self, rate: Fraction, width: Fraction) -> tuple[dict[int, arb], dict[int, arb]]:
        """The masses of f with the user there, and without: all beyond the cells at their end."""
        law, step, q = SampledGaussian(rate, self.noise, self.removing), ball(width), ball(rate)
        loss = DividedLoss(law, self.log_tail - math.log(self.steps))
        each = loss.cells(step, self.tilt, _MOST_POINTS).cells
        highest = max(cell.high for cell in each)
        masses = [((low + high) // 2, p, r) for low, high, p, r, _ in each]
        masses.append((highest, *law.tail(step * highest)))
        there, apart = dict[int, arb](), dict[int, arb]()
        for k, p, r in masses:
            mixed, plain = (p, r) if self.removing else (r, p)
            user = ((mixed - (1 - q) * plain) / q).max(arb(0))
            there[k], apart[k] = there.get(k, arb(0)) + user, apart.get(k, arb(0)) + plain
        return there, apart
