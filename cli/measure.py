"""The quantities that a command was asked for, in the order in which they are reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ..accounting import delta, epsilon, pure_epsilon, renyi_curve, zcdp
from ..exact import Enclosure, exact
from ..mechanisms import Mechanism

__all__ = ["Measured", "Request", "measure", "read_width"]

_ANYTHING = Enclosure(Fraction(0), Decimal("Infinity"))  # no divergence is negative


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

    @property
    def is_undecided(self) -> bool:
        """Is nothing known of the value that would bound it?"""
        return not self.value.is_finite() and self.value.lower != self.value.upper

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
    once = ("",)
    groups: list[tuple[str, str, tuple[str, ...], Callable[[], list[Enclosure]]]] = [
        ("pure", "", once * request.pure, lambda: [pure_epsilon(mechanism, width)]),
        ("renyi", "order", request.orders, lambda: renyi_curve(mechanism, orders, width)),
        (
            "delta",
            "epsilon",
            request.epsilons,
            lambda: [delta(mechanism, level, width) for level in epsilons],
        ),
        (
            "epsilon",
            "delta",
            request.deltas,
            lambda: [epsilon(mechanism, level, width) for level in deltas],
        ),
        ("zcdp", "", once * request.zcdp, lambda: [zcdp(mechanism, width)]),
    ]
    return [
        Measured(quantity, (key, text) if key else None, value, note)
        for quantity, key, texts, compute in groups
        if texts
        for text, (value, note) in zip(texts, _attempt(compute, len(texts), width), strict=True)
    ]


def _attempt(
    compute: Callable[[], list[Enclosure]], count: int, width: Fraction
) -> list[tuple[Enclosure, str | None]]:
    """The values, each with a note where it is wider than asked; [0, inf] where none is found."""
    try:
        values = compute()
    except (ArithmeticError, NotImplementedError) as error:
        return [(_ANYTHING, f"undecided: {error}")] * count
    wide = f"wider than {float(width):.2g} at the precision allowed"
    return [(value, None if value.is_within(width) else wide) for value in values]


def read_width(text: str) -> Fraction:
    """Read --width: a relative width above 0 and below 1."""
    return exact(text, "width", above=0, below=1)
