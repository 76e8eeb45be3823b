"""Privacy-loss laws: the loss L = log P/Q under P, by its transform E_P e^(sL).

P(L = infinity) is kept apart. Outcomes may be missing, if their P-mass is known: composition
charges for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...exact.number import Real, ball
from ...exact.precision import working_precision
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.theta import theta, theta_at_zero

__all__ = ["Atoms", "Cumulant", "GaussianLoss", "LaplaceLoss", "Lattice", "LossLaw", "TwoPoint"]


class Cumulant(NamedTuple):
    """log E_P e^(cL) and its first two derivatives in c, in floats: they choose, never decide."""

    value: float
    slope: float
    curvature: float


@dataclass(frozen=True)
class Lattice:
    """All finite losses are unit * (origin + step k), k an integer, and at most unit * summit."""

    unit: Real
    origin: Fraction
    step: Fraction
    summit: Fraction | None  # None: unbounded


class LossLaw(Protocol):
    """What composition needs of a privacy-loss law. Balls are at the working precision."""

    @property
    def lattice(self) -> Lattice | None:
        """Where the finite losses live; None if they are not known to live on a lattice."""
        ...

    def escaping(self) -> arb:
        """P(L = infinity)."""
        ...

    @property
    def exactly_escaping(self) -> Fraction | None:
        """The same as an exact number, where that is known: what plateaus are compared with."""
        ...

    def missing(self) -> arb:
        """P of the outcomes that are left out of `transform`."""
        ...

    def largest(self) -> arb:
        """The supremum of the finite losses."""
        ...

    def transform(self, s: acb) -> acb:
        """E_P e^(sL) over the outcomes with a finite loss; also on wide balls."""
        ...

    def cumulant(self, c: float) -> Cumulant:
        """The logarithm of `transform` at c > 0, about."""
        ...


@dataclass(frozen=True)
class TwoPoint:
    """(1 - delta) times randomized response, L = +-epsilon, and delta at infinity.

    Also the discrete Laplace of sensitivity 1, whose loss is its rate or minus it: P(x <= 0) =
    1/(1 + e^(-rate)).
    """

    epsilon: Real
    delta: Fraction = Fraction(0)

    @property
    def lattice(self) -> Lattice:
        if isinstance(self.epsilon, Fraction):
            return Lattice(Fraction(1), self.epsilon, 2 * self.epsilon, self.epsilon)
        return Lattice(self.epsilon, Fraction(1), Fraction(2), Fraction(1))

    def escaping(self) -> arb:
        return ball(self.delta)

    @property
    def exactly_escaping(self) -> Fraction:
        return self.delta

    def missing(self) -> arb:
        return arb(0)

    def largest(self) -> arb:
        return ball(self.epsilon)

    def transform(self, s: acb) -> acb:
        epsilon = ball(self.epsilon)
        rise = (s * epsilon).exp()
        odds = epsilon.exp()
        return (rise * odds + 1 / rise) * ((1 - ball(self.delta)) / (1 + odds))

    def cumulant(self, c: float) -> Cumulant:
        epsilon = self._float
        # cosh((c + 1/2) epsilon)/cosh(epsilon/2)
        x, half = (c + 0.5) * epsilon, epsilon / 2
        value = x - half + math.log1p(math.exp(-2 * x)) - math.log1p(math.exp(-2 * half))
        slope = epsilon * math.tanh(x)
        return Cumulant(
            value + math.log1p(-float(self.delta)), slope, epsilon**2 / math.cosh(min(x, 300)) ** 2
        )

    @cached_property
    def _float(self) -> float:
        return float(ball(self.epsilon).mid())


class _Closed:
    """Laws whose transform has a closed form: the cumulant from differences of it."""

    exactly_escaping: Fraction | None = Fraction(0)

    def escaping(self) -> arb:
        return arb(0)

    def missing(self) -> arb:
        return arb(0)

    def transform(self, s: acb) -> acb:
        raise NotImplementedError

    def cumulant(self, c: float) -> Cumulant:
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


@dataclass(frozen=True)
class LaplaceLoss(_Closed):
    """Discrete Laplace noise against its shift: L = (|x - shift| - |x|)/scale."""

    law: DiscreteLaplace
    shift: int

    @property
    def lattice(self) -> Lattice:
        if isinstance(self.law.scale, Fraction):
            summit = self.shift / self.law.scale
            return Lattice(Fraction(1), summit, 2 / self.law.scale, summit)
        limit = self.law.loss_limit(1)  # 1/scale, a formula
        return Lattice(limit, Fraction(self.shift), Fraction(2), Fraction(self.shift))

    def largest(self) -> arb:
        return ball(self.law.loss_limit(self.shift))

    def transform(self, s: acb) -> acb:
        # sum of p(x)^(1+s) p(x-shift)^(-s), three geometric sums
        rate = ball(self.law.loss_limit(1))
        beta, d = (-rate).exp(), self.shift
        first, last = (s * (rate * d)).exp(), ((s + 1) * (-rate * d)).exp()
        total = (first + last) / (1 - beta)
        if d > 1:
            step = ((2 * s + 1) * -rate).exp()
            inner = first * step * (1 - ((2 * s + 1) * (-rate * (d - 1))).exp()) / (1 - step)
            total += inner
        return total * (rate / 2).tanh()


@dataclass(frozen=True)
class GaussianLoss(_Closed):
    """Discrete Gaussian noise against its shift: L = (shift^2 - 2 shift x)/(2 sigma2)."""

    law: DiscreteGaussian
    shift: int

    @property
    def lattice(self) -> Lattice:
        step = self.shift / self.law.sigma2
        return Lattice(Fraction(1), step * self.shift / 2, step, None)

    def largest(self) -> arb:
        return arb.pos_inf()

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
        return square * theta(sigma2, (s + 1) * d)[0] / theta_at_zero(sigma2, ctx.prec)


class Atoms:
    """Finitely many losses with their P-masses, as balls of the precision at which it was made."""

    def __init__(
        self,
        masses: Sequence[arb],
        losses: Sequence[arb],
        escaping: arb,
        missing: arb,
        lattice: Lattice | None = None,
        exactly_escaping: Fraction | None = None,
    ) -> None:
        self.exactly_escaping = exactly_escaping
        self.masses, self.losses = list(masses), list(losses)
        self._escaping, self._missing = escaping, missing
        self.lattice = lattice

    def __len__(self) -> int:
        return len(self.masses)

    def escaping(self) -> arb:
        return self._escaping

    def missing(self) -> arb:
        return self._missing

    def largest(self) -> arb:
        return max((loss.upper() for loss in self.losses), default=arb(0))

    def transform(self, s: acb) -> acb:
        total = acb(0)
        for mass, loss in zip(self.masses, self.losses, strict=True):
            total += mass * (s * loss).exp()
        return total

    def cumulant(self, c: float) -> Cumulant:
        logs, losses = self._floats
        height = logs + c * losses
        top = float(height.max())
        weights = np.exp(height - top)
        total = float(weights.sum())
        mean = float(weights @ losses) / total
        variance = float(weights @ (losses - mean) ** 2) / total
        return Cumulant(top + math.log(total), mean, variance)

    def mean(self) -> float:
        """E_P L, about; infinite where L is with positive probability."""
        if self._escaping > 0 or not self.masses:
            return math.inf
        return self.cumulant(0.0).slope

    def tilted(self, c: float) -> NDArray[np.float64]:
        """The masses times e^(c loss), divided by their sum."""
        logs, losses = self._floats
        height = logs + c * losses
        weights: NDArray[np.float64] = np.exp(height - height.max())
        return weights / float(weights.sum())

    @cached_property
    def _floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        logs = [float(mass.mid().log().mid()) for mass in self.masses]
        return np.array(logs), np.array([float(loss.mid()) for loss in self.losses])
