"""What a certificate is about: mechanisms as values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .laws import Law

__all__ = ["Additive", "Mechanism", "Response", "TwoLaws"]


@dataclass(frozen=True)
class Additive:
    """An integer query of this sensitivity plus noise, seen mod `modulus` if given."""

    law: Law
    sensitivity: int
    modulus: int | None


@dataclass(frozen=True)
class Response:
    """Randomized response that with probability delta reveals its bit."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class TwoLaws:
    """A user's own pair of laws, known up to misplaced mass `slack`."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    slack: Fraction


Mechanism = Additive | Response | TwoLaws
