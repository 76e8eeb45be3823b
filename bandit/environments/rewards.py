"""The law of one arm's rewards, on [0, 1], and what a batch of them costs to simulate.

A user with reward x sends floor(xg), or one more with probability frac(xg): Algorithm 1, line 20
of Chowdhury and Zhou (ICLR 2023). A simulation needs only the sum over a batch. `sums` draws that
sum exactly in law (to within float probabilities) and picks the cheapest way; `draw` is for the
simulation that runs every user.

Rewards with finitely many values: coins, ratings, any table a user has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, exact

_MOST_DRAWS = 1 << 20  # rewards held at once
_MOST_ENTRIES = 1 << 20  # of multinomial counts held at once
_LIMIT = 1 << 63
_TINY = 1e-9  # that floats may be off

Numbers = TypeVar("Numbers", bound=NDArray[Any])


class RewardLaw(Protocol):
    """The law of one arm's rewards, on [0, 1]. One's own are held to that as they are drawn."""

    @property
    def mean(self) -> float:
        """The expected reward, from which the papers' pseudo-regret is computed."""

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """`size` independent rewards."""

    def encoded(self, precision: int) -> Cells:
        """The law of one reward rounded at random to 0, ..., precision."""

    def sums(
        self, rng: np.random.Generator, precision: int, count: int, size: int
    ) -> NDArray[np.int64]:
        """`size` independent sums of `count` encoded rewards each.

        Raises ParameterError where count * precision does not fit a 64-bit integer.
        """

    def real_sums(self, rng: np.random.Generator, count: int, size: int) -> NDArray[np.float64]:
        """`size` independent sums of `count` rewards each, not encoded."""


def checked(found: Numbers, most: int = 1) -> Numbers:
    """Rewards, or sums of as many as `most`. Raises ParameterError for any out of range."""
    if not ((found > -_TINY * most) & (found < (1 + _TINY) * most)).all():
        low, high = found.min() / most, found.max() / most
        raise ParameterError(f"rewards must be in [0, 1], got some from {low:g} to {high:g}")
    return found


def rounded(
    rng: np.random.Generator, rewards: NDArray[np.float64], precision: int
) -> NDArray[np.int64]:
    """Round each reward in [0, 1] at random to 0, ..., precision, keeping its mean."""
    scaled = rewards * precision
    floor = np.floor(scaled)
    return (floor + (rng.random(scaled.shape) < scaled - floor)).astype(np.int64)


