"""What every pair of laws says of itself; and pairs of one law of noise, moved, whole or mod m."""

from __future__ import annotations

from fractions import Fraction

from attrs import frozen
from flint import arb

from ..laws.law import Law


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
