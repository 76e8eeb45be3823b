"""The least noise in shuffled binary sums: how many fair bits are really (epsilon, delta)-private.

Adding one more independent bit is post-processing, so that more bits are never less private: the
least number is found between one that is verified and the one below it, which is refuted.
"""

from __future__ import annotations

import math
from fractions import Fraction

from attrs import frozen

from ..accounting.composition.composed import compose
from ..exact.budget import spend
from ..exact.number import ExactInput, ParameterError, whole
from ..exact.roots import first_met_near
from ..mechanisms import AdditiveNoise, Binomial, UndecidedError
from ..mechanisms.additive.papers import shuffle_sum
from ..mechanisms.additive.protocol import missing_users
from ..mechanisms.additive.shuffle import ShuffleSum
from .audit import Audit, Verdict, audit
from .calibration import Family, calibrate
from .guarantee import ApproxDP

_STEPS = 1000  # a user's chance is found to 1/(1000 n)


@frozen
class LeastNoiseBits:
    """The least number of fair noise bits, and what Algorithm 3 spends.

    total     fair bits together; `verified` is their audit, `refuted` that of one bit less
    each      what n users need, who add equally many: ceil(total/n)
    stated    what the paper has each of n users add: ceil(tau/n) fair bits for n <= tau, and for
              n > tau one bit, which is then not fair

    users: n. Returned by `least_noise_bits`.

    >>> from exactdp.verify import least_noise_bits
    >>> least_noise_bits("0.5", "1e-3").total
    88
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

    epsilon, delta: of the claim.

    >>> found = least_noise_bits("0.5", "1e-3")
    >>> found.total, found.verified.verified, found.refuted.refuted
    (88, True, True)
    """
    stated = shuffle_sum(epsilon, delta, users)
    claim = ApproxDP(stated.epsilon, stated.delta)
    if _decided(_fair(Fraction(1)), claim).verified:
        raise ParameterError(f"delta must be smaller: a single fair bit is enough for {claim}")
    # for many bits the noise is nearly normal, of variance bits/4
    start = 8 * math.log(1.25 / float(stated.delta) + 1) / float(stated.epsilon) ** 2
    family = Family("trials", _fair, min(max(start, 2.0), 1e14), is_whole=True)
    found = calibrate(family, claim)
    protocol = stated.protocol
    return LeastNoiseBits(
        protocol.users, int(found.value), found.verified, found.refuted, protocol.noise_bits
    )


@frozen
class LeastRareBits:
    """One noise bit of each of many users, 1 with a probability that is barely enough.

    success   the probability, a multiple of 1/(1000 n); `verified` is its audit, `refuted` that of
              `neighbour`, 1/(1000 n) less. That nothing smaller still would do is not proved.

    users: n. Returned by `least_rare_bits`.

    >>> from exactdp.verify import least_rare_bits
    >>> float(least_rare_bits("0.5", "1e-3", 1000).success)
    0.030088
    """

    users: int
    success: Fraction
    verified: Audit
    refuted: Audit

    @property
    def neighbour(self) -> Fraction:
        """The probability that is refuted."""
        return self.success - Fraction(1, _STEPS * self.users)

    def protocol(self, users: ExactInput) -> ShuffleSum:
        """The same of more users, of whom all but these may vanish."""
        return ShuffleSum(whole(users, "users", at_least=self.users), 1, self.success)


def least_rare_bits(epsilon: ExactInput, delta: ExactInput, users: ExactInput) -> LeastRareBits:
    """How rare one bit of each user may be for a sum of bits to be (epsilon, delta)-DP.

    0 < epsilon < 1, 0 < delta < 1. Raises ParameterError out of these ranges, and for so few users
    that a fair bit of each is not enough; UndecidedError where a verdict stays open.

    epsilon, delta: of the claim. users: how many.

    >>> found = least_rare_bits("0.5", "1e-3", 1000)
    >>> float(found.success) < 0.5, found.verified.verified
    (True, True)
    """
    stated = shuffle_sum(epsilon, delta, users)
    claim, n = ApproxDP(stated.epsilon, stated.delta), stated.batch
    half = Fraction(1, 2)
    if _decided(AdditiveNoise(Binomial(n, half)), claim).refuted:
        raise ParameterError(f"users must be so many that a fair bit of each is enough, got {n}")
    unit = Fraction(1, _STEPS * n)

    def rare(steps: int) -> AdditiveNoise:
        return AdditiveNoise(Binomial(n, min(steps * unit, half)))  # all are met from a half on

    def meets(steps: int) -> bool:
        found = compose(rare(steps)).delta(claim.epsilon)
        if (answer := found.at_most(claim.delta)) is None:
            raise UndecidedError(f"delta = {found} cannot be told from {claim.delta}")
        return answer

    # nearly a Poisson variable, of a variance somewhat above that of the normal approximation
    start = 2 * math.log(1.25 / float(stated.delta) + 1) / float(stated.epsilon) ** 2
    steps = 2 + first_met_near(
        lambda more: meets(2 + more), min(math.ceil(_STEPS * start), _STEPS * n // 2), -1
    )
    verified, refuted = (_decided(rare(each), claim) for each in (steps, steps - 1))
    if refuted.verified:
        raise ParameterError(
            f"delta must be smaller: bits of 1/({_STEPS} n) are enough for {claim}"
        )
    return LeastRareBits(n, steps * unit, verified, refuted)


def _decided(mechanism: AdditiveNoise, claim: ApproxDP) -> Audit:
    """Its audit. Raises OutOfTimeError where the time is over, else UndecidedError."""
    found = audit(mechanism, claim)
    if found.verdict is Verdict.UNDECIDED:
        spend()
        raise UndecidedError(f"{claim} stays open: {found.measured}")
    return found


def _fair(bits: Fraction) -> AdditiveNoise:
    return AdditiveNoise(Binomial(bits, Fraction(1, 2)))
