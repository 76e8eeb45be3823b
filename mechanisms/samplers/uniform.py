"""Uniform integers."""

from __future__ import annotations

from ...exact.number import ExactInput, whole
from .bits import RandomBits

__all__ = ["below", "uniform"]


def uniform(bound: ExactInput, bits: RandomBits) -> int:
    """A uniform integer in 0, ..., bound - 1, bound >= 1. Raises ParameterError otherwise."""
    return below(whole(bound, "bound", at_least=1), bits)


def below(bound: int, bits: RandomBits) -> int:
    """`uniform` without checks, bound >= 1.

    All 2^k integers of k bits are equally likely, 2^(k-1) < bound <= 2^k, hence also those below
    the bound among themselves; one is found with probability above 1/2 at each try.
    """
    size = (bound - 1).bit_length()
    while (found := bits.take(size)) >= bound:
        pass
    return found
