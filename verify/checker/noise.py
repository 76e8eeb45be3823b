"""What a law of noise on the integers may know of itself in closed form; its own file has why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

from .arithmetic import Interval
from .shape import number_text


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


class Noise:
    """By default nothing: then outcomes are listed."""

    ends: ClassVar[bool] = False  # is there an outcome that every shift makes impossible?

    def described(self) -> str:
        """In words: its name, and its numbers."""
        one: Any = self
        name = "".join(f" {c.lower()}" if c.isupper() else c for c in type(self).__name__)
        numbers = []
        for each in fields(one):
            value = getattr(one, each.name)
            if isinstance(value, bool):
                numbers += [each.name] if value else []
            elif isinstance(value, Logarithm):
                argument = f"log({number_text(value.argument)})"
                numbers.append(f"{each.name} {number_text(value.factor)} {argument}")
            else:
                numbers.append(f"{each.name} {number_text(Fraction(value))}")
        return f"{name.strip()} noise ({', '.join(numbers)})"

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
