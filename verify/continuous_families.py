"""Gaussian and Laplace noise as families for calibration: in its scale, its uses, its sampling.

More noise is a post-processing of less. N(0, s^2) plus independent N(0, t^2 - s^2) is N(0, t^2);
Lap(s) plus what is 0 with probability s^2/t^2 and else Lap(t) is Lap(t), as the characteristic
functions show: 1/(1 + t^2 x^2) = (s^2/t^2 + (1 - s^2/t^2)/(1 + t^2 x^2))/(1 + s^2 x^2). It passes
through mixtures, so the same holds of sampled users. Fewer uses are more with some releases
dropped. Sampling at a lower rate q' < q: where each output is replaced, with probability
1 - q'/q, by a draw from Q (the law without the user), Q stays and (1-q) Q + q P becomes
(1-q') Q + q' P.
"""

from __future__ import annotations

from fractions import Fraction

from ..accounting.composed import compose
from ..exact.number import ExactInput, exact, whole
from ..mechanisms.continuous import ContinuousNoise, Shape
from .calibration import Family
from .order import Monotone

__all__ = ["largest_rate", "least_noise", "most_uses"]

_MOST_USES = 10**9
_NOISE = Monotone("more noise is a post-processing of less, also where users are sampled")
_USES = Monotone("fewer uses are more of which some releases are dropped")
_RATE = Monotone(
    "sampling at a lower rate is a post-processing: outputs replaced at random by what is released "
    "without the user"
)


def least_noise(
    shape: Shape,
    sensitivity: ExactInput = 1,
    neighbours: str = "replace",
    rate: ExactInput = 1,
    times: ExactInput = 1,
) -> Family:
    """In sigma of a Gaussian, or the scale of a Laplace; times: only to know where to look."""
    moved, chance = exact(sensitivity, "sensitivity", above=0), _rate(rate)
    uses = whole(times, "times", at_least=1, at_most=_MOST_USES)

    def build(scale: Fraction) -> ContinuousNoise:
        return ContinuousNoise(shape, scale, moved, neighbours, chance)

    build(Fraction(1))  # bad values are refused here
    start = float(moved) * max(0.7, float(chance) * uses**0.5)
    name = "sigma" if shape is Shape.GAUSSIAN else "scale"
    return Family(name, build, start, order=lambda *_: _NOISE)


def most_uses(mechanism: ContinuousNoise) -> Family:
    """In times: how often this mechanism may be used."""
    return Family(
        "times",
        lambda times: compose((mechanism, times)),
        1000.0,
        is_whole=True,
        falls=False,
        order=lambda *_: _USES,
        largest=Fraction(_MOST_USES),
    )


def largest_rate(mechanism: ContinuousNoise) -> Family:
    """In poisson: the probability with which each user takes part; neighbours add or remove one."""

    def build(rate: Fraction) -> ContinuousNoise:
        return ContinuousNoise(
            mechanism.shape, mechanism.scale, mechanism.sensitivity, "add-remove", rate
        )

    return Family("poisson", build, 0.01, falls=False, order=lambda *_: _RATE, largest=Fraction(1))


def _rate(rate: ExactInput) -> Fraction:
    return exact(rate, "poisson", above=0, at_most=1)
