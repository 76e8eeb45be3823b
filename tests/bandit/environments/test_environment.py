"""Sums of many arms at once have the law of each arm's own."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import chi2

from exactdp.bandit.environments.environment import (
    EASY,
    HARD,
    Apart,
    Environment,
    drawn_instance,
)
from exactdp.bandit.environments.gaussian import ClippedGaussian
from exactdp.bandit.environments.rewards import Bernoulli, RewardTable


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


GAUSSIANS = [ClippedGaussian(mean) for mean in (0.02, 0.3, 0.5, 0.97)]
COINS = [Bernoulli(mean) for mean in (0.0, 0.3, 1.0)]
MIXED = [GAUSSIANS[1], COINS[1], RewardTable((0, "0.5", 1), ("0.2", "0.3", "0.5"))]


def exact(law, precision, count):
    """The law of a sum, by convolution."""
    cells, one = law.encoded(precision), np.zeros(precision + 1)
    one[cells.values] += cells.probabilities
    total = np.ones(1)
    for _ in range(count):
        total = np.convolve(total, one)
    return total


@pytest.mark.parametrize("laws", [GAUSSIANS, COINS, MIXED], ids=["gaussian", "coins", "mixed"])
@pytest.mark.parametrize(("precision", "count"), [(3, 4), (40, 2), (2, 90)])
def test_sums_have_the_exact_law(laws, precision, count):
    """Chi-squared of every arm's sums against the convolution, at level 1e-6."""
    times = 4000
    rng = np.random.default_rng(11)
    drawn = Apart(laws * times).sums(rng, precision, count, len(laws) * times)
    for law, sums in zip(laws, drawn.reshape(times, -1).T, strict=True):
        expected = times * exact(law, precision, count)
        seen = np.bincount(sums, minlength=len(expected))
        assert len(seen) == len(expected)
        cuts = np.unique(np.searchsorted(np.cumsum(expected), np.arange(8, times - 8, 40)))
        edges = np.concatenate(([0], cuts + 1))
        edges = edges[edges < len(expected)]
        want, got = np.add.reduceat(expected, edges), np.add.reduceat(seen, edges)
        assert (got[want == 0] == 0).all()
        want, got = want[want > 0], got[want > 0]
        distance = ((got - want) ** 2 / want).sum()
        if len(want) > 1:
            assert distance < chi2.isf(1e-6, len(want) - 1)
        else:
            assert got.sum() == times


def test_many_arms_and_users_are_cut_into_parts(monkeypatch):
    """Each arm is drawn once, in its place, however little is held at once."""
    monkeypatch.setattr("exactdp.bandit.environments.environment._AT_ONCE", 50)
    laws = [ClippedGaussian(mean, "0.05") for mean in np.linspace(0.1, 0.9, 33).tolist()]
    for precision, count, near in ((100, 7, 0.1), (100, 120, 0.03), (7, 2000, 0.03)):
        sums = Apart(laws).sums(np.random.default_rng(0), precision, count, 33)
        assert np.allclose(sums / (precision * count), np.linspace(0.1, 0.9, 33), atol=near)


@pytest.mark.parametrize("laws", [GAUSSIANS, COINS, MIXED], ids=["gaussian", "coins", "mixed"])
@pytest.mark.parametrize("count", [3, 500])
def test_real_sums_have_the_right_mean_and_spread(laws, count):
    times = 300
    drawn = Apart(laws * times).real_sums(np.random.default_rng(2), count, len(laws) * times)
    for law, sums in zip(laws, drawn.reshape(times, -1).T, strict=True):
        error = sums.std(ddof=1) / times**0.5
        assert abs(sums.mean() - count * law.mean) <= 5 * error + 1e-9
        cells = law.encoded(1 << 10)  # rounding to which adds at most 2^-22 to a variance
        one = cells.probabilities @ (cells.values / (1 << 10) - law.mean) ** 2
        assert sums.var(ddof=1) == pytest.approx(count * one, rel=5 * (2 / times) ** 0.5, abs=1e-9)


def test_sums_that_floats_do_not_hold_are_not_drawn_in_floats():
    """2^53 and more: whole numbers, by the law's own blocks; and never above n g."""
    rng, top = np.random.default_rng(3), [ClippedGaussian(1, "0.01")] * 40
    for precision, count in ((1 << 40, 1 << 14), (1 << 50, 100), (1 << 30, 50)):
        sums = Apart(top).sums(rng, precision, count, 40)
        assert (sums <= precision * count).all()
        assert len(np.unique(sums % 2)) == 2
