"""Sequential halving, against one written again run by run, and its error against the truth."""

import math

import numpy as np
import pytest
from small_bandits import coins, unproved

from exactdp.bandit.algorithms import HALVINGS
from exactdp.bandit.identification.halving_error import halving_error
from exactdp.bandit.identification.identify import identify, ready
from exactdp.bandit.instances import Fixed
from exactdp.bandit.run import Config
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import play, policy_of
from exactdp.bandit.source import Simulated


def prepared_for(algorithm, arms, budget, epsilon="0.5"):
    setting = Setting(arms, budget, epsilon)
    return ready(Config(algorithm, setting, Fixed(coins(*["0.5"] * arms))), unproved).plan


class Kept:
    """A source that keeps what it has released, of one run: arm, users, value."""

    def __init__(self, seed, environment):
        self.inner, self.arms = Simulated(np.random.default_rng(seed)), environment.arms
        self.seen = []

    def released(self, release, laws, counts):
        values = self.inner.released(release, laws, counts)
        for law, value in zip(laws, values, strict=True):
            self.seen.append((self.arms.index(law), release, value))
        return values


@pytest.mark.parametrize("algorithm", HALVINGS, ids=lambda each: each.name)
def test_every_run_does_what_is_said(algorithm):
    environment = coins("0.3", "0.6", "0.52", "0.1", "0.55")
    plan = prepared_for(algorithm, 5, 703)
    for seed in range(4):
        kept = Kept(seed, environment)
        policy = policy_of(plan, 1)
        played = play(plan, environment, 1, kept, policy=policy)
        left, sums, users, seen = list(range(5)), [0] * 5, [0] * 5, iter(kept.seen)
        for count, stay in ((5, 3), (3, 2), (2, 1)):
            assert len(left) == count
            for arm in left:
                at, release, value = next(seen)
                assert at == arm and release.users == 703 // (3 * count)
                sums[arm] += release.decoded(np.array([value]))[0]
                users[arm] += release.users
            left = sorted(sorted(left, key=lambda arm: (-sums[arm], arm))[:stay])
        assert next(seen, None) is None
        assert policy.answers().tolist() == left
        assert played.pulls[0].tolist() == users and sum(users) <= 703


@pytest.mark.parametrize(
    ("means", "budget", "epsilon"), [((0.6, 0.5), 300, "0.5"), ((0.8, 0.4), 60, "0.2")]
)
def test_the_bound_is_above_the_exact_error_of_two_arms_and_near(means, budget, epsilon):
    plan = prepared_for(HALVINGS[0], 2, budget, epsilon)
    users, precision = budget // 2, next(iter(plan.batches.values())).release.precision
    scale = precision / float(epsilon)  # of discrete Laplace noise: sums and noise, convolved
    reach = math.ceil(40 * scale)
    noise = np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale) * np.tanh(1 / (2 * scale))
    twice = np.convolve(noise, noise)

    def law(mean):
        found = np.zeros(users * precision + 1)
        found[::precision] = [
            math.comb(users, k) * mean**k * (1 - mean) ** (users - k) for k in range(users + 1)
        ]
        return found

    apart = np.convolve(np.convolve(law(means[1]), law(means[0])[::-1]), twice)
    truth = float(apart[len(apart) // 2 + 1 :].sum())  # equal sums: the first arm stays
    bound = float(halving_error(plan).of(coins(*map(str, means))).upper)
    assert 0.001 < truth < 0.2
    assert truth <= bound <= 8 * truth


@pytest.mark.parametrize(
    ("algorithm", "means", "budget"),
    [
        (HALVINGS[0], ("0.9", "0.5", "0.4", "0.3"), 100),
        (HALVINGS[0], ("0.51", "0.5"), 50_000),
        (HALVINGS[-1], ("0.7", "0.5", "0.5", "0.5", "0.4"), 250),
    ],
)
def test_the_bound_is_held_by_what_is_measured_and_near(algorithm, means, budget):
    config = Config(algorithm, Setting(len(means), budget, "0.5"), Fixed(coins(*means)))
    found = identify(config, 4000, 3, ready_made=ready(config, unproved))
    low, high = found.error_interval(1 - 1e-6)
    assert found.wrong > 0 and low <= found.wrong / 4000 <= high
    assert low <= found.error.upper < 1
    assert found.error.upper <= 60 * found.wrong / 4000
    assert found.least is None and not found.undecided
    assert np.array_equal(
        found.right, np.isin(found.chosen, np.flatnonzero(np.array(means) == max(means)))
    )
