"""The loss of continuous noise whose users are sampled at a rate, which may be drawn and told.

With (P0, Q0) the pair of a user who takes part, u = log dP0/dQ0, and S_P, S_Q the tails P0(u >= v)
and Q0(u >= v),

    removing: L = log(1 - q + q e^u),   L >= l  <=>  u >= v = log(1 + (e^l - 1)/q),
    adding:   L = -log(1 - q + q e^u),  L >= l  <=>  -u >= v = -log(1 + (e^-l - 1)/q),

and -u is under Q0 what u is under P0 (both pairs are symmetric). Where rates are told, the law is
the mixture of these at each rate, and of no loss where the user does not take part: so are its
transform and its profile.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import ClassVar, TypeAlias

from attrs import frozen
from flint import acb, arb

from ....exact.number import ball
from ....losses.cells import Reals
from ...divergences.privacy_profile import Event, value_at
from ...sampling import loss_of, losses_of
from ..law import LossLaw

Tail: TypeAlias = tuple[arb, arb]  # P and Q of all losses that are at least so large


class SampledNoise(LossLaw):
    """The privacy loss of one use at one rate, in one direction; `plain`: of who takes part."""

    rate: Fraction  # q, in (0, 1]
    removing: bool

    rest: ClassVar[Fraction] = Fraction(0)

    @property
    def parts(self) -> tuple[tuple[Fraction, SampledNoise], ...]:
        """As of a mixture."""
        return ((Fraction(1), self),)

    def plain_largest(self) -> arb:
        """No u is above this."""
        return arb.pos_inf()

    def plain_tails(self, at: arb) -> Tail:
        """P0(u >= at) and Q0(u >= at)."""
        raise NotImplementedError

    def plain_sketch(self, log_tail: float) -> tuple[Reals, Reals]:
        """u, and logarithms of masses under P0, about; only larger u have the mass e^log_tail."""
        raise NotImplementedError

    def log_unsampled(self, c: arb) -> arb:
        """log M(c) for q = 1."""
        raise NotImplementedError

    def terms(self, c: float, log_error: float) -> float:
        """How many terms the transform at c takes, about."""
        raise NotImplementedError

    def largest(self) -> arb:
        if self.rate == 1:
            return self.plain_largest()
        return loss_of(ball(self.rate), self.removing, self.plain_largest())

    def profile(self, level: arb) -> arb:
        """delta(level) of one use, level >= 0."""
        return value_at(level, Event(*self.tail(level), arb(0)))

    def tail(self, level: arb) -> Tail:
        """P and Q of all losses that are at least this."""
        if self.rate == 1:
            return self.plain_tails(level)
        rate = ball(self.rate)
        inner = 1 + (level if self.removing else -level).expm1() / rate
        if inner <= 0:  # beyond all losses
            return (arb(1), arb(1)) if self.removing else (arb(0), arb(0))
        if not inner > 0:
            return arb(0).union(arb(1)), arb(0).union(arb(1))
        p, q = self.plain_tails(inner.log() * (1 if self.removing else -1))
        if self.removing:
            return (1 - rate) * q + rate * p, q
        return p, (1 - rate) * p + rate * q

    def sketched(self, log_tail: float) -> tuple[Reals, Reals]:
        """Losses, and logarithms of masses."""
        return losses_of(float(self.rate), self.removing, *self.plain_sketch(log_tail))


@frozen
class MixtureLoss(LossLaw):
    """The privacy loss of one use, in one direction. parts: how likely each rate is, and its loss.

    What is left of 1 is the probability that nothing is told.
    """

    parts: tuple[tuple[Fraction, SampledNoise], ...]

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

    def transform(self, s: acb) -> acb:
        total = acb(ball(self.rest))
        return sum((ball(weight) * law.transform(s) for weight, law in self.parts), total)

    def log_unsampled(self, c: arb) -> arb:
        # of the noise that all parts have
        return reduce(arb.union, (law.log_unsampled(c) for _, law in self.parts))

    def terms(self, c: float, log_error: float) -> float:
        return 1 + sum(law.terms(c, log_error) for _, law in self.parts)


LineLaw: TypeAlias = SampledNoise | MixtureLoss  # one use of continuous noise
