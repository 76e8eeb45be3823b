"""The core of index policies, against one written again run by run, and what p it keeps."""

from functools import cache

import numpy as np
import pytest
from small_bandits import coins, unproved

from exactdp import ParameterError
from exactdp.bandit.algorithms import (
    ALGORITHMS,
    DIST_CDP_LUCB,
    DIST_DP_KLUCB_DOUBLING,
    DIST_RDP_KLUCB,
    DP_KLUCB,
)
from exactdp.bandit.algorithms.algorithm import LargestIndex
from exactdp.bandit.instances import Fixed
from exactdp.bandit.plan import prepare, schedule
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import play
from exactdp.bandit.source import Simulated
from exactdp.protocols import Trust

INDEXED = [each for each in ALGORITHMS if isinstance(each.rule, LargestIndex)]


@cache
def prepared_once(algorithm, horizon):
    return prepare(algorithm, Setting(3, horizon, "0.8", growth=3), prove=unproved)


@pytest.mark.slow_cases(
    "apart-dist-cdp-klucb",
    "apart-dist-gauss-klucb",
    "together-dist-cdp-klucb",
    "together-dist-gauss-klucb",
    "one by one-together-dist-cdp-klucb",
)
@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("algorithm", INDEXED, ids=lambda each: each.name)
@pytest.mark.parametrize("own", [False, True], ids=["together", "apart"])
@pytest.mark.parametrize("ahead", [False, True], ids=["one by one", "ahead"])
def test_every_run_does_what_the_policy_says(algorithm, own, ahead, monkeypatch):
    """In one environment, and each in its own."""
    monkeypatch.setattr("exactdp.bandit.simulation.MANY_ARMS", 2 if ahead else 99)
    horizon, seen = 4000, []
    places = [coins("0.3", "0.6", "0.55")] * 7
    if own:
        places = [coins("0.3", f"0.{6 + run_ % 3}", f"0.{run_ + 2}") for run_ in range(7)]
    plan = prepared_once(algorithm, horizon)
    source = Simulated(np.random.default_rng(2))
    played = play(plan, places if own else places[0], 7, source, seen.append)
    for run_, environment in enumerate(places):
        releases = [each for each in seen if each.run == run_]
        bounds, batches, sums, pulls = [9.0] * 3, [0] * 3, [0] * 3, [0] * 3
        regret, kept = [], [True] * 3
        while True:
            arm = bounds.index(max(bounds))
            batch = plan.batch(batches[arm] + 1, 1)
            if batch is None or sum(pulls) + batch.users > horizon:
                break
            one = releases.pop(0)
            assert one.arms.tolist() == [arm] and one.batch is batch
            sums[arm] += batch.release.decoded(one.values)[0]
            batches[arm] += 1
            pulls[arm] += batch.users
            assert one.totals.tolist() == [sums[arm]]
            bounds[arm] = float(plan.index.of(np.array(batches)[[arm]], np.array([sums[arm]]))[0])
            assert one.index[0] == bounds[arm]
            kept[arm] &= bounds[arm] >= environment.means[arm]
            regret.append((sum(pulls), float(np.array(pulls) @ environment.gaps)))
        pulls[arm] += horizon - sum(pulls)
        assert not releases
        assert played.pulls[run_].tolist() == pulls
        assert played.active[run_].tolist() == kept
        assert played.released[run_] == sum(batches)
        at = played.curve.at(np.array([rounds for rounds, _ in regret]))[run_]
        assert np.allclose(at, [value for _, value in regret])
        end = played.curve.at(np.array([horizon]))[run_, 0]
        assert end == pytest.approx(environment.regret(played.pulls)[run_])


def test_batches_grow_by_arm_and_have_one_grid():
    setting = Setting(4, 10**5, "0.5", confidence="1e-5")
    plan = prepare(DIST_DP_KLUCB_DOUBLING, setting, prove=unproved)
    users = np.cumsum([batch.users for batch in plan.batches.values()])
    first = int(np.ceil(3 * np.log(1e5) / 0.5))
    assert users.tolist() == [first * 2**batch for batch in range(len(users))]
    assert users[-1] + 3 * first <= 10**5 < 2 * users[-1] + 3 * first
    assert {batch.release.precision for batch in plan.batches.values()} == {159}
    trusts = {DIST_DP_KLUCB_DOUBLING: Trust.DISTRIBUTED, DP_KLUCB: Trust.CENTRAL}
    for algorithm, trust in trusts.items():
        protocol = algorithm.release(setting, 24).protocol
        assert protocol.trust is trust
        assert protocol.total_noise() == plan.batch(1, 1).release.noise


def test_a_horizon_without_room_is_refused():
    with pytest.raises(ParameterError, match="horizon must be at least 42, for one batch of each"):
        prepare(DIST_DP_KLUCB_DOUBLING, Setting(3, 41, "0.5", confidence="0.1"), prove=unproved)


@pytest.mark.quick_cases(2)
@pytest.mark.slow_cases("dist-cdp-klucb", "dist-gauss-klucb")
@pytest.mark.parametrize("algorithm", INDEXED, ids=lambda each: each.name)
def test_a_best_index_is_seldom_below_its_mean(algorithm):
    """At p = 1/2, which is not reached: Chernoff's bound and the union over batches are above."""
    setting = Setting(2, 1000, 1, confidence="0.5")
    config = Config(algorithm, setting, Fixed(coins("0.5", "0.5")))
    found = run(config, 200, plan=config.plan(unproved))
    assert found.eliminated.sum() <= 200 * 0.5


def test_sums_of_all_batches_fit_64_bits():
    """Each of these batches would, and together they would not; others do."""
    setting = Setting(2, 10**12, "1.3", confidence="1e-12", growth="1.5")
    for algorithm in (DIST_RDP_KLUCB, DIST_CDP_LUCB):
        sizes = schedule(algorithm, setting).values()
        moduli = [algorithm.release(setting, users).protocol.modulus for users in sizes]
        assert max(moduli) < 2**62 and sum(moduli) > 2**63
        with pytest.raises(ParameterError, match="all batches of an arm below 2\\^63"):
            prepare(algorithm, setting, prove=unproved)
    setting = Setting(2, 10**12, "0.4", confidence="1e-12", growth=100)
    plan = prepare(DIST_RDP_KLUCB, setting, prove=unproved)
    totals = np.zeros(1, dtype=np.int64)
    for batch in plan.batches.values():
        totals += batch.release.decoded(np.array([batch.users * batch.release.precision]))
    assert totals.tolist() == [batch.units] and batch.units > 2**58
    assert plan.index.of(np.array([batch.number]), totals).tolist() == [1.0]
