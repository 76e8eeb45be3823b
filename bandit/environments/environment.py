"""A bandit instance: one law of rewards per arm, and what regret is measured against.

Sums of rewards of many arms at once, one sum of each: for runs that differ in their instances.

In law what each arm's own `sums` draws, independently; arms of one kind are drawn in one go. For
clipped Gaussian rewards of one sigma that is reward by reward for small batches, and by the cells
of the encoded reward for others; where blocks are cheaper than cells (fine grids, very many users)
each arm draws for itself, as arms of other kinds do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, whole
from .gaussian import DEFAULT_SIGMA, ClippedGaussian, encoded_masses
from .rewards import Bernoulli, RewardLaw, check_sum, multinomial_each

# The range of the arms' means in the easy and the hard instances of Chowdhury and Zhou (ICLR
# 2023), section 7.
EASY = (0.25, 0.75)
HARD = (0.45, 0.55)
_TINY = 1e-9  # that floats may be off


@frozen(slots=False)
class Environment:
    """A bandit instance: `name` for tables and pictures, and the reward law of each arm.

    labels: what its file calls the arms, if it does; no part of its value.

    Its pseudo-regret is the papers': sum over arms of `gaps` times the number of pulls, where a
    gap is mu* - mu_a and mu_a the mean of the reward on [0, 1] that is really paid out.
    """

    name: str
    arms: tuple[RewardLaw, ...]
    labels: tuple[str, ...] = field(default=(), eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if len(self.arms) < 2:
            raise ParameterError(f"arms must be at least 2, got {len(self.arms)}")

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """The mean reward of each arm. Raises ParameterError for one outside of [0, 1]."""
        found = np.array([arm.mean for arm in self.arms])
        if len(wrong := np.flatnonzero(~((found > -_TINY) & (found < 1 + _TINY)))):
            arm = int(wrong[0])
            raise ParameterError(
                f"rewards must be in [0, 1]: the mean of arm {arm} is {found[arm]:g}"
            )
        return found

    @cached_property
    def gaps(self) -> NDArray[np.float64]:
        """How much each arm's mean falls short of the best: >= 0, and 0 for best arms."""
        return np.asarray(self.means.max() - self.means)

    @cached_property
    def best(self) -> tuple[int, ...]:
        """The arms whose mean is largest: one, unless there are ties."""
        return tuple(int(arm) for arm in np.flatnonzero(self.gaps == 0))

    def regret(self, pulls: NDArray[np.int64]) -> NDArray[np.float64]:
        """The pseudo-regret of these numbers of pulls, the arms along the last axis."""
        return np.asarray(pulls @ self.gaps)


def drawn_instance(
    seed: np.random.SeedSequence | int,
    arms: ExactInput = 10,
    means: tuple[float, float] = EASY,
    sigma: ExactInput | None = DEFAULT_SIGMA,
    name: str = "drawn",
) -> Environment:
    """An instance whose means are uniform in this range, drawn from the seed.

    sigma: of Gaussian rewards clipped to [0, 1], as in Chowdhury and Zhou, section 7, whose means
    before clipping these are; None for coins.
    """
    count = whole(arms, "arms", at_least=2, at_most=1_000_000)
    low, high = means
    if not 0 <= low <= high <= 1:
        raise ParameterError(f"means must be a range inside 0..1, got {low}..{high}")
    drawn = np.random.default_rng(seed).uniform(low, high, size=count).tolist()
    if sigma is None:
        return Environment(name, tuple(map(Bernoulli, drawn)))
    spread = ClippedGaussian(0.5, sigma).sigma  # read once
    return Environment(name, tuple(ClippedGaussian(mean, spread) for mean in drawn))


_AT_ONCE = 1 << 16  # rewards, or probabilities of cells, that are held at once
_WHOLE = 1 << 53  # below it floats add whole numbers exactly
_REAL = 1 << 32  # the grid of real sums
_EACH, _CELL = 25.0, 160.0  # nanoseconds, roughly: a reward that is drawn, a cell that is counted


def laws_of(
    places: Sequence[Environment], runs: NDArray[np.int64], arms: NDArray[np.int64]
) -> tuple[list[Any], list[int]]:
    """The rewards' laws of these arms, which do not fall, of these runs; how often each is drawn.

    Where they differ by run, one `Apart`: it can only be summed (`play` asks for simulated sums).
    """
    if len(places) > 1:
        each = [
            places[run].arms[arm] for run, arm in zip(runs.tolist(), arms.tolist(), strict=True)
        ]
        return [Apart(each)], [len(each)]
    shown, counts = np.unique(arms, return_counts=True)
    return [places[0].arms[arm] for arm in shown.tolist()], counts.tolist()


@frozen(slots=False)
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
            fits = count * precision < _WHOLE
            one_by_one = _EACH * count if fits else np.inf
            by_cells = _CELL * (precision + 1)
            if min(one_by_one, by_cells) <= self._gaussians[0].blocks_cost(precision, count):
                if one_by_one < by_cells:
                    return self._drawn(rng, count, precision).astype(np.int64)
                step = max(1, _AT_ONCE // (precision + 1))
                parts = (self._locations[at : at + step] for at in range(0, size, step))
                return np.concatenate([self._by_cells(rng, it, precision, count) for it in parts])
        return np.concatenate([law.sums(rng, precision, count, 1) for law in self.laws])

    def real_sums(self, rng: np.random.Generator, count: int, size: int) -> NDArray[np.float64]:
        """Of each arm a sum of `count` rewards."""
        assert size == len(self.laws)
        if self._coins is not None:
            return np.asarray(rng.binomial(count, self._coins), dtype=np.float64)
        if self._gaussians is not None:
            by_blocks = self._gaussians[0].blocks_cost(_REAL, count)
            if _EACH * count <= by_blocks:
                return self._drawn(rng, count)
        return np.concatenate([law.real_sums(rng, count, 1) for law in self.laws])

    def _drawn(
        self, rng: np.random.Generator, count: int, precision: int | None = None
    ) -> NDArray[np.float64]:
        """Of each arm the sum of so many rewards, drawn one by one; encoded, if there is a grid."""
        found = np.zeros(len(self.laws))
        step, most = max(1, _AT_ONCE // count), min(count, _AT_ONCE)
        grid = precision or 1
        for at in range(0, len(found), step):
            centres = grid * self._locations[at : at + step, None]
            for done in range(0, count, most):
                rewards = rng.standard_normal((len(centres), min(most, count - done)))
                rewards *= grid * self._sigma
                rewards += centres
                if precision is not None:  # rounded at random; clipped now it is the same
                    rewards += rng.random(rewards.shape)
                    np.floor(rewards, out=rewards)
                np.clip(rewards, 0, grid, out=rewards)
                found[at : at + step] += rewards.sum(axis=1)
        return found

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
