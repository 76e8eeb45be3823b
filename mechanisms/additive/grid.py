"""Fixed-point vectors: where floats end and exact integers begin.

A client's rotated, scaled vector is known in floats only, so it is *replaced* by a vector n 2^-f of
fixed-point numbers, n integers, and from there on nothing is approximate: its norm is compared with
the bound in exact integers, and its rounding is a coin of probability exactly (n mod 2^f) 2^-f. So
the vector that is rounded has norm at most the bound for *every* input, whatever the floats before
did: they decide how close it is to what was meant, never how long it may be.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FIELD = 46  # bits: the norm bound is below 2^FIELD units of the grid
_FINEST = 32
_HALF, _BLOCK = 24, 1 << 15

Integers = NDArray[np.int64]


def fraction_bits(bound: Fraction) -> int:
    """f, the binary digits after the point of a grid for vectors of norm at most `bound`.

    As many as keep the bound below 2^FIELD units, at most 32; negative where there is no grid.
    """
    return min(_FINEST, FIELD - math.ceil(bound).bit_length())


def squared_norm(values: Integers) -> int:
    """The sum of squares, exactly, of integers below 2^47 in size.

    |n| = 2^24 h + l with h < 2^23 and l < 2^24: each product is below 2^48, and sums of at most
    2^15 of them below 2^63; Python's integers add up these sums.
    """
    sizes = np.abs(values)
    high, low = sizes >> _HALF, sizes & ((1 << _HALF) - 1)
    hh, hl, ll = (_exact_sum(a * b) for a, b in ((high, high), (high, low), (low, low)))
    return (hh << (2 * _HALF)) + (hl << (_HALF + 1)) + ll


def on_grid(values: NDArray[np.float64], bound: Fraction, fraction: int) -> Integers:
    """Integers n with n 2^-fraction close to the values, and |n 2^-fraction| <= bound exactly.

    Rounded towards 0, and made shorter where the exact norm is above the bound: in floats by the
    ratio of the norms and a little more, towards 0 again. Each time the norm falls by a relative
    2^-40 at least, which is more than the ratio's rounding can hide, so that it ends.
    """
    limit = math.floor(bound**2 * 4**fraction)  # integers: |n|^2 <= this if and only if it holds
    # coordinates beyond the bound are cut off first, so that they fit: what is left out is only
    # length that is too much
    most = float(2 ** (FIELD + 1) - 1)
    found: Integers = np.trunc(np.clip(np.ldexp(values, fraction), -most, most)).astype(np.int64)
    while (norm := squared_norm(found)) > limit:
        shorter = math.sqrt(limit / norm) * (1 - 2.0**-40)
        found = np.trunc(found * shorter).astype(np.int64)
    return found


def _exact_sum(values: Integers) -> int:
    starts = np.arange(0, len(values), _BLOCK)
    return sum(np.add.reduceat(values, starts).tolist()) if len(values) else 0
