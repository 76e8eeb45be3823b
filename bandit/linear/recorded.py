"""Contexts and rewards that somebody has recorded, from a CSV file.

    user,age,income,reward
    ann,0.3,0.5,1
    ann,0.1,0.9,0.25
    bob,0.7,0.2,0
    bob,0.6,0.6,1

One line for each user and arm: the lines of a user follow each other, as many as there are arms.
The column `reward` is what she is paid for this arm, an exact number in 0..1 (`reward 1..5` is
scaled), in the mean: she is paid 0 or 1. All other columns, in their order, are the context.

A run draws users from the file with replacement: what is private is a draw, not the lines that many
draws may share. That rewards are linear in contexts is an assumption about the file.
"""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...exact.number import ParameterError
from ..environments.reward_file import RewardColumn, csv_lines, reward_column
from .setting import MOST_DIMENSIONS

MOST_NUMBERS = 1 << 24  # of all contexts: 128 MiB
_MOST_ARMS = 1000
_LONGEST = 1 + 1e-9  # a norm of 1, whatever floats make of it

Floats = NDArray[np.float64]


@frozen(eq=False)
class Recorded:
    """Users drawn from a table, with replacement.

    contexts: users x K x d. means: users x K.
    """

    name: str
    contexts: Floats = field(repr=False)
    means: Floats = field(repr=False)
    norm: float = 1.0
    theta: None = None
    diversity: None = None
    chosen_diversity: None = None

    @property
    def arms(self) -> int:
        return int(self.means.shape[1])

    @property
    def dimension(self) -> int:
        return int(self.contexts.shape[2])

    def draw(self, rng: np.random.Generator, users: int) -> tuple[Floats, Floats]:
        rows = rng.integers(len(self.means), size=users)
        return self.contexts[rows], self.means[rows]

    def linear_regret(self) -> float:
        """What a user loses in the mean who follows the least-squares fit to the whole table."""
        flat = self.contexts.reshape(-1, self.dimension)
        fit = np.linalg.lstsq(flat.T @ flat, flat.T @ (2 * self.means.ravel() - 1), rcond=None)[0]
        chosen = (self.contexts @ fit).argmax(axis=1)
        lost = self.means.max(axis=1) - self.means[np.arange(len(chosen)), chosen]
        return float(lost.mean())


def read_recorded(path: str | Path) -> Recorded:
    """Read such a table, line by line.

    Raises ParameterError, with the file and the line, for anything else: a missing column, what is
    no number, a context of norm above 1, a reward out of its range, users of different numbers of
    arms, and more than 2^24 numbers, 64 a context or 1000 arms.
    """
    numbers, rewards = array("d"), array("d")
    column: RewardColumn | None = None
    user, arms, seen, where = None, 0, 0, str(path)
    for line, cells in csv_lines(Path(path)):
        where = f"{path}, line {line}"
        if column is None:
            column = reward_column(cells, where, "user", MOST_DIMENSIONS + 2)
            size, who = len(cells), cells.index("user")
            if size < 3:
                raise ParameterError(f"{where}: columns of contexts are missing")
            continue
        if len(cells) != size:
            raise ParameterError(f"{where}: {size} cells are needed, got {len(cells)}")
        if cells[who] != user:
            arms = _arms(arms, seen, where)
            user, seen = cells[who], 0
        seen += 1
        if seen > _MOST_ARMS:
            raise ParameterError(f"{where}: more than {_MOST_ARMS} lines of one user")
        rewards.append(float(column.scaled(cells[column.place], where)))
        skipped = who, column.place
        numbers.extend(_context([cell for i, cell in enumerate(cells) if i not in skipped], where))
        if len(numbers) > MOST_NUMBERS:
            raise ParameterError(f"{where}: more than {MOST_NUMBERS:,} numbers")
    if _arms(arms, seen, where) < 2:
        raise ParameterError(f"{path}: at least 2 lines a user are needed, one for each arm")
    means = np.frombuffer(rewards).reshape(-1, seen)
    return Recorded(Path(path).stem, np.frombuffer(numbers).reshape(*means.shape, size - 2), means)


def _arms(before: int, seen: int, where: str) -> int:
    """How many a user has, if all so far have as many."""
    if before and seen != before:
        raise ParameterError(
            f"{where}: the user before has {seen} lines, where the first has {before}: each must "
            "have one for each arm, following each other"
        )
    return seen


def _context(cells: list[str], where: str) -> list[float]:
    try:
        found = [float(cell) for cell in cells]
    except ValueError as error:
        raise ParameterError(f"{where}: contexts must be numbers, {error}") from error
    length = math.hypot(*found)
    if not length <= _LONGEST:  # nor where it is none
        raise ParameterError(
            f"{where}: contexts must be of norm at most 1, got one of norm {length:g}: divide all "
            "by a bound that is public"
        )
    return found
