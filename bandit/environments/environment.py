"""A bandit instance: one law of rewards per arm, and what regret is measured against."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, whole
from .gaussian import DEFAULT_SIGMA, ClippedGaussian
from .rewards import RewardLaw
from .table import Bernoulli

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
