"""E (W - u)^+ for W = Bin(2n, 1/2) - n: what rewards of unknown law are compared with.

x_1, ..., x_n and x'_1, ..., x'_n independent in [0, 1], the means of the x summing to no more than
those of the x'. Then for every convex non-decreasing f

    E f(sum x_i - sum x'_i) <= E f(W)

(Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 1963, section 5,
and "On the distribution of the number of successes in independent trials", Ann. Math. Stat. 1956).
Proof. sum x_i + sum (1 - x'_i) is a sum of 2n independent variables in [0, 1] with mean at most n.
On [0, 1] a convex function lies below its chord, so each variable may be replaced by a Bernoulli
one of its mean. Of two of these, with success probabilities q and r, E f(s + B + B') =
f(s) + (q + r) (f(s+1) - f(s)) + q r (f(s+2) - 2 f(s+1) + f(s)): for q + r fixed, averaging them can
only raise it; so all become equal, and raising them all to 1/2 raises it as f does not fall.

By de Moivre's formula sum_{j >= m} (j - n) P(B = j) = (m/2) P(B = m); here the tail sums are simply
added up: E (W - u)^+ at u - 1 is that at u plus P(W >= u), and it is linear between integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from ...exact.precision import working_precision
from .noise import BITS

_REACH = 60  # tabulated as far as e^-REACH by Hoeffding's inequality: u = sqrt(REACH n)


@dataclass(frozen=True, eq=False)
class StopLoss:
    """E (W - u)^+ at u = 0, 1, ..., len - 1, in balls and in floats."""

    table: tuple[arb, ...]
    floats: NDArray[np.float64]

    def ball(self, u: Fraction) -> arb:
        """Enclose E (W - u)^+, narrowly within the table; for any u of either sign."""
        whole = u.denominator
        index, part = divmod(abs(u.numerator), whole)
        if index + 1 < len(self.table):
            value, beyond = self.table[index : index + 2]
            if part:
                value = value + (beyond - value) * part / whole
        else:
            value = arb(0).union(self.table[-1])
        # W is symmetric: E (W + d)^+ = d + E (W - d)^+
        return value if u.numerator >= 0 else value - arb(fmpq(u.numerator, whole))

    def at_least(self, w: int) -> arb:
        """P(W >= w), w >= 1."""
        if w < len(self.table):
            return self.table[w - 1] - self.table[w]
        return arb(0).union(self.table[-2] - self.table[-1])

    def approximately(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same in floats."""
        places = np.arange(len(self.floats), dtype=np.float64)
        near = np.interp(np.abs(u), places, self.floats)
        return np.where(u >= 0, near, near - u)


@lru_cache(maxsize=64)
def stop_loss(users: int) -> StopLoss:
    """The table for n = users."""
    reach = min(users, math.isqrt(_REACH * users) + 2)
    with working_precision(BITS + 16):
        # p = P(W = u), downward from u = reach: P(W = u - 1) = P(W = u) (n + u)/(n - u + 1)
        ways = arb(2 * users + 1).lgamma() - arb(users + reach + 1).lgamma()
        ways -= arb(users - reach + 1).lgamma()
        p = (ways - 2 * users * arb.const_log2()).exp()
        # beyond: the ratio of terms falls, so the rest is below a geometric series
        ratio = arb(users - reach) / (users + reach + 1)
        above = p * ratio / (1 - ratio)  # P(W > reach), at most
        tail = arb(0).union(above) + p  # P(W >= reach)
        loss = arb(0).union(above / (1 - ratio))  # E (W - reach)^+
        found = [loss]
        for u in range(reach, 0, -1):
            loss = loss + tail
            found.append(loss)
            p = p * (users + u) / (users - u + 1)
            tail = tail + p
    found.reverse()
    return StopLoss(tuple(found), np.array([float(value.mid()) for value in found]))
