"""Mechanisms: what is released, and the pairs of laws that dominate all its neighbours.

Neighbours (D, D') are two datasets, named in this order. What a mechanism releases about them is
one pair out of a set, `pairs`: at every use an adversary may choose another one (the query is hers,
so is the way in which it tells D from D'). What she may *not* choose anew is which dataset is D:
`reversed` is the same mechanism for (D', D). Where the set holds every pair both ways round anyway
(an additive mechanism: the query may rise or fall) that changes nothing. What follows for all uses
together is decided in `accounting.scenario`, and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from typing import Protocol

from attrs import Factory, evolve, field, frozen

from ..exact.number import ParameterError
from .fields import parameters
from .fields.schema import INNER, Calibrated, key
from .laws.finite import FiniteLaw
from .laws.law import Law
from .pairs.pair import FinitePair, Pair, ResponsePair, ShiftPair, WrappedPair


class Mechanism(Protocol):
    """Anything that can say which pairs dominate its neighbours.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> isinstance(next(iter(AdditiveNoise(DiscreteLaplace(10)).pairs())), object)
    True
    """

    def pairs(self) -> Iterable[Pair]:
        """Pairs (output under D, under D') that dominate all that an adversary may choose from.

        Worst first where that is known; of pairs that are equal up to the names of outcomes only
        one is listed.
        """
        ...

    def reversed(self) -> Mechanism:
        """The mechanism with D and D' exchanged; itself where `pairs` holds both ways round."""
        ...


@frozen
class OneWay:
    """A mechanism with D and D' fixed: the same way round in every use.

    neighbours: how the two datasets differ; of the mechanism itself, where nobody says.
    """

    mechanism: Mechanism
    neighbours: str = field(
        default=Factory(lambda one: getattr(one.mechanism, "neighbours", "replace"), True)
    )

    def pairs(self) -> Iterable[Pair]:
        return self.mechanism.pairs()

    def reversed(self) -> Mechanism:
        return self


@frozen(cache_hash=True)
class Choice:
    """Some pairs of laws, of which an adversary picks one, anew at every use.

    is_mutual: do the same pairs, exchanged, tell as much?
    """

    among: tuple[Pair, ...]
    neighbours: str = "replace"
    is_mutual: bool = False

    def pairs(self) -> Iterable[Pair]:
        return self.among

    def reversed(self) -> Mechanism:
        if self.is_mutual:
            return self
        return evolve(self, among=tuple(pair.swapped() for pair in self.among))  # type: ignore[union-attr]


def either_way(mechanism: Mechanism) -> Mechanism:
    """The mechanism itself, where D and D' are fixed."""
    return mechanism.mechanism if isinstance(mechanism, OneWay) else mechanism


def ways(mechanism: Mechanism) -> tuple[Mechanism, ...]:
    """The mechanism for (D, D') and for (D', D); once where these are the same."""
    other = mechanism.reversed()
    if other == mechanism:
        return (mechanism,)
    return OneWay(mechanism), OneWay(other)


@frozen
class RandomizedResponse:
    """One bit: revealed for certain with probability `delta`, otherwise randomized response.

    Randomized response keeps the bit with probability e^epsilon/(1 + e^epsilon) and flips it
    otherwise. No (epsilon, delta)-DP mechanism is less private than this one: see `ResponsePair`.

    epsilon: above 0. delta: at least 0 and below 1. Raises ParameterError for anything else.

    >>> import exactdp
    >>> exactdp.mechanism(RandomizedResponse("0.5")).pure()
    Enclosure(0.5, 0.5)
    """

    epsilon: Fraction = field(
        converter=parameters.odds, metadata=key("log of the odds of the truth")
    )
    delta: Fraction = field(
        default=Fraction(0),
        converter=parameters.delta,
        metadata=key("how often the bit itself is told"),
    )

    kind = "randomized-response"
    # P(lie) = 1/(1 + e^epsilon) rises to any value up to 1/2 by another flip
    calibrated = Calibrated(
        "epsilon",
        0,
        "more noise is a post-processing of less: a smaller epsilon is a larger one whose answer "
        "is flipped once more, at random",
        falls=False,
    )

    def pairs(self) -> Iterable[Pair]:
        # The swapped pair is the same one with the outcomes renamed.
        return (ResponsePair(self.epsilon, self.delta),)

    def reversed(self) -> Mechanism:
        return self


@frozen
class AdditiveNoise:
    """An integer-valued query of this sensitivity plus noise, reduced mod `modulus` if given.

    Neighbouring datasets move the query by any d = -sensitivity, ..., sensitivity.

    law: of the noise. sensitivity: a whole number, at least 1. modulus: a whole number, at least 2.
    Raises ParameterError for anything else.

    >>> from exactdp.mechanisms import Skellam
    >>> import exactdp
    >>> exactdp.mechanism(AdditiveNoise(Skellam(100), sensitivity=1)).epsilon(delta="1e-6") < "0.39"
    True
    """

    law: Law = field(metadata=INNER)
    sensitivity: int = field(
        default=1,
        converter=parameters.sensitivity,
        metadata=key("how far neighbours move the query", always=True),
    )
    modulus: int | None = field(
        default=None, converter=parameters.modulus, metadata=parameters.MODULUS
    )

    kind = "additive"

    def pairs(self) -> Iterable[Pair]:
        """The pairs that count.

        *p log-concave.* For each d > 0 the loss log p(x)/p(x-d) falls in x, so optimal tests are
        thresholds; the power P(X <= k) against the level P(X + d <= k) can only grow with d. By
        Blackwell's theorem every divergence is non-decreasing in d: the full sensitivity is the
        worst, in both directions. For p(c - x) = p(x) the reflection x -> c + d - x swaps them.

        *p symmetric, log-convex on x >= 0* (so unimodal). For d > 0 the loss rises up to x = 0,
        falls on 0 <= x <= d and is negative beyond d/2: for every level >= 0 the set where it is
        exceeded is an interval I = [a, b] with a <= 0 <= b < d/2. Sliding d on to d + 1 moves I - d
        farther from 0 (its centre is already negative), which for symmetric unimodal p cannot
        raise Q(I) = p(I - d). So max over I of P(I) - gamma Q(I), the hockey-stick divergence, is
        non-decreasing in d for every gamma >= 1; the other direction is the same by reflection,
        and every f-divergence is a mixture of these: again the full sensitivity is the worst.

        *Finite p of no proved shape*, and *anything reduced mod m*: every d counts. Mod m, a shift
        by m - d is one by -d, which is the mirror image's shift by d: up to m/2 is all there is.
        """
        if isinstance(table := self.law.listed(), FiniteLaw):
            every = range(self.farthest, 0, -1)
            worst = [self.sensitivity] if table.log_concave and not self.modulus else every
            return chain.from_iterable(_both(self._finite_pair(table, d)) for d in worst)
        if self.modulus is not None:
            return (
                WrappedPair(law, shift, self.modulus)
                for shift in range(self.farthest, 0, -1)
                for law in self._laws()
            )
        if self.law.shape_is_proved:
            return [ShiftPair(law, self.sensitivity) for law in self._laws()]
        raise ParameterError(
            f"law {self.law} has no proved shape, so that its worst neighbours are not known"
        )

    def reversed(self) -> Mechanism:
        return self  # the query may move by d as well as by -d

    @property
    def farthest(self) -> int:
        """The largest shift that counts; 0 where nothing is released (mod 1)."""
        d, m = self.sensitivity, self.modulus
        return d if m is None else min(d, m // 2)

    def _laws(self) -> Sequence[Law]:
        return (self.law,) if self.law.balanced else (self.law, self.law.mirrored())

    def _finite_pair(self, law: FiniteLaw, shift: int) -> FinitePair:
        p, q = self._reduced(law, 0), self._reduced(law, shift)
        outcomes = sorted(p.keys() | q.keys())
        return FinitePair(
            tuple(map(str, outcomes)),
            tuple(p.get(x, Fraction(0)) for x in outcomes),
            tuple(q.get(x, Fraction(0)) for x in outcomes),
        )

    def _reduced(self, law: FiniteLaw, shift: int) -> dict[int, Fraction]:
        reduced: dict[int, Fraction] = {}
        for x, mass in zip(law.outcomes, law.masses, strict=True):
            seen = x + shift if self.modulus is None else (x + shift) % self.modulus
            reduced[seen] = reduced.get(seen, Fraction(0)) + mass
        return reduced


def _both(pair: FinitePair) -> tuple[FinitePair, ...]:
    """A pair and the swapped one, unless that is the same with the outcomes renamed."""
    ahead, back = zip(pair.p, pair.q, strict=True), zip(pair.q, pair.p, strict=True)
    return (pair,) if Counter(ahead) == Counter(back) else (pair, pair.swapped())
