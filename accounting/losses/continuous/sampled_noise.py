"""The loss of continuous noise whose users are sampled at a rate, which may be drawn and told: its
tails; and the transform of the Laplace's (the Gaussian's: `sampled_gaussian`).

With (P0, Q0) the pair of a user who takes part, u = log dP0/dQ0, and S_P, S_Q the tails P0(u >= v)
and Q0(u >= v),

    removing: L = log(1 - q + q e^u),   L >= l  <=>  u >= v = log(1 + (e^l - 1)/q),
    adding:   L = -log(1 - q + q e^u),  L >= l  <=>  -u >= v = -log(1 + (e^-l - 1)/q),

and -u is under Q0 what u is under P0 (both pairs are symmetric). Where rates are told, the law is
the mixture of these at each rate, and of no loss where the user does not take part: so are its
transform and its profile.

*Laplace noise.* Q = Lap(0, b), P = Lap(D, b), e = D/b: under Q the unsampled loss u = log dP/dQ is
e with probability e^(-e)/2, -e with probability 1/2, and has the density e^(-e/2) e^(-u/2)/4
between. With r(u) = 1 - q + q e^u as in `sampled_gaussian`, L = log r under (1-q) Q + q P
("remove") or L = -log r under Q ("add"), and M(c) = E_Q r^p, p = c + 1 or -c.

*M(c)*, c real: the two atoms, and between them the integral of e^(-e/2) e^(-u/2) r(u)^p/4, by Arb's
rigorous integration (Johansson, "Numerical integration in arbitrary-precision ball arithmetic",
ICMS 2018).

*Without sampling*, e = sensitivity/scale:

    delta(level) = 1 - e^((level - e)/2) for -e <= level <= e, 0 above, 1 - e^level below
    Renyi        = log[a/(2a-1) e^((a-1)e) + (a-1)/(2a-1) e^(-ae)]/(a-1)     (Mironov 2017)
    rho          = sup of Renyi/a, at most e^2/2; pure epsilon = e
    trade-off    = 1 - e^e a for a < e^-e/2, e^-e/(4a) up to 1/2, e^-e (1 - a) beyond

delta: {loss > level} is {x < (e - level)/2}, of P-mass 1 - e^(-(e-level)/2)/2 and of Q-mass
e^(-(e+level)/2)/2. Trade-off: rejecting on {x > t}, P-mass a, Q misses Q(x <= t); three cases of t.
Both directions cost the same, by reflection.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from typing import ClassVar, TypeAlias

import numpy as np
from attrs import frozen
from flint import acb, arb

from ....exact.budget import spend
from ....exact.number import ball
from ....exact.square_root import SquareRoot
from ....losses.cells import Reals
from ....mechanisms.pairs.sampling import EVERYBODY, Sampling
from ...divergences.privacy_profile import Event, value_at
from ..law import LossLaw

_SEEN = 1000  # losses by which a tilt is chosen

Tail: TypeAlias = tuple[arb, arb]  # P and Q of all losses that are at least so large


class SampledNoise(LossLaw):
    """The privacy loss of one use at one rate, in one direction; `plain`: of who takes part."""

    sampling: Sampling

    rest: ClassVar[Fraction] = Fraction(0)

    @property
    def parts(self) -> tuple[tuple[Fraction, SampledNoise], ...]:
        """As of a mixture."""
        return ((Fraction(1), self),)

    @property
    def move(self) -> Fraction | SquareRoot:
        """The sensitivity, in units of the scale."""
        raise NotImplementedError

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
        return self.sampling.loss(self.plain_largest())

    def profile(self, level: arb) -> arb:
        """delta(level) of one use, level >= 0."""
        return value_at(level, Event(*self.tail(level), arb(0)))

    def tail(self, level: arb) -> Tail:
        """P and Q of all losses that are at least this."""
        sampling, sign = self.sampling, 1 if self.sampling.removing else -1
        if sampling.rate == 1:
            return self.plain_tails(level)
        inner = 1 + (sign * level).expm1() / ball(sampling.rate)
        if inner <= 0:  # beyond all losses
            return (arb(1), arb(1)) if sampling.removing else (arb(0), arb(0))
        if not inner > 0:
            return arb(0).union(arb(1)), arb(0).union(arb(1))
        a, b = self.plain_tails(sign * inner.log())
        (p,), (q,) = sampling.mixed([a], [b])
        return p, q

    def sketched(self, log_tail: float) -> tuple[Reals, Reals]:
        """Losses, and logarithms of masses."""
        return self.sampling.losses(*self.plain_sketch(log_tail))


@frozen
class SampledLaplace(SampledNoise):
    """The privacy loss of one use, in one direction."""

    move: Fraction  # sensitivity/scale, e
    sampling: Sampling = EVERYBODY

    def plain_largest(self) -> arb:
        return ball(self.move)

    def plain_tails(self, at: arb) -> Tail:
        epsilon = ball(self.move)
        if at > epsilon:
            return arb(0), arb(0)
        if at <= -epsilon:
            return arb(1), arb(1)
        if not (at <= epsilon and at > -epsilon):
            return arb(0).union(arb(1)), arb(0).union(arb(1))
        return 1 - ((at - epsilon) / 2).exp() / 2, (-(at + epsilon) / 2).exp() / 2

    def plain_sketch(self, log_tail: float) -> tuple[Reals, Reals]:
        epsilon = float(self.move)
        u = epsilon * (np.arange(0.5, _SEEN) * 2 / _SEEN - 1)
        logs = math.log(epsilon / 2 / _SEEN) + (u - epsilon) / 2
        ends = [-math.log(2), -math.log(2) - epsilon]
        return np.append(u, [epsilon, -epsilon]), np.append(logs, ends)

    def transform(self, s: acb) -> acb:
        """M(s), Im s = 0."""
        power, q = s.real + 1 if self.sampling.removing else -s.real, ball(self.sampling.rate)
        epsilon = ball(self.move)
        if self.sampling.rate == 1:
            return acb(self.log_unsampled(s.real).exp())
        spend()

        def density(u: acb, analytic: bool) -> acb:
            return (power * (1 - q + q * u.exp()).log(analytic) - (epsilon + u) / 2).exp() / 4

        def ratio(u: arb) -> arb:
            return (power * (q * u.expm1()).log1p()).exp()

        between = acb.integral(density, -epsilon, epsilon).real
        return acb(between + (ratio(epsilon) * (-epsilon).exp() + ratio(-epsilon)) / 2)

    def log_unsampled(self, c: arb) -> arb:
        order, epsilon = c + 1, ball(self.move)
        near, far = (c * epsilon).exp(), (-order * epsilon).exp()
        return ((order * near + c * far) / (2 * order - 1)).log()

    def terms(self, c: float, log_error: float) -> float:
        # as much as the integral costs
        return 10 * math.sqrt(c * float(self.move))


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
    def sampling(self) -> Sampling:
        """As at the probability that the user takes part."""
        rate = sum((weight * law.sampling.rate for weight, law in self.parts), Fraction(0))
        return Sampling(rate, self.parts[0][1].sampling.removing)

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
