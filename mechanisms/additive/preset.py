"""What a theorem states, as a value: the mechanism, its protocol, and the derived parameters.

Beside it, the arithmetic that every theorem's parameters need, decided exactly.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from attrs import frozen
from flint import arb

from ...exact.number import ExactInput, Formula, whole
from ..laws.law import Law
from ..mechanism import AdditiveNoise, RandomizedResponse
from .protocol import SumProtocol, Trust
from .relaxed import RelaxedAggregation
from .shuffle import ShuffleSum

_LARGEST_BATCH = 10**20  # so that a share of 1/n has a shape that can be computed with


class _Stated(Enum):
    MODULUS = "as stated"


STATED: Final = _Stated.MODULUS  # the modulus that the theorem states
Modulus: TypeAlias = ExactInput | Literal[_Stated.MODULUS] | None  # None: the plain sum


@frozen
class Preset:
    """A mechanism as a theorem states it, beside the parameters that were derived.

    mechanism: what is released when every user's share is in it; `released` says what remains
    when some are missing or known. protocol: how it is made.
    """

    source: str
    epsilon: Fraction
    batch: int
    precision: int
    accuracy: int | None  # None without a horizon
    mechanism: AdditiveNoise
    protocol: SumProtocol

    def released(self, dropout: ExactInput = 0, collusion: ExactInput = 0) -> AdditiveNoise:
        """What is released, `dropout` and `collusion` users' shares not protecting."""
        return self.protocol.released(dropout, collusion)


@frozen
class RelaxedPreset:
    """The same over a relaxed secure aggregation: the mechanism is what that one guarantees."""

    source: str
    epsilon: Fraction
    batch: int
    precision: int
    accuracy: int
    mechanism: RandomizedResponse
    protocol: SumProtocol
    aggregation: RelaxedAggregation

    def released(self, dropout: ExactInput = 0, collusion: ExactInput = 0) -> RandomizedResponse:
        """What is guaranteed, `dropout` and `collusion` users' shares not protecting."""
        return self.aggregation.released(self.protocol, dropout, collusion)


@frozen
class ShufflePreset:
    """A binary sum in the shuffle model, as its theorem states it. tau is irrational."""

    source: str
    epsilon: Fraction
    delta: Fraction
    batch: int
    tau: Formula
    mechanism: AdditiveNoise
    protocol: ShuffleSum

    def released(self, dropout: ExactInput = 0, collusion: ExactInput = 0) -> AdditiveNoise:
        """What is released, `dropout` and `collusion` users' noise bits not protecting."""
        return self.protocol.released(dropout, collusion)


def preset(
    source: str,
    budget: Fraction,
    users: int,
    g: int,
    tau: int | None,
    noise: Law,
    modulus: Modulus,
    trust: Trust = Trust.DISTRIBUTED,
) -> Preset:
    """Put a preset together; noise: the law of one share (see `SumProtocol`)."""
    m = stated_modulus(users, g, tau, modulus)
    protocol = SumProtocol(users, g, tau or 0, m, noise, trust)
    return Preset(source, budget, users, g, tau, protocol.released(), protocol)


def stated_modulus(users: int, g: int, tau: int | None, modulus: Modulus) -> ExactInput | None:
    """m = n g + 2 tau + 1 unless another one is asked for; none without tau."""
    if modulus is STATED:
        return None if tau is None else users * g + 2 * tau + 1
    return modulus


def read_batch(batch: ExactInput, name: str = "batch") -> int:
    """n, the number of users."""
    return whole(batch, name, at_least=1, at_most=_LARGEST_BATCH)


def read_horizon(horizon: ExactInput) -> int:
    """T, the number of rounds."""
    return whole(horizon, "horizon", at_least=1)


def least_precision(factor: Fraction, users: int) -> int:
    """ceil(factor sqrt(users)), from integers: the least g with g² >= factor² users."""
    return math.isqrt(math.ceil(factor**2 * users) - 1) + 1


def log_2t(rounds: int) -> arb:
    """log(2T)."""
    return arb(2 * rounds).log()
