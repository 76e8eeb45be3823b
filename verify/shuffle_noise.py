"""The least noise in shuffled binary sums: how many fair bits are really (epsilon, delta)-private.

Adding one more independent bit is post-processing, so that more bits are never less private: the
least number is found between one that is verified and the one below it, which is refuted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ..exact.number import ExactInput
from ..mechanisms.laws.binomial import Binomial
from ..mechanisms.mechanism import AdditiveNoise
from ..mechanisms.papers import shuffle_sum
from ..mechanisms.protocols.protocol import missing_users
from ..mechanisms.protocols.shuffle import ShuffleSum
from .audit import Audit
from .calibration import Family, calibrate
from .claim import ApproxDP

__all__ = ["LeastNoiseBits", "least_noise_bits"]


@dataclass(frozen=True)
class LeastNoiseBits:
    """The least number of fair noise bits, and what Algorithm 3 spends.

    total     fair bits together; `verified` is their audit, `refuted` that of one bit less
    each      what n users need, who add equally many: ceil(total/n)
    stated    what the paper has each of n users add: ceil(tau/n) fair bits for n <= tau, and for
              n > tau one bit, which is then not fair
    """

    users: int
    total: int
    verified: Audit
    refuted: Audit
    stated: int

    @property
    def each(self) -> int:
        """Fair bits of one user."""
        return self.protocol().noise_bits

    def protocol(self, dropout: ExactInput = 0) -> ShuffleSum:
        """As few fair bits of each user as keep the claim while at most `dropout` users vanish.

        Raises ParameterError where nobody would be left.
        """
        present = self.users - missing_users(self.users, dropout)
        return ShuffleSum(self.users, -(-self.total // present), Fraction(1, 2))


def least_noise_bits(
    epsilon: ExactInput, delta: ExactInput, users: ExactInput = 1
) -> LeastNoiseBits:
    """The least number of fair bits with which a sum of bits is (epsilon, delta)-DP.

    0 < epsilon < 1, 0 < delta < 1; users: among whom they are divided. Raises ParameterError out
    of these ranges, and where a single bit is enough; UndecidedError where a verdict stays open.
    """
    stated = shuffle_sum(epsilon, delta, users)
    claim = ApproxDP(stated.epsilon, stated.delta)
    # for many bits the noise is nearly normal, of variance bits/4
    start = 8 * math.log(1.25 / float(stated.delta) + 1) / float(stated.epsilon) ** 2
    family = Family("trials", _fair, min(max(start, 2.0), 1e14), is_whole=True)
    found = calibrate(family, claim)
    protocol = stated.protocol
    return LeastNoiseBits(
        protocol.users, int(found.value), found.verified, found.refuted, protocol.noise_bits
    )


def _fair(bits: Fraction) -> AdditiveNoise:
    return AdditiveNoise(Binomial(bits, Fraction(1, 2)))
