"""Pairs (P, Q): the output laws under two neighbouring datasets. Privacy is a property of pairs.

A mechanism yields pairs that together dominate all its neighbours: no divergence of any two
neighbouring outputs, in either direction, exceeds the largest over these pairs of D(P || Q).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from attrs import field, frozen

from ..exact.number import ExactInput, ParameterError, exact
from .laws.law import Law

__all__ = ["FinitePair", "Pair", "ResponsePair", "ShiftPair", "WrappedPair"]


@dataclass(frozen=True)
class ShiftPair:
    """P(x) = p(x), Q(x) = p(x - shift), for p log-concave or with `log_convex_sides`."""

    law: Law
    shift: int

    @property
    def is_disjoint(self) -> bool:
        """Has no outcome of P any probability under Q?"""
        low, high = self.law.support
        return low is not None and high is not None and high < low + self.shift


@dataclass(frozen=True)
class WrappedPair:
    """A `ShiftPair` whose outcome is seen mod `modulus` only."""

    law: Law
    shift: int
    modulus: int

    @property
    def unwrapped(self) -> ShiftPair:
        """The pair before the reduction, of which this one is post-processing."""
        return ShiftPair(self.law, self.shift)


@dataclass(frozen=True)
class ResponsePair:
    """The pair that dominates every (epsilon, delta)-DP mechanism.

    Outcomes: P has (delta, (1-delta) e^epsilon/(1+e^epsilon), (1-delta)/(1+e^epsilon), 0), Q the
    same four numbers in reverse. (epsilon, delta)-DP says that every test of P against Q keeps to
    the region of errors that this pair fills (Kairouz, Oh, Viswanath, "The composition theorem for
    differential privacy", ICML 2015, Theorem 2.1); by Blackwell's theorem any such P and Q come
    from this pair by post-processing.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)


def _names(outcomes: Iterable[str]) -> tuple[str, ...]:
    return tuple(outcomes)


def _p(column: Iterable[ExactInput]) -> tuple[Fraction, ...]:
    return tuple(exact(value, "p", at_least=0, at_most=1) for value in column)


def _q(column: Iterable[ExactInput]) -> tuple[Fraction, ...]:
    return tuple(exact(value, "q", at_least=0, at_most=1) for value in column)


def _slack(value: ExactInput) -> Fraction:
    return exact(value, "slack", at_least=0, below=1)


@frozen
class FinitePair:
    """Two laws on finitely many named outcomes, given as exact probabilities.

    Each column must sum to exactly 1. With slack > 0 the columns are known only up to that much
    total mass each (misplaced, missing or in excess), and every divergence is charged for it.
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

    def swapped(self) -> FinitePair:
        """The other direction."""
        return FinitePair(self.outcomes, self.q, self.p, self.slack)

    def pairs(self) -> tuple[Pair, ...]:
        """A pair of laws is also a mechanism, with two datasets and no choice between pairs."""
        return (self,)

    def reversed(self) -> FinitePair:
        """The two datasets exchanged."""
        return self.swapped()


Pair: TypeAlias = ShiftPair | WrappedPair | ResponsePair | FinitePair
