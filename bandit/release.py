"""What is released of one arm's batch, and what is made of it: the step that algorithms differ in.

A release takes the sum of a batch, in units of 1/precision, to what leaves the batch, and that back
to a noisy sum in the same units. All arms of a batch have the same release, so that elimination
needs these units only; `centre`, the mean of the noise, is the same for each of them.

Reports that users have randomised themselves: their sum, released as it is.

Every user rounds her reward at random to a bit, and reports that by randomised response: the other
bit with probability f = 1/(1 + e^epsilon) (Warner, JASA 1965). What she sends is epsilon-DP by
itself, whoever sees it. An arm of mean mu has independent reports in [0, 1] of mean
f + (1 - 2 f) mu: the best arm's is the largest, and what is proved of sums of rewards without noise
is proved of these.

One batch of an arm: how it is released, what is proved of it, when an arm leaves.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..exact.number import ParameterError, decimal_text
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.laws.binomial import Binomial
from ..mechanisms.laws.law import Law
from ..mechanisms.mechanism import RandomizedResponse
from ..verify.audit import Audit, Verdict, audit
from ..verify.guarantee import PureDP
from .environments.environment import Environment
from .environments.rewards import Bernoulli, RewardLaw
from .evidence import Evidence, NotVerifiedError
from .radius.plan import ContinuousLaplace, Decoding, Noise

_LIMIT = 1 << 62  # sums of two such integers still fit 64 bits


class Release(Protocol):
    """How the sum of a batch of rewards is released."""

    @property
    def protocol(self) -> SumProtocol | None:
        """What draws discrete noise, and has certificates; None where sums are real numbers."""

    @property
    def users(self) -> int:
        """n: rewards in the sum."""

    @property
    def precision(self) -> int:
        """g: rewards are encoded on the grid 0, 1/g, ..., 1."""

    @property
    def centre(self) -> Fraction:
        """What `decoded` exceeds the sum by in the mean, in units of the grid."""

    @property
    def bits_per_user(self) -> int | None:
        """What a user sends; None where that is a real number."""

    @property
    def noise(self) -> Noise | None:
        """The law of the total noise, in units of the grid; None: no noise."""

    @property
    def decoding(self) -> Decoding | None:
        """How the sum is read that was released mod m; None: it was not reduced."""

    def sums(self, law: RewardLaw, rng: np.random.Generator, size: int) -> NDArray[Any]:
        """`size` independent sums of a batch of rewards, before any noise."""

    def released(self, sums: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """What leaves the batch, for each of these sums: with the total noise in one draw."""

    def decoded(self, released: NDArray[Any]) -> NDArray[Any]:
        """The noisy sums, in units of the grid."""


@frozen(slots=False)
class ModularRelease:
    """A protocol (R, S, A): the sum plus discrete noise, reduced mod m where there is an m."""

    protocol: SumProtocol

    def __attrs_post_init__(self) -> None:
        if self.largest >= _LIMIT:
            raise ParameterError(f"modulus must be below 2^62 for simulation, got {self.largest}")

    @property
    def largest(self) -> int:
        """Above what is decoded; where there is no modulus, but for noise: the sum of rewards."""
        return self.protocol.modulus or self.protocol.users * self.protocol.precision

    @property
    def users(self) -> int:
        return self.protocol.users

    @property
    def precision(self) -> int:
        return self.protocol.precision

    @cached_property
    def noise(self) -> Law:
        return self.protocol.total_noise()

    @property
    def decoding(self) -> Decoding | None:
        modulus = self.protocol.modulus
        return None if modulus is None else Decoding(self.protocol.accuracy, modulus)

    @cached_property
    def centre(self) -> Fraction:
        if self.noise.symmetric:
            return Fraction(0)
        mean = self.noise.moments().mean
        if mean.lower != mean.upper:
            raise ParameterError(f"the mean of the noise {self.noise} is not known exactly")
        return Fraction(mean.lower)

    @property
    def bits_per_user(self) -> int | None:
        """ceil(log2 m); of shuffled bits, the reward's and the noise's."""
        share = self.protocol.noise
        if self.protocol.modulus is None and isinstance(share, Binomial):
            return 1 + share.trials
        return self.protocol.bits_per_user

    def sums(self, law: RewardLaw, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        return law.sums(rng, self.precision, self.users, size)

    def released(self, sums: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
        noisy = sums + self.noise.simulate(rng, len(sums))
        modulus = self.protocol.modulus
        return noisy if modulus is None else noisy % modulus

    def decoded(self, released: NDArray[Any]) -> NDArray[np.int64]:
        return self.protocol.decoded(np.asarray(released, dtype=np.int64))


@frozen
class OpenRelease:
    """The sum of real rewards as it is: not private."""

    users: int

    protocol = None
    precision = 1
    centre = Fraction(0)
    bits_per_user = None
    decoding = None

    @property
    def noise(self) -> Noise | None:
        return None

    def sums(self, law: RewardLaw, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        return law.real_sums(rng, self.users, size)

    def released(self, sums: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
        return np.asarray(sums, dtype=np.float64)

    def decoded(self, released: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(released, dtype=np.float64)


@frozen
class LaplaceRelease(OpenRelease):
    """The sum of real rewards plus *continuous* Laplace noise of scale 1/epsilon, by a server.

    In floats, which no proof covers: no certificate exists for it (see `privacy`).
    """

    epsilon: Fraction

    @property
    def noise(self) -> ContinuousLaplace:
        return ContinuousLaplace(1 / self.epsilon)

    def released(self, sums: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float64]:
        return np.asarray(sums + rng.laplace(0, float(1 / self.epsilon), len(sums)))


_SLACK = Fraction(1, 1 << 50)  # above the error of a report's mean in floats


@frozen
class LocalRelease(OpenRelease):
    """How many of so many users report 1."""

    epsilon: Fraction

    @property
    def spec(self) -> str:
        """The mechanism of each user, as commands read it."""
        return f"randomized-response:epsilon={decimal_text(self.epsilon)}"

    def verified(self) -> Audit:
        """That what a user sends is epsilon-DP. Raises NotVerifiedError where it is not proved."""
        return _verified(self.epsilon)

    def sums(self, law: RewardLaw, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        return np.asarray(law.sums(rng, 1, self.users, size), dtype=np.float64)

    def released(self, sums: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        """Of so many bits that are 1."""
        ones = np.asarray(sums).astype(np.int64)
        if (ones != sums).any():
            raise ParameterError("rewards must be 0 or 1 where users take part one by one")
        flips = _flips(self.epsilon)
        kept = ones - rng.binomial(ones, flips)
        return np.asarray(kept + rng.binomial(self.users - ones, flips), dtype=np.float64)

    def reports(self, environment: Environment, widen: int) -> Environment:
        """The instance of reports; means moved apart (1) or together (-1) by what floats are off.

        Bounds that fall with the gaps are above those of the true means where it is -1.
        """
        flips = Fraction(_flips(self.epsilon))
        means = [Fraction(mean) for mean in environment.means.tolist()]
        moved = [
            flips + (1 - 2 * flips) * mean + widen * _SLACK * (1 if mean == max(means) else -1)
            for mean in means
        ]
        arms = tuple(Bernoulli(min(max(mean, Fraction(0)), Fraction(1))) for mean in moved)
        return Environment(f"reports of {environment.name}", arms)


def _flips(epsilon: Fraction) -> float:
    return 1 / (1 + math.exp(min(float(epsilon), 700.0)))


@lru_cache(maxsize=64)
def _verified(epsilon: Fraction) -> Audit:
    found = audit(RandomizedResponse(epsilon), PureDP(epsilon))
    if found.verdict is not Verdict.VERIFIED:
        raise NotVerifiedError(
            f"a report is not verified for {found.claim}: {found.verdict.name}", found.verdict
        )
    return found


@frozen(slots=False)
class Batch:
    """One batch, for one number of active arms; 1 where an index decides which arm it is of.

    number     b = 1, 2, ...
    active     how many arms take part
    release    of one arm
    evidence   what is proved of it; None for algorithms without proof
    radius     beta; an arm leaves where the best estimate exceeds its own by more than 2 beta; None
               where an index decides
    units      n g of all batches that an estimate rests on
    centre     the mean of the noise in these, in units of the grid
    threshold  2 beta in these units; floored, which decides the same, where sums are whole numbers
    """

    number: int
    active: int
    release: Release
    evidence: Evidence | None
    radius: float | None
    units: int
    centre: Fraction
    threshold: int | float

    @property
    def users(self) -> int:
        """n, for each active arm."""
        return self.release.users

    @cached_property
    def variance(self) -> float:
        """Of the noise in the released sum, in units of rewards."""
        noise = self.release.noise
        if noise is None:
            return 0.0
        if isinstance(noise, ContinuousLaplace):
            return float(2 * noise.scale**2) / self.release.precision**2
        laws = noise if isinstance(noise, tuple) else (noise,)
        found = sum(float(law.moments().variance) for law in laws)
        return found / self.release.precision**2
