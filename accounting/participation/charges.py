"""Uses of mechanisms with what each of them costs, where costs add up: filters and odometers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, TypeAlias, TypeVar

from ...exact import Enclosure, ExactInput, whole
from ...exact.budget import spend
from ...mechanisms.mechanism import Mechanism
from ..scenario import Use, neighbours

_Cost = TypeVar("_Cost")
MOST_USES = 10**9


class Charge(NamedTuple):
    """So many uses of a mechanism, and what each of them costs."""

    mechanism: Mechanism
    times: int
    each: Enclosure

    def cost(self) -> Enclosure:
        """What they cost together."""
        return self.each.times(self.times)


Charges: TypeAlias = tuple[Charge, ...]


def read_times(times: ExactInput) -> int:
    """How often a mechanism is to be used: 1 to 10^9."""
    return whole(times, "times", at_least=1, at_most=MOST_USES)


def measured(cost: Callable[[], _Cost]) -> _Cost:
    """What is to be charged for good. Raises OutOfTimeError where it may have been cut short."""
    found = cost()
    spend()
    return found


def admit(charges: Charges, mechanism: Mechanism) -> None:
    """Raise ParameterError for neighbours that are not those of what was charged before."""
    neighbours([*(Use(charge.mechanism, charge.times) for charge in charges), Use(mechanism, 1)])


def with_use(charges: Charges, mechanism: Mechanism, times: int, cost: Enclosure) -> Charges:
    """The charges with so many uses more; a mechanism seen before keeps its cost.

    Raises ParameterError where `admit` does.
    """
    admit(charges, mechanism)
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
    return Enclosure.total(charge.cost() for charge in charges)


def minus(limit: Fraction, spent: Enclosure) -> Enclosure:
    """limit - spent."""
    return spent.negated().plus(limit)
