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

*Facing.* The sampled pair faces (A, B), that is (P, Q), remove, and (Q, P), add: its first law lies
where A does. With l the loss of (A, B),

    remove:  (q A + (1-q) B, B),  L = log(1 - q + q e^l),
    add:     (A, q B + (1-q) A),  L = -log(1 - q + q e^-l),

both rising in l, and |L| <= |l|.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose

_One = TypeVar("_One")
_Reals = NDArray[np.float64]


@frozen
class Sampling:
    """Each user takes part with probability `rate`, 0 < rate <= 1.

    removing: has the first of the two datasets the user?
    """

    rate: Fraction = Fraction(1)
    removing: bool = True

    def facing(self, p: _One, q: _One) -> tuple[_One, _One]:
        """(A, B) of (P, Q); and (P, Q) of (A, B)."""
        return (p, q) if self.removing else (q, p)

    def mixed(self, a: Sequence[arb], b: Sequence[arb]) -> tuple[Sequence[arb], Sequence[arb]]:
        """Masses of outcomes under both laws, from those under A and B."""
        if self.rate == 1:
            return a, b
        rate, (p, q) = ball(self.rate), self.facing(a, b)
        mixture = [(1 - rate) * without + rate * there for there, without in zip(p, q, strict=True)]
        return self.facing(mixture, q)

    def loss(self, plain: arb) -> arb:
        """L where l is this."""
        sign = 1 if self.removing else -1
        if self.rate == 1 or sign * plain == arb.pos_inf():
            return plain
        return sign * (ball(self.rate) * (sign * plain).expm1()).log1p()

    def loss_within(self, plain: Enclosure) -> Enclosure:
        """L where l is in this enclosure."""
        low, high = (enclose(self.loss(ball(end))) for end in (plain.lower, plain.upper))
        return Enclosure(low.lower, high.upper)

    def losses(self, plain: _Reals, logs: _Reals) -> tuple[_Reals, _Reals]:
        """The same in floats, with logarithms of masses under the first law from those under A."""
        sign = 1 if self.removing else -1
        losses = sign * self.log_ratio(sign * plain)
        return losses, logs + losses - plain if self.removing and self.rate < 1 else logs

    def log_ratio(self, u: _Reals) -> _Reals:
        """log(1 - q + q e^u) in floats."""
        if self.rate == 1:
            return u
        rate = float(self.rate)
        small = np.log1p(rate * np.expm1(np.minimum(u, 1.0)))
        large = u + math.log(rate) + np.log1p((1 - rate) / rate * np.exp(-np.maximum(u, 1.0)))
        return np.where(u < 1, small, large)


EVERYBODY = Sampling()
