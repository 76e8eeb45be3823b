"""Where released values come from: aggregates drawn in one go, or users one by one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.samplers.bits import RandomBits, SeededBits
from ..protocols.aggregation import PlainSum
from ..protocols.parties import analyze, randomize
from .environments.rewards import RewardLaw, checked
from .release import Release


class Source(Protocol):
    """Where released values come from: aggregates drawn in one go, or users one by one."""

    def released(self, release: Release, laws: Sequence[RewardLaw], counts: Sequence[int]) -> Any:
        """What batches release: counts[i] of them with rewards of laws[i], one after another."""


@frozen
class Simulated:
    """Exact in law, but a batch costs what its aggregate costs: a sum, and one draw of noise."""

    rng: np.random.Generator

    def released(
        self, release: Release, laws: Sequence[RewardLaw], counts: Sequence[int]
    ) -> NDArray[Any]:
        pairs = zip(laws, counts, strict=True)
        most = release.users * release.precision
        sums = [checked(release.sums(law, self.rng, count), most) for law, count in pairs]
        return release.released(np.concatenate(sums), self.rng)


class Aggregator(Enum):
    """How messages are summed."""

    PLAIN = "plain"  # by someone who sees them all
    MASKED = "masked"  # by secure aggregation; needs the extra `masks`


@frozen
class Faithful:
    """A source of released values that runs every user.

    rng: for the rewards, and the noise of algorithms without discrete noise. bits: for the rest.
    """

    rng: np.random.Generator
    bits: RandomBits
    aggregator: Aggregator = Aggregator.PLAIN

    @staticmethod
    def seeded(rng: np.random.Generator, aggregator: Aggregator) -> Faithful:
        """With bits that repeat themselves: for simulation, never for a release."""
        return Faithful(rng, SeededBits(int(rng.integers(1 << 62))), aggregator)

    def released(
        self, release: Release, laws: Sequence[RewardLaw], counts: Sequence[int]
    ) -> NDArray[Any]:
        """What batches release: counts[i] of them with rewards of laws[i], one after another."""
        each = [law for law, count in zip(laws, counts, strict=True) for _ in range(count)]
        rewards = [checked(law.draw(self.rng, release.users)) for law in each]
        if release.protocol is not None:
            seen = [self._one(release.protocol, own) for own in rewards]
            return np.array(seen, dtype=np.int64)
        return release.released(np.array([own.sum() for own in rewards]), self.rng)

    def _one(self, protocol: SumProtocol, rewards: NDArray[np.float64]) -> int:
        """R of every user, S of all messages, A: what it decodes, mod m again."""
        messages = {
            user: randomize(protocol, float(reward), self.bits)
            for user, reward in enumerate(rewards)
        }
        modulus = protocol.modulus
        if modulus is None:
            aggregate = sum(messages.values())
        elif self.aggregator is Aggregator.PLAIN:
            aggregate = PlainSum(modulus).aggregate(messages)
        else:
            from ..protocols.aggregation.masked import MaskedSum

            aggregate = MaskedSum(modulus).aggregate(messages)
        decoded = analyze(protocol, aggregate, self.bits) * protocol.precision
        return decoded.numerator if modulus is None else decoded.numerator % modulus
