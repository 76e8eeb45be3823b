"""Uses of mechanisms with what each of them costs, where costs add up: filters and odometers."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ExactInput, whole
from ...mechanisms.mechanism import Mechanism

__all__ = [
    "MOST_USES",
    "Charge",
    "Charges",
    "minus",
    "narrowed",
    "plus",
    "read_times",
    "total",
    "with_use",
]

MOST_USES = 10**9


class Charge(NamedTuple):
    """So many uses of a mechanism, and what each of them costs."""

    mechanism: Mechanism
    times: int
    each: Enclosure

    def cost(self) -> Enclosure:
        """What they cost together."""
        return Enclosure(
            _product(self.each.lower, self.times), _product(self.each.upper, self.times)
        )


Charges: TypeAlias = tuple[Charge, ...]


def read_times(times: ExactInput) -> int:
    """How often a mechanism is to be used: 1 to 10^9."""
    return whole(times, "times", at_least=1, at_most=MOST_USES)


def with_use(charges: Charges, mechanism: Mechanism, times: int, cost: Enclosure) -> Charges:
    """The charges with so many uses more; a mechanism seen before keeps its cost."""
    if all(charge.mechanism != mechanism for charge in charges):
        return (*charges, Charge(mechanism, times, cost))
    return tuple(
        charge._replace(times=charge.times + times) if charge.mechanism == mechanism else charge
        for charge in charges
    )


def narrowed(charges: Charges, cost: Callable[[Mechanism], Enclosure]) -> Charges:
    """The same charges, each measured again."""
    return tuple(
        charge._replace(each=charge.each.intersection(cost(charge.mechanism))) for charge in charges
    )


def total(charges: Charges) -> Enclosure:
    """What these charges come to."""
    costs = [charge.cost() for charge in charges]
    return Enclosure(_sum([cost.lower for cost in costs]), _sum([cost.upper for cost in costs]))


def plus(a: Enclosure, b: Enclosure) -> Enclosure:
    """a + b."""
    return Enclosure(_sum([a.lower, b.lower]), _sum([a.upper, b.upper]))


def minus(limit: Fraction, spent: Enclosure) -> Enclosure:
    """limit - spent."""
    lower, upper = (
        end.copy_negate() if isinstance(end, Decimal) else -end
        for end in (spent.upper, spent.lower)
    )
    return Enclosure(_sum([limit, lower]), _sum([limit, upper]))


def _is_infinite(end: Endpoint) -> bool:
    return isinstance(end, Decimal) and end.is_infinite()


def _product(end: Endpoint, times: int) -> Endpoint:
    return end if _is_infinite(end) else times * Fraction(end)


def _sum(ends: list[Endpoint]) -> Endpoint:
    infinite = next((end for end in ends if _is_infinite(end)), None)
    return infinite or sum((Fraction(end) for end in ends), Fraction(0))
