"""Binary sums in the shuffle model: each user sends its bit among noise bits, all are shuffled.

Algorithm 3 of Tenenbaum, Kaplan, Mansour and Stemmer, "Differentially Private Multi-Armed Bandits
in the Shuffle Model" (NeurIPS 2021). Shuffled bits reveal how many of them are 1 and nothing else,
so what must be private is the number of users' ones plus B, and B is binomial: of n p fair bits
for few users, of one bit of probability tau/(2n) from each of many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from attrs import field, frozen
from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.number import (
    ExactInput,
    Formula,
    Linear,
    Logarithm,
    ParameterError,
    Real,
    exact,
    linear,
    whole,
)
from ..fields import parameters
from ..laws.binomial import Binomial
from ..laws.search import certain_floor, first_within
from ..mechanism import AdditiveNoise
from .protocol import missing_users

if TYPE_CHECKING:
    from ..samplers.bits import RandomBits


_STATED = 96


def _success(value: ExactInput | Formula) -> Real:
    return Binomial(1, value).success


@frozen
class ShuffleSum:
    """(R, S, A) for the number of ones among n users' bits.

    users       n
    noise_bits  p: how many noise bits each user adds to its own
    success     the probability that a noise bit is 1, strictly between 0 and 1

    Raises ParameterError for what is out of range.

    >>> protocol = ShuffleSum(users=1000, noise_bits=3, success="1/2")
    >>> protocol.messages_per_user, protocol.error_variance(), protocol.error_quantile("0.01")
    (4, Enclosure(750, 750), 71)
    """

    users: int = field(converter=parameters.users)
    noise_bits: int = field(converter=parameters.noise_bits)
    success: Real = field(converter=_success)

    @property
    def messages_per_user(self) -> int:
        """The user's bit and its noise bits."""
        return 1 + self.noise_bits

    @property
    def bits_per_user(self) -> int:
        """What a user sends: messages of one bit each."""
        return self.messages_per_user

    def total_noise(self, missing: int = 0) -> Binomial:
        """The law of B when `missing` users' messages are not there."""
        present = self.users - missing_users(self.users, missing)
        return Binomial(present * self.noise_bits, self.success)

    def released(self, dropout: ExactInput = 0, collusion: ExactInput = 0) -> AdditiveNoise:
        """What must be private: a sum of bits plus those noise bits that are there and not known.

        Raises ParameterError where nobody is left.
        """
        missing = missing_users(self.users, dropout, collusion)
        return AdditiveNoise(self.total_noise(missing))

    def randomize(self, bit: ExactInput, bits: RandomBits) -> tuple[int, ...]:
        """R: the messages of one user with this bit. The shuffle makes their order worthless."""
        own = whole(bit, "bit", at_least=0, at_most=1)
        if self.success == Fraction(1, 2):
            drawn = bits.take(self.noise_bits)
            return own, *(drawn >> place & 1 for place in range(self.noise_bits))
        from ..samplers.coins import bernoulli_real

        return own, *(int(bernoulli_real(self.success, bits)) for _ in range(self.noise_bits))

    def analyze(self, messages: Iterable[int], dropout: ExactInput = 0) -> Real:
        """A: the number of ones less the mean of B, exactly; unbiased.

        messages: the bits of all users who are there, in any order. It is a `Linear` formula
        where the probability of a noise bit is irrational. Raises ParameterError for what is no
        bit, and for another number of messages than so many users send.
        """
        present = self.users - missing_users(self.users, dropout)
        ones, count = 0, 0
        for message in messages:
            if isinstance(message, bool) or message not in (0, 1):
                raise ParameterError(f"messages must be bits, 0 or 1, got {message!r}"[:200])
            ones, count = ones + int(message), count + 1
        if count != present * self.messages_per_user:
            raise ParameterError(
                f"messages must be {present * self.messages_per_user}, "
                f"{self.messages_per_user} of each user, got {count}"
            )
        return linear(Fraction(ones), Fraction(-1), self.mean(dropout))

    def mean(self, dropout: ExactInput = 0) -> Real:
        """E B, which the analyzer subtracts: tau/2 where the paper states it."""
        trials = self.total_noise(missing_users(self.users, dropout)).trials
        return linear(Fraction(0), Fraction(trials), self.success)

    def error_variance(self, dropout: ExactInput = 0) -> Enclosure:
        """The variance of the error B - E B, which depends on no input."""
        return self.total_noise(missing_users(self.users, dropout)).moments().variance

    def error_quantile(self, failure: ExactInput, dropout: ExactInput = 0) -> int:
        """The least whole t with P(|error| > t) <= failure.

        Raises UndecidedError where some probability cannot be told from it.
        """
        level = exact(failure, "failure", above=0, at_most=1)
        if level == 1:
            return 0
        guess = 4 * math.isqrt(math.ceil(self.error_variance(dropout).upper))
        what = "P(off by more than {})"
        return first_within(lambda t: self._beyond(Fraction(t), dropout)(), level, what, guess)

    def _beyond(self, far: Fraction, dropout: ExactInput) -> Callable[[], arb]:
        law, mean = self.total_noise(missing_users(self.users, dropout)), self.mean(dropout)
        # the outcomes that are outside: k > mean + far, k < mean - far
        above = _floor(linear(far, Fraction(1), mean)) + 1
        below = -_floor(linear(far, Fraction(-1), mean)) - 1
        return lambda: law.upper_tail(above) + law.lower_tail(below)


def stated_tau(epsilon: Fraction, delta: Fraction) -> Linear:
    """tau = 96 log(2/delta)/epsilon²."""
    return Linear(Fraction(0), _STATED / epsilon**2, Logarithm(2 / delta))


def shuffled_sum(
    epsilon: Fraction, delta: Fraction, users: int, dropout: ExactInput = 0
) -> ShuffleSum:
    """Algorithm 3: n <= tau: ceil(tau/n) fair bits each; n > tau: one of probability tau/(2n).

    dropout: how many of the users may vanish: each adds what so many fewer users would have to add.
    If fewer vanish, the sum has more independent bits: post-processing. tau is irrational (the log
    of a rational other than 1 is), so that every ceiling is decided.
    """
    tau, present = stated_tau(epsilon, delta), users - missing_users(users, dropout)
    each = certain_floor(lambda: tau.ball() / present, "noise bits") + 1
    if each > 1:
        return ShuffleSum(users, each, Fraction(1, 2))
    return ShuffleSum(users, 1, Linear(Fraction(0), tau.factor / (2 * present), tau.number))


def shuffle(messages: Iterable[Sequence[int]], bits: RandomBits) -> tuple[int, ...]:
    """S: all users' messages in uniformly random order (Fisher and Yates)."""
    from ..samplers.coins import below

    every = [message for sent in messages for message in sent]
    for last in range(len(every) - 1, 0, -1):
        chosen = below(last + 1, bits)
        every[last], every[chosen] = every[chosen], every[last]
    return tuple(every)


def _floor(value: Real) -> int:
    if isinstance(value, Fraction):
        return math.floor(value)
    return certain_floor(value.ball, "a whole number")
