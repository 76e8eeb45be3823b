"""Sums of rewards of many arms at once, one sum of each: for runs that differ in their instances.

In law what each arm's own `sums` draws, independently; arms of one kind are drawn in one go. For
clipped Gaussian rewards of one sigma that is reward by reward for small batches, and by the cells
of the encoded reward for others; where blocks are cheaper than cells (fine grids, very many users)
each arm draws for itself, as arms of other kinds do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .gaussian import ClippedGaussian, encoded_masses
from .rewards import RewardLaw, check_sum, multinomial_each, rounded
from .table import Bernoulli

_AT_ONCE = 1 << 18  # rewards, or probabilities of cells, that are held at once


@dataclass(frozen=True)
class Apart:
    """Arms, each with a law of its own; whatever is drawn is drawn once of each."""

    laws: Sequence[RewardLaw]

    def sums(
        self, rng: np.random.Generator, precision: int, count: int, size: int
    ) -> NDArray[np.int64]:
        """Of each arm a sum of `count` encoded rewards; size: how many arms there are."""
        assert size == len(self.laws)
        check_sum(count, precision)
        if self._coins is not None:
            return np.asarray(precision * rng.binomial(count, self._coins))
        if self._gaussians is not None:
            cost_each, cost_cells = 40 * count, 160 * (precision + 1)  # nanoseconds, roughly
            if min(cost_each, cost_cells) <= self._gaussians[0].blocks_cost(precision, count):
                draw = self._drawn if cost_each < cost_cells else self._by_cells
                step = max(1, _AT_ONCE // min(count, precision + 1))
                parts = (self._locations[at : at + step] for at in range(0, size, step))
                return np.concatenate([draw(rng, part, precision, count) for part in parts])
        return np.concatenate([law.sums(rng, precision, count, 1) for law in self.laws])

    def real_sums(self, rng: np.random.Generator, count: int, size: int) -> NDArray[np.float64]:
        """Of each arm a sum of `count` rewards."""
        assert size == len(self.laws)
        if self._coins is not None:
            return np.asarray(rng.binomial(count, self._coins), dtype=np.float64)
        return np.concatenate([law.real_sums(rng, count, 1) for law in self.laws])

    def _drawn(
        self, rng: np.random.Generator, locations: NDArray[np.float64], precision: int, count: int
    ) -> NDArray[np.int64]:
        rewards = rng.normal(locations[:, None], self._sigma, (len(locations), count))
        return np.asarray(rounded(rng, np.clip(rewards, 0.0, 1.0), precision).sum(axis=1))

    def _by_cells(
        self, rng: np.random.Generator, locations: NDArray[np.float64], precision: int, count: int
    ) -> NDArray[np.int64]:
        masses = encoded_masses(locations, self._sigma, precision)
        return np.asarray(multinomial_each(rng, count, masses) @ np.arange(precision + 1))

    @cached_property
    def _coins(self) -> NDArray[np.float64] | None:
        """Their probabilities, if all are coins."""
        found = [law.probability for law in self.laws if isinstance(law, Bernoulli)]
        return np.array(found) if len(found) == len(self.laws) else None

    @cached_property
    def _gaussians(self) -> list[ClippedGaussian] | None:
        """The laws, if all are clipped Gaussians of one sigma."""
        found = [law for law in self.laws if isinstance(law, ClippedGaussian)]
        same = len(found) == len(self.laws) and len({law.sigma for law in found}) == 1
        return found if same else None

    @property
    def _sigma(self) -> float:
        return self._gaussians[0].sigma if self._gaussians else 0.0

    @cached_property
    def _locations(self) -> NDArray[np.float64]:
        return np.array([law.location for law in self._gaussians or ()])
