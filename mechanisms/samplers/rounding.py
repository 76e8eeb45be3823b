"""Randomized rounding: a reward in [0, 1] as an integer in 0, ..., g whose mean is g times it."""

from __future__ import annotations

from ...exact.number import ExactInput, exact, whole
from .bernoulli import coin
from .bits import RandomBits

__all__ = ["rounded"]


def rounded(reward: ExactInput, precision: ExactInput, bits: RandomBits) -> int:
    """floor(reward g), plus 1 with probability reward g - floor(reward g), g = precision >= 1.

    A reward is read like every other exact number: a float stands for the decimal that it prints
    as, so 0.1 is 1/10 and not the binary fraction next to it. The mean is then exactly reward g.
    Raises ParameterError for a reward outside 0..1 or a precision below 1.
    """
    g = whole(precision, "precision", at_least=1)
    scaled = exact(reward, "reward", at_least=0, at_most=1) * g
    found, rest = divmod(scaled.numerator, scaled.denominator)
    return found + coin(rest, scaled.denominator, bits)
