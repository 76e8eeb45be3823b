"""Laplace noise against its shift, e = sensitivity/scale: P = Lap(0, 1), Q = Lap(e, 1).

    delta(level) = 1 - e^((level - e)/2) for -e <= level <= e, 0 above, 1 - e^level below
    Renyi        = log[a/(2a-1) e^((a-1)e) + (a-1)/(2a-1) e^(-ae)]/(a-1)     (Mironov 2017)
    rho          = sup of Renyi/a, at most e^2/2; pure epsilon = e
    trade-off    = 1 - e^e a for a < e^-e/2, e^-e/(4a) up to 1/2, e^-e (1 - a) beyond

delta: {loss > level} is {x < (e - level)/2}, of P-mass 1 - e^(-(e-level)/2)/2 and of Q-mass
e^(-(e+level)/2)/2. Trade-off: rejecting on {x > t}, P-mass a, Q misses Q(x <= t); three cases of t.
Both directions cost the same, by reflection.
"""

from __future__ import annotations

from flint import arb


def delta(epsilon: arb, level: arb) -> arb:
    """delta(level), also at a negative level."""
    inside = -((level - epsilon) / 2).expm1()
    if level >= -epsilon:
        return inside.max(arb(0))
    below = -level.expm1()
    return below if level <= -epsilon else inside.union(below).max(arb(0))


def renyi_sum(epsilon: arb, order: arb) -> arb:
    """e^((order - 1) Renyi), order > 1."""
    near, far = ((order - 1) * epsilon).exp(), (-order * epsilon).exp()
    return (order * near + (order - 1) * far) / (2 * order - 1)
