"""Neighbours that differ by one user, who takes part with some probability: Poisson sampling.

Datasets are D with the user and D' without, *add or remove*. Every user takes part with probability
`rate`, independently of all others, anew in every use. Given who else takes part, the output is Q
without the user and (1 - rate) Q + rate P with: the mixture of the mechanism's own pair (P, Q).
Which dataset has the user is the same in every use, so that `reversed` is another mechanism.

*Other schemes.* A `Scheme` says which mechanism a base becomes. What it builds on: mixtures of the
base's two laws (`at_rate`, for numbers, continuous noise and vectors alike), and rates that are
drawn anew in every use and told (`RandomRate`), or lists of other mechanisms that bound it
(`dominating.Bracketed`). All that is asked of mechanisms follows.

What P and Q mean. *Additive noise*: the user's part moves the query by any d = -sensitivity, ...,
sensitivity; the query of nobody's data is some integer too. *Randomized response*: the bit is any
bit of the data, which the user may flip. *A table*: column p is the law with the user, q without.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar, Protocol

from attrs import evolve, field, frozen

from ..exact.number import ExactInput, ParameterError, decimal_text, exact
from .fields.schema import INNER, key
from .mechanism import AdditiveNoise, Mechanism, RandomizedResponse, either_way, ways
from .pairs.pair import (
    FinitePair,
    ListedPair,
    MixturePair,
    Pair,
    SampledPair,
    TwoWayPair,
    mixture,
    sampled,
)

NEIGHBOURS = ("replace", "add-remove")
_ADJACENCIES = {
    "replace-one": "replace",
    "add-or-remove": "add-remove",
    "add-or-remove-one": "add-remove",
}
NEIGHBOURS_KEY = key(
    "adjacency: how neighbouring datasets differ",
    takes="replace or add-remove",
    spelt=dict.fromkeys(
        ("neighbours", "adjacency", "neighbors"), lambda word: _ADJACENCIES.get(word, word)
    ),
)
POISSON = key("each user takes part with this probability; add-remove", name="poisson")


def sampling_rate(value: ExactInput) -> Fraction:
    """A number above 0, to 1."""
    return exact(value, "poisson", above=0, at_most=1)


def check_neighbours(neighbours: str, rate: Fraction = Fraction(1)) -> None:
    """Raise ParameterError for neighbours of another name, and for a rate that they cannot have."""
    if neighbours not in NEIGHBOURS:
        raise ParameterError(f"neighbours must be replace or add-remove, got {neighbours[:40]!r}")
    if rate != 1 and neighbours != "add-remove":
        raise ParameterError(f"poisson needs neighbours={Poisson.neighbours}: {Poisson.why}")


def _discrete(mechanism: Mechanism) -> Mechanism:
    if isinstance(mechanism, AdditiveNoise | RandomizedResponse | FinitePair | ListedPair):
        return mechanism
    raise ParameterError(
        "mechanism must be additive noise, randomized response or a table of two distributions to "
        f"be sampled, got a {type(mechanism).__name__}"
    )


@frozen
class Sampled:
    """A discrete mechanism for neighbours add-remove. rate: of Poisson sampling, 1 for none.

    removing: whether P, of the pair (P, Q), is the dataset with the user.

    mechanism: discrete, for neighbours add-remove. Raises ParameterError for another one.

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
    >>> import exactdp
    >>> sampled = Sampled(AdditiveNoise(DiscreteLaplace(10)), rate="0.01")
    >>> exactdp.mechanism(sampled).epsilon(delta=0) < "0.0011"
    True
    """

    mechanism: Mechanism = field(converter=_discrete, metadata=INNER)
    rate: Fraction = field(default=Fraction(1), converter=sampling_rate, metadata=POISSON)
    removing: bool = True

    kind = "sampled"

    def spec_keys(self) -> dict[str, object]:
        """What specs say of it (see `schema`)."""
        ways = {"neighbours": self.neighbours, "poisson": self.rate}
        return {"mechanism": self.mechanism, **ways}

    neighbours: ClassVar[str] = "add-remove"

    @property
    def is_dearer_removing(self) -> bool:
        """Is one use at least as dear with the user's dataset first, whatever is asked?

        So it is for pairs that are the same when swapped. With h(g) the largest P(S) - g Q(S),
        g >= 1, that of the mixture first is q h(1 + (g-1)/q), of the mixture last r h(1 + (g-1)/r),
        r = q - (g-1)(1-q) <= q (`pairs.sampling`), and h does not rise. Rényi sums of order a
        are integrals over g > 1 of these two, with the weights a (a-1) g^(a-2) and the smaller
        a (a-1) g^(-a-1), or the other way round.
        """
        return _swaps(self.mechanism)

    def pairs(self) -> Iterable[Pair]:
        """The mechanism's own, mixed; none where it has none, since nothing is released."""
        for pair in self.mechanism.pairs():
            assert not isinstance(pair, SampledPair | MixturePair | TwoWayPair)
            yield sampled(pair, self.rate, self.removing)

    def reversed(self) -> Mechanism:
        """With the other dataset first; the same where that cannot be told."""
        if self.rate == 1 and self.mechanism.reversed() == self.mechanism:
            return self
        return evolve(self, removing=not self.removing)


def _swaps(plain: Mechanism) -> bool:
    """Are its pairs the same when swapped?"""
    swaps = isinstance(plain, AdditiveNoise) and plain.law.balanced
    return swaps or isinstance(plain, RandomizedResponse)


