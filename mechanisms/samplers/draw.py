"""Exact draws of a law: from random bits to integers, with no floating point in between.

The discrete Laplace and Gaussian laws of rational parameters, and finite laws, need integers only;
the others compare integers with certified enclosures, as narrow as each comparison needs. How long
a draw takes depends on its outcome: whoever can time single draws learns something about them.
"""

from __future__ import annotations

from ...exact.number import ExactInput, whole
from ..laws.law import Law
from .bits import RandomBits

__all__ = ["draw", "draw_share"]


def draw(law: Law, bits: RandomBits, size: ExactInput) -> list[int]:
    """`size` independent exact draws of this law, whose outcomes are integers of any size.

    bits: `SystemBits()` for a release, `SeededBits(seed)` for tests.
    Raises ParameterError for a law without a sampler.
    """
    one = law.sampler()
    return [one(bits) for _ in range(whole(size, "size", at_least=0))]


def draw_share(law: Law, users: ExactInput, bits: RandomBits) -> int:
    """What one of `users` users adds, drawn exactly: the sum over all of them has this law.

    Raises ParameterError where the law has no equal shares (`Law.share`).
    """
    return law.share(users).sampler()(bits)
