"""A guess of a convex function from a few of its points: where to look for the minimum.

All in floats, since no bound rests on it: `convex_infimum` proves what it returns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Model(NamedTuple):
    """f near a few points: a + b x + c/x where f falls, a + b x + c x^2 where it rises.

    For the functions that come from a Rényi curve (`conversion`) this is right for Gaussian noise,
    and for bounded losses at large orders.
    """

    falls: bool
    b: float
    c: float

    @staticmethod
    def through(points: Sequence[tuple[Fraction, Fraction]], falls: bool) -> Model:
        """Through one, two or three (x, f(x)), x > 0."""
        # x -> x f(1/x) takes one case to the other
        at = [1 / x if falls else x for x, _ in points]
        values = [y / x if falls else y for x, y in points]
        if len(points) == 1:  # as for Gaussian noise: proportional to 1 + 1/x or x + x^2
            scale = float(values[0] / (at[0] + at[0] ** 2))
            return Model(falls, scale, scale)
        first = (values[1] - values[0]) / (at[1] - at[0])
        second = Fraction(0)
        if len(points) == 3:
            second = ((values[2] - values[1]) / (at[2] - at[1]) - first) / (at[2] - at[0])
            second = max(second, Fraction(0))
        linear = first - second * (at[0] + at[1])
        if falls:
            linear = values[0] - at[0] * (linear + second * at[0])
        return Model(falls, float(linear), float(second))

    def slope(self, x: float) -> float:
        return self.b - self.c / (x * x) if self.falls else self.b + 2 * self.c * x

    def spacing(self, x: float, allowed: float) -> float:
        """How far apart points near x may lie for lines through them to be off by `allowed`."""
        half_bend = self.c / x**3 if self.falls else self.c
        return math.sqrt(allowed / (4 * half_bend)) if half_bend > 0 else math.inf
