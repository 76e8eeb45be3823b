"""The tail of a difference of two arms' noises, from its exact law.

Y = (noise of one arm) - (noise of another), independent and of the same law; G(t) = P(Y >= t). Y is
symmetric. It is unimodal as well: where the noise is log-concave so is Y; where it is symmetric and
log-convex on x >= 0 it falls away from 0, is thus a mixture of uniform laws on {-k, ..., k}, and
sums of two such are symmetric and unimodal. Hence G is convex on t >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flint import acb, arb
from numpy.typing import NDArray

from ...exact import contour
from ...exact.number import ParameterError, ball
from ...exact.precision import working_precision
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from ...mechanisms.laws.saddle import vertical_path
from .plan import ContinuousLaplace, Noise

__all__ = ["BITS", "Tails", "tails"]

BITS = 64  # working precision: far more than the bounds themselves are sharp
_FINE, _COARSE = 0.25, 0.6  # steps of log G between nodes: in closed form, and by integration


@dataclass(frozen=True, eq=False)
class Tails:
    """G at increasing nodes t_0 = 0 < t_1 < ..., and P(Y = 0).

    peak: P(Y = 0), for a continuous law its density at 0: no step of G is steeper.
    """

    nodes: tuple[int, ...]
    values: tuple[arb, ...]
    peak: arb
    floats: NDArray[np.float64]

    def saturation(self) -> arb:
        """Some d with G(-x) <= min(1, G(0) + (1 - G(0)) x/d) for all x > 0.

        G rises by at most `peak` a step to the left of 0.
        """
        return (1 - self.values[0]) / self.peak


@lru_cache(maxsize=256)
def tails(noise: Noise | None, depth: int) -> Tails:
    """The tail of Y down to 2^-depth, at nodes close enough to interpolate linearly between."""
    with working_precision(BITS):
        if noise is None:
            return _collected([0], [arb(1)], arb(1))
        if isinstance(noise, ContinuousLaplace):
            scale = ball(noise.scale)
            return _traced(
                lambda t: _laplace_difference(scale, t),
                math.ceil(noise.scale / 4),
                _FINE,
                depth,
                1 / (4 * scale),
            )
        laws = noise if isinstance(noise, tuple) else (noise,)
        for law in laws:
            if not (law.log_concave or law.log_convex_sides):
                raise ParameterError(f"noises must be of proved shape, got {law}")
        if isinstance(noise, DiscreteLaplace):
            first = math.ceil(float(ball(noise.scale).mid()) / 4)
            return _traced(lambda t: _discrete_laplace_difference(noise, t), first, _FINE, depth)
        difference = _difference(laws)
        first = math.ceil(difference.deviation / 3)
        return _traced(difference.at_least, first, _COARSE, depth)


def _traced(
    at_least: Callable[[int], arb], first: int, step: float, depth: int, peak: arb | None = None
) -> Tails:
    """Follow G from 0 down to 2^-depth; a step of log G takes the slope that was seen last."""
    nodes, values = [0], [at_least(0)]
    ahead = first
    while not values[-1] < arb(2) ** -depth:
        nodes.append(nodes[-1] + ahead)
        found = at_least(nodes[-1])
        if not found > 0:  # beyond the support: G = 0 from here on
            values.append(arb(0) if found.is_zero() else arb(found.abs_upper()))
            break
        values.append(found)
        drop = float((values[-2] / found).log().mid()) / ahead
        ahead = max(1, min(2 * ahead, round(step / max(drop, 1e-300))))
    if peak is None:
        peak = 2 * values[0] - 1  # G(0) = (1 + P(Y = 0))/2 by symmetry
    return _collected(nodes, values, peak)


def _collected(nodes: list[int], values: list[arb], peak: arb) -> Tails:
    floats = np.array([float(value.mid()) for value in values])
    return Tails(tuple(nodes), tuple(values), peak, floats)


def _laplace_difference(scale: arb, t: int) -> arb:
    """P(Y >= t), t >= 0, of two Laplace variables: the density is (1 + |x|/s) e^(-|x|/s)/(4 s)."""
    ratio = t / scale
    return (2 + ratio) * (-ratio).exp() / 4


def _discrete_laplace_difference(noise: DiscreteLaplace, t: int) -> arb:
    """P(Y >= t), t >= 0, of two Lap_Z(s): with b = e^(-1/s), summing the geometric pieces,

    P(Y = k) = ((1-b)/(1+b))² b^k (k + (1+b²)/(1-b²)), and so P(Y >= t) =
    ((1-b)/(1+b))² b^t ((t + (1+b²)/(1-b²))/(1-b) + b/(1-b)²).
    """
    rate = 1 / ball(noise.scale)
    b, gap = (-rate).exp(), -(-rate).expm1()
    ratio = gap / (1 + b)
    return ratio**2 * (-t * rate).exp() * ((t + (1 + b * b) / (gap * (1 + b))) / gap + b / gap**2)


@dataclass(frozen=True)
class _Difference:
    """Y for any laws with a cumulant function, as `exact.contour` sees it."""

    laws: tuple[Law, ...]
    deviation: float

    def transform(self, z: acb, analytic: bool) -> tuple[acb, acb]:
        exponent, factor = acb(0), acb(1)
        for law in self.laws:
            for side in (z, -z):
                k, f = law.transform(side, analytic)
                exponent, factor = exponent + k, factor * f
        return exponent, factor

    def slope(self, z: acb) -> acb | None:
        total = acb(0)
        for law in self.laws:
            right, left = law.slope(z), law.slope(-z)
            if right is None or left is None:
                return None
            total += right - left
        return total

    def at_least(self, t: int) -> arb:
        highest = self._highest()
        if highest is not None and t > highest:
            return arb(0)
        if t <= 0:
            return 1 - self.at_least(1 - t)
        return contour.upper_tail(self, t, vertical_path(self._saddle(t), 1, self.deviation))

    def _highest(self) -> int | None:
        total = 0
        for law in self.laws:
            low, high = law.support
            if low is None or high is None:
                return None
            total += high - low
        return total

    def _saddle(self, t: int) -> float:
        """Near the s > 0 with K'(s) = t; any s in the domain is right, this one is cheap."""
        low, high = 0.0, 2 * t / self.deviation**2 + 1 / self.deviation
        for law in self.laws:
            for end in law.mgf_domain:
                if end is not None:
                    high = min(high, 0.99 * abs(float(ball(end).mid())))
        for _ in range(30):
            middle = (low + high) / 2
            slope = self.slope(acb(middle))
            if slope is None:
                return min(high, t / self.deviation**2)
            low, high = (middle, high) if slope.real < t else (low, middle)
        return high


@dataclass(frozen=True)
class _Doubled:
    """Y for a law whose double has a closed form: symmetric, or binomial with q = 1/2."""

    law: Law
    centre: int
    deviation: float

    def at_least(self, t: int) -> arb:
        return self.law.upper_tail(t + self.centre)


def _difference(laws: tuple[Law, ...]) -> _Difference | _Doubled:
    variance = 2 * sum(float(law.moments().variance.upper) for law in laws)
    deviation = math.sqrt(variance)
    if len(laws) == 1 and laws[0].symmetric:
        try:
            return _Doubled(laws[0].n_fold(2), 0, deviation)
        except NotImplementedError:
            pass
    return _Difference(laws, deviation)
