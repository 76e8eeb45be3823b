"""The laws of a release's noise: how much of it, for which claim, and its moments.

    skellam            (epsilon, delta)-DP: the envelope of a vector of norm g
                       (`verify.vector_bounds`)
    discrete-laplace   epsilon-DP: what a vector of norm g moves in all D coordinates together,
                       sqrt(D) g at most before rounding, as one number (`additive.vector`)

Both are infinitely divisible: users add shares of them. `noise` takes K(s) = log E e^(sZ), even,
with K(s)/s^2 not falling in s > 0:

    skellam            v (cosh s - 1)
    discrete-laplace   -log(1 - sinh(s/2)^2/sinh(L/2)^2), L = 1/scale, where s < L, else infinite

The second is the sum of y^k/k, k >= 1, y = sinh(s/2)^2/sinh(L/2)^2; both have power series in s^2
without a constant, and no negative coefficient.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING
from fractions import Fraction

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ball
from ...exact.roots import float_root
from ...exact.rounding import to_digits
from ...mechanisms.additive.reach import RoundedReach
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.skellam import Skellam
from ...verify.guarantee import ApproxDP, Guarantee, PureDP

Noise = Skellam | DiscreteLaplace

_DIGITS = 6
_STEEPEST = 50.0


@frozen
class Kind:
    """A law by its name, and what it is for.

    claim      of epsilon and delta
    relative   about the standard deviation for them, in so many dimensions, of a vector of norm 1
    first      the first to try, for what a vector is rounded to
    """

    claim: Callable[[Fraction, Fraction], Guarantee]
    relative: Callable[[float, float, int], float]
    first: Callable[[RoundedReach, Fraction, Fraction], Noise]


def up(value: Fraction) -> Fraction:
    """To few digits."""
    return to_digits(value, _DIGITS, ROUND_CEILING)


def more(noise: Noise, ratio: Fraction) -> Noise:
    """Of so many times the variance, or the scale."""
    if isinstance(noise, Skellam):
        return Skellam(up(noise.variance * ratio))
    assert isinstance(noise.scale, Fraction)
    return DiscreteLaplace(up(noise.scale * ratio))


def parameter(noise: Noise) -> tuple[str, Fraction]:
    """As specs have it."""
    if isinstance(noise, Skellam):
        return "variance", noise.variance
    assert isinstance(noise.scale, Fraction)
    return "scale", noise.scale


def deviation(noise: Noise) -> float:
    """The standard deviation, about."""
    return math.sqrt(noise.moments().variance.upper)


def log_moment(noise: Noise, s: arb) -> arb:
    """K(s), s > 0: infinite from where it is."""
    if isinstance(noise, Skellam):
        return 2 * ball(noise.variance) * (s / 2).sinh() ** 2
    rest: arb = 1 - ((s / 2).sinh() / (1 / ball(noise.scale) / 2).sinh()) ** 2
    return -rest.log() if rest > 0 else arb("inf")


def tilt(noise: Noise, far: float) -> float:
    """About the s with K'(s) = far, where Chernoff's bound of P(Z >= far) is best."""
    if isinstance(noise, Skellam):
        return min(math.asinh(far / float(noise.variance)), _STEEPEST)
    scale = float(parameter(noise)[1])  # 2 s/(L^2 - s^2) = far
    return (math.hypot(1, far / scale) - 1) / far


def drawn(noise: Noise, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
    """So many, by NumPy."""
    if isinstance(noise, Skellam):
        both = rng.poisson(float(noise.variance) / 2, (2, size))
        found: NDArray[np.int64] = both[0] - both[1]
        return found
    return noise.simulate(rng, size)


def _gaussian(epsilon: float, delta: float, dimension: int) -> float:
    """That of Gaussian noise."""

    def excess(log_sigma: float) -> float:
        sigma = math.exp(log_sigma)
        above, below = (
            math.erfc((epsilon * sigma - side / sigma) / math.sqrt(2)) / 2 for side in (0.5, -0.5)
        )
        return math.log(max(above - math.exp(epsilon) * below, 1e-300)) - math.log(delta)

    return math.exp(float_root(excess, -12.0, 12.0, 1e-9))


def _of_gaussian(reach: RoundedReach, epsilon: Fraction, delta: Fraction) -> Skellam:
    relative = _gaussian(float(epsilon), float(delta), reach.dimension)
    return Skellam(up(Fraction(float(reach.norm) * relative) ** 2))


KINDS: Mapping[str, Kind] = {
    Skellam.name: Kind(ApproxDP, _gaussian, _of_gaussian),
    DiscreteLaplace.name: Kind(
        lambda epsilon, delta: PureDP(epsilon),
        lambda epsilon, delta, dimension: math.sqrt(2 * dimension) / epsilon,
        lambda reach, epsilon, delta: DiscreteLaplace(up(reach.largest_sum / epsilon)),
    ),
}
