"""Discrete Gaussian noise N_Z(0, sigma2): p(x) = e^(-x^2/(2 sigma2)) / theta(0).

Everything comes from theta(t) = sum_x e^(-(x-t)^2/(2 sigma2)): completing the square,
E e^(zX) = e^(sigma2 z^2/2) theta(sigma2 z)/theta(0), entire.

Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.lazy import mpmath
from ...exact.number import ParameterError, ball, mpf
from ...exact.precision import START, refine, working_precision
from .. import parameters
from . import floats
from .law import Calibrated, Law, Moments
from .saddle import vertical_path
from .theta import theta, theta_at_zero, theta_variance

if TYPE_CHECKING:
    from ..samplers.bits import RandomBits

__all__ = ["DiscreteGaussian"]

_TABLE = 400  # sigma2 up to which simulated draws come from a table


@frozen
class DiscreteGaussian(Law):
    """N_Z(0, sigma2), sigma2 > 0 exact. (Its variance is slightly below sigma2.)"""

    sigma2: Fraction = field(converter=parameters.sigma2)

    name = "discrete-gaussian"
    calibrated = Calibrated("sigma2", 2, None)  # see `verify.gaussian_order`
    gaussians = 1
    log_concave = "log p(x) = const - x^2/(2 sigma2) is concave"

    def theta(self, t: arb) -> arb:
        """Enclose sum_x e^(-(x-t)^2/(2 sigma2)); at most theta(0)."""
        return theta(self.sigma2, acb(t))[0].real

    def moments(self) -> Moments:
        return Moments(Enclosure.exactly(0), refine(lambda: theta_variance(self.sigma2)))

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        with mpmath.workdps(digits + 15):
            s2 = mpf(self.sigma2)
            if s2 < 1:
                rate, unit = 1 / (2 * s2), mpmath.mpf(1)
            else:
                rate, unit = 2 * mpmath.pi**2 * s2, mpmath.sqrt(2 * mpmath.pi * s2)
            terms = int(mpmath.sqrt(mpmath.mp.prec / rate)) + 2
            total = 1 + 2 * sum(mpmath.exp(-rate * j * j) for j in range(1, terms))
            return mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * s2)) / (unit * total)

    def ball(self, x: int) -> arb:
        return (-(x * x) / (2 * ball(self.sigma2))).exp() / self._total()

    def balls(self, low: int, high: int) -> list[arb]:
        return [self.ball(x) for x in range(low, high + 1)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        with working_precision(START):
            constant = float(theta_at_zero(self.sigma2, START).log().mid())
        squares = np.asarray(xs, dtype=np.float64) ** 2
        return squares / (-2 * float(self.sigma2)) - constant

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        exponent, factor = self.transform(z)
        if analytic and not factor.real > 0:  # a zero of the factor may be near
            return acb(arb.nan(), arb.nan())
        return exponent + factor.log()

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        s2 = ball(self.sigma2)
        return s2 * z * z / 2, theta(self.sigma2, s2 * z)[0] / self._total()

    def slope(self, z: acb) -> acb:
        return ball(self.sigma2) * z

    def path(self, t: int, side: int) -> Sequence[acb]:
        # up to the bounded factor, the saddle point of s2 z^2/2 - tz
        s2 = float(self.sigma2)
        return vertical_path(t / s2, side, spread=math.sqrt(s2))

    def steepening(self, x: int, shift: int) -> arb:
        # s(y) = -(2y - 1)/(2 sigma2) falls by the same amount at each step
        return shift / ball(self.sigma2)

    def flattening(self, x: int, shift: int) -> arb | None:
        return self.steepening(x, shift)

    def loss(self, x: int, shift: int) -> arb:
        return ball(Fraction(shift * (shift - 2 * x)) / (2 * self.sigma2))

    def renyi_sum(self, order: arb, shift: int) -> arb:
        # completing the square; theta has period 1 and is even
        exponent = order * (order - 1) * shift * shift / (2 * ball(self.sigma2))
        return exponent.exp() * self.theta(order * shift) / self._total()

    def renyi_exact(self, order: Fraction, shift: int) -> Fraction | None:
        if (order * shift).denominator != 1:
            return None
        return order * shift * shift / (2 * self.sigma2)

    def zcdp_exact(self, shift: int) -> Fraction:
        # theta(t) <= theta(0), with equality at the integer orders
        return Fraction(shift * shift) / (2 * self.sigma2)

    def _sum(self, count: int) -> Law:
        from .discrete_gaussian_sum import DiscreteGaussianSum  # which imports this

        return DiscreteGaussianSum(count, self.sigma2)

    def _share(self, users: int) -> Law:
        raise ParameterError(
            "users must be 1: a sum of discrete Gaussians is not a discrete Gaussian, so that "
            "discrete-gaussian has no exact shares; discrete-gaussian-sum is such a sum"
        )

    def enlarged(self, ratio: Fraction) -> tuple[str, Law]:
        return "sigma2", DiscreteGaussian(self.sigma2 * ratio)

    def sampler(self) -> Callable[[RandomBits], int]:
        from ..samplers.discrete_gaussian import discrete_gaussian_ratio

        return partial(discrete_gaussian_ratio, self.sigma2.numerator, self.sigma2.denominator)

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """By inversion of a table, or by rejection from discrete Laplace variables."""
        sigma2 = float(self.sigma2)
        floats.check_width(math.sqrt(sigma2))
        if sigma2 <= _TABLE:
            outcomes, levels, _ = floats.gaussian_table(sigma2)
            return outcomes[np.searchsorted(levels, rng.random(size), side="right")]
        scale = math.floor(math.sqrt(sigma2)) + 1
        success, found, missing = -math.expm1(-1 / scale), [], size
        while missing > 0:
            many = missing + missing // 2 + 16
            noise = rng.geometric(success, many) - rng.geometric(success, many)
            excess = np.abs(noise) - sigma2 / scale
            kept = noise[rng.standard_exponential(many) >= excess * excess / (2 * sigma2)][:missing]
            found.append(kept)
            missing -= len(kept)
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def _total(self) -> arb:
        return theta_at_zero(self.sigma2, ctx.prec)
