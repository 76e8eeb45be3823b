"""Batches of a fixed size: so many of all users, without replacement; neighbours replace one.

*One use.* Let mu be the law of the output on a batch without the user, nu and nu' that on one with
the user's old and new data, q = size/population. What is released is (1-q) mu + q nu against (1-q)
mu + q nu'. With H_g(P, Q) = sup over S of P(S) - g Q(S), g = 1 + q (t - 1) >= 1 and b = g/t <= 1,

    H_g = q H_t(nu, (1-b) mu + b nu') <= q [(1-b) H_t(nu, mu) + b H_t(nu, nu')] <= q h(t),

h the largest H_t of two batches in which one user is replaced: a batch without the user is one with
the user replaced by any other (Balle, Barthe, Gaboardi, "Privacy amplification by
subsampling", NeurIPS 2018). Where all others have the user's new data that is met, by ((1-q) Q +
q P, Q) for the mechanism's own pair (P, Q): pure epsilon, delta and epsilon of *one* use are exact.

*Several uses.* That pair says nothing of g < 1, where the same bound holds of the other dataset
first: datasets that are the worst for one use need not be so for many (Lebeda, Regehr, Kamath,
Steinke, "Avoiding pitfalls for privacy accounting of subsampled mechanisms under composition",
2024). What has the profile q h(t) for g >= 1 *both ways round* dominates all datasets
(`TwoWayPair`); that all others have the new data throughout is what certainly may happen: bounds
from above and from below. Pure epsilon adds up. Nor does it cost more than no sampling, by
convexity: q h(1 + (g-1)/q) <= h(g), as h(1) <= 1, both ways.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar

from attrs import field, frozen

from ...exact.number import ExactInput, ParameterError, whole
from ..bracket import Bracket, Bracketed
from ..continuous import ContinuousNoise
from ..fields.schema import INNER, key
from ..mechanism import AdditiveNoise, Mechanism, OneWay, RandomizedResponse
from ..pairs.pair import Pair, TwoWayPair
from ..sampled import at_rate


def _symmetric(mechanism: Mechanism) -> Mechanism:
    if isinstance(mechanism, RandomizedResponse):
        return mechanism
    if isinstance(mechanism, ContinuousNoise) and mechanism.rate == 1:
        return mechanism
    if isinstance(mechanism, AdditiveNoise) and mechanism.modulus is None:
        law = mechanism.law
        if law.symmetric and law.log_concave and law.listed() is None:
            return mechanism
    raise ParameterError(
        "fixed-size needs symmetric log-concave noise without a modulus, or randomized response "
        "of two categories: of other mechanisms it is not known what dominates them"
    )


def _size(value: ExactInput) -> int:
    """A whole number from 1."""
    return whole(value, "fixed-size", at_least=1)


@frozen
class FixedSize(Bracketed):
    """Batches of `size` out of `population` users.

    mechanism: of one batch, for neighbours replace. size, population: whole numbers.
    Raises ParameterError for a batch larger than the population.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> import exactdp
    >>> batch = FixedSize(AdditiveNoise(DiscreteLaplace(10)), size=10, population=1000)
    >>> exactdp.mechanism(batch).epsilon(delta=0) < "0.0011"
    True
    """

    mechanism: Mechanism = field(converter=_symmetric, metadata=INNER)
    size: int = field(converter=_size, metadata=key("users in a batch"))
    population: int = field(converter=_size, metadata=key("users in all"))

    neighbours: ClassVar[str] = "replace"
    kind = "fixed-size"

    def spec_keys(self) -> dict[str, object]:
        """What specs say of it (see `schema`)."""
        return {"mechanism": self.mechanism, "fixed-size": f"{self.size}/{self.population}"}

    def __attrs_post_init__(self) -> None:
        if self.size > self.population:
            raise ParameterError(
                f"fixed-size must be at most all users, got {self.size}/{self.population}"
            )

    @property
    def sampling(self) -> str:
        """How users are sampled, in words."""
        return f"subsampling without replacement: {self.size} of {self.population} users"

    @property
    def rate(self) -> Fraction:
        """The share of users in a batch."""
        return Fraction(self.size, self.population)

    def bracket(self) -> Bracket:
        """Between what certain neighbours attain throughout, and that profile both ways round."""
        if self.rate == 1:
            return Bracket.exactly((self.mechanism, 1))
        batch = at_rate(self.mechanism, self.rate)
        attained = OneWay(batch, self.neighbours)
        return Bracket(
            [attained],
            [TwoWay(batch), self.mechanism],
            is_complete_from_zero=True,
            pure=((attained, 1),),
            reason="which datasets cost most in batches of a fixed size is open",
        )


@frozen
class TwoWay:
    """What has the profile of a sampled mechanism, the user removed, either way round."""

    mechanism: Mechanism  # sampled

    neighbours: ClassVar[str] = "replace"

    def pairs(self) -> Iterable[Pair]:
        """See `TwoWayPair`."""
        return map(TwoWayPair, self.mechanism.pairs())  # type: ignore[arg-type]

    def reversed(self) -> Mechanism:
        return self
