"""Discrete Laplace noise: P(X = x) proportional to e^(-|x|/scale)."""

from __future__ import annotations

from fractions import Fraction

from ...exact.number import ParameterError, Real
from .bits import RandomBits
from .geometric import geometric, geometric_exp

__all__ = ["discrete_laplace", "discrete_laplace_exp"]


def discrete_laplace(scale: Real, bits: RandomBits) -> int:
    """X with P(X = x) proportional to e^(-|x|/scale), scale > 0."""
    if isinstance(scale, Fraction):
        if scale <= 0:
            raise ParameterError(f"scale must be above 0, got {scale}")
        return discrete_laplace_exp(scale.numerator, scale.denominator, bits)
    # the difference of two geometric variables: sum over y of b^(|x| + y) b^y, up to a constant
    return geometric(scale, bits) - geometric(scale, bits)


def discrete_laplace_exp(numerator: int, denominator: int, bits: RandomBits) -> int:
    """`discrete_laplace` for scale = numerator/denominator, in integers only.

    A geometric magnitude and a fair sign, where -0 is refused: else 0 would count twice.
    Canonne, Kamath, Steinke (NeurIPS 2020), Algorithm 2.
    """
    while True:
        size = geometric_exp(numerator, denominator, bits)
        if bits.take(1):
            return size
        if size:
            return -size
