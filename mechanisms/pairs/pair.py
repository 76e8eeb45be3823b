"""Pairs (P, Q): the output laws under two neighbouring datasets. Privacy is a property of pairs.

A mechanism yields pairs that together dominate all its neighbours: no divergence of any two
neighbouring outputs, in either direction, exceeds the largest over these pairs of D(P || Q).

Where neighbours differ by one user, P is the output with that user and Q without. If the user takes
part with probability q, it is (1-q) Q + q P against Q: `sampled`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from attrs import evolve, field, frozen
from flint import arb

from ...exact.number import ExactInput, ParameterError, Real, ball, exact
from ..laws.law import Law
from .sampling import EVERYBODY, Sampling

Masses: TypeAlias = tuple[Sequence[arb], Sequence[arb]]


class AnyPair:
    """What every pair of laws says of itself; by default it is reduced nowhere."""

    __slots__ = ()

    @property
    def slack(self) -> Fraction:
        """Mass by which either law may be off."""
        return Fraction(0)

    @property
    def reduced(self) -> WrappedPair | None:
        """The reduced pair that this is, sampled or not."""
        return None

    @property
    def never_wraps(self) -> bool:
        """Is nothing reduced, or all within one period, so that outcomes are renamed only?"""
        return self.reduced is None or self.reduced.never_wraps

    @property
    def shifted(self) -> ShiftPair | None:
        """The pair of shifted noise that this faces, seen whole; None: another kind of pair."""
        return None

    def escaping(self) -> arb:
        """P of the outcomes that Q cannot have: the limit of delta(level) as the level grows."""
        return arb(0)


@frozen
class ShiftPair(AnyPair):
    """P(x) = p(x), Q(x) = p(x - shift), for p log-concave or with `log_convex_sides`."""

    law: Law
    shift: int

    @property
    def is_disjoint(self) -> bool:
        """Has no outcome of P any probability under Q?"""
        low, high = self.law.support
        return low is not None and high is not None and high < low + self.shift

    @property
    def shifted(self) -> ShiftPair:
        return self

    def escaping(self) -> arb:
        low = self.law.support[0]
        return arb(0) if low is None else self.law.lower_tail(low + self.shift - 1)

    def wrapped(self, modulus: int) -> WrappedPair:
        """Seen mod `modulus`."""
        return WrappedPair(self.law, self.shift, modulus)

    def swapped(self) -> ShiftPair:
        """(Q, P), its outcomes read backwards: x -> shift - x."""
        return ShiftPair(self.law.mirrored(), self.shift)


@frozen
class WrappedPair(AnyPair):
    """A `ShiftPair` whose outcome is seen mod `modulus` only."""

    law: Law
    shift: int
    modulus: int

    @property
    def unwrapped(self) -> ShiftPair:
        """The pair before the reduction, of which this one is post-processing."""
        return ShiftPair(self.law, self.shift)

    @property
    def reduced(self) -> WrappedPair:
        return self

    @property
    def never_wraps(self) -> bool:
        low, high = self.law.support
        return low is not None and high is not None and high + self.shift - low < self.modulus

    @property
    def shifted(self) -> ShiftPair:
        return self.unwrapped

    def escaping(self) -> arb:
        return self.unwrapped.escaping() if self.never_wraps else arb(0)

    def swapped(self) -> WrappedPair:
        """(Q, P), its outcomes read backwards."""
        return WrappedPair(self.law.mirrored(), self.shift, self.modulus)


@frozen
class ResponsePair(AnyPair):
    """The pair that dominates every (epsilon, delta)-DP mechanism.

    Outcomes: P has (delta, (1-delta) e^epsilon/(1+e^epsilon), (1-delta)/(1+e^epsilon), 0), Q the
    same four numbers in reverse. (epsilon, delta)-DP says that every test of P against Q keeps to
    the region of errors that this pair fills (Kairouz, Oh, Viswanath, "The composition theorem for
    differential privacy", ICML 2015, Theorem 2.1); by Blackwell's theorem any such P and Q come
    from this pair by post-processing.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def swapped(self) -> ResponsePair:
        """(Q, P): the same with the outcomes in reverse."""
        return self


def _names(outcomes: Iterable[str]) -> tuple[str, ...]:
    return tuple(outcomes)


def _p(column: Iterable[ExactInput]) -> tuple[Fraction, ...]:
    return tuple(exact(value, "p", at_least=0, at_most=1) for value in column)


def _q(column: Iterable[ExactInput]) -> tuple[Fraction, ...]:
    return tuple(exact(value, "q", at_least=0, at_most=1) for value in column)


def _slack(value: ExactInput) -> Fraction:
    return exact(value, "slack", at_least=0, below=1)


@frozen
class FinitePair(AnyPair):
    """Two laws on finitely many named outcomes, given as exact probabilities.

    Each column must sum to exactly 1. With slack > 0 the columns are known only up to that much
    total mass each (misplaced, missing or in excess), and every divergence is charged for it.

    outcomes: their names. p, q: the probability of each, of either dataset. slack: mass.
    Raises ParameterError where a column does not sum to 1.

    >>> import exactdp
    >>> pair = FinitePair(["yes", "no"], ["3/4", "1/4"], ["1/4", "3/4"])
    >>> exactdp.mechanism(pair).delta(epsilon=0)
    Enclosure(0.5, 0.5)
    """

    outcomes: tuple[str, ...] = field(converter=_names)
    p: tuple[Fraction, ...] = field(converter=_p)
    q: tuple[Fraction, ...] = field(converter=_q)
    slack: Fraction = field(default=Fraction(0), converter=_slack)

    def __attrs_post_init__(self) -> None:
        if not self.outcomes or not len(self.outcomes) == len(self.p) == len(self.q):
            raise ParameterError(
                "outcomes, p and q must have the same length of at least 1, "
                f"got {len(self.outcomes)}, {len(self.p)} and {len(self.q)}"
            )
        if len(set(self.outcomes)) != len(self.outcomes):
            raise ParameterError("outcomes must be distinct")
        for name, column in (("p", self.p), ("q", self.q)):
            total = sum(column, Fraction(0))
            if abs(total - 1) > self.slack:
                off = f"to within slack {float(self.slack)}" if self.slack else "exactly"
                raise ParameterError(
                    f"column {name} must sum to 1 {off}, got {float(total):.17g} "
                    f"(off by {float(total - 1):.3g})"
                )

    def escaping(self) -> arb:
        apart = sum((p for p, q in zip(self.p, self.q, strict=True) if not q), Fraction(0))
        return arb(0) if self.slack else ball(apart)  # with slack, Q may have them after all

    def swapped(self) -> FinitePair:
        """The other direction."""
        return FinitePair(self.outcomes, self.q, self.p, self.slack)

    def sampled(self, rate: Fraction, removing: bool) -> FinitePair:
        """The mixture outcome by outcome; each column is as far off as the two given ones."""
        columns = zip(self.p, self.q, strict=True)
        mixture = tuple((1 - rate) * q + rate * p for p, q in columns)
        first, second = (mixture, self.q) if removing else (self.q, mixture)
        return FinitePair(self.outcomes, first, second, self.slack)

    def pairs(self) -> tuple[Pair, ...]:
        """A pair of laws is also a mechanism, with two datasets and no choice between pairs."""
        return (self,)

    def reversed(self) -> FinitePair:
        """The two datasets exchanged."""
        return self.swapped()


class Steps(NamedTuple):
    """Losses that are whole multiples of one number > 0, outcome by outcome.

    None: an outcome that only P has, or that P has not.
    """

    unit: Real
    multiples: Sequence[int | None]


class ListedPair(AnyPair):
    """Two laws (P, Q) on finitely many outcomes, which may stand for several of equal ratio; their
    probabilities need not be rational.

    It is a mechanism as well, with two datasets and no choice between pairs. A family is a
    subclass, a frozen value of its parameters: all that is asked of a pair follows from its lists.
    """

    def masses(self) -> Masses:
        """The probabilities under P and under Q, outcome by outcome, at the working precision.

        Impossible outcomes have exactly 0, and all others can be told from 0 at any precision.
        """
        raise NotImplementedError

    def steps(self) -> Steps | None:
        """The losses exactly, where they live on a lattice through 0; None where they do not."""
        return None

    def name_of(self, outcome: int) -> str:
        """What a reader calls this outcome; they are counted from 0."""
        return str(outcome)

    def escaping(self) -> arb:
        return sum((p for p, q in zip(*self.masses(), strict=True) if q == 0), arb(0))

    def swapped(self) -> ListedPair:
        """(Q, P); itself where that is the same with the outcomes renamed."""
        return Swapped(self)

    def pairs(self) -> tuple[ListedPair, ...]:
        """This one."""
        return (self,)

    def reversed(self) -> ListedPair:
        """The two datasets exchanged."""
        return self.swapped()


@frozen
class Swapped(ListedPair):
    """(Q, P) of a pair (P, Q)."""

    pair: ListedPair

    def masses(self) -> Masses:
        p, q = self.pair.masses()
        return q, p

    def steps(self) -> Steps | None:
        found = self.pair.steps()
        if found is None:
            return None
        return Steps(found.unit, [None if k is None else -k for k in found.multiples])

    def name_of(self, outcome: int) -> str:
        return self.pair.name_of(outcome)

    def swapped(self) -> ListedPair:
        return self.pair


@frozen
class SampledPair(AnyPair):
    """A pair (P, Q), its user sampled at a rate below 1."""

    pair: PlainPair | ListedPair
    sampling: Sampling

    @property
    def facing(self) -> PlainPair | ListedPair:
        """(P, Q) if the user is removed, else (Q, P)."""
        return self.pair if self.sampling.removing else self.pair.swapped()

    @property
    def reduced(self) -> WrappedPair | None:
        return self.pair.reduced

    @property
    def shifted(self) -> ShiftPair | None:
        return self.facing.shifted

    def escaping(self) -> arb:
        rate, removing = ball(self.sampling.rate), self.sampling.removing
        return rate * self.pair.escaping() if removing else arb(0)

    def swapped(self) -> SampledPair:
        """The other direction."""
        return evolve(self, sampling=evolve(self.sampling, removing=not self.sampling.removing))

    def wrapped(self, modulus: int) -> SampledPair:
        """Seen mod `modulus`, of a pair that is not yet."""
        assert isinstance(self.pair, ShiftPair)
        return evolve(self, pair=self.pair.wrapped(modulus))

    @property
    def unwrapped(self) -> SampledPair:
        """The pair before the reduction, of which this one is post-processing."""
        assert isinstance(self.pair, WrappedPair)
        return evolve(self, pair=self.pair.unwrapped)


@frozen
class MixturePair(AnyPair):
    """One of several pairs, drawn alike on both sides and told; with what is left of 1, no loss.

    The losses' law is the mixture of theirs. parts: how likely each pair is, which add up to at
    most 1; all of them sampled from one pair, so that they are reduced alike.
    """

    parts: tuple[tuple[Fraction, PlainPair | ListedPair | SampledPair], ...]

    @property
    def rest(self) -> Fraction:
        """How likely nothing is told of the two datasets."""
        return 1 - sum((weight for weight, _ in self.parts), Fraction(0))

    @property
    def reduced(self) -> WrappedPair | None:
        return self.parts[0][1].reduced

    def escaping(self) -> arb:
        return sum((ball(weight) * pair.escaping() for weight, pair in self.parts), arb(0))

    def swapped(self) -> MixturePair:
        """The other direction."""
        return MixturePair(tuple((weight, pair.swapped()) for weight, pair in self.parts))

    def wrapped(self, modulus: int) -> MixturePair:
        """Seen mod `modulus`, of pairs that are not yet."""
        return MixturePair(tuple((w, pair.wrapped(modulus)) for w, pair in self.parts))  # type: ignore[union-attr]

    @property
    def unwrapped(self) -> MixturePair:
        """The pairs before the reduction."""
        return MixturePair(tuple((w, pair.unwrapped) for w, pair in self.parts))  # type: ignore[union-attr]


@frozen
class TwoWayPair(AnyPair):
    """What dominates a pair (P, Q), P the mixture, and (Q, P) at once, where P is the dearer first.

    For g >= 1 it has the profile of (P, Q), either way round: the P-mass of A = {P > Q} there, its
    Q-mass at the loss of opposite sign, and what is left at the loss 0. Something is left where the
    unsampled pair (P0, Q) is symmetric: then P0(A) + Q(A) = Q({P < Q}) + Q(A) <= 1 and Q(A) <= 1/2,
    so that P(A) + Q(A) = q (P0(A) + Q(A)) + 2 (1-q) Q(A) <= 1.
    """

    pair: SampledPair


PlainPair: TypeAlias = ShiftPair | WrappedPair | ResponsePair
Reducible: TypeAlias = WrappedPair | SampledPair | MixturePair
Pair: TypeAlias = PlainPair | FinitePair | ListedPair | SampledPair | MixturePair | TwoWayPair


def sampled(pair: PlainPair | FinitePair | ListedPair, rate: Fraction, removing: bool) -> Pair:
    """The pair with a user who takes part at this rate; see `sampling`."""
    if rate == 1:
        return pair if removing else pair.swapped()
    if isinstance(pair, FinitePair):
        return pair.sampled(rate, removing)
    return SampledPair(pair, Sampling(rate, removing))


def faced(pair: Pair) -> tuple[Pair, Sampling]:
    """The pair that it faces, and how that is sampled: itself, and not at all."""
    return (pair.facing, pair.sampling) if isinstance(pair, SampledPair) else (pair, EVERYBODY)


def mixture(parts: Sequence[tuple[Fraction, Pair]]) -> Pair:
    """These pairs, sampled from one, drawn with these probabilities and told; see `MixturePair`."""
    tables = [(weight, pair) for weight, pair in parts if isinstance(pair, FinitePair)]
    if not tables:
        return MixturePair(tuple(parts))  # type: ignore[arg-type]
    rest = 1 - sum((weight for weight, _ in tables), Fraction(0))
    names, p, q = (["nothing"], [rest], [rest]) if rest else ([], [], [])
    for turn, (weight, pair) in enumerate(tables):
        names += [f"{name} ({turn})" for name in pair.outcomes]
        p += [weight * mass for mass in pair.p]
        q += [weight * mass for mass in pair.q]
    return FinitePair(tuple(names), tuple(p), tuple(q), tables[0][1].slack)
