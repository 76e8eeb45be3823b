"""What a client sends for a real vector, and how the server reads the sum: R and A for vectors.

Clip in L2, rotate at random, scale, round, add a share of noise, reduce mod 2^bits; then centre the
residues of the sum, unscale, rotate back, divide. (Kairouz, Liu, Steinke, ICML 2021, Algorithms 1
and 2; `DistributedDpSumFactory` in TensorFlow Federated.)

What privacy rests on is exact: for every input there is a vector y of norm at most clip scale (in
exact integers: `on_grid`), a function of the input and the public seed, that is rounded at random
with exactly the stated probabilities, to integers whose squared norm is at most
`squared_sensitivity` (checked for each vector); the noise is drawn exactly (`laws.arrays`).
Floats only decide which y stands for which input.

*The randomized rotation*: random signs, then the Walsh-Hadamard transform, H D / sqrt(size).

It is orthogonal, and spreads every vector evenly: each coordinate of H D x / sqrt(size) is a sum of
x_i times independent signs over sqrt(size), hence sub-Gaussian of variance |x|^2/size (Hoeffding).
The signs come from a public seed that all share: they protect nothing and need not be secret, but
the seed must be drawn independently of the data for coordinates to be as small as this says.

In floats: the transform is a product of blocks, H of size k <= 32 along one axis after the other.
One entry of a block is a sum of k terms, off by at most g sum |z_i|, g = ku/(1 - ku), u = 2^-53, in
whatever order it is summed; so a block is off by at most g k |z| in norm, where |H z| = sqrt(k)|z|:
relatively by g sqrt(k) < 182 u. At most 13 blocks, of 62 levels in all, and a few single roundings
stay below `FLOAT_ERROR` = 2^-40. No privacy depends on this: see `on_grid`.
"""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from functools import cache, cached_property, lru_cache

import numpy as np
from attrs import field, frozen
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ...exact.number import ExactInput, ParameterError, ball, positive, whole
from ...mechanisms.additive.coordinate_rounding import (
    Rounding,
    fraction_bits,
    on_grid,
    read_rounding,
)
from ...mechanisms.laws.arrays import draw_array
from ...mechanisms.laws.law import Law
from ...mechanisms.samplers.bits import RandomBits

_LARGEST_DIMENSION = 1 << 26
FLOAT_ERROR = 2.0**-40  # relative, in norm, of one rotation with the scaling before and after
_BLOCK = 32

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]


def _clip(value: ExactInput) -> Fraction:
    return positive(value, "clip")


def _scale(value: ExactInput) -> Fraction:
    return positive(value, "scale")


def _dimension(value: ExactInput) -> int:
    return whole(value, "dimension", at_least=1, at_most=_LARGEST_DIMENSION)


def _bits(value: ExactInput) -> int:
    return whole(value, "bits", at_least=1, at_most=32)


