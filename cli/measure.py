"""The quantities that a command was asked for, in the order in which they are reported."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .. import accounting
from ..exact import Enclosure, exact
from ..mechanisms import Mechanism

__all__ = ["Measured", "Request", "measure", "read_width"]


@dataclass(frozen=True)
class Request:
    """What to measure; numbers as the user wrote them. deltas ask for ε, epsilons for δ."""

    pure: bool = False
    orders: tuple[str, ...] = ()
    epsilons: tuple[str, ...] = ()
    deltas: tuple[str, ...] = ()
    zcdp: bool = False

    def is_empty(self) -> bool:
        """Is nothing asked for?"""
        return not (self.pure or self.orders or self.epsilons or self.deltas or self.zcdp)


@dataclass(frozen=True)
class Measured:
    """One certified figure: "renyi" at order 2, say. note: why it is wider than asked."""

    quantity: str
    given: tuple[str, str] | None
    value: Enclosure
    note: str | None = None

    def to_json(self) -> dict[str, str]:
        """The result as in the contract: quantity, what it was asked at, lower and upper."""
        shown = {"quantity": self.quantity}
        if self.given is not None:
            shown[self.given[0]] = self.given[1]
        shown |= self.value.to_json()
        return shown if self.note is None else shown | {"note": self.note}


def measure(mechanism: Mechanism, request: Request, width: Fraction) -> list[Measured]:
    """Measure in the order pure, orders, epsilons, deltas, zcdp.

    Raises ParameterError for a number that is out of range, before anything is computed.
    """
    orders = [exact(text, "order", above=1) for text in request.orders]
    epsilons = [exact(text, "epsilon", at_least=0) for text in request.epsilons]
    deltas = [exact(text, "delta", at_least=0, at_most=1) for text in request.deltas]
    results: list[Measured] = []

    def add(quantity: str, given: tuple[str, str] | None, value: Enclosure) -> None:
        wide = not value.is_within(width)
        note = f"wider than {float(width):.2g}: the precision allowed ends here" if wide else None
        results.append(Measured(quantity, given, value, note))

    if request.pure:
        add("pure", None, accounting.pure_epsilon(mechanism, width=width))
    if orders:
        curve = accounting.renyi_curve(mechanism, orders, width=width)
        for text, value in zip(request.orders, curve, strict=True):
            add("renyi", ("order", text), value)
    for text, number in zip(request.epsilons, epsilons, strict=True):
        add("delta", ("epsilon", text), accounting.delta(mechanism, epsilon=number, width=width))
    for text, number in zip(request.deltas, deltas, strict=True):
        add("epsilon", ("delta", text), accounting.epsilon(mechanism, delta=number, width=width))
    if request.zcdp:
        add("zcdp", None, accounting.zcdp(mechanism, width=width))
    return results


def read_width(text: str) -> Fraction:
    """Read --width: a relative width above 0 and below 1."""
    return exact(text, "width", above=0, below=1)
