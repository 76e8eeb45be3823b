"""The loss of continuous noise whose users are sampled at a rate that is drawn and told.

Its law is the mixture of those of Poisson sampling at each rate, and of no loss where the user does
not take part: so are its transform and its profile.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from attrs import frozen
from flint import acb, arb

from ....exact.number import ball
from ..law import LossLaw
from .sampled_gaussian import SampledGaussian
from .sampled_laplace import SampledLaplace


@frozen
class MixtureLoss(LossLaw):
    """The privacy loss of one use, in one direction. parts: how likely each rate is, and its loss.

    What is left of 1 is the probability that nothing is told.
    """

    parts: tuple[tuple[Fraction, SampledGaussian | SampledLaplace], ...]

    @property
    def rest(self) -> Fraction:
        """How likely there is no loss."""
        return 1 - sum((weight for weight, _ in self.parts), Fraction(0))

    @property
    def rate(self) -> Fraction:
        """The probability that the user takes part."""
        return sum((weight * law.rate for weight, law in self.parts), Fraction(0))

    @property
    def removing(self) -> bool:
        """Has the first dataset the user?"""
        return self.parts[0][1].removing

    def largest(self) -> arb:
        return reduce(arb.max, (law.largest() for _, law in self.parts), arb(0))

    def profile(self, level: arb) -> arb:
        total = ball(self.rest) * (-level.expm1()).max(arb(0))
        return sum((ball(weight) * law.profile(level) for weight, law in self.parts), total)

    def transform(self, s: acb) -> acb:
        total = acb(ball(self.rest))
        return sum((ball(weight) * law.transform(s) for weight, law in self.parts), total)

    def log_unsampled(self, c: arb) -> arb:
        # of the noise that all parts have
        return reduce(arb.union, (law.log_unsampled(c) for _, law in self.parts))

    def terms(self, c: float, log_error: float) -> float:
        return 1 + sum(law.terms(c, log_error) for _, law in self.parts)


LineLaw: TypeAlias = SampledGaussian | SampledLaplace | MixtureLoss  # one use of continuous noise
