"""Random allocation of several steps: what the sum of one function of every step tells.

Each user is in k of t steps. T = sum of f(Z_i) over all of them is a statistic of the outcome, for
every f. Its law is the same whichever k steps these are, so that with p and q the laws of f(Z)
where the user is there and is not,

    P(T = .) = p^k * q^(t-k),   Q(T = .) = q^t   (convolutions).

f is the loss of one step sampled at some rate, log(1 + r X) but for constants, X its likelihood
ratio: dP/dQ is an elementary symmetric polynomial of all X, whose logarithm is about the sum of
these less k log r, r where that is least (a saddle point): r = k/(t - k) in the middle, less where
P/Q is large. Rounded is each f, and T of a whole epoch: were sums on the way, their law would
depend on which steps these are.

*Which rate*, floats choose: with K_P and K_Q the cumulants of T and s = K_P'(c), c the tilt where
delta is decided, log P(T >= s) is about a = K_P(c) - c s, and log Q(T >= s) about b, the least
K_Q(v) - v s. Since log delta falls by c as epsilon rises by 1, the best has the largest a - b +
a/c.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from attrs import frozen
from flint import arb

from ...exact.number import ball
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..losses.law import Cumulant, cumulant_of
from .cells import Bounded, divided, tail
from .sides import Rule, Sides
from .weights import Weights

_ROUNDED = 1e-3  # of the variance of T, by which rounding may raise it
_WIDE = 16.0  # deviations that the points span
_LESS = (1, Fraction(4, 3), 2, 3, 4, 6)  # rates are k/t divided by one of these
_FAR, _POINTS = 12.0, 2000  # of noise, to choose by
_NEAR = (0.6, 1.6, 9)  # shares of a tilt, and how many of them
_LONGEST = 16  # times as many points as the lattice of the sum has


@frozen
class DealtSteps(Bounded):
    """Of one epoch. From above it is no loss at all: that is the part of others (`allocated`)."""

    noise: Fraction
    taken: int
    steps: int
    removing: bool

    def largest(self) -> arb:
        """None above nothing."""
        return arb(0)

    def cumulant(self, c: float) -> Cumulant:
        """Of no loss."""
        return Cumulant(0.0, 0.0, 0.0)

    def sides(
        self, step: Fraction, tilt: Fraction, rule: Rule, log_tail: float, points: int
    ) -> Sides:
        """As `Sides.of`, on a lattice of its own."""
        spread = float(step) * math.sqrt(self.taken + 1)
        rounded = points / _WIDE * math.sqrt(12 * _ROUNDED / self.steps)
        width = Fraction(2) ** math.floor(math.log2(spread * max(rounded, 1 / _LONGEST)))
        there, apart = self._one(width, float(tilt), log_tail - math.log(self.steps))
        rule = rule._replace(most=max(rule.most // (2 * self.steps * self.steps.bit_length()), 1))

        def summed(taken: int, up: bool) -> Weights:
            found: Weights | None = None
            for masses, count in ((there, taken), (apart, self.steps - taken)):
                if count:
                    one = {k: m.upper() if up else m.lower() for k, m in masses.items()}
                    each = Weights.of(one, up, rule.bits, width, tilt + up, rule.most)
                    sum_ = each.power(count, rule.most)
                    found = sum_ if found is None else found.times(sum_).cut(rule.most * self.steps)
            assert found is not None
            return found

        with_user, without = (self.taken, 0) if self.removing else (0, self.taken)
        nothing = Weights.of({0: arb(1)}, True, rule.bits, width, tilt, 0)
        return Sides(nothing, summed(with_user, False), summed(without, True)).kept(rule)

    def _one(
        self, step: Fraction, tilt: float, log_tail: float
    ) -> tuple[dict[int, arb], dict[int, arb]]:
        """The masses of f with the user there, and without: all beyond the cells at their end."""
        middle = Fraction(self.taken, self.steps)
        rate = max((middle / n for n in _LESS), key=lambda rate: self._told(float(rate), tilt))
        law = SampledGaussian(rate, self.noise, self.removing)
        cells, q = divided(law, step, tilt, log_tail).cells, ball(rate)
        highest = max(cell.high for cell in cells)
        masses = [((low + high) // 2, p, r) for low, high, p, r, _ in cells]
        masses.append((highest, *tail(law, ball(step) * highest)))
        there, apart = dict[int, arb](), dict[int, arb]()
        for k, p, r in masses:
            mixed, plain = (p, r) if self.removing else (r, p)
            user = ((mixed - (1 - q) * plain) / q).max(arb(0))
            there[k], apart[k] = there.get(k, arb(0)) + user, apart.get(k, arb(0)) + plain
        return there, apart

    def _told(self, rate: float, tilt: float) -> float:
        """About how much T tells."""
        mu, sign = 1 / float(self.noise), 1 if self.removing else -1
        z = np.linspace(-_FAR, _FAR + 2 * mu, _POINTS)
        ratio = mu * z - mu * mu / 2
        f = sign * np.logaddexp(math.log1p(-rate), math.log(rate) + ratio)
        apart = -z * z / 2
        with_user, without = (self.taken, 0) if self.removing else (0, self.taken)

        def cumulant(c: float, taken: int) -> Cumulant:
            each = (
                (cumulant_of(logs + c * f, f), count)
                for logs, count in ((apart + ratio, taken), (apart, self.steps - taken))
            )
            return Cumulant(*np.sum([count * np.array(one) for one, count in each], axis=0))

        here = cumulant(tilt, with_user)
        log_p = here.value - tilt * here.slope
        log_q = min(
            cumulant(v, without).value - v * here.slope for v in (tilt + 1) * np.geomspace(*_NEAR)
        )
        return log_p - float(log_q) + log_p / tilt
