"""Laplace noise whose user takes part with probability q: the transform of the privacy loss.

Q = Lap(0, b), P = Lap(D, b), e = D/b: under Q the unsampled loss u = log dP/dQ is e with
probability e^(-e)/2, -e with probability 1/2, and has the density e^(-e/2) e^(-u/2)/4 between. With
r(u) = 1 - q + q e^u as in `sampled_gaussian`, L = log r under (1-q) Q + q P ("remove") or
L = -log r under Q ("add"), and M(c) = E_Q r^p, p = c + 1 or -c.

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

import numpy as np
from attrs import frozen
from flint import acb, arb

from ....exact.budget import spend
from ....exact.number import ball
from ....losses.cells import Reals
from .mixture import SampledNoise, Tail

_SEEN = 1000  # losses by which a tilt is chosen


@frozen
class SampledLaplace(SampledNoise):
    """The privacy loss of one use, in one direction."""

    rate: Fraction
    epsilon: Fraction  # sensitivity/scale
    removing: bool

    def plain_largest(self) -> arb:
        return ball(self.epsilon)

    def plain_tails(self, at: arb) -> Tail:
        epsilon = ball(self.epsilon)
        if at > epsilon:
            return arb(0), arb(0)
        if at <= -epsilon:
            return arb(1), arb(1)
        if not (at <= epsilon and at > -epsilon):
            return arb(0).union(arb(1)), arb(0).union(arb(1))
        return 1 - ((at - epsilon) / 2).exp() / 2, (-(at + epsilon) / 2).exp() / 2

    def plain_sketch(self, log_tail: float) -> tuple[Reals, Reals]:
        epsilon = float(self.epsilon)
        u = epsilon * (np.arange(0.5, _SEEN) * 2 / _SEEN - 1)
        logs = math.log(epsilon / 2 / _SEEN) + (u - epsilon) / 2
        ends = [-math.log(2), -math.log(2) - epsilon]
        return np.append(u, [epsilon, -epsilon]), np.append(logs, ends)

    def transform(self, s: acb) -> acb:
        """M(s), Im s = 0."""
        power, q = s.real + 1 if self.removing else -s.real, ball(self.rate)
        epsilon = ball(self.epsilon)
        if self.rate == 1:
            return acb(self.log_unsampled(s.real).exp())
        spend()

        def density(u: acb, analytic: bool) -> acb:
            return (power * (1 - q + q * u.exp()).log(analytic) - (epsilon + u) / 2).exp() / 4

        def ratio(u: arb) -> arb:
            return (power * (q * u.expm1()).log1p()).exp()

        between = acb.integral(density, -epsilon, epsilon).real
        return acb(between + (ratio(epsilon) * (-epsilon).exp() + ratio(-epsilon)) / 2)

    def log_unsampled(self, c: arb) -> arb:
        order, epsilon = c + 1, ball(self.epsilon)
        near, far = (c * epsilon).exp(), (-order * epsilon).exp()
        return ((order * near + c * far) / (2 * order - 1)).log()

    def terms(self, c: float, log_error: float) -> float:
        # as much as the integral costs
        return 10 * math.sqrt(c * float(self.epsilon))
