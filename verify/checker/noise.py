"""What a law of noise on the integers may know of itself in closed form; its own file has why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from .arithmetic import Interval
from .shape import in_words, number_text


class Lattice(NamedTuple):
    """loss = (origin + place) step, of each outcome; step None: any, the losses being 0 or inf."""

    places: list[int]
    step: Fraction | Interval | None
    origin: Fraction


@dataclass(frozen=True)
class Logarithm:
    """factor * log(argument)."""

    factor: Fraction
    argument: Fraction

    def described(self) -> str:
        """In words."""
        return f"{number_text(self.factor)} log({number_text(self.argument)})"


class Noise:
    """By default nothing: then outcomes are listed."""

    ends: ClassVar[bool] = False  # is there an outcome that every shift makes impossible?

    def described(self) -> str:
        """In words."""
        name = "".join(f" {c.lower()}" if c.isupper() else c for c in type(self).__name__)
        return in_words(f"{name.strip()} noise", self)

    def renyi(self, shift: int, order: Fraction) -> Fraction | None:
        """D_a of (X + shift, X), exactly."""
        return None

    @property
    def is_wide(self) -> bool:
        """Is it too wide to be listed?"""
        return False

    def renyi_at_least(self, shift: int, order: Fraction) -> Fraction:
        """D_a of a wide law, from below."""
        raise NotImplementedError

    def rho_limit(self, shift: int) -> Fraction | None:
        """A limit of D_a/a for large a, with D_a/a <= limit + spread/(a-1) for all of them."""
        return None

    def rho_spread(self) -> Fraction:
        """The spread, an upper bound."""
        return Fraction(0)

    def lattice(self, shift: int, outcomes: Sequence[int]) -> Lattice | None:
        """On which the losses of these outcomes lie."""
        return None

    def lattice_step(self, shift: int) -> Fraction | None:
        """Its step, where that is known before anything is listed."""
        return None
