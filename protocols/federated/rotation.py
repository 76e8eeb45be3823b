"""The randomized rotation: random signs, then the Walsh-Hadamard transform, H D / sqrt(size).

It is orthogonal, and spreads every vector evenly: each coordinate of H D x / sqrt(size) is a sum of
x_i times independent signs over sqrt(size), hence sub-Gaussian of variance |x|^2/size (Hoeffding).
The signs come from a public seed that all share: they protect nothing and need not be secret, but
the seed must be drawn independently of the data for coordinates to be as small as this says.

In floats: the transform is a product of blocks, H of size k <= 32 along one axis after the other.
One entry of a block is a sum of k terms, off by at most g sum |z_i|, g = ku/(1 - ku), u = 2^-53, in
whatever order it is summed; so a block is off by at most g k |z| in norm, where |H z| = sqrt(k)|z|:
relatively by g sqrt(k) < 182 u. At most 13 blocks, of 62 levels in all, and a few single roundings
stay below `FLOAT_ERROR` = 2^-40. No privacy depends on this: see `grid`.
"""

from __future__ import annotations

import hashlib
import math
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

FLOAT_ERROR = 2.0**-40  # relative, in norm, of one rotation with the scaling before and after
_BLOCK = 32

Floats = NDArray[np.float64]


def padded(dimension: int) -> int:
    """The least power of two that is at least the dimension."""
    return 1 << (dimension - 1).bit_length()


@lru_cache(maxsize=2)
def signs(seed: bytes, size: int) -> Floats:
    """`size` signs +-1 from the bits of SHAKE-256: the same on every machine."""
    octets = hashlib.shake_256(b"exactdp rotation " + seed).digest((size + 7) // 8)
    drawn = np.unpackbits(np.frombuffer(octets, dtype=np.uint8), count=size, bitorder="little")
    found = np.where(drawn, -1.0, 1.0)
    found.flags.writeable = False  # it is kept for the next client
    return found


def rotate(vector: Floats, seed: bytes) -> Floats:
    """H D x / sqrt(size) of the vector, filled up with zeros to a power of two."""
    size = padded(len(vector))
    mixed = np.zeros(size)
    np.multiply(vector, signs(seed, size)[: len(vector)], out=mixed[: len(vector)])
    return _transformed(mixed)


def unrotate(rotated: Floats, seed: bytes, dimension: int) -> Floats:
    """The inverse: H/sqrt(size) is its own, and so is D."""
    size = len(rotated)
    return _transformed(rotated)[:dimension] * signs(seed, size)[:dimension]


def _transformed(values: Floats) -> Floats:
    """H v / sqrt(size), one block after the other; each moves its axis to the end."""
    size = left = len(values)
    while left > 1:
        block = min(left, _BLOCK)
        values = (values.reshape(block, -1).T @ _hadamard(block)).reshape(-1)
        left //= block
    return values / math.sqrt(size)


@cache
def _hadamard(size: int) -> Floats:
    if size == 1:
        return np.ones((1, 1))
    return np.kron(np.array([[1.0, 1.0], [1.0, -1.0]]), _hadamard(size // 2))
