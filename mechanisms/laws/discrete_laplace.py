"""Discrete Laplace noise Lap_Z(scale): p(x) = tanh(1/(2 scale)) beta^|x|, beta = e^(-1/scale).

Everything about it has a closed form: sums over x <= 0, 0 < x < shift and x >= shift are
geometric. The paper's Fact 3 (Appendix K) is `upper_tail`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from attrs import field, frozen
from flint import acb, arb, arb_series
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.lazy import mpmath
from ...exact.number import ExactInput, ParameterError, Real, ball, exact, mpf
from ...exact.precision import refine
from . import floats
from .branch import LARGER_SCALE, over, read_scale
from .law import Calibrated, Law, Moments

if TYPE_CHECKING:
    from ..samplers.bits import RandomBits

__all__ = ["DiscreteLaplace"]

_Order = TypeVar("_Order", arb, arb_series)


@frozen
class DiscreteLaplace(Law):
    """Lap_Z(scale), scale > 0 exact: a rational, or a formula."""

    scale: Real = field(converter=read_scale)

    name = "discrete-laplace"
    calibrated = Calibrated("scale", 1, LARGER_SCALE)
    log_concave = "log p(x) = const - |x|/scale is concave"

    def moments(self) -> Moments:
        # E X^2 = 2 beta / (1 - beta)^2 = 1 / (2 sinh^2(1/(2 scale)))
        return Moments(
            Enclosure.exactly(0), refine(lambda: 1 / (2 * (self._rate() / 2).sinh() ** 2))
        )

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        with mpmath.workdps(digits + 15):
            rate = 1 / mpf(self.scale)
            return mpmath.tanh(rate / 2) * mpmath.exp(-abs(x) * rate)

    def ball(self, x: int) -> arb:
        rate = self._rate()
        return (rate / 2).tanh() * (-abs(x) * rate).exp()

    def balls(self, low: int, high: int) -> list[arb]:
        return [self.ball(x) for x in range(low, high + 1)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        rate = float(self._rate().mid())
        distance = np.abs(np.asarray(xs, dtype=np.float64))
        return cast("NDArray[np.float64]", np.log(np.tanh(rate / 2)) - distance * rate)

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        rate = self._rate()
        beta, step = (-rate).exp(), z.exp()
        right, left = (1 - beta * step).log(analytic), (1 - beta / step).log(analytic)
        return 2 * (1 - beta).log() - right - left

    def upper_tail(self, t: int) -> arb:
        rate = self._rate()
        if t <= 0:
            return 1 - self.upper_tail(1 - t)
        return (-t * rate).exp() / (1 + (-rate).exp())

    def lower_tail(self, t: int) -> arb:
        return self.upper_tail(-t)

    @property
    def mgf_domain(self) -> tuple[Real, Real]:
        return over(-1, self.scale), over(1, self.scale)

    def loss_limit(self, shift: int) -> Real:
        return over(shift, self.scale)

    attains_limit = True

    def wrapped_loss(self, shift: int, modulus: int) -> arb:
        d, rate = min(shift, modulus - shift), -self._rate()
        # log (1 + b^m)/(b^d + b^(m-d)) = -d log b + log (1 + b^m)/(1 + b^(m-2d))
        return -d * rate + (modulus * rate).exp().log1p() - ((modulus - 2 * d) * rate).exp().log1p()

    def loss(self, x: int, shift: int) -> arb:
        return (abs(x - shift) - abs(x)) * self._rate()

    def renyi_sum(self, order: arb, shift: int) -> arb:
        return self._renyi(order, shift)

    def renyi_series(self, order: arb_series, shift: int) -> arb_series:
        return self._renyi(order, shift)

    def _renyi(self, order: _Order, shift: int) -> _Order:
        # sum p(x)^order p(x - shift)^(1 - order), order > 1/2
        rate = self._rate()
        beta = (-rate).exp()
        lowest = ((order - 1) * (rate * shift)).exp()  # beta^((1 - order) shift): x <= 0
        highest = (order * (-rate * shift)).exp()  # x >= shift
        total = (lowest + highest) / (1 - beta)
        if shift > 1:
            step = ((order * 2 - 1) * -rate).exp()
            total += (
                lowest * step * (1 - ((order * 2 - 1) * (-rate * (shift - 1))).exp()) / (1 - step)
            )
        return total * (rate / 2).tanh()

    def _sum(self, count: int) -> Law:
        from .polya import PolyaDifference  # which imports this

        return PolyaDifference(count, self.scale)

    def _share(self, users: int) -> Law:
        # E e^(zX) = ((1-b)/(1 - b e^z)) ((1-b)/(1 - b e^-z)), each a Pólya transform of shape 1
        from .polya import PolyaDifference

        return PolyaDifference(Fraction(1, users), self.scale)

    def sampler(self) -> Callable[[RandomBits], int]:
        from ..samplers.discrete_laplace import discrete_laplace

        return partial(discrete_laplace, self.scale)

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """The difference of two geometric variables of success 1 - e^(-1/scale)."""
        scale = floats.to_float(self.scale)
        floats.check_width(2 * scale)
        success = -math.expm1(-1 / scale)
        return rng.geometric(success, size) - rng.geometric(success, size)

    @classmethod
    def needs(cls) -> tuple[str, ...]:
        return ()

    @classmethod
    def allows(cls) -> tuple[str, ...]:
        return "epsilon", "scale"

    @classmethod
    def from_spec(cls, values: Mapping[str, ExactInput]) -> DiscreteLaplace:
        """By scale, or by epsilon = sensitivity/scale."""
        if ("epsilon" in values) == ("scale" in values):
            raise ParameterError(f"{cls.name}: exactly one of epsilon and scale must be given")
        sensitivity = exact(values.get("sensitivity", "1"), "sensitivity", at_least=1)
        if "scale" in values:
            return cls(exact(values["scale"], "scale", above=0))
        return cls(sensitivity / exact(values["epsilon"], "epsilon", above=0))

    def fields(self) -> dict[str, Any] | None:
        written = getattr(self.scale, "fields", None)
        return super().fields() if written is None else {"name": self.name, **written()}

    def _rate(self) -> arb:
        return 1 / ball(self.scale)