@frozen(slots=False)
class Encoding:
    """How real vectors become integers mod 2^bits, and back.

    clip        the largest L2 norm; longer vectors are made shorter
    scale       by which they are multiplied before rounding
    dimension   of the vectors; what is sent has `size` coordinates, the next power of two
    bits        each coordinate is sent mod 2^bits, 1 to 32
    rounding    "stochastic", "conditional:0.6065" or "nearest" (see `rounding`)
    seed        of the random signs: public, the same for all, drawn independently of the data

    Raises ParameterError for what is out of range.

    >>> import numpy as np
    >>> from exactdp.mechanisms import Skellam
    >>> from exactdp.mechanisms.samplers import SeededBits
    >>> encoding = Encoding(clip=1, scale=64, dimension=5, bits=16, rounding="conditional:0.6065")
    >>> encoding.size, encoding.squared_sensitivity
    (8, 4163)
    >>> clients = np.array([[0.5, 0, 0.1, 0, 0], [0.3, 0, 0, 0.2, 0]])
    >>> bits = SeededBits(1)  # of a simulation; SystemBits() where the sum is released
    >>> messages = [encoding.encode(each, bits, Skellam(variance=2)) for each in clients]
    >>> total = sum(messages) % 2**16
    >>> error = encoding.decode(total, len(clients)) - clients.mean(axis=0)
    >>> bool(abs(error).max() < 0.1)
    True
    """

    clip: Fraction = field(converter=_clip)
    scale: Fraction = field(converter=_scale)
    dimension: int = field(converter=_dimension)
    bits: int = field(converter=_bits)
    rounding: Rounding = field(converter=read_rounding)
    seed: bytes = b""

    def __attrs_post_init__(self) -> None:
        if fraction_bits(self.bound) < 0:
            raise ParameterError("clip times scale must be below 2^46")

    @property
    def size(self) -> int:
        """How many coordinates are sent."""
        return padded(self.dimension)

    @property
    def modulus(self) -> int:
        """2^bits."""
        return 1 << self.bits

    @property
    def bound(self) -> Fraction:
        """clip scale: no vector that is rounded is longer."""
        return self.clip * self.scale

    @cached_property
    def squared_sensitivity(self) -> int:
        """No integer vector of a client, before noise, has a larger squared L2 norm."""
        return self.rounding.squared_bound(self.bound, self.size)

    def integers(self, vector: ArrayLike, bits: RandomBits) -> NDArray[np.int64]:
        """Clipped, rotated, scaled and rounded.

        vector: `dimension` finite numbers. bits: for the rounding; `SystemBits()` where the sum is
        released, `SeededBits(seed)` in a simulation. Raises ParameterError for a vector that is
        none.
        """
        y = self.point(vector)
        fraction = fraction_bits(self.bound)
        return self.rounding(y, fraction, self.squared_sensitivity, bits)

    def point(self, vector: ArrayLike) -> NDArray[np.int64]:
        """y of the module's first lines, in units of 2^-fraction: its norm is at most `bound`."""
        given = np.asarray(vector, dtype=np.float64)
        if given.shape != (self.dimension,):
            raise ParameterError(
                f"vector must have {self.dimension} coordinates, got the shape {given.shape}"
            )
        if not np.isfinite(given).all():
            raise ParameterError("vector must have finite coordinates")
        rotated = rotate(clipped(given, float(self.clip)), self.seed)
        return on_grid(rotated * float(self.scale), self.bound, fraction_bits(self.bound))

    def encode(self, vector: ArrayLike, bits: RandomBits, share: Law | None = None) -> Words:
        """What a client sends: `integers` plus a share of the noise in each coordinate, mod 2^bits.

        share: the law of one client's share; None for none. Raises ParameterError as `integers`,
        and for a share without an exact sampler.
        """
        found = self.integers(vector, bits)
        if share is not None:
            found += draw_array(share, bits, self.size)  # what overflows wraps mod 2^64: the same
        return self.residues(found)

    def residues(self, integers: NDArray[np.int64]) -> Words:
        """Reduced mod 2^bits."""
        return integers.view(np.uint64) & np.uint64(self.modulus - 1)

    def decode(self, total: ArrayLike, clients: ExactInput) -> Floats:
        """The mean of the vectors of so many clients, from the sum of their messages mod 2^bits.

        total: `size` integers in 0, ..., 2^bits - 1. They are read as integers between -2^(bits-1)
        and 2^(bits-1) - 1: right unless a sum of a coordinate lies beyond. Raises ParameterError
        for a sum that is none.
        """
        count = whole(clients, "clients", at_least=1)
        residues = np.asarray(total)
        if residues.shape != (self.size,) or residues.dtype.kind not in "ui":
            raise ParameterError(f"total must be an array of {self.size} integers")
        if residues.min() < 0 or residues.max() >= self.modulus:
            raise ParameterError(f"total must lie between 0 and 2^bits - 1 = {self.modulus - 1}")
        centred = residues.astype(np.int64)
        centred -= self.modulus * (centred >= self.modulus // 2)
        mean = unrotate(centred.astype(np.float64), self.seed, self.dimension)
        return mean / float(self.scale * count)


def clipped(vector: Floats, clip: float) -> Floats:
    """The vector, or one of the same direction and norm `clip`, in floats."""
    largest = float(np.abs(vector).max())
    if largest == 0:
        return vector
    scaled = vector / largest  # so that no square overflows or is lost
    norm = largest * math.sqrt(float(scaled @ scaled))
    if norm <= clip:
        return vector
    return scaled * (clip / math.sqrt(float(scaled @ scaled)))


def fitting_scale(
    bits: int, clients: int, size: int, clip: Fraction, variance: arb, square: arb
) -> arb | None:
    """The scale with which a noisy sum fits into its bits, by TensorFlow Federated's rule.

    It puts k standard deviations of a coordinate of the sum, as if it were Gaussian, at half the
    modulus: 2^b = 2 k sqrt((clip n)^2/d + (1/4 scale^2 + s^2) n) scale, s the deviation of a
    client's noise before scaling (Kairouz, Liu, Steinke, ICML 2021, 4.2 and 4.4;
    `heuristic_scale_factor` of google-research/federated, flatness 1). At the working precision;
    None where the bits are too few at any scale.

    size: coordinates that are sent. variance: of one client's noise before scaling. square: k^2.
    """
    room = 4**bits - clients * square
    if not room > 0:
        return None
    spread = ball(clip * clients) ** 2 / size + clients * variance
    found: arb = (room / (4 * square * spread)).sqrt()
    return found


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
