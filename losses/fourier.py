"""Fourier transforms of doubles, with a proved bound on their error in the 2-norm.

u = 2^-53. All that is asked of the machine is that +, - and * of doubles are rounded correctly.

**One pass.** A pass of the radix-2 transform makes e + t o and e - t o of two numbers, |t| = 1. The
stored t is off by at most 2 u. A product of complex numbers is off by at most sqrt(8) u of its
modulus, whether fused or not (Brent, Percival, Zimmermann, "Error bounds on complex floating-point
multiplication", Math. Comp. 2007, have sqrt(5) u without fusing). The sum is off by u of its own.
So each of two outputs is off by at most (2 + sqrt(8) + 1 + O(u)) u (|e| + |o|) <= 6.1 u (|e| + |o|)
<= 6.1 sqrt(2) u |(e, o)|, both by sqrt(2) times that, 12.2 u |(e, o)|. Exactly, a pass multiplies
2-norms by sqrt(2): relative to its outputs it is off by at most 8.7 u. Errors of one pass are
carried on by the others as everything is, so that after log2 N passes

    |computed - exact|_2 <= 8.8 u log2(N) sqrt(N) |x|_2.

**Products.** Spectra z and w, exact and computed moduli at most a and b, off by d and e in the
2-norm: the product is off by at most d b + a e + 3.1 u |z w|_2.

**Back.** The inverse transform divides 2-norms by sqrt(N), and is off by 8.8 u log2(N) of them.

Bounds are themselves sums of positive floats, and are enlarged by SAFE, which covers their rounding
for up to 2^22 terms; underflow adds TINY.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from ..exact.precision import working_precision
from .cells import Reals

Complexes: TypeAlias = NDArray[np.complex128]

U = 2.0**-53
SAFE = 1 + 1e-9
TINY = 1e-290
_PASS = 8.8  # units of u that a pass adds
_BLOCK = 256  # terms of a series that are added up in floats


class Spectrum(NamedTuple):
    """Frequencies 0, ..., N/2 of N real numbers; the others are their conjugates.

    error: of all N frequencies, in the 2-norm. size: not below the modulus of any exact or computed
    value.
    """

    value: Complexes
    error: float
    size: float

    def times(self, other: Spectrum) -> Spectrum:
        """The transform of the convolution."""
        product = self.value * other.value
        error = self.error * other.size + self.size * other.error + 3.1 * U * _norm(product)
        return Spectrum(product, error * SAFE + TINY, self.size * other.size * SAFE)

    def scaled(self, count: int) -> Spectrum:
        """So many times the same; a whole number that is no double is off by u."""
        factor = float(count)
        value = self.value * factor
        error = factor * self.error + 3 * U * _norm(value)
        return Spectrum(value, error * SAFE + TINY, factor * self.size * SAFE)

    def plus(self, other: Spectrum) -> Spectrum:
        """The transform of the sum."""
        value = self.value + other.value
        error = self.error + other.error + U * _norm(value)
        return Spectrum(value, error * SAFE + TINY, (self.size + other.size) * SAFE)

    def power(self, count: int) -> Spectrum:
        """The transform of so many, convolved; by squaring."""
        if count == 1:
            return self
        half = self.power(count // 2)
        square = half.times(half)
        return square.times(self) if count % 2 else square


def forward(indices: NDArray[np.int64], p: Reals, q: Reals, size: int) -> tuple[Spectrum, Spectrum]:
    """The transforms of both, placed modulo `size`, a power of two: of p + i q, taken apart."""
    at, half = indices % size, size // 2 + 1
    x = np.bincount(at, p, size) + 1j * np.bincount(at, q, size)
    whole = _transform(x)
    mirror = np.conj(np.roll(whole[::-1], 1)[:half])
    most = int(np.bincount(at, minlength=size).max())  # values that are added up at one place
    norm = math.sqrt(size * float((x.real**2 + x.imag**2).sum()))
    error = (_PASS * math.log2(size) + most + 2) * U * norm * SAFE + TINY
    sizes = [float(np.abs(part).sum()) * SAFE + error for part in (p, q)]
    return (
        Spectrum((whole[:half] + mirror) / 2, error, sizes[0]),
        Spectrum((whole[:half] - mirror) * -0.5j, error, sizes[1]),
    )


def backward(p: Spectrum, q: Spectrum, size: int) -> tuple[Reals, Reals, float]:
    """The numbers that have these transforms, and how far off all of either are in the 2-norm."""
    ends = [np.conj(part.value[size // 2 - 1 : 0 : -1]) for part in (p, q)]
    whole = np.concatenate((p.value + 1j * q.value, ends[0] + 1j * ends[1]))
    numbers = np.conj(_transform(np.conj(whole))) / size
    norm = math.sqrt(float((whole.real**2 + whole.imag**2).sum())) * SAFE
    error = p.error + q.error + (_PASS * math.log2(size) + 4) * U * norm
    return numbers.real, numbers.imag, error / math.sqrt(size) * SAFE + TINY


def as_floats(balls: Sequence[arb]) -> tuple[Reals, float]:
    """These numbers, and how far off they are in the 1-norm: a float of a ball is off by 2 u."""
    values = np.array([float(part) for part in balls])
    off = sum(float(part.rad()) for part in balls) + 2 * U * float(np.abs(values).sum())
    return values, off * SAFE + TINY


def series(values: Reals, x: arb) -> arb:
    """The sum of values[k] x^k, 0 < x: in blocks, each off by so many u of its moduli."""
    rows = np.zeros((-(-len(values) // _BLOCK), _BLOCK))
    rows.ravel()[: len(values)] = values
    balls = [x**k for k in range(_BLOCK)]
    powers, (total, step, at) = as_floats(balls)[0], (arb(0), x**_BLOCK, arb(1))
    wide = sum(float(part.rad()) for part in balls)
    moduli = np.abs(rows)
    for dot, sum_, most in zip(
        (rows * powers).sum(1), (moduli * powers).sum(1), moduli.max(1), strict=True
    ):
        total += (
            arb(float(dot), (_BLOCK + 8) * U * float(sum_) + 2 * wide * float(most) + TINY) * at
        )
        at *= step
    return total


def _norm(half: Complexes) -> float:
    """Not below the 2-norm of all frequencies."""
    return math.sqrt(2 * float((half.real**2 + half.imag**2).sum())) * SAFE + TINY


@lru_cache(maxsize=24)
def _turns(count: int) -> Complexes:
    """e^(-i pi k/count), k < count: rounded from balls in one octant, elsewhere by symmetry."""
    if count < 4:
        return np.array([1.0, -1.0j][:count])
    eighth, half = count // 4, count // 2
    with working_precision(64):
        pairs = [arb.sin_cos_pi_fmpq(fmpq(k, count)) for k in range(eighth + 1)]
    sin, cos = (np.array([float(part) for part in some]) for some in zip(*pairs, strict=True))
    turns = np.empty(count, dtype=np.complex128)
    turns[: eighth + 1] = cos - 1j * sin
    turns[eighth : half + 1] = sin[::-1] - 1j * cos[::-1]
    turns[half:] = turns[:half].real * -1j + turns[:half].imag  # times -i
    return turns


def _transform(x: Complexes) -> Complexes:
    """sum_j x_j e^(-2 pi i j w/N) by Stockham's passes, along columns first, then along rows."""
    rows: Any = x.reshape(1, len(x))
    half = 1 << (len(x).bit_length() - 1) // 2
    while rows.shape[0] < half:
        r, c = rows.shape[0], rows.shape[1] // 2
        output = np.empty((2 * r, c), dtype=np.complex128)
        rotated = rows[:, c:] * _turns(r)[:, None]
        np.add(rows[:, :c], rotated, out=output[:r])
        np.subtract(rows[:, :c], rotated, out=output[r:])
        rows = output
    rows = np.ascontiguousarray(rows.T)
    while rows.shape[0] > 1:
        c, r = rows.shape[0] // 2, rows.shape[1]
        output, rotated = np.empty((c, 2 * r), dtype=np.complex128), rows[c:] * _turns(r)
        np.add(rows[:c], rotated, out=output[:, :r])
        np.subtract(rows[:c], rotated, out=output[:, r:])
        rows = output
    result: Complexes = rows[0]
    return result
