"""Noisy prefix sums of whole numbers, step by step, by exact draws: what streams are released for.

Prefix sums are linear in what is released, C x + z: those of x, and what the same makes of z alone.

*Trees.* After t steps of a part the sum of all of them is that of as many intervals as t has binary
digits 1; one that ends at t has length 2^j, 2^j the largest power that divides t, and takes the
place of all shorter ones. Each has its noise, drawn once when it ends. Parts that are over keep
that of their last sum. The other intervals of the tree, which no prefix sum needs, are not drawn:
whoever sees the sums alone sees post-processing of the release that is accounted for.

*Matrices*, by substitution: y_t = c_t0 x_0 + ... + c_tt x_t tells x_t from y_t and what is found of
those before; in whole numbers where the diagonal is of 1 and -1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...exact.number import ExactInput, ParameterError, is_list, whole
from ..matrices.columns import Table, Tree
from ..matrices.release import DiscreteMatrixNoise
from ..samplers.bits import NoSamplerError, RandomBits, SimulatedInt, is_simulated

_MOST_BITS = 10_000  # of a prefix sum of a matrix of whole numbers
_MOST_SHOWN = 1_000_000  # numbers of a stream that is drawn at once

Row: TypeAlias = tuple[int, ...]
Sums: TypeAlias = tuple[int | Row, ...]


class TreeSums:
    """Prefix sums, from the longest interval that ends at each step, one step after the other."""

    def __init__(self, tree: Tree, size: int) -> None:
        self._tree, self._place = tree, 0
        self._over = [0] * size  # of the parts that are over
        self._open: dict[int, Sequence[int]] = {}  # the intervals that make up this part

    def add(self, values: Sequence[int]) -> list[int]:
        """All sums up to this step."""
        self._place += 1
        level = (self._place & -self._place).bit_length() - 1
        self._open = {j: held for j, held in self._open.items() if j > level} | {level: values}
        present = [sum(column) for column in zip(self._over, *self._open.values(), strict=True)]
        if self._place == self._tree.restart:
            self._over, self._open, self._place = present, {}, 0
        return present


class TableSums:
    """The same from the rows of C x. Raises ParameterError where they are not whole numbers."""

    def __init__(self, table: Table, size: int) -> None:
        rows = [[table.weight(t, s) for s in range(t + 1)] for t in range(table.steps)]
        if any(abs(row[-1]) != 1 for row in rows):
            raise ParameterError(
                "file: prefix sums are drawn where the diagonal of the matrix is of 1 and -1"
            )
        largest: list[int] = []  # what they may be of rows of numbers up to 1
        for row in rows:
            largest.append(1 + sum(abs(c) * x for c, x in zip(row, largest, strict=False)))
            if largest[-1].bit_length() > _MOST_BITS:
                raise ParameterError("file: prefix sums of this matrix have too many digits")
        self._rows, self._found = rows, list[list[int]]()
        self._total = [0] * size

    def add(self, values: Sequence[int]) -> list[int]:
        """All sums up to this step."""
        *before, own = self._rows[len(self._found)]
        known = list(values)
        for c, found in zip(before, self._found, strict=True):
            if c:
                known = [value - c * x for value, x in zip(known, found, strict=True)]
        self._found.append([own * value for value in known])
        self._total = [a + b for a, b in zip(self._total, self._found[-1], strict=True)]
        return self._total


def recovering(matrix: object, size: int) -> TreeSums | TableSums:
    """What makes prefix sums of a release of rows of so many numbers."""
    if isinstance(matrix, Tree):
        return TreeSums(matrix, size)
    if not isinstance(matrix, Table):
        raise NoSamplerError("prefix sums are drawn of trees, and of matrices of whole numbers")
    return TableSums(matrix, size)


class PrefixSums:
    """The sums of all rows so far, each with its noise.

    mechanism: a tree, or a matrix of whole numbers, with discrete noise; or the spec of one. bits:
    `SystemBits()` for a release; what is made of a seed's is marked, `SimulatedInt`. dimension: how
    many numbers a row has. Nothing here checks what users send: whoever adds them up sees to rows
    of at most `l2`.

    Raises ParameterError for other mechanisms.

    >>> from exactdp.mechanisms.samplers import SeededBits
    >>> sums = PrefixSums("tree:steps=4,sigma=2,noise=skellam", SeededBits(1), dimension=2)
    >>> len([sums.add([1, 10]) for _ in range(4)])
    4
    """

    def __init__(self, mechanism: object, bits: RandomBits, dimension: ExactInput = 1) -> None:
        if isinstance(mechanism, str):
            from .spec import parse

            mechanism = parse(mechanism).mechanism
        if not isinstance(mechanism, DiscreteMatrixNoise):
            raise ParameterError(
                "prefix sums are released by a tree with discrete noise, got "
                f"{type(mechanism).__name__}"
            )
        self._size = whole(dimension, "dimension", at_least=1)
        self._matrix, self._bits = mechanism.stream.matrix, bits
        self._noise = recovering(self._matrix, self._size)
        self._draw: Callable[[RandomBits], int] = mechanism.law.sampler()
        self._steps, self._sum = 0, [0] * self._size

    def add(self, row: Sequence[ExactInput]) -> Row:
        """Take the next row, and release the sum of all rows up to it.

        Raises ParameterError for rows of another length, and after the last step.
        """
        if self._steps == self._matrix.steps:
            raise ParameterError(f"steps must be at most {self._matrix.steps}: the stream is over")
        if len(row) != self._size:
            raise ParameterError(f"row must have {self._size} numbers, got {len(row)}")
        values = [whole(value, "row") for value in row]
        present = self._noise.add([self._draw(self._bits) for _ in values])
        self._sum = [total + value for total, value in zip(self._sum, values, strict=True)]
        self._steps += 1
        released = [total + one for total, one in zip(self._sum, present, strict=True)]
        return tuple(map(SimulatedInt, released) if is_simulated(self._bits) else released)


def prefix_sums(mechanism: DiscreteMatrixNoise, rows: Any) -> Callable[[RandomBits], Sums]:
    """One draw: all prefix sums of a stream, a number or a row of them for every step.

    rows: numbers, or rows where the mechanism has a dimension; 0: all of them are.
    """
    steps, size = mechanism.stream.matrix.steps, mechanism.reach.dimension
    entries = steps * (size or 1)
    if entries > _MOST_SHOWN:
        raise ParameterError(f"at most {_MOST_SHOWN} numbers are drawn at once, not {entries}")
    if not is_list(rows):
        if whole(rows, "query"):
            raise ParameterError(f"query must be 0, or a list of {steps} numbers, got {rows}")
        rows = [0 if size is None else [0] * size] * steps
    if len(rows) != steps:
        raise ParameterError(f"query must hold a number for each step, {steps}: {len(rows)}")
    if size is not None and any(isinstance(row, str | int) for row in rows):
        raise ParameterError(f"query must be 0, or hold {size} numbers for every step")
    recovering(mechanism.stream.matrix, size or 1)  # refuses here
    listed = [[whole(row, "query")] if size is None else row for row in rows]

    def draw(bits: RandomBits) -> Sums:
        sums = PrefixSums(mechanism, bits, size or 1)
        return tuple(found if size else found[0] for found in map(sums.add, listed))

    return draw
