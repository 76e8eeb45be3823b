"""The steps of a tree that cost most, by where they may stand instead of by all patterns.

A *block* stands for the patterns of m steps within w steps in a row that have as many in each
interval as each other: what they cost, and where. One of them leaves at least x of the w steps
before its first step, and at least y behind its last one, exactly if

    x <= before,  y <= behind,  x + y <= both.

*Side by side*, one block's last step is b or more before the other's first one if y1 + x2 >= b - 1
for what is left between them, y1 <= min(behind1, both1 - x), x2 <= min(before2, both2 - y): exactly
if behind1 + before2 >= b - 1 and

    x <= min(before1, both1 + before2 - (b - 1)),  y <= min(behind2, both2 + behind1 - (b - 1)),
    x + y <= both1 + both2 - (b - 1).

Next to v steps with none of hers, `both` and what is on that side grow by v. Two blocks of the same
cost and `both` are one where no x, y fit in between: before1 + behind2 + 2 > both, before1 the
smaller one. A block is dropped where another one has no less of anything; and where what it costs
and the most that all else in the tree adds, wherever steps stand, is no more than what is known to
be attained. So blocks are few where these bounds nearly meet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from attrs import evolve, frozen

_MOST_PAIRS, _MOST = 200_000, 300  # of blocks that are put side by side; that are one interval's


@frozen
class Block:
    """made: of a left and a right part, and how many steps the left one takes; where there is one
    alone, how many are empty beside it. alike: or those that were made one.
    """

    before: int
    behind: int
    both: int
    cost: int
    made: tuple[Block | None, Block | None, int] = (None, None, 0)
    alike: tuple[Block, ...] = ()

    def within(self, other: Block) -> bool:
        """Is there no less of anything in the other?"""
        return (
            self.cost <= other.cost
            and self.both <= other.both
            and self.before <= other.before
            and self.behind <= other.behind
        )

    def steps(self, gap: int, x: int = 0, y: int = 0, first: int = 0) -> list[int]:
        """A pattern that leaves so many steps before and behind it; its first step of all."""
        for one in self.alike:
            if x <= one.before and y <= one.behind:
                return one.steps(gap, x, y, first)
        left, right, width = self.made
        if right is None:
            return [first] if left is None else left.steps(gap, x, max(y - width, 0), first)
        if left is None:
            return right.steps(gap, max(x - width, 0), y, first + width)
        between = min(left.behind, left.both - x)
        after = right.steps(gap, max(gap - between, 0), y, first + width)
        return left.steps(gap, x, between, first) + after


Blocks: TypeAlias = Mapping[int, Sequence[Block]]  # by how many steps of hers they have
Rest: TypeAlias = Callable[[int], int]  # the most that all else adds, beside so many steps
STEP: Blocks = {1: [Block(0, 0, 0, 1)]}


class TooManyError(Exception):
    """More blocks than are gone through."""


class Joined:
    """Blocks side by side, steps b apart and up to so many, where they cost more than `least`."""

    def __init__(self, separation: int, times: int, least: int) -> None:
        self.gap, self._times, self._least, self._left = separation - 1, times, least, _MOST_PAIRS

    def __call__(
        self, one: Blocks, width: int, other: Blocks, next_width: int, rest: Rest, own: bool
    ) -> Blocks:
        """Of parts of these widths. own: they make up an interval, which adds its own square."""
        found: defaultdict[int, list[Block]] = defaultdict(list)
        for m, some in one.items():
            found[m] += (_beside(block, next_width, False) for block in some)
        for m, some in other.items():
            found[m] += (_beside(block, width, True) for block in some)
        for m, some in one.items():
            for n, others in other.items():
                if m + n <= self._times:
                    found[m + n] += self._pairs(some, width, others)
        kept = {}
        for m, some in found.items():
            worth = self._least - rest(m) - m * m * own
            if few := _distinct(block for block in some if block.cost > worth):
                kept[m] = [evolve(block, cost=block.cost + m * m * own) for block in few]
        return kept

    def _pairs(self, some: Sequence[Block], width: int, others: Sequence[Block]) -> Iterator[Block]:
        self._left -= len(some) * len(others)
        if self._left < 0:
            raise TooManyError
        for left in some:
            for right in others:
                if left.behind + right.before >= self.gap:
                    before = min(left.before, left.both + right.before - self.gap)
                    behind = min(right.behind, right.both + left.behind - self.gap)
                    both = min(left.both + right.both - self.gap, before + behind)
                    made = (left, right, width)
                    yield Block(
                        min(before, both), min(behind, both), both, left.cost + right.cost, made
                    )


def _beside(block: Block, empty: int, is_behind: bool) -> Block:
    """With so many empty steps on one side, behind which it is or which are behind it."""
    made = (None, block, empty) if is_behind else (block, None, empty)
    before, behind = empty * is_behind, empty * (not is_behind)
    return Block(block.before + before, block.behind + behind, block.both + empty, block.cost, made)


def _distinct(blocks: Iterable[Block]) -> list[Block]:
    """Those that are within no other one, and in place of two the one that they are together."""
    kept: list[Block] = []
    order = sorted(blocks, key=lambda one: (-one.cost, -one.both, one.before, one.behind))
    for (_, both), group in groupby(order, key=lambda one: (one.cost, one.both)):
        merged: list[Block] = []
        for block in group:
            while merged and merged[-1].behind <= block.behind:
                merged.pop()
            while merged and merged[-1].before + block.behind + 2 > both:
                other = merged.pop()
                block = evolve(block, behind=other.behind, alike=(other, block))
            merged.append(block)
        kept += [block for block in merged if not any(map(block.within, kept))]
        if len(kept) > _MOST:
            raise TooManyError
    return kept
