"""What one use of a mechanism costs at least and at most, by lists of uses of other mechanisms.

A mechanism that has pairs of laws of its own (`Mechanism.pairs`) costs what it costs: it is its own
bracket. A `Bracketed` one needs no pairs: it says by `bracket` which lists its neighbours attain,
and which dominate all that they can do; these bound every figure from both sides, alone and beside
any other uses (`accounting.solve`). Each list stands with its proof, in the file of its family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeAlias, runtime_checkable

from attrs import evolve, field, frozen
from flint import arb

from ..exact.enclosure import Endpoint
from ..exact.number import ParameterError
from .mechanism import Mechanism, OneWay, either_way
from .pairs.pair import Pair
from .sampled import RandomRate, unsampled

Parts: TypeAlias = tuple[tuple[Mechanism, int], ...]  # uses of mechanisms, each so many times


def _lists(lists: Iterable[Mechanism | Iterable[tuple[Mechanism, int]]]) -> tuple[Parts, ...]:
    """A mechanism by itself is used once."""
    return tuple(tuple(parts) if isinstance(parts, Iterable) else ((parts, 1),) for parts in lists)


@frozen
class RenyiCurve:
    """What the Rényi divergences of one use are at most, both ways round; they rise in the order.

    At an order a, `bound` times a where `order` is None; else `bound` up to that order, and without
    any bound beyond: some that are so bounded have infinite ones there (`guaranteed`).
    """

    bound: Fraction
    order: Fraction | None = None

    def at(self, order: Fraction) -> Fraction | Decimal:
        """At most this at an order > 1."""
        if self.order is None:
            return self.bound * order
        return self.bound if order <= self.order else Decimal("Infinity")

    @property
    def rho(self) -> Fraction | Decimal:
        """At most this times the order, whatever that is."""
        return self.bound if self.order is None else Decimal("Infinity")


@frozen
class Bracket:
    """Lists of uses that cost at most, and at least, as much as one use of a mechanism.

    attained: some neighbours attain each list, with the same two datasets in every use and in the
    same order as in the mechanism: the largest is a lower bound. dominating: each dominates all
    that neighbours can do, adaptively: the least is an upper bound. What takes longest comes last,
    and is asked only where the others leave a gap. A list on both sides costs the same.
    is_complete: is all that neighbours can do in a *single* use dominated by one or other list of
    `attained`? Then a single use costs the largest of these. is_complete_from_zero: is it, as far
    as delta(epsilon) at epsilon >= 0 tells? Then delta and epsilon of a single use are the largest
    of these; its Rényi divergences need not be. curve: what bounds its Rényi divergences besides,
    in every list. profile: what measures a single use, either way round, besides. pure: a list of
    the same pure epsilon, where the others do not tell it. reason: what is open in between.
    """

    attained: tuple[Parts, ...] = field(converter=_lists)
    dominating: tuple[Parts, ...] = field(converter=_lists)
    is_complete: bool = False
    is_complete_from_zero: bool = False
    curve: RenyiCurve | None = None
    profile: Profiled | None = None
    pure: Parts | None = None
    reason: str = "what dominates all neighbours is more than some are known to attain"

    def __attrs_post_init__(self) -> None:
        assert self.dominating, "without a list that dominates nothing is bounded from above"

    @classmethod
    def exactly(cls, *parts: tuple[Mechanism, int]) -> Bracket:
        """Of what costs as much as this list, in every list of uses."""
        return cls((parts,), (parts,), is_complete=True)

    def is_largest(self, quantity: str) -> bool:
        """Does a single use cost the largest of `attained`, of this quantity?"""
        return self.is_complete or (self.is_complete_from_zero and quantity in ("delta", "epsilon"))

    @property
    def exact(self) -> list[Parts]:
        """Lists that cost the same."""
        return [parts for parts in self.attained if parts in self.dominating]

    def in_form(self, changed: Callable[[Mechanism], Mechanism]) -> Bracket:
        """With every mechanism of the lists in another form; nothing of what is known besides."""
        attained, dominating = (
            [[(changed(part), times) for part, times in parts] for parts in lists]
            for lists in (self.attained, self.dominating)
        )
        pure = self.pure and tuple((changed(part), times) for part, times in self.pure)
        return evolve(self, attained=attained, dominating=dominating, pure=pure, profile=None)


class Bracketed:
    """A mechanism that is known by others: a family is a subclass that says by which."""

    def bracket(self) -> Bracket:
        """The lists that one use lies between."""
        raise NotImplementedError

    def pairs(self) -> Iterable[Pair]:
        """None of its own. Raises ParameterError: what asks for some cannot take it."""
        raise ParameterError(
            f"{type(self).__name__} has no pair of distributions that is known to be the worst: it "
            "is known by other mechanisms, and this takes those that have one"
        )

    def reversed(self) -> Mechanism:
        """The same, where the two datasets may be exchanged."""
        return self


def is_bracketed(mechanism: Mechanism) -> bool:
    """Is it known by others? Then it has no pairs of laws itself."""
    return hasattr(unsampled(mechanism), "bracket")


def bracket(mechanism: Mechanism) -> Bracket | None:
    """The lists that one use lies between; None for what has pairs of laws itself."""
    if not is_bracketed(mechanism):
        return None
    inner, plain = either_way(mechanism), unsampled(mechanism)
    found: Bracket = plain.bracket_at(inner) if isinstance(inner, RandomRate) else plain.bracket()  # type: ignore[attr-defined]
    if inner is mechanism:
        return found
    return found.in_form(lambda one: one if isinstance(one, OneWay) else OneWay(one))


@runtime_checkable
class InClosedForm(Protocol):
    """A mechanism of which single uses, whatever neighbours do, are known by formulas."""

    def in_closed_form(self, quantity: str, at: Fraction) -> arb:
        """At the working precision: "delta" at an epsilon, "epsilon" at a delta, or "renyi"."""
        ...


@runtime_checkable
class Profiled(Protocol):
    """What measures one use from both sides itself: a mechanism, or something of it, besides."""

    def delta_at_least(self, epsilon: Fraction, width: float) -> Endpoint:
        """What some neighbours attain, epsilon >= 0, to about this relative width."""
        ...

    def delta_at_most(self, epsilon: Fraction, width: float) -> Endpoint:
        """What bounds all neighbours."""
        ...

    def costs_at_most(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Is delta(epsilon) found to be at most this, by whatever is slower and narrower?"""
        ...
