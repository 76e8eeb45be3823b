"""The published baseline, run again in floats: the noise changes no decision, one reward does."""

import math

import numpy as np
import pytest

from exactdp.verify.claims.finding import Truth
from exactdp.verify.claims.published_baseline import ARMS, LEVEL, POINTS, first_batch
from exactdp.verify.claims.registry import REGISTRY


def removed(sums, users, epsilon, noise):
    """Which arms leave after the first batch, as an algorithm with this noise decides."""
    level = float(LEVEL)
    radius = math.sqrt(math.log(8 * ARMS / level) / (2 * users)) + math.log(4 * ARMS / level) / (
        users * epsilon
    )
    means = (sums + noise) / users
    return (means + radius < (means - radius).max()).tolist()


@pytest.mark.parametrize("epsilon", POINTS)
def test_the_witness_is_one(epsilon):
    users, limit = first_batch(epsilon)
    rng = np.random.default_rng(0)
    sums = np.zeros(ARMS)
    for extra, leaves in ((0, False), (1, True)):
        sums[0] = limit + extra
        for _ in range(200):
            common = rng.laplace(0, 1 / float(epsilon))
            assert removed(sums, users, float(epsilon), common) == [False] + [leaves] * (ARMS - 1)
        own = rng.laplace(0, 1 / float(epsilon), (200, ARMS))
        outcomes = [removed(sums, users, float(epsilon), each) for each in own]
        assert 0 < np.mean(outcomes) < 1  # with noise for each arm nothing is certain


def test_the_batch_is_that_of_the_code():
    for epsilon in map(float, POINTS):
        wide = 32 * math.log(8 * 10 / 0.1) / 0.25
        near = 8 * math.log(4 * 10 / 0.1) / (0.5 * epsilon)
        assert first_batch(POINTS[[*map(float, POINTS)].index(epsilon)])[0] == 1 + int(
            max(wide, near)
        )


def test_it_fails():
    found = REGISTRY["D-code-dpse"].check()
    assert found.truth is Truth.FAILS
    assert len(found.evidence) == 1 + len(POINTS)
