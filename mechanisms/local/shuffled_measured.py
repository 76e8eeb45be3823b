"""What tests of shuffled reports tell of one user's value, and what bounds all of them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from flint import arb

_Box = TypeVar("_Box")


class Measured(NamedTuple):
    """How often a test of the reports says that she holds x, if she does, and if she holds x'.

    more: by so much more, at most, is power - odds level of any other test; may be infinite.
    """

    power: arb
    level: arb
    more: arb

    def attained(self, odds: arb) -> arb:
        """delta at e^epsilon = odds is at least this."""
        return (self.power - odds * self.level).lower().max(arb(0))

    def bound(self, odds: arb) -> arb:
        """delta there is at most this, for these others."""
        return (self.power - odds * self.level + self.more).upper().max(arb(0)).min(arb(1))


def largest(
    boxes: Iterable[_Box],
    cost: Callable[[_Box, float], float],
    halves: Callable[[_Box], Sequence[_Box]],
    goal: float,
    turns: int,
) -> float:
    """At most the cost of anything in these boxes.

    cost: of all that a box holds, at most; given what is known of a box around it. halves: smaller
    boxes that hold the same, none of a single thing. The dearest is halved until it costs no more
    than the goal, or so many have been measured.
    """
    heap = [(-cost(box, 1.0), number, box) for number, box in enumerate(boxes)]
    heapq.heapify(heap)
    number = len(heap)
    while -heap[0][0] > goal and number < turns and (smaller := halves(heap[0][2])):
        known = -heapq.heappop(heap)[0]
        for box in smaller:
            heapq.heappush(heap, (-min(cost(box, known), known), number, box))
            number += 1
    return -heap[0][0]
