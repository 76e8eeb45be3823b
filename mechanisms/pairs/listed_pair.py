"""Pairs of laws on finitely many outcomes whose probabilities need not be rational.

A family of mechanisms is a subclass, a frozen value of its parameters: all that is asked of a pair
(every divergence, composition, sampling) follows from its two lists of probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from attrs import frozen
from flint import arb

from ...exact.number import Real
from .shift_pair import AnyPair

Masses: TypeAlias = tuple[Sequence[arb], Sequence[arb]]


class Steps(NamedTuple):
    """Losses that are whole multiples of one number > 0, outcome by outcome.

    None: an outcome that only P has, or that P has not.
    """

    unit: Real
    multiples: Sequence[int | None]


class ListedPair(AnyPair):
    """Two laws (P, Q) on finitely many outcomes, which may stand for several of equal ratio.

    It is a mechanism as well, with two datasets and no choice between pairs.
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
