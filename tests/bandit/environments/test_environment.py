from functools import partial

import numpy as np
import pytest

from exactdp.bandit.environments.environment import (
    EASY,
    HARD,
    Environment,
    drawn_instance,
)
from exactdp.bandit.environments.gaussian import ClippedGaussian
from exactdp.bandit.environments.rewards import Bernoulli


def test_gaps_best_and_regret() -> None:
    bandit = Environment("coins", tuple(map(Bernoulli, ("0.25", "0.75", "0.5", "0.75"))))
    assert bandit.best == (1, 3)
    assert np.array_equal(bandit.gaps, [0.5, 0, 0.25, 0])
    pulls = np.array([[4, 10, 0, 1], [0, 0, 8, 2]])
    assert np.array_equal(bandit.regret(pulls), [2.0, 2.0])


def test_instances_come_from_their_seed() -> None:
    for sigma in (None, "0.1"):
        draw = partial(drawn_instance, sigma=sigma)
        first, again, other = draw(1), draw(np.random.SeedSequence(1)), draw(2)
        assert first == again and first != other
        assert len(first.arms) == 10
    assert all(isinstance(arm, Bernoulli) for arm in drawn_instance(0, sigma=None).arms)
    gaussian = drawn_instance(3, arms=5, sigma="0.05")
    assert all(arm.sigma == 0.05 for arm in gaussian.arms if isinstance(arm, ClippedGaussian))


@pytest.mark.parametrize("limits", [EASY, HARD])
def test_means_are_uniform_in_their_range(limits: tuple[float, float]) -> None:
    bandit = drawn_instance(4, arms=2000, means=limits, sigma=None)
    low, high = limits
    assert low <= bandit.means.min() and bandit.means.max() <= high
    ranks = np.sort((bandit.means - low) / (high - low))
    assert np.abs(ranks - np.arange(1, 2001) / 2000).max() < 0.06  # Kolmogorov, level 1e-6
