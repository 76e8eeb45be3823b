"""Laplace noise whose user takes part with probability q: the transform of the privacy loss.

Q = Lap(0, b), P = Lap(D, b), e = D/b: under Q the unsampled loss u = log dP/dQ is e with
probability e^(-e)/2, -e with probability 1/2, and has the density e^(-e/2) e^(-u/2)/4 between. With
r(u) = 1 - q + q e^u as in `sampled_gaussian`, L = log r under (1-q) Q + q P ("remove") or
L = -log r under Q ("add"), and M(s) = E_Q r^(p(s)), p(s) = s + 1 or -s; p = p(c) on the line.

*The rule.* Two atoms, and Gauss-Legendre with n points for g(u) = e^(-u/2) r(u)^(p(s)) on [-e, e]:
where g is analytic and at most A in the ellipse with foci +-e and semi-axes e (R +- 1/R)/2, it errs
by at most e (64/15) A R^(-2n)/(1 - R^-2), n >= 2: Chebyshev coefficients are at most 2 A R^-k, the
rule is exact below degree 2n and for odd degrees, and wrong by at most 2 + 2/(k^2 - 1) for T_k.
With x, v the semi-axes and v <= pi/2: |r| <= r(x), |r| >= r(-x) cos(v/2) and
|arg r| <= min(v, q e^x v/(1-q)), since the real part of r is at least 1 - q and arctan z <= z.

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
from functools import cached_property, lru_cache

import numpy as np
from attrs import frozen
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ....exact.budget import spend
from ....exact.number import ball
from ...sampling import added, pure_added, pure_removed, removed
from ..law import FiniteLoss

_GROWTHS = [1 + 2.0**-k for k in range(-4, 14)]  # R that are tried
_NEVER = 1 << 40  # points


@frozen(slots=False)
class SampledLaplace(FiniteLoss):
    """The privacy loss of one use, in one direction."""

    rate: Fraction  # q, in (0, 1]
    epsilon: Fraction  # sensitivity/scale
    removing: bool

    def largest(self) -> arb:
        pure = pure_removed if self.removing else pure_added
        return pure(ball(self.rate), ball(self.epsilon))

    def profile(self, level: arb) -> arb:
        """delta(level) of one use."""
        epsilon = ball(self.epsilon)
        through = removed if self.removing else added
        return through(ball(self.rate), level, lambda at: _delta(epsilon, at))

    def transform(self, s: acb) -> acb:
        """M(s), Im s = 0."""
        c, at = s.real, _at if s.real.is_exact() else _at.__wrapped__  # only exact balls hash
        return acb(at(self, c, ctx.prec))

    def log_unsampled(self, c: arb) -> arb:
        """log M(c) for q = 1."""
        return _renyi_sum(ball(self.epsilon), c + 1).log()

    def terms(self, c: float, top: float, log_error: float) -> float:
        """How many nodes the rule has, about."""
        power = self._power(arb(c))
        return 2 + min(self._points(power, top, -log_error, growth) for growth in _GROWTHS)

    def _power(self, c: arb) -> arb:
        return c + 1 if self.removing else -c

    def _log_ratio(self, u: arb) -> arb:
        return u if self.rate == 1 else (ball(self.rate) * u.expm1()).log1p()

    def _atoms(self) -> list[tuple[arb, arb]]:
        epsilon = ball(self.epsilon)
        return [((-epsilon).exp() / 2, epsilon), (arb(1) / 2, -epsilon)]

    def _rule(self, power: arb, top: float, goal: float) -> tuple[list[arb], list[arb], arb]:
        """Masses times r^p, losses, and the error for all 0 <= y <= top: about e^-goal M(c)."""
        count, growth = min((self._points(power, top, goal, by), by) for by in _GROWTHS)
        nodes = [*self._atoms(), *self._legendre(count)]
        spend()
        weights, losses = [], []
        for mass, u in nodes:
            log_ratio = self._log_ratio(u)
            weights.append(mass * (power * log_ratio).exp())
            losses.append(log_ratio if self.removing else -log_ratio)
        return weights, losses, self._error(power, top, count, arb(growth)).upper()

    def _legendre(self, count: int) -> list[tuple[arb, arb]]:
        epsilon, found = ball(self.epsilon), []
        for k in range(count):
            node, weight = arb.legendre_p_root(count, k, weight=True)
            u = epsilon * node
            found.append((weight * epsilon * (-epsilon / 2 - u / 2).exp() / 4, u))
        return found

    def _error(self, power: arb, top: float, count: int, growth: arb) -> arb:
        epsilon, q = ball(self.epsilon), ball(self.rate)
        x, v = epsilon * (growth + 1 / growth) / 2, epsilon * (growth - 1 / growth) / 2
        if not v <= arb.pi() / 2:
            return arb.pos_inf()
        angle = v if self.rate == 1 else v.min(q * x.exp() * v / (1 - q))
        if power >= 0:
            largest = power * self._log_ratio(x)
        else:
            largest = power * (self._log_ratio(-x) + (v / 2).cos().log())
        size = (x / 2 + largest + angle * arb(top)).exp()
        rest = growth ** (-2 * count) / (1 - growth**-2)
        return (-epsilon / 2).exp() / 4 * epsilon * arb(64) / 15 * size * rest

    def _points(self, power: arb, top: float, goal: float, growth: float) -> int:
        """How many points make the error about e^-goal M(c), whose atoms weigh something."""
        excess = self._error(power, top, 0, arb(growth))
        if not excess.is_finite():
            return _NEVER
        atoms = sum(
            (mass * (power * self._log_ratio(u)).exp() for mass, u in self._atoms()), arb(0)
        )
        log_excess = float((excess / atoms).log().mid()) + goal
        return max(4, math.ceil(log_excess / (2 * math.log(growth))))

    @cached_property
    def about(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logarithms of masses, and losses, for integrals."""
        epsilon, q = float(self.epsilon), float(self.rate)
        nodes, weights = _nodes()
        u = np.concatenate([epsilon * nodes, [epsilon, -epsilon]])
        inner = np.log(weights * epsilon / 4) - epsilon / 2 - epsilon * nodes / 2
        log_masses = np.concatenate([inner, [-epsilon - math.log(2), -math.log(2)]])
        if q < 1:
            top = np.maximum(u, 0.0)
            u = top + np.log((1 - q) * np.exp(-top) + q * np.exp(u - top))
        return (log_masses + u, u) if self.removing else (log_masses, -u)


@lru_cache(maxsize=1)
def _nodes() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of integrals from -1 to 1; numpy turns any error on the way into a ValueError."""
    return np.polynomial.legendre.leggauss(200)


@lru_cache(maxsize=256)
def _at(law: SampledLaplace, c: arb, bits: int) -> arb:
    """M(c)."""
    weights, _, error = law._rule(law._power(c), 0.0, 0.7 * bits)
    return sum(weights, arb(0)) + arb(0, error)


def _delta(epsilon: arb, level: arb) -> arb:
    """delta(level), also at a negative level."""
    inside = -((level - epsilon) / 2).expm1()
    if level >= -epsilon:
        return inside.max(arb(0))
    below = -level.expm1()
    return below if level <= -epsilon else inside.union(below).max(arb(0))


def _renyi_sum(epsilon: arb, order: arb) -> arb:
    """e^((order - 1) Renyi), order > 1."""
    near, far = ((order - 1) * epsilon).exp(), (-order * epsilon).exp()
    return (order * near + (order - 1) * far) / (2 * order - 1)
