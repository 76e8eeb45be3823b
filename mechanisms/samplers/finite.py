"""Finite laws: of the equally likely integers below the common denominator, so many mean each."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from attrs import field, frozen

from ...exact.number import ParameterError
from .bits import RandomBits
from .coins import below

__all__ = ["Table"]


def _ends(masses: Sequence[Fraction]) -> tuple[int, ...]:
    if sum(masses) != 1 or min(masses) < 0:
        raise ParameterError(f"masses must be >= 0 and sum to exactly 1, got {sum(masses)}")
    common = math.lcm(*(mass.denominator for mass in masses))
    return tuple(accumulate(int(mass * common) for mass in masses))


@frozen
class Table:
    """Draws the index i with probability masses[i]. Raises ParameterError unless they sum to 1."""

    ends: tuple[int, ...] = field(alias="masses", converter=_ends)

    def draw(self, bits: RandomBits) -> int:
        """One index."""
        return bisect_right(self.ends, below(self.ends[-1], bits))
