"""A stream under masks, played: clients' rows in, every release summed, prefix sums out.

In each step every client sends its part of the release and a share of the noise (`matrices.shared`)
in a masked sum of its own; who vanishes in it is there again in the next one. Clients are served
one after the other, so that a step needs the memory of a few rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...exact.number import ParameterError
from ...mechanisms.laws.arrays import draw_array
from ...mechanisms.matrices.shared import SharedStream
from ...mechanisms.samplers.bits import RandomBits, is_simulated
from ...mechanisms.specs.stream import recovering
from .aggregation import Stage, summing_arrays

Rows: TypeAlias = Mapping[int, Sequence[int]]  # by step, of those in which a client takes part


@frozen
class StreamStep:
    """What one step came to.

    found     the prefix sums that were recovered
    truth     the same without noise, of what the clients in each sum had sent
    complete  those of all clients' rows
    summed    how many clients are in this step's sum
    bits      that one of them sent in it at most
    """

    found: tuple[int, ...]
    truth: tuple[int, ...]
    complete: tuple[int, ...]
    summed: int
    bits: int
    seconds: float = field(eq=False)
    simulated: bool


def play_stream(
    shared: SharedStream,
    rows: Sequence[Rows],
    bits: RandomBits,
    vanish: Callable[[int], Mapping[int, Stage]],
    dropout: int,
    masks: bool = True,
) -> Iterator[StreamStep]:
    """Play it, step by step. rows: of every client. vanish: who does in a step, and at which stage.

    dropout: the most that may be missing from a sum. Raises ParameterError for rows longer than l2
    or in steps that are not allowed, AggregationError where too few clients remain in a step.
    """
    if shared.bits is None:
        raise ParameterError("bits is missing: sums are taken mod 2^bits")
    for each in rows:
        _check(shared, each)
    size, matrix = shared.dimension, shared.matrix
    summing = summing_arrays(shared.bits, bits, dropout if masks else None)
    found, truth, complete = (recovering(matrix, size) for _ in range(3))
    for step in range(matrix.steps):
        start = time.perf_counter()
        parts = [_part(shared, each, step) for each in rows]
        send = {client: partial(_message, shared, part, bits) for client, part in enumerate(parts)}
        played = summing.play_vectors(send, size, vanish(step))
        half = 1 << (shared.bits - 1)
        centred = (played.sums ^ np.uint64(half)).astype(np.int64) - half
        yield StreamStep(
            tuple(found.add(centred.tolist())),
            tuple(truth.add(_sum(parts, played.summed, size))),
            tuple(complete.add(_sum(parts, range(len(parts)), size))),
            len(played.summed),
            played.bits,
            time.perf_counter() - start,
            is_simulated(bits),
        )


def _check(shared: SharedStream, rows: Rows) -> None:
    who, largest = shared.noise.stream.who, shared.noise.reach.largest_square
    steps = sorted(rows)
    gaps = [b - a for a, b in pairwise(steps)]
    near = min(gaps, default=who.separation) < who.separation
    far = who.fixed and max(gaps, default=who.separation) > who.separation
    if len(steps) > who.times or near or far or not set(steps) <= set(range(who.steps)):
        raise ParameterError(f"rows must be of steps that a client may take part in, got {steps}")
    for row in rows.values():
        if len(row) != shared.dimension or sum(x * x for x in row) > largest:
            raise ParameterError(f"rows must be of {shared.dimension} numbers, of norm at most l2")


def _part(shared: SharedStream, rows: Rows, step: int) -> Sequence[int] | None:
    """What a client's rows make of this release; None for nothing."""
    weights = {s: shared.matrix.weight(step, s) for s in rows if s <= step}
    used = [(weight, rows[s]) for s, weight in weights.items() if weight]
    if not used:
        return None
    return [sum(weight * row[i] for weight, row in used) for i in range(shared.dimension)]


def _message(
    shared: SharedStream, part: Sequence[int] | None, bits: RandomBits
) -> NDArray[np.uint64]:
    assert shared.bits is not None
    message = draw_array(shared.share, bits, shared.dimension)
    if part is not None:
        message = message + np.array([x % (1 << shared.bits) for x in part], dtype=np.int64)
    return message.astype(np.uint64) & np.uint64((1 << shared.bits) - 1)


def _sum(
    parts: Sequence[Sequence[int] | None], clients: Collection[int], size: int
) -> Sequence[int]:
    there = [part for client in clients if (part := parts[client]) is not None]
    return [sum(column) for column in zip(*there, strict=True)] if there else [0] * size
