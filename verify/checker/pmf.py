"""Listed probabilities, and how far they are listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .arithmetic import Interval, OpenError, certainly, upper

FARTHEST = 40_000  # outcomes on either side


@dataclass(frozen=True)
class Pmf:
    """Probabilities of low, low + 1, ...; `beyond` bounds the mass on each side of them."""

    low: int
    masses: list[Interval]
    beyond: Interval

    @property
    def high(self) -> int:
        """The last outcome listed."""
        return self.low + len(self.masses) - 1

    def at(self, x: int) -> Interval:
        """P(X = x), for a listed x."""
        return self.masses[x - self.low]


def reach_where(enough: Callable[[int], bool]) -> int:
    """About the least reach for which `enough` holds; it must go on to hold."""
    high = 8
    while not enough(high):
        high *= 2
        if high > 2 * FARTHEST:
            raise OpenError("too many outcomes to sum")
    low = high // 2
    while high - low > max(1, high // 32):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    if high > FARTHEST:
        raise OpenError("too many outcomes to sum")
    return high


def geometric(ratio: Interval) -> Interval:
    """Bound ratio + ratio^2 + ... ."""
    if not certainly(ratio < 1):
        raise OpenError("the tail is not yet geometric")
    return upper(ratio / (1 - ratio))
