"""Poisson sampling: every user takes part with probability q, and datasets differ by one user.

With (P, Q) the mechanism's pair with and without that user, sampling makes of it, for all other
users' choices fixed (they are the same on both sides),

    remove: ((1-q) Q + q P, Q)        add: (Q, (1-q) Q + q P).

For H_g(P, Q) = sup over S of P(S) - g Q(S) = int (dP - g dQ)^+, delta(level) = H_(e^level):

    H_g((1-q)Q + qP, Q) = int (q dP - (g - 1 + q) dQ)^+       = q H_((g-1+q)/q)(P, Q),
                          1 - g  where g <= 1 - q             (nothing is cut off)
    H_g(Q, (1-q)Q + qP) = int ((1 - g (1-q)) dQ - g q dP)^+
                        = (1 - g(1-q)) H_(gq/(1-g(1-q)))(Q, P),
                          0      where g (1-q) >= 1.

Post-processing passes through mixtures, so what dominates (P, Q) dominates these as sampled. The
largest loss of either pair is its pure epsilon, log(1 + q (e^a - 1)) and -log(1 + q (e^-b - 1)),
where a and b are the largest of log dP/dQ and of log dQ/dP (infinite: e^-b = 0).
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from ..exact.enclosure import Enclosure
from ..exact.number import ball
from ..exact.precision import enclose
from ..losses.cells import Reals
from ..mechanisms.pairs.pair import SampledPair


def loss_of(rate: arb, removing: bool, plain: arb) -> arb:
    """The loss of the sampled pair, rate < 1, where that of the pair that it faces is this."""
    sign = 1 if removing else -1
    if sign * plain == arb.pos_inf():
        return plain
    return sign * (rate * (sign * plain).expm1()).log1p()


def losses_of(rate: float, removing: bool, plain: Reals, logs: Reals) -> tuple[Reals, Reals]:
    """The same in floats, with logarithms of masses under the first law from those unsampled."""
    sign = 1 if removing else -1
    losses = sign * log_ratio(rate, sign * plain)
    return losses, logs + losses - plain if removing and rate < 1 else logs


def log_ratio(rate: float, u: Reals) -> Reals:
    """log(1 - q + q e^u) in floats, rate q."""
    if rate == 1:
        return u
    small = np.log1p(rate * np.expm1(np.minimum(u, 1.0)))
    large = u + math.log(rate) + np.log1p((1 - rate) / rate * np.exp(-np.maximum(u, 1.0)))
    return np.where(u < 1, small, large)


def sampled_loss(pair: SampledPair, largest: Enclosure) -> Enclosure:
    """The loss of a sampled pair where that of the pair that it faces is in this enclosure."""
    low, high = (
        enclose(loss_of(ball(pair.rate), pair.removing, ball(end)))
        for end in (largest.lower, largest.upper)
    )
    return Enclosure(low.lower, high.upper)
