"""Runs of an identification: any workers, and what is counted."""

import numpy as np
import pytest
from small_bandits import unproved

from exactdp.bandit.algorithms import DIST_DP_LUCB, LUCB
from exactdp.bandit.environments.environment import Environment
from exactdp.bandit.environments.rewards import Bernoulli
from exactdp.bandit.identification.identify import identify, ready
from exactdp.bandit.instances import Fixed, easy
from exactdp.bandit.run import Config, environments
from exactdp.bandit.setting import Setting


def config(*means, most="1e5", **options):
    place = Fixed(Environment("coins", tuple(map(Bernoulli, means))))
    return Config(DIST_DP_LUCB, Setting(len(means), most, 1, confidence="0.01"), place, **options)


@pytest.mark.slow
def test_any_number_of_workers_finds_the_same():
    given = config("0.8", "0.4", "0.2")
    shared = ready(given, unproved)
    one = identify(given, 150, 3, ready_made=shared)
    two = identify(given, 150, 3, workers=2, ready_made=shared)
    assert np.array_equal(one.right, two.right)
    for name in ("answers", "pulls", "batches"):
        assert np.array_equal(getattr(one.results, name), getattr(two.results, name))


@pytest.mark.parametrize("algorithm", [DIST_DP_LUCB, LUCB], ids=lambda each: each.name)
def test_runs_in_lock_step_are_of_their_own_instances_and_number(algorithm):
    given = Config(algorithm, Setting(3, "3e4", 1, confidence="0.01"), easy(3))
    shared = ready(given, unproved)
    many, few = (identify(given, count, 5, ready_made=shared) for count in (18, 12))
    assert np.array_equal(many.right[:12], few.right)
    for name in ("answers", "pulls", "batches"):
        assert np.array_equal(getattr(many.results, name)[:12], getattr(few.results, name))
    best = [place.best[0] for place in environments(given, 18, 5)]
    assert np.array_equal(many.right, many.chosen == best)
    assert many.right.sum() >= 12 and len(set(many.chosen.tolist())) >= 3
    assert len(np.unique(many.results.pulls, axis=0)) >= 12
