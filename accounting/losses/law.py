"""Privacy-loss laws: the loss L = log P/Q under P, by its transform E_P e^(sL).

P(L = infinity) is kept apart. Outcomes may be missing, if their P-mass is known: composition
charges for them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from attrs import frozen
from flint import acb, arb, ctx

from ...exact import Real, ball, working_precision
from ...losses.cells import Cells, Loss, Reals, listed_cells, log_about
from ...losses.planning import Cumulant, cumulant_of
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.theta import theta, theta_at_zero

Probability: TypeAlias = Fraction | arb  # exact where that is known: plateaus are compared with it
_OUTCOME = 100  # units of work
_TINY = 1e-290  # of smaller masses floats do not tell the logarithm
_NOTHING = -1e15  # the logarithm of a mass that is 0


@frozen
class Lattice:
    """All finite losses are unit * (origin + step k), k an integer, and at most unit * summit."""

    unit: Real
    origin: Fraction
    step: Fraction
    summit: Fraction | None  # None: unbounded


class LossLaw(Loss):
    """A privacy loss, known by its transform, by its cells, or by both; on no lattice, where a law
    does not say otherwise.
    """

    @property
    def lattice(self) -> Lattice | None:
        """Where the finite losses live; None if they are not known to live on a lattice."""
        return None

    @property
    def infinite(self) -> Probability:
        """P(L = infinity)."""
        return Fraction(0)

    def escaping(self) -> arb:
        return ball(self.infinite)

    def transform(self, s: acb) -> acb:
        """E_P e^(sL) over the outcomes with a finite loss; also on wide balls."""
        raise NotImplementedError

    def cumulant(self, c: float) -> Cumulant:
        """The logarithm of `transform` at c > 0, about: by differences."""
        with working_precision(max(256, ctx.prec)):
            step = arb(c) / (1 << 40)
            left, here, right = (
                self.transform(acb(c + step * side)).real.log() for side in (-1, 0, 1)
            )
            return Cumulant(
                float(here.mid()),
                float(((right - left) / (2 * step)).mid()),
                float(((right - 2 * here + left) / step**2).mid()),
            )


@frozen
class LaplaceLoss(LossLaw):
    """Noise p(x) ~ e^(-rate |x|) against its shift: L = rate (|x - shift| - |x|); else infinite.

    With shift 1, L is the rate or minus it and P(x <= 0) = 1/(1 + e^(-rate)): that is randomized
    response of epsilon = rate as well.
    """

    rate: Real
    shift: int = 1
    infinite: Fraction = Fraction(0)

    @property
    def lattice(self) -> Lattice:
        shift = Fraction(self.shift)
        if isinstance(self.rate, Fraction):
            return Lattice(Fraction(1), shift * self.rate, 2 * self.rate, shift * self.rate)
        return Lattice(self.rate, shift, Fraction(2), shift)

    def largest(self) -> arb:
        return ball(self.rate) * self.shift

    def transform(self, s: acb) -> acb:
        # sum of p(x)^(1+s) p(x-shift)^(-s): a geometric sum on either side, and one in between
        rate, d = ball(self.rate), self.shift
        first, last = (s * (rate * d)).exp(), ((s + 1) * (-rate * d)).exp()
        total = (first + last) / (1 + (-rate).exp())
        if d > 1:
            step = ((2 * s + 1) * -rate).exp()
            inner = first * step * (1 - ((2 * s + 1) * (-rate * (d - 1))).exp()) / (1 - step)
            total += inner * (rate / 2).tanh()
        return total * ball(1 - self.infinite)


@frozen
class GaussianLoss(LossLaw):
    """Discrete Gaussian noise against its shift: L = (shift^2 - 2 shift x)/(2 sigma2)."""

    law: DiscreteGaussian
    shift: int

    @property
    def lattice(self) -> Lattice:
        step = self.shift / self.law.sigma2
        return Lattice(Fraction(1), step * self.shift / 2, step, None)

    def transform(self, s: acb) -> acb:
        # completing the square; theta(t) = sum_x e^(-(x-t)^2/(2 sigma2)). With L = step (d/2 - x)
        # a period of 2 pi/step in Im s brings only a sign, (-1)^d: theta wants s near the real axis
        sigma2, d = self.law.sigma2, self.shift
        period = 2 * arb.pi() * ball(sigma2) / d
        turns = (s.imag / period + arb(0.5)).mid().floor().unique_fmpz()
        if turns:
            sign = -1 if d % 2 and int(turns) % 2 else 1
            return self.transform(s - acb(0, period * turns)) * sign
        square = (s * (s + 1) * (d * d) / (2 * ball(sigma2))).exp()
        return square * theta(sigma2, (s + 1) * d) / theta_at_zero(sigma2, ctx.prec)


@frozen(eq=False)
class Atoms(LossLaw):
    """Finitely many losses with their P-masses, as balls of the precision at which it was made."""

    masses: list[arb]
    losses: list[arb]
    infinite: Probability
    _missing: arb
    lattice: Lattice | None = None

    def __len__(self) -> int:
        return len(self.masses)

    def missing(self) -> arb:
        return self._missing

    def largest(self) -> arb:
        return max((loss.upper() for loss in self.losses), default=arb(0))

    def transform(self, s: acb) -> acb:
        total = acb(0)
        for mass, loss in zip(self.masses, self.losses, strict=True):
            total += mass * (s * loss).exp()
        return total

    def sketch(self) -> tuple[Reals, Reals]:
        return self._floats

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        cells = listed_cells(self.masses, self.losses, step)
        return Cells(cells, self._missing, _OUTCOME * len(self))

    def cumulant(self, c: float) -> Cumulant:
        losses, logs = self._floats
        return cumulant_of(logs + c * losses, losses)

    @cached_property
    def _floats(self) -> tuple[Reals, Reals]:
        logs = np.log(np.maximum([float(mass.mid()) for mass in self.masses], _TINY))
        for k in np.flatnonzero(logs <= math.log(_TINY)):
            mass = self.masses[k]  # of what may be 0, the upper end
            logs[k] = max(log_about(mass if mass > 0 else mass.upper()), _NOTHING)
        return np.array([float(loss.mid()) for loss in self.losses]), logs
