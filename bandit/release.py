"""What is released of one arm's batch, and what is made of it: the step that algorithms differ in.

A release takes the sum of a batch, in units of 1/precision, to what leaves the batch, and that back
to a noisy sum in the same units. All arms of a batch have the same release, so that elimination
needs these units only; `centre`, the mean of the noise, is the same for each of them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..exact.number import ParameterError
from ..mechanisms.additive.protocol import SumProtocol
from ..mechanisms.laws.binomial import Binomial
from ..mechanisms.laws.law import Law
from .environments.rewards import RewardLaw
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
