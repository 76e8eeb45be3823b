"""A protocol (R, S, A) for the sum of a batch of rewards, as a value.

Each of n users encodes a reward in [0, 1] as an integer in 0..g by randomized rounding, adds a
share of noise and reduces mod m (R, `randomize`); the messages are summed mod m and nothing else
is seen (S, the package `aggregation`); the sum is decoded (A, `analyze`). This is Algorithm 1 of
Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits" (ICLR 2023), with
their Algorithms 2-5 where the analyzer alone, or each user alone, adds the noise that protects.

*Relaxed secure aggregation* (`RelaxedAggregation`), over which Theorem 3 is private: its guarantee.
Cheu and Yan, "Pure Differential Privacy from Secure Intermediaries" (2021), as Definition 9 of
Chowdhury and Zhou (ICLR 2023): S is an (epsilon, failure)-relaxation of the sum mod m if there are
a simulator SIM and a post-processing POST with, for every input y of sum Sigma(y),

    | log P(S(y) in E) / P(SIM(Sigma(y)) in E) | <= epsilon  for all events E,
    the statistical distance of POST(S(y)) and Sigma(y) is at most failure.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING
from enum import Enum
from fractions import Fraction
from typing import TypeVar

import numpy as np
from attrs import field, frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, ball, exact, whole
from ...exact.precision import refine
from ...exact.rounding import to_digits
from ..fields import parameters
from ..laws.law import Law
from ..mechanism import AdditiveNoise, RandomizedResponse

_Seen = TypeVar("_Seen", int, "NDArray[np.int64]")
_WIDTH = Fraction(1, 10**25)
_DIGITS = 20  # significant ones to which an irrational epsilon' is rounded up


class Trust(Enum):
    """Whom the users need not trust, and so whose view must be private."""

    CENTRAL = "central"  # the analyzer is trusted, and adds the noise; what it releases is private
    DISTRIBUTED = "distributed"  # the sum mod m is private: the shares add up
    LOCAL = "local"  # each message is private by itself


@frozen
class SumProtocol:
    """(R, S, A) for the sum of one batch.

    users      n
    precision  g, the grid of the encoding, and the sensitivity of the sum
    accuracy   tau: the sum is decoded to the window -tau, ..., m - 1 - tau
    modulus    m, or None for sums of integers without reduction
    noise      the law of one share (of the analyzer's noise in the central model)
    trust      whose view the noise protects from

    Raises ParameterError for what is out of range. A modulus of any size can be private; one that
    is too small to tell sums apart (`decodes`) is refused by the analyzer.

    >>> from exactdp.mechanisms import Skellam
    >>> protocol = SumProtocol(100, 8, accuracy=200, modulus=2048, noise=Skellam(variance=1))
    >>> protocol.bits_per_user, protocol.window, protocol.decodes
    (11, (-200, 1847), True)
    >>> protocol.released(dropout=10).law
    Skellam(variance=Fraction(90, 1))
    """

    users: int = field(converter=parameters.users)
    precision: int = field(converter=parameters.precision)
    accuracy: int = field(converter=parameters.accuracy)
    modulus: int | None = field(converter=parameters.modulus)
    noise: Law
    trust: Trust = Trust.DISTRIBUTED

    @property
    def window(self) -> tuple[int, int] | None:
        """The least and the largest decoded sum, -tau and m - 1 - tau; None without a modulus."""
        return None if self.modulus is None else (-self.accuracy, self.modulus - 1 - self.accuracy)

    @property
    def decodes(self) -> bool:
        """Does the window hold every sum of encoded rewards, 0, ..., n g?"""
        return self.window is None or self.window[1] >= self.users * self.precision

    def decoded(self, seen: _Seen) -> _Seen:
        """The representative in the window of what was released: a number, or an array of them.

        With the paper's m = n g + 2 tau + 1 what is above n g + tau stands for a negative one.
        """
        if self.window is None or self.modulus is None:
            return seen
        return seen - self.modulus * (seen > self.window[1])

    def total_noise(self, missing: int = 0) -> Law:
        """The law of the noise in the analyzed sum when `missing` users' shares are not in it.

        Raises ParameterError where nobody is left.
        """
        present = self.users - missing_users(self.users, missing)
        return self.noise if self.trust is Trust.CENTRAL else self.noise.sum_of(present)

    def released(self, dropout: ExactInput = 0, collusion: ExactInput = 0) -> AdditiveNoise:
        """What must be private, as a mechanism: a query of sensitivity g, its noise, the modulus.

        dropout: users whose messages never arrive; collusion: users who tell what they drew. A
        share that is missing and one that is known protect equally little: given both, what is
        seen of the others is their sum with their shares (and a known shift of it), and only the
        others' data remain to be protected. In the central and the local model no noise is made
        of shares: it stays whole. Raises ParameterError where nobody is left.
        """
        missing = missing_users(self.users, dropout, collusion)
        shares = self.users - missing if self.trust is Trust.DISTRIBUTED else 1
        return AdditiveNoise(self.noise.sum_of(shares), self.precision, self.modulus)

    @property
    def bits_per_user(self) -> int | None:
        """What a user sends to S: ceil(log2 m) bits; None without a modulus."""
        return None if self.modulus is None else (self.modulus - 1).bit_length()


def missing_users(users: int, dropout: ExactInput, collusion: ExactInput = 0) -> int:
    """How many users' shares do not protect. Raises ParameterError where nobody is left."""
    gone = whole(dropout, "dropout", at_least=0)
    known = whole(collusion, "collusion", at_least=0)
    if gone + known >= users:
        raise ParameterError(
            f"dropout and collusion together must be at most users - 1 = {users - 1}, "
            f"got dropout {_short(gone)} and collusion {_short(known)}"
        )
    return gone + known


def _short(number: int) -> str:
    return str(number) if number < 10**20 else "1e20 or more"


def _epsilon(value: ExactInput) -> Fraction:
    return exact(value, "epsilon", at_least=0)


def _failure(value: ExactInput) -> Fraction:
    return exact(value, "failure", at_least=0, at_most=1)


@frozen
class RelaxedAggregation:
    """S that leaks and may be wrong.

    epsilon  hat epsilon, the most that it leaks. failure: hat q, how often it may be wrong

    Raises ParameterError for what is out of range.

    >>> RelaxedAggregation(epsilon="0.1", failure="1e-9").leak
    Fraction(1, 5)
    """

    epsilon: Fraction = field(converter=_epsilon)
    failure: Fraction = field(converter=_failure)

    @property
    def leak(self) -> Fraction:
        """What it adds to the privacy loss of the sum: 2 epsilon.

        S(y) is replaced by SIM(Sigma(y)) and back, epsilon each (the triangle inequality of the
        log ratio); between the two, SIM is post-processing of the sum.
        """
        return 2 * self.epsilon

    def released(
        self, protocol: SumProtocol, dropout: ExactInput = 0, collusion: ExactInput = 0
    ) -> RandomizedResponse:
        """What is guaranteed of a sum that this aggregation forms: (leak + epsilon', 0)-DP.

        epsilon' is the pure epsilon of the noise of the users who are left. Relaxed security
        promises no more than a bound of the log ratio, so the mechanism is the pair that dominates
        all mechanisms with that bound (`ResponsePair`): an audit of it is one of the guarantee,
        and refutes what the guarantee does not give, whatever one implementation leaks.
        Raises ParameterError for noise of infinite pure epsilon, and where nobody is left.
        """
        noisy = protocol.released(dropout, collusion)
        return RandomizedResponse(self.leak + largest_loss_of_noise(noisy.law, noisy.sensitivity))


def largest_loss_of_noise(law: Law, sensitivity: int) -> Fraction:
    """Bound the pure epsilon of noise of proved shape on Z, hence of its reduction mod any m.

    *p log-concave:* log p(x)/p(x - d) falls in x, so its supremum is its limit at -infinity, and
    the largest d is the worst. *p symmetric, log-convex on x >= 0:* the loss rises up to x = 0
    and falls from there to d, so its supremum is log p(0)/p(d), for the largest d again
    (`AdditiveNoise.pairs`). A rational is given exactly, anything else rounded up to 20 digits.
    Raises ParameterError where it is infinite or not known.
    """
    if law.log_convex_sides:
        return _rounded_up(lambda: law.loss(0, sensitivity))
    limit = law.loss_limit(sensitivity)
    if not law.log_concave or law.support != (None, None) or limit is None:
        raise ParameterError(f"noise {law} has no finite pure epsilon that is known")
    return limit if isinstance(limit, Fraction) else _rounded_up(lambda: ball(limit))


def _rounded_up(compute: Callable[[], arb]) -> Fraction:
    found = refine(compute, width=_WIDTH)
    if not found.is_within(_WIDTH):
        raise ParameterError(f"the pure epsilon of the noise is known to {found} only")
    return to_digits(Fraction(found.upper), _DIGITS, ROUND_CEILING)
