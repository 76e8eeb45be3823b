"""Noisy prefix sums of whole numbers, step by step, by exact draws: what a tree is released for.

After t steps of a part the sum of all of them is that of as many intervals as t has binary digits
1; one that ends at t has length 2^j, 2^j the largest power that divides t, and takes the place of
all shorter ones. Each has its noise, drawn once when it ends. Parts that are over keep that of
their last sum. The other intervals of the tree, which no prefix sum needs, are not drawn: whoever
sees the sums alone sees post-processing of the release that is accounted for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...exact.number import ExactInput, ParameterError, whole
from ..samplers.bits import NoSamplerError, RandomBits, SimulatedInt, is_simulated
from .release import DiscreteMatrixNoise

_MOST_SHOWN = 1_000_000  # numbers of a stream that is drawn at once

Row: TypeAlias = tuple[int, ...]
Sums: TypeAlias = tuple[int | Row, ...]


class PrefixSums:
    """The sums of all rows so far, each with its noise.

    mechanism: a tree with discrete noise, or the spec of one. bits: `SystemBits()` for a release;
    what is made of a seed's is marked, `SimulatedInt`. dimension: how many numbers a row has.
    Nothing here checks what users send: whoever adds them up sees to rows of at most `l2`.

    Raises ParameterError for other mechanisms.

    >>> from exactdp.mechanisms.samplers import SeededBits
    >>> sums = PrefixSums("tree:steps=4,sigma=2,noise=skellam", SeededBits(1), dimension=2)
    >>> len([sums.add([1, 10]) for _ in range(4)])
    4
    """

    def __init__(self, mechanism: object, bits: RandomBits, dimension: ExactInput = 1) -> None:
        if isinstance(mechanism, str):
            from ..spec import parse

            mechanism = parse(mechanism).mechanism
        if not isinstance(mechanism, DiscreteMatrixNoise) or mechanism.tree is None:
            raise ParameterError(
                "prefix sums are released by a tree with discrete noise, got "
                f"{type(mechanism).__name__}"
            )
        self._tree, self._bits = mechanism.tree, bits
        self._draw: Callable[[RandomBits], int] = mechanism.law.sampler()
        self._size = whole(dimension, "dimension", at_least=1)
        self._steps = 0
        self._sum, self._over = [0] * self._size, [0] * self._size
        self._open: dict[int, list[int]] = {}  # noise of the intervals that make up this part

    def add(self, row: Sequence[ExactInput]) -> Row:
        """Take the next row, and release the sum of all rows up to it.

        Raises ParameterError for rows of another length, and after the last step.
        """
        if self._steps == self._tree.steps:
            raise ParameterError(f"steps must be at most {self._tree.steps}: the tree is over")
        if len(row) != self._size:
            raise ParameterError(f"row must have {self._size} numbers, got {len(row)}")
        values = [whole(value, "row") for value in row]
        place = self._steps % self._tree.restart + 1
        level = (place & -place).bit_length() - 1
        noise = [self._draw(self._bits) for _ in values]
        self._open = {j: held for j, held in self._open.items() if j > level} | {level: noise}
        self._sum = [total + value for total, value in zip(self._sum, values, strict=True)]
        self._steps += 1
        present = [sum(column) for column in zip(self._over, *self._open.values(), strict=True)]
        if place == self._tree.restart:
            self._over, self._open = present, {}
        released = [total + one for total, one in zip(self._sum, present, strict=True)]
        return tuple(map(SimulatedInt, released) if is_simulated(self._bits) else released)


def prefix_sums(mechanism: DiscreteMatrixNoise, rows: Any) -> Callable[[RandomBits], Sums]:
    """One draw: all prefix sums of a stream, a number or a row of them for every step.

    rows: numbers, or rows where the mechanism has a dimension; 0: all of them are.
    """
    tree, size = mechanism.tree, mechanism.reach.dimension
    if tree is None:
        raise NoSamplerError("prefix sums are drawn of trees alone")
    entries = tree.steps * (size or 1)
    if entries > _MOST_SHOWN:
        raise ParameterError(f"at most {_MOST_SHOWN} numbers are drawn at once, not {entries}")
    if isinstance(rows, str) or not isinstance(rows, Sequence):
        if whole(rows, "query"):
            raise ParameterError(f"query must be 0, or a list of {tree.steps} numbers, got {rows}")
        rows = [0 if size is None else [0] * size] * tree.steps
    if len(rows) != tree.steps:
        raise ParameterError(f"query must hold a number for each step, {tree.steps}: {len(rows)}")
    if size is not None and any(isinstance(row, str | int) for row in rows):
        raise ParameterError(f"query must be 0, or hold {size} numbers for every step")
    listed = [[whole(row, "query")] if size is None else row for row in rows]

    def draw(bits: RandomBits) -> Sums:
        sums = PrefixSums(mechanism, bits, size or 1)
        return tuple(found if size else found[0] for found in map(sums.add, listed))

    return draw
