"""The law of one arm's rewards, on [0, 1], and what a batch of them costs to simulate.

A user with reward x sends floor(xg), or one more with probability frac(xg): Algorithm 1, line 20
of Chowdhury and Zhou (ICLR 2023). A simulation needs only the sum over a batch. `sums` draws that
sum exactly in law (to within float probabilities) and picks the cheapest way; `draw` is for the
simulation that runs every user.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .cells import Cells, check_sum

__all__ = ["RewardLaw", "drawn_sums", "rounded"]

_MOST_DRAWS = 1 << 20  # rewards held at once


class RewardLaw(Protocol):
    """The law of one arm's rewards, on [0, 1]."""

    @property
    def mean(self) -> float:
        """The expected reward, from which the papers' pseudo-regret is computed."""
        ...

    def draw(self, rng: np.random.Generator, size: int) -> NDArray[np.float64]:
        """`size` independent rewards."""
        ...

    def encoded(self, precision: int) -> Cells:
        """The law of one reward rounded at random to 0, ..., precision."""
        ...

    def sums(
        self, rng: np.random.Generator, precision: int, count: int, size: int
    ) -> NDArray[np.int64]:
        """`size` independent sums of `count` encoded rewards each.

        Raises ParameterError where count * precision does not fit a 64-bit integer.
        """
        ...

    def real_sums(self, rng: np.random.Generator, count: int, size: int) -> NDArray[np.float64]:
        """`size` independent sums of `count` rewards each, not encoded."""
        ...


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
            rewards = law.draw(rng, len(part) * width).reshape(len(part), width)
            part += rounded(rng, rewards, precision).sum(axis=1)
    return found
