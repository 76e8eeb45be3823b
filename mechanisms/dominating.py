"""Mechanisms that are known by simpler ones: what neighbours attain, and what dominates them all.

A `Dominated` mechanism needs no pair of laws of its own: lists of uses of other mechanisms bound
every figure from both sides, alone and beside any others (`accounting.vectors`).
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen
from flint import arb

from ..exact.enclosure import Endpoint
from ..exact.number import ParameterError
from .laws.law import Law
from .mechanism import Mechanism, either_way
from .pairs.pair import Pair

Parts: TypeAlias = tuple[tuple[Mechanism, int], ...]  # uses of mechanisms, each so many times


def _lists(lists: object) -> tuple[Parts, ...]:
    return tuple(tuple(parts) for parts in lists)  # type: ignore[attr-defined]


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
class Dominating:
    """Lists of simpler uses that cost at most, and at least, as much as one use of a mechanism.

    lower: some neighbours attain each list, with the same two datasets in every use and in the
    same order as in the mechanism: the largest is a lower bound. upper: each dominates all that
    neighbours can do, adaptively: the least is an upper bound. slower: the same, asked only where
    those leave a delta or an epsilon open. exact: a list that is both.
    complete: is all that neighbours can do in a *single* use dominated by one or other of `lower`?
    Then a single use costs the largest of these. envelope: a law whose Gaussian envelope
    dominates as well, at a distance of this square. curve: what bounds its Rényi divergences
    besides, in every list. rho: is it rho-zCDP, whatever else is known? own: measures a single
    use, either way round, itself. one_suffices: at a delta, is the first of `upper` never above
    the others by much? pure: a list of the same pure epsilon, where the others do not tell it.
    why: what is open in between, in words.
    """

    lower: tuple[Parts, ...] = field(converter=_lists)
    upper: tuple[Parts, ...] = field(converter=_lists)
    exact: Parts | None = None
    complete: bool = False
    envelope: tuple[Law, int] | None = None
    curve: RenyiCurve | None = None
    one_suffices: bool = False
    slower: tuple[Parts, ...] = field(converter=_lists, default=())
    pure: Parts | None = None
    own: Profiled | None = None
    rho: Fraction | None = None
    why: str = "what dominates all neighbours is more than some are known to attain"


class Dominated:
    """A mechanism that is known by others: a family is a subclass that says by which."""

    def dominating(self) -> Dominating:
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


def dominated(mechanism: Mechanism) -> Dominated | None:
    """What is known by others, either way round; None for what has pairs of laws itself."""
    inner = either_way(mechanism)
    return inner if isinstance(inner, Dominated) else None


@runtime_checkable
class InClosedForm(Protocol):
    """A mechanism of which single uses, whatever neighbours do, are known by formulas."""

    def in_closed_form(self, quantity: str, at: Fraction) -> arb:
        """At the working precision: "delta" at an epsilon, "epsilon" at a delta, or "renyi"."""
        ...


@runtime_checkable
class Profiled(Protocol):
    """A mechanism that measures what one use of it costs from both sides, besides."""

    def delta_at_least(self, epsilon: Fraction, width: float) -> Endpoint:
        """What some neighbours attain, epsilon >= 0, to about this relative width."""
        ...

    def delta_at_most(self, epsilon: Fraction, width: float) -> Endpoint:
        """What bounds all neighbours."""
        ...

    def costs_at_most(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Is delta(epsilon) found to be at most this, by whatever is slower and narrower?"""
        ...
