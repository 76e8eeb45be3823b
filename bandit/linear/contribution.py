"""What one user adds to the sums: a vector of norm at most 1, as integers, and what sums mean.

A user with context x in R^d, |x| <= 1, and reward y in [0, 1], r = 2y - 1, contributes

    phi(x, r) = (3/5 svec(x x'), 4/5 r x),   svec(A) = (A_11, sqrt 2 A_12, ..., A_22, ...),

d(d + 1)/2 + d numbers. svec keeps inner products of symmetric matrices, so that |svec(x x')| is
|x|^2 <= 1, and |phi| <= 1. (The noise is that of a vector of norm 1 divided by the weights; 3 : 4
is within 2 % of the best for |theta*| = 1 in many dimensions, see (3) of `radius`.)

The client scales by a whole number g, replaces g phi by a fixed-point vector of norm at most g, in
exact integers, and rounds each coordinate at random (`protocols.federated.grid`, `rounding`): what
is certified of a vector of norm g holds for every input, whatever the floats before did.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ...exact.number import ExactInput, ParameterError, whole
from ...mechanisms.additive.coordinate_rounding import Stochastic, fraction_bits, on_grid
from ...mechanisms.laws.arrays import draw_array
from ...mechanisms.laws.law import Law
from ...mechanisms.samplers.bits import RandomBits
from .setting import MOST_DIMENSIONS

MATRIX, VECTOR = Fraction(3, 5), Fraction(4, 5)  # the weights of both parts
_ROUNDING = Stochastic()
MOST_BITS = 52  # sums of batches fit into 64 bits, and are floats exactly

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]


def user_size(dimension: int) -> int:
    """How many numbers a user sends, of contexts of this dimension."""
    return dimension * (dimension + 1) // 2 + dimension


def _dimension(value: ExactInput) -> int:
    return whole(value, "dimension", at_least=1, at_most=MOST_DIMENSIONS)


def _scale(value: ExactInput) -> int:
    return whole(value, "scale", at_least=1, at_most=1 << 30)


def _bits(value: ExactInput) -> int:
    return whole(value, "bits", at_least=1, at_most=MOST_BITS)


@frozen(slots=False)
class Contribution:
    """How contexts and rewards become integers mod 2^bits, and sums of them matrix and vector.

    dimension: d of the contexts. scale: g, whole.

    >>> from exactdp.mechanisms.samplers import SeededBits
    >>> contribution = Contribution(dimension=2, scale=1 << 20, bits=40)
    >>> message = contribution.message([0.6, 0.8], 1, SeededBits(1))
    >>> gram, rewards = contribution.read(message)
    >>> gram.round(4).tolist(), rewards.round(4).tolist()
    ([[0.36, 0.48], [0.48, 0.64]], [0.6, 0.8])
    """

    dimension: int = field(converter=_dimension)
    scale: int = field(converter=_scale)
    bits: int = field(converter=_bits)

    @property
    def size(self) -> int:
        """How many numbers a user sends."""
        return user_size(self.dimension)

    @property
    def matrix_size(self) -> int:
        """How many of them are of x x'."""
        return self.dimension * (self.dimension + 1) // 2

    @property
    def modulus(self) -> int:
        """2^bits."""
        return 1 << self.bits

    @cached_property
    def _places(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        rows, columns = np.triu_indices(self.dimension)
        return rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))

    def vectors(self, contexts: Floats, rewards: Floats) -> Floats:
        """g phi of many users, one row each, in floats. contexts: n x d; rewards: in [0, 1]."""
        rows, columns, root = self._places
        found = np.empty((len(contexts), self.size))
        np.multiply(contexts[:, rows], contexts[:, columns], out=found[:, : self.matrix_size])
        found[:, : self.matrix_size] *= root * float(MATRIX)
        found[:, self.matrix_size :] = contexts * ((2 * rewards - 1) * float(VECTOR))[:, None]
        found *= self.scale
        return found

    def integers(self, context: ArrayLike, reward: float, bits: RandomBits) -> Integers:
        """One user's phi, scaled, of norm at most g exactly, and rounded at random.

        bits: `SystemBits()` where the sum is released. Raises ParameterError for what is no
        context, and no reward.
        """
        given = np.asarray(context, dtype=np.float64)
        if given.shape != (self.dimension,) or not np.isfinite(given).all():
            raise ParameterError(f"context must be {self.dimension} finite numbers")
        if not 0 <= reward <= 1:
            raise ParameterError(f"reward must be between 0 and 1, got {reward}")
        bound = Fraction(self.scale)
        fraction = fraction_bits(bound)
        norm = float(np.abs(given).max())  # far beyond 1 products would not be finite
        given = given / max(1.0, norm)
        point = on_grid(self.vectors(given[None], np.array([reward]))[0], bound, fraction)
        return _ROUNDING(point, fraction, _ROUNDING.squared_bound(bound, self.size), bits)

    def message(
        self, context: ArrayLike, reward: float, bits: RandomBits, share: Law | None = None
    ) -> Words:
        """What the user sends: `integers` plus a share of the noise in each, mod 2^bits."""
        found = self.integers(context, reward, bits)
        if share is not None:
            found += draw_array(share, bits, self.size)  # beyond 64 bits it overflows: the same
        return self.residues(found)

    def residues(self, integers: Integers) -> Words:
        """Reduced mod 2^bits."""
        return integers.view(np.uint64) & np.uint64(self.modulus - 1)

    def read(self, total: Words) -> tuple[Floats, Floats]:
        """The sums of x x' and of r x, from the sum of messages mod 2^bits."""
        return self.unscaled(self.centred(total) / self.scale)

    def centred(self, total: Words) -> Integers:
        """Residues read as integers between -2^(bits-1) and 2^(bits-1) - 1.

        Right unless a sum lies beyond; `release.wrap_bound` is how likely that is.
        """
        found = total.astype(np.int64)
        found -= self.modulus * (found >= self.modulus // 2)
        return found

    def unscaled(self, sums: Floats) -> tuple[Floats, Floats]:
        """The matrix and the vector whose phi this is."""
        rows, columns, root = self._places
        matrix = np.zeros((self.dimension, self.dimension))
        matrix[rows, columns] = sums[: self.matrix_size] / root / float(MATRIX)
        matrix[columns, rows] = matrix[rows, columns]
        return matrix, sums[self.matrix_size :] / float(VECTOR)
