"""The bound of expected regret: above the mean of runs, not far from it, and above exact laws."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from small_bandits import coins

from exactdp import time_limit
from exactdp.bandit.algorithms import (
    DIST_DP_KLUCB_DOUBLING,
    DIST_DP_SE,
    DP_KLUCB,
    KL_UCB_DOUBLING,
    SE,
)
from exactdp.bandit.environments.environment import drawn_instance
from exactdp.bandit.instances import Fixed
from exactdp.bandit.plan import Radius, prepare
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.yardsticks import _Elimination, _Indexed, expected_regret, yardsticks


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    "algorithm", [DIST_DP_KLUCB_DOUBLING, DP_KLUCB, KL_UCB_DOUBLING, DIST_DP_SE, SE]
)
@pytest.mark.parametrize("means", [("0.8", "0.5", "0.6"), ("0.3", "0.25", "0.3")])
def test_it_lies_above_the_mean_of_runs_and_close(algorithm, means):
    horizon = 50_000
    setting = Setting(3, horizon, "0.7", confidence=Fraction(1, horizon))
    config = Config(algorithm, setting, Fixed(coins(*means)), Radius.CERTIFIED)
    plan = config.plan()
    found = expected_regret(plan, config.instances.given)
    regret = run(config, 60, 3, plan=plan).total_regret()
    assert found.lower == 0
    assert float(found.upper) >= regret.mean - 4 * regret.standard_error
    assert float(found.upper) <= (3 if means[0] != means[2] else 4) * regret.mean


def test_other_rewards_obey_it_too():
    environment = drawn_instance(3, 3)
    setting = Setting(3, 50_000, "0.7", confidence="2e-5")
    for algorithm in (DIST_DP_KLUCB_DOUBLING, DIST_DP_SE):
        config = Config(algorithm, setting, Fixed(environment), Radius.CERTIFIED)
        found = expected_regret(config.plan(), environment)
        regret = run(config, 40, 1).total_regret()
        assert regret.mean - 4 * regret.standard_error <= float(found.upper) <= 6 * regret.mean


def test_what_fails_counts_in_full():
    """At p near 1 the bound is T times the largest gap; it falls with p."""
    environment = coins("0.6", "0.5")
    bounds = [
        float(
            expected_regret(
                prepare(KL_UCB_DOUBLING, Setting(2, 10_000, confidence=p), Radius.CERTIFIED),
                environment,
            ).upper
        )
        for p in ("0.99", "0.5", "0.1", "1e-3")
    ]
    assert bounds[0] == pytest.approx(1000)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[2] >= 100


@pytest.mark.parametrize("mean", ["0.2", "0.5", "0.65"])
def test_an_index_stays_high_no_likelier_than_that(mean):
    """Without noise the law of an index is that of a coin's sum."""
    plan = prepare(KL_UCB_DOUBLING, Setting(2, 3000, confidence="0.05"))
    bounds = _Indexed(plan, plan.index)
    best = Fraction("0.7")
    for batch in range(1, len(plan.batches) + 1):
        users = int(plan.index.users[batch - 1])
        sums = np.arange(users + 1)
        high = plan.index.of(np.full(users + 1, batch), sums.astype(float)) >= 0.7
        truth = stats.binom.pmf(sums, users, float(mean))[high].sum()
        claimed = float(bounds.chance(batch, Fraction(mean), best).upper())
        assert truth <= claimed + 1e-12


def test_an_arm_stays_no_likelier_than_that():
    plan = prepare(SE, Setting(2, 3000, confidence="0.05"), Radius.CERTIFIED)
    bounds = _Elimination(plan)
    for number in range(1, len(plan.batches) + 1):
        batch = plan.batch(number, 2)
        users, radius = batch.users, batch.radius
        claimed = float(bounds.chance(number, Fraction("0.2"), Fraction("0.7")).upper())
        if not np.isfinite(radius):
            assert claimed == 1
            continue
        best = stats.binom.pmf(np.arange(users + 1), users, 0.7)
        least = np.ceil(np.arange(users + 1) - 2 * radius * users - 1e-9)
        below = stats.binom.sf(least - 1, users, 0.2)
        truth = best @ below
        assert truth <= claimed + 1e-12


def test_runs_are_shown_without_yardsticks_that_take_too_long():
    config = Config(KL_UCB_DOUBLING, Setting(2, 1000), Fixed(coins("0.6", "0.5")), Radius.CERTIFIED)
    results = run(config, 2, 0)
    whole = yardsticks(config, results, 0)
    assert whole.lower_bound is not None and whole.expected is not None
    with time_limit(0.0):
        late = yardsticks(config, results, 0)
    assert late.lower_bound is None and late.expected is None
    assert late.ratio(results.total_regret()) is None
