"""The root of a rational: a number known by its square, exact in products, quotients, squares."""

from __future__ import annotations

import math
from fractions import Fraction

from attrs import frozen
from flint import arb

from .number import ball


@frozen
class SquareRoot:
    """sqrt(square), of a rational above 0 that is no square of a rational; see `square_root`."""

    square: Fraction

    def ball(self) -> arb:
        """Enclose it at the working precision."""
        return ball(self.square).sqrt()

    def __float__(self) -> float:
        return math.sqrt(self.square)

    def __mul__(self, other: Fraction) -> SquareRoot:
        return SquareRoot(self.square * other**2)

    __rmul__ = __mul__

    def __truediv__(self, other: Fraction) -> SquareRoot:
        return SquareRoot(self.square / other**2)

    def __rtruediv__(self, other: Fraction) -> SquareRoot:
        return SquareRoot(other**2 / self.square)


def square_root(square: Fraction) -> Fraction | SquareRoot:
    """The root of a rational above 0: a rational where it is one.

    >>> square_root(Fraction(9, 4)), square_root(Fraction(2))
    (Fraction(3, 2), SquareRoot(square=Fraction(2, 1)))
    """
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    return root if root**2 == square else SquareRoot(square)


def squared(value: Fraction | SquareRoot) -> Fraction:
    """Its square, exactly."""
    return value.square if isinstance(value, SquareRoot) else value**2
