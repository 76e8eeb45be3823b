"""By which integer vectors neighbours move a query: what their norms are at most, in integers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from .shape import number_text


@dataclass(frozen=True)
class Reach:
    """All integer vectors v with |v|_2 <= l2, |v|_1 <= l1, |v|_inf <= linf in so many dimensions.

    None: not bounded. l2, l1 and linf are at least 1; l2, l1, or linf with dimension, are there.
    With a vector all those are within reach whose coordinates are no larger.
    """

    l2: Fraction | None = None
    l1: Fraction | None = None
    linf: Fraction | None = None
    dimension: int | None = None

    def described(self) -> str:
        """In words."""
        norms = (("L2", self.l2), ("L1", self.l1), ("Linf", self.linf))
        bounds = [f"{number_text(most)} in {name}" for name, most in norms if most is not None]
        where = "any dimension" if self.dimension is None else in_dimensions(self.dimension)
        return f"integer vectors moved by at most {' and '.join(bounds)}, {where}"

    @property
    def is_bounded(self) -> bool:
        """Are these finitely many vectors, up to the order of coordinates?"""
        return self.l2 is not None or self.l1 is not None or None not in (self.linf, self.dimension)

    @cached_property
    def farthest(self) -> int:
        """max |v|_inf."""
        root = None if self._square is None else math.isqrt(self._square)
        return min(math.floor(each) for each in (root, self.l1, self.linf) if each is not None)

    @cached_property
    def largest_square(self) -> int:
        """max |v|_2^2.

        It is convex: for a given sum largest where as few coordinates as possible are not 0, all
        but one of those the farthest.
        """
        full, left = divmod(self._sum, self.farthest)
        found = full * self.farthest**2 + left**2
        return found if self._square is None else min(found, self._square)

    @cached_property
    def largest_sum(self) -> int:
        """max |v|_1.

        n q + r, r < n, is the sum of a vector in n coordinates with the square n q^2 + r (2q + 1),
        and of none with a smaller one.
        """
        if self._square is None:
            return self._sum
        each = math.isqrt(self._square // self._count)
        more = (self._square - self._count * each**2) // (2 * each + 1)
        return min(self._sum, self._count * each + more)

    def contains(self, counts: Mapping[int, int]) -> bool:
        """Is a vector within reach of which so many coordinates are of this size, each above 0?"""
        if not all(move > 0 and count > 0 for move, count in counts.items()):
            return False
        square = sum(count * move**2 for move, count in counts.items())
        whole = sum(count * move for move, count in counts.items())
        held = (
            (max(counts, default=0), self.linf),
            (whole, self.l1),
            (square, self._square),
            (sum(counts.values()), self.dimension),
        )
        return all(most is None or norm <= most for norm, most in held)

    @property
    def is_random(self) -> bool:
        """Is what the query moves by drawn at random? (`rounded`)"""
        return False

    def chance(self, counts: Mapping[int, int]) -> Fraction:
        """With which probability some data move it by this: 1 for all within reach."""
        return Fraction(self.contains(counts))

    @property
    def _square(self) -> int | None:
        """What |v|_2^2, an integer, is at most by l2."""
        return None if self.l2 is None else math.floor(self.l2**2)

    @property
    def _count(self) -> int:
        """How many coordinates may not be 0."""
        counts = (self.dimension, self.l1, self._square)
        return min(math.floor(each) for each in counts if each is not None)

    @property
    def _sum(self) -> int:
        """What |v|_1 is at most but for l2."""
        within = self._count * self.farthest
        return within if self.l1 is None else min(within, math.floor(self.l1))


def in_dimensions(count: int) -> str:
    """How many, in words."""
    return f"{count:,} dimension{'s' if count > 1 else ''}"
