"""What a law of noise on the integers may know of itself in closed form; its own file has why."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, NamedTuple

from .arithmetic import Enclosure, Interval


class Lattice(NamedTuple):
    """loss = (origin + place) step, of each outcome; step None: any, the losses being 0 or inf."""

    places: list[int]
    step: Fraction | Interval | None
    origin: Fraction


class Noise:
    """By default nothing: then outcomes are listed."""

    ends: ClassVar[bool] = False  # is there an outcome that every shift makes impossible?

    def renyi(self, shift: int, order: Fraction) -> Fraction | None:
        """D_a of (X + shift, X), exactly."""
        return None

    def wide_renyi(self, shift: int, order: Fraction) -> Enclosure | None:
        """D_a of a law too wide to list, up to little."""
        return None

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
