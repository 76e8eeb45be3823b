"""What methods of accounting report for compositions, each computed once, and what it leaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from ...exact.enclosure import Enclosure
from ...mechanisms.mechanism import Mechanism
from ..composed import Composition, Use
from ..methods.comparison import Method
from .charges import minus
from .most_uses import most_uses

__all__ = ["KnownCosts", "Remaining"]

_NOTHING = Enclosure.exactly(0)
_UNKNOWN = Enclosure(Fraction(0), Decimal("Infinity"))
_WIDTHS = [Fraction(1, 10**digits) for digits in (3, 6, 12)]  # the first that decides will do


class Remaining(NamedTuple):
    """What may still be spent of a target, by one method.

    left: the target less what was spent; negative where it is overspent. certain: so many uses more
    certainly fit. most: the largest number that fits; None where one more could not be told.
    """

    spent: Enclosure
    left: Enclosure
    certain: int
    most: int | None


@dataclass(frozen=True)
class KnownCosts:
    """A memory of costs: what it answers does not depend on what it has been asked before."""

    _found: dict[tuple[Method, Composition, Fraction, Fraction], Enclosure | None] = field(
        default_factory=dict, repr=False
    )

    def epsilon(
        self, method: Method, composition: Composition | None, delta: Fraction, width: Fraction
    ) -> Enclosure | None:
        """The epsilon that the method reports; None where it does not apply."""
        if composition is None:
            return _NOTHING
        key = (method, composition, delta, width)
        if key not in self._found:
            try:
                self._found[key] = method.epsilon(composition, delta, width)
            except ArithmeticError:  # its conditions do not hold, or could not be told to hold
                self._found[key] = None
        return self._found[key]

    def remaining(
        self,
        method: Method,
        before: Composition | None,
        mechanism: Mechanism,
        epsilon: Fraction,
        delta: Fraction,
        most: int,
        width: Fraction,
    ) -> Remaining | None:
        """What is left of (epsilon, delta), and how many more uses, at most `most`, it allows."""
        spent = self.epsilon(method, before, delta, width)
        if spent is None:
            return None

        def cost(times: int) -> Enclosure:
            uses = [] if before is None else [*before.uses]
            uses += [Use(mechanism, times)] if times else []
            value = _UNKNOWN
            for each in _WIDTHS:
                value = (
                    self.epsilon(method, Composition(uses) if uses else None, delta, each)
                    or _UNKNOWN
                )
                if value == _UNKNOWN or value.at_most(epsilon) is not None:
                    break
            return value

        return Remaining(spent, minus(epsilon, spent), *most_uses(cost, epsilon, most))
