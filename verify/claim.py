"""Claims about a mechanism: small frozen values, each with one number that it bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ..exact.number import ExactInput, ParameterError, decimal_text, exact
from ..exact.suggest import meant

__all__ = ["ApproxDP", "Claim", "PureDP", "RenyiDP", "ZCDP", "parse_claim"]


@dataclass(frozen=True)
class PureDP:
    """(epsilon, 0)-differential privacy."""

    epsilon: Fraction

    def __init__(self, epsilon: ExactInput) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon", at_least=0))

    @property
    def bound(self) -> Fraction:
        """The number that the mechanism must not exceed."""
        return self.epsilon

    def __str__(self) -> str:
        return f"pure:{decimal_text(self.epsilon)}"


@dataclass(frozen=True)
class ApproxDP:
    """(epsilon, delta)-differential privacy."""

    epsilon: Fraction
    delta: Fraction

    def __init__(self, epsilon: ExactInput, delta: ExactInput) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon", at_least=0))
        object.__setattr__(self, "delta", exact(delta, "delta", at_least=0, at_most=1))

    @property
    def bound(self) -> Fraction:
        """The number that the mechanism must not exceed: epsilon, at this delta."""
        return self.epsilon

    def __str__(self) -> str:
        return f"approx:{decimal_text(self.epsilon)},{decimal_text(self.delta)}"


@dataclass(frozen=True)
class RenyiDP:
    """(order, epsilon)-Rényi differential privacy, any real order above 1."""

    order: Fraction
    epsilon: Fraction

    def __init__(self, order: ExactInput, epsilon: ExactInput) -> None:
        object.__setattr__(self, "order", exact(order, "order", above=1))
        object.__setattr__(self, "epsilon", exact(epsilon, "epsilon", at_least=0))

    @property
    def bound(self) -> Fraction:
        """The number that the mechanism must not exceed: epsilon, at this order."""
        return self.epsilon

    def __str__(self) -> str:
        return f"rdp:{decimal_text(self.order)},{decimal_text(self.epsilon)}"


@dataclass(frozen=True)
class ZCDP:
    """rho-zero-concentrated differential privacy (Bun and Steinke 2016)."""

    rho: Fraction

    def __init__(self, rho: ExactInput) -> None:
        object.__setattr__(self, "rho", exact(rho, "rho", at_least=0))

    @property
    def bound(self) -> Fraction:
        """The number that the mechanism must not exceed."""
        return self.rho

    def __str__(self) -> str:
        return f"zcdp:{decimal_text(self.rho)}"


Claim: TypeAlias = PureDP | ApproxDP | RenyiDP | ZCDP

_KINDS: dict[str, tuple[Callable[..., Claim], int]] = {
    "pure": (PureDP, 1),
    "approx": (ApproxDP, 2),
    "rdp": (RenyiDP, 2),
    "zcdp": (ZCDP, 1),
}
_FORMS = "pure:EPSILON, approx:EPSILON,DELTA, rdp:ORDER,EPSILON or zcdp:RHO"


def parse_claim(text: str) -> Claim:
    """Read "pure:0.1", "approx:1,1e-6", "rdp:2,0.01" or "zcdp:0.005"."""
    name, colon, rest = text.strip().partition(":")
    if not colon or name not in _KINDS:
        raise ParameterError(f"claim must be {_FORMS}, got {text[:60]!r}{meant(name, _KINDS)}")
    kind, count = _KINDS[name]
    values = rest.split(",")
    if len(values) != count:
        raise ParameterError(f"claim {name} takes {count} number(s), got {text[:60]!r}")
    return kind(*values)