def drawn_sums(
    law: RewardLaw, rng: np.random.Generator, precision: int, count: int, size: int
) -> NDArray[np.int64]:
    """What `sums` returns, by drawing and rounding every single reward."""
    check_sum(count, precision)
    found = np.zeros(size, dtype=np.int64)
    if count == 0:
        return found
    rows = max(1, _MOST_DRAWS // count)
    for start in range(0, size, rows):
        part = found[start : start + rows]
        for done in range(0, count, _MOST_DRAWS):
            width = min(_MOST_DRAWS, count - done)
            rewards = checked(law.draw(rng, len(part) * width)).reshape(len(part), width)
            part += rounded(rng, rewards, precision).sum(axis=1)
    return found


@frozen(eq=False)
class Cells:
    """The law of one encoded reward: integer values and their probabilities (floats, sum 1)."""

    values: NDArray[np.int64]
    probabilities: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """The expected value, in units of the grid."""
        return float(self.probabilities @ self.values)

    def sums(self, rng: np.random.Generator, count: int, size: int) -> NDArray[np.int64]:
        """`size` independent sums of `count` independent values each: O(cells) work a sum.

        Raises ParameterError where such a sum may exceed a 64-bit integer.
        """
        check_sum(count, int(np.abs(self.values).max()))
        found = np.empty(size, dtype=np.int64)
        for part, counts in multinomial(rng, count, self.probabilities, size):
            found[part] = counts @ self.values
        return found


def multinomial(
    rng: np.random.Generator, count: int, masses: NDArray[np.float64], size: int
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Counts of `count` draws among cells of these masses, `size` times: (which, counts) in parts.

    numpy draws the cells one after another, each as a share of what remains, and hands the rest
    to the last one. With the likeliest cell there, what remains is never a difference of almost
    equal numbers.
    """
    last = int(np.argmax(masses))
    order = masses.copy()
    order[[last, -1]] = order[[-1, last]]
    step = max(1, _MOST_ENTRIES // len(masses))
    for start in range(0, size, step):
        part = slice(start, min(start + step, size))
        counts = rng.multinomial(count, order, size=part.stop - part.start)
        counts[:, [last, -1]] = counts[:, [-1, last]]
        yield part, counts


def multinomial_each(
    rng: np.random.Generator, count: int, masses: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Counts of `count` draws among the cells of each row, as `multinomial` draws those of one."""
    rows, last = np.arange(len(masses)), masses.argmax(axis=1)
    order = masses.copy()
    order[rows, last], order[:, -1] = masses[:, -1], masses[rows, last]
    counts = rng.multinomial(count, order)
    likeliest = counts[:, -1].copy()
    counts[:, -1] = counts[rows, last]
    counts[rows, last] = likeliest
    return counts


def check_sum(count: int, largest: int) -> None:
    """Raise ParameterError if `count` values of at most `largest` may not fit 64 bits."""
    if count < 0:
        raise ParameterError(f"count must be at least 0, got {count}")
    if count * largest >= _LIMIT:
        raise ParameterError(
            f"count * precision must be below 2^63, got {count} * {largest}: lower the precision "
            f"or the batch size"
        )


_FEW = 64  # values of a table whose cells are worth computing exactly


@frozen(init=False)
class Bernoulli:
    """Reward 1 with this probability, else 0."""

    probability: float

    def __init__(self, probability: ExactInput) -> None:
        read = exact(probability, "probability", at_least=0, at_most=1)
        object.__setattr__(self, "probability", float(read))

    @property
    def mean(self) -> float:
        return self.probability

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        return (rng.random(size) < self.probability).astype(np.float64)

    def encoded(self, precision: int) -> Cells:
        return Cells(np.array([0, precision]), np.array([1.0 - self.probability, self.probability]))

    def sums(
        self, rng: np.random.Generator, precision: int, count: int, size: int
    ) -> NDArray[np.int64]:
        check_sum(count, precision)
        return precision * rng.binomial(count, self.probability, size=size)

    def real_sums(self, rng: np.random.Generator, count: int, size: int) -> NDArray[np.float64]:
        return self.sums(rng, 1, count, size).astype(np.float64)


@frozen(init=False, slots=False)
class RewardTable:
    """Rewards `values`, distinct and in [0, 1], with exact `probabilities` that sum to 1."""

    values: tuple[Fraction, ...]
    probabilities: tuple[Fraction, ...]

    def __init__(
        self, values: tuple[ExactInput, ...], probabilities: tuple[ExactInput, ...]
    ) -> None:
        rewards = tuple(exact(value, "values", at_least=0, at_most=1) for value in values)
        masses = tuple(exact(mass, "probabilities", at_least=0) for mass in probabilities)
        if not rewards or len(rewards) != len(masses):
            raise ParameterError(
                f"values and probabilities must be equally many, and not none, got "
                f"{len(rewards)} and {len(masses)}"
            )
        if len(set(rewards)) != len(rewards):
            raise ParameterError("values must be distinct")
        if sum(masses) != 1:
            raise ParameterError(f"probabilities must sum to 1, got {float(sum(masses))}")
        object.__setattr__(self, "values", rewards)
        object.__setattr__(self, "probabilities", masses)

    @cached_property
    def mean(self) -> float:
        pairs = zip(self.values, self.probabilities, strict=True)
        return math.fsum(float(value * mass) for value, mass in pairs)

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        values, masses = self._floats
        return values[rng.choice(len(values), size=size, p=masses)]

    def encoded(self, precision: int) -> Cells:
        """Its cells: at most two a value. They are kept: a run asks for few precisions."""
        if precision not in self._kept:
            self._kept[precision] = self._encode(precision)
        return self._kept[precision]

    def sums(
        self, rng: np.random.Generator, precision: int, count: int, size: int
    ) -> NDArray[np.int64]:
        if count < len(self.values):
            return drawn_sums(self, rng, precision, count, size)
        if len(self.values) <= _FEW:
            return self.encoded(precision).sums(rng, count, size)
        # How many users have which reward, and how many of these are rounded up.
        check_sum(count, precision)
        values, masses = self._floats
        floor = np.floor(values * precision)
        up = values * precision - floor
        found = np.empty(size, dtype=np.int64)
        for part, counts in multinomial(rng, count, masses, size):
            found[part] = counts @ floor.astype(np.int64) + rng.binomial(counts, up).sum(axis=1)
        return found

    def real_sums(self, rng: np.random.Generator, count: int, size: int) -> NDArray[np.float64]:
        values, masses = self._floats
        return np.array([rng.multinomial(count, masses) @ values for _ in range(size)])

    def __reduce__(self) -> tuple[type[RewardTable], tuple[tuple[Fraction, ...], ...]]:
        return RewardTable, (self.values, self.probabilities)  # what is kept stays here

    def _encode(self, precision: int) -> Cells:
        masses: dict[int, Fraction] = {}
        for value, mass in zip(self.values, self.probabilities, strict=True):
            floor = value.numerator * precision // value.denominator
            up = value * precision - floor
            masses[floor] = masses.get(floor, Fraction(0)) + mass * (1 - up)
            masses[floor + 1] = masses.get(floor + 1, Fraction(0)) + mass * up
        cells = sorted((cell, mass) for cell, mass in masses.items() if mass)
        return Cells(
            np.array([cell for cell, _ in cells], dtype=np.int64),
            np.array([float(mass) for _, mass in cells]),
        )

    @cached_property
    def _kept(self) -> dict[int, Cells]:
        return {}

    @cached_property
    def _floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array(self.values, dtype=float), np.array(self.probabilities, dtype=float)


def empirical(rewards: dict[Fraction, int]) -> RewardTable:
    """The law of a reward picked at random among these, each given with its count."""
    total = sum(rewards.values())
    seen = [(value, count) for value, count in sorted(rewards.items()) if count]
    return RewardTable(
        tuple(value for value, _ in seen), tuple(Fraction(count, total) for _, count in seen)
    )
