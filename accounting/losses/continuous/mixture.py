"""The loss of continuous noise whose users are sampled at a rate that is drawn and told.

Its law is the mixture of those of Poisson sampling at each rate, and of no loss where the user does
not take part: so are its transform, its profile, and rules and bounds of either.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

from attrs import frozen
from flint import acb, arb

from ....exact.number import ball
from ..law import Cumulant, FiniteLoss
from .line import Line
from .sampled_gaussian import SampledGaussian
from .sampled_laplace import SampledLaplace


@frozen
class MixtureLoss(FiniteLoss):
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

    @property
    def listed(self) -> bool:
        """Are the nodes of all its rules known?"""
        return all(law.listed for _, law in self.parts)

    def largest(self) -> arb:
        return reduce(arb.max, (law.largest() for _, law in self.parts), arb(0))

    def profile(self, level: arb) -> arb:
        """delta(level) of one use."""
        total = ball(self.rest) * (-level.expm1()).max(arb(0))
        return sum((ball(weight) * law.profile(level) for weight, law in self.parts), total)

    def transform(self, s: acb) -> acb:
        """M(s), Im s = 0."""
        total = acb(ball(self.rest))
        return sum((ball(weight) * law.transform(s) for weight, law in self.parts), total)

    def rough(self, c: arb) -> tuple[arb, arb]:
        """Bounds of M(c) without a rule."""
        least = most = ball(self.rest)
        for weight, law in self.parts:
            low, high = law.rough(c)
            least, most = least + ball(weight) * low, most + ball(weight) * high
        return least.lower(), most.upper()

    def cumulant(self, c: float) -> Cumulant:
        each = [(float(weight), law.cumulant(c)) for weight, law in self.parts]
        each.append((float(self.rest), Cumulant(0.0, 0.0, 0.0)))
        top = max(one.value for _, one in each)
        shares = [(weight * math.exp(one.value - top), one) for weight, one in each]
        total = sum(share for share, _ in shares)
        mean = sum(share * one.slope for share, one in shares) / total
        spread = sum(share * (one.curvature + (one.slope - mean) ** 2) for share, one in shares)
        return Cumulant(top + math.log(total), mean, spread / total)

    def line(self, c: arb, top: float, log_error: float) -> Line:
        weights, losses, error = [acb(ball(self.rest))], [acb(0)], arb(0)
        for weight, law in self.parts:
            share, one = ball(weight), law.line(c, top, log_error)
            weights += [share * node for node in one.weights]
            losses += one.losses
            error += share * one.error
        return Line(weights, losses, error.upper())

    def terms(self, c: float, top: float, log_error: float) -> float:
        return 1 + sum(law.terms(c, top, log_error) for _, law in self.parts)

    def log_decay(self, c: float, y: float) -> float:
        total, whole = float(self.rest), self.cumulant(c).value
        for weight, law in self.parts:
            height = law.cumulant(c).value + law.log_decay(c, y)
            total += float(weight) * math.exp(min(height, 700.0))
        return min(math.log(max(total, 1e-300)) - whole, 0.0)

    def decay(self, c: arb, y: float) -> arb:
        total = ball(self.rest)
        return sum((ball(weight) * law.decay(c, y) for weight, law in self.parts), total).upper()