class Scheme(Protocol):
    """How users are sampled: one file, a frozen value of its parameters."""

    def of(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism with users sampled so.

        It is what dominates all neighbours, and is attained by some (of a `Bracketed`: bounded by
        its lists). Raises ParameterError for a base of which that is not known.
        """
        ...


def at_rate(mechanism: Mechanism, rate: Fraction, removing: bool = True) -> Mechanism:
    """The mixture (1-q) Q + q P against Q for its pairs (P, Q), 0 < q <= 1; add-remove."""
    own = getattr(mechanism, "at_rate", None)
    found: Mechanism = own(rate, removing) if own else Sampled(mechanism, rate, removing)
    return found


@frozen
class Poisson:
    """Each user takes part with this probability, independently: a `Scheme`.

    rate: above 0, at most 1. Raises ParameterError for anything else.

    >>> Poisson("0.01").rate
    Fraction(1, 100)
    """

    rate: Fraction = field(converter=sampling_rate)

    neighbours: ClassVar[str] = "add-remove"
    why: ClassVar[str] = "with users replaced, sampling has another dominating pair"

    def of(self, mechanism: Mechanism) -> Mechanism:
        """For neighbours add-remove."""
        return at_rate(mechanism, self.rate)


def _rates(rates: Iterable[tuple[ExactInput, ExactInput]]) -> tuple[tuple[Fraction, Fraction], ...]:
    return tuple(
        (exact(weight, "weight", above=0, at_most=1), sampling_rate(rate)) for weight, rate in rates
    )


@frozen
class RandomRate:
    """A mechanism whose users are sampled at a rate that is drawn anew in every use, and told.

    mechanism: a number, continuous noise or a vector, of which nobody is sampled. rates: how likely
    each is, and the rate; with what is left of 1, the user does not take part. removing: whether P,
    of the pair (P, Q), is the dataset with the user. Raises ParameterError for weights above 1.

    Given the rate, neighbours are those of Poisson sampling (`Sampled`), and the rate is the same
    on both sides: so pairs of mixtures dominate, and are attained where those of each rate are.
    """

    mechanism: Mechanism
    rates: tuple[tuple[Fraction, Fraction], ...] = field(converter=_rates)
    removing: bool = True

    neighbours: ClassVar[str] = "add-remove"

    def __attrs_post_init__(self) -> None:
        if not self.rates or sum(weight for weight, _ in self.rates) > 1:
            raise ParameterError("weights must add up to at most 1, and there must be at least one")
        _ = self.parts  # what cannot be sampled is refused here

    @property
    def sampling(self) -> str:
        """How users are sampled, in words."""
        each = (f"{decimal_text(rate)} ({decimal_text(weight)})" for weight, rate in self.rates)
        return f"Poisson subsampling with a probability that is drawn and told: {', '.join(each)}"

    @property
    def rate(self) -> Fraction:
        """With which probability a user takes part, on the whole."""
        return sum((weight * rate for weight, rate in self.rates), Fraction(0))

    @property
    def parts(self) -> list[tuple[Fraction, Mechanism]]:
        """How likely each rate is, and the mechanism at this rate."""
        return [(w, at_rate(self.mechanism, rate, self.removing)) for w, rate in self.rates]

    @property
    def is_dearer_removing(self) -> bool:
        """As of each rate (`Sampled`): profiles and Rényi sums are the mixtures of theirs."""
        return _swaps(self.mechanism)

    def pairs(self) -> Iterable[Pair]:
        """The mechanism's own, mixed: its pairs come in one order at every rate."""
        weights = [weight for weight, _ in self.rates]
        for pairs in zip(*(part.pairs() for _, part in self.parts), strict=True):
            yield mixture(list(zip(weights, pairs, strict=True)))

    def reversed(self) -> Mechanism:
        """With the other dataset first."""
        return evolve(self, removing=not self.removing)


def dearest_ways(mechanism: Mechanism) -> tuple[Mechanism, ...]:
    """`ways`, for what a single use costs: without one that another is at least as dear as."""
    if isinstance(mechanism, Sampled | RandomRate) and mechanism.is_dearer_removing:
        return (evolve(mechanism, removing=True),)
    return ways(mechanism)


def unsampled(mechanism: Mechanism) -> Mechanism:
    """What every user's data would go through; the mechanism itself where it is not sampled."""
    inner = either_way(mechanism)
    return inner.mechanism if isinstance(inner, Sampled | RandomRate) else inner


def likewise(mechanism: Mechanism, other: Mechanism) -> Mechanism:
    """The other one, sampled as the first and the same way round."""
    inner = either_way(mechanism)
    if isinstance(inner, Sampled):
        return at_rate(other, inner.rate, inner.removing)
    return evolve(inner, mechanism=other) if isinstance(inner, RandomRate) else other


def bare(mechanism: Mechanism) -> Mechanism:
    """The mechanism with nobody sampled, either way round."""
    inner = unsampled(mechanism)
    own = getattr(inner, "at_rate", None)
    found: Mechanism = own(Fraction(1), True) if own else inner
    return found


def sampling_of(mechanism: Mechanism) -> str | None:
    """How its users are sampled, in words: its own, or its rate's; None where all take part."""
    inner = either_way(mechanism)
    own: str | None = getattr(inner, "sampling", None)
    if own is None and (rate := getattr(inner, "rate", 1)) != 1:
        return f"Poisson subsampling with probability {decimal_text(rate)}"
    return own
