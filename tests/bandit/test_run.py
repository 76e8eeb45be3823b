"""Runs: the same numbers for any number of workers, and after an interruption."""

import json
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from exactdp.bandit.algorithms import DIST_DP_KLUCB_DOUBLING, DIST_DP_SE, DP_SE, KL_UCB_DOUBLING, SE
from exactdp.bandit.environments.environment import drawn_instance
from exactdp.bandit.instances import Fixed, easy, published
from exactdp.bandit.run import Config, environments, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import play
from exactdp.bandit.source import Simulated

CONFIG = Config(DIST_DP_SE, Setting(4, 5000, "0.9"), easy(4))
PUBLISHED = Config(DIST_DP_SE, Setting(10, 30_000, 1, growth=4), published())
INDEXED = Config(DIST_DP_KLUCB_DOUBLING, CONFIG.setting, easy(4))
SAME = Config(DIST_DP_SE, Setting(4, 5000, "0.9"), Fixed(drawn_instance(3, 4, sigma=None)))


def same(one, other):
    return (one.regret == other.regret).all() and (one.pulls == other.pulls).all()


@pytest.mark.parametrize(
    "config", [CONFIG, PUBLISHED, INDEXED], ids=["drawn", "published", "indexed"]
)
def test_what_is_kept_of_a_longer_share_is_the_same(config):
    """Runs, releases and decisions of runs that were not asked for leave no trace."""
    many, few = (run(config, count, 1, transcript=True) for count in (31, 23))
    assert (many.regret[:23] == few.regret).all()
    assert (many.batches[:23] == few.batches).all()
    assert {line["run"] for line in few.lines} == set(range(23))
    assert [line for line in many.lines if line["run"] < 23] == list(few.lines)


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    "algorithm",
    [DIST_DP_SE, SE, DP_SE, DIST_DP_KLUCB_DOUBLING, KL_UCB_DOUBLING],
    ids=lambda one: one.name,
)
@pytest.mark.parametrize("sigma", [None, Fraction(1, 10)], ids=["coins", "gaussian"])
def test_in_lock_step_runs_have_the_law_that_they_have_alone(algorithm, sigma):
    """The same instances, played together and one by one: no difference beyond chance."""
    config = Config(algorithm, Setting(3, 20_000, "0.9"), easy(3, sigma))
    plan, places = config.plan(), list(environments(config, 60, 5))
    source = Simulated(np.random.default_rng(8))
    together = play(plan, places * 2, 120, source).pulls.reshape(2, 60, 3)
    alone = np.array([play(plan, place, 2, source).pulls for place in places])
    regret = [
        np.array([place.regret(each) for place, each in zip(places, pulls, strict=True)])
        for pulls in (together.transpose(1, 0, 2), alone)
    ]
    assert (together.sum(axis=-1) == 20_000).all()
    apart = (regret[0] - regret[1]).mean(axis=1)
    error = apart.std(ddof=1) / 60**0.5
    assert abs(apart.mean()) <= 5 * error  # by chance once in 10^6
    assert error > 0


@pytest.mark.parametrize(
    "algorithm", [DIST_DP_SE, DIST_DP_KLUCB_DOUBLING], ids=lambda one: one.name
)
def test_each_run_is_charged_its_own_instance(algorithm):
    """Regret is that of the run's own gaps, and the best arm is its own."""
    config = evolve(PUBLISHED, algorithm=algorithm)
    found = run(config, 25, 3)
    for number, place in enumerate(environments(config, 25, 3)):
        assert found.regret[number, -1] == pytest.approx(place.regret(found.pulls[number]))
    assert not found.eliminated.any()


@pytest.mark.slow_cases("drawn")
@pytest.mark.parametrize("config", [CONFIG, SAME], ids=["drawn", "fixed"])
def test_any_number_of_workers_gives_the_same_numbers(config):
    pytest.importorskip("joblib")
    assert same(run(config, 70, 1, 1), run(config, 70, 1, 2))


@pytest.mark.slow
def test_a_cluster_gives_the_same_numbers():
    pytest.importorskip("distributed")
    assert same(run(CONFIG, 12, 1), run(CONFIG, 12, 1, 2, cluster="local"))


def test_a_share_that_does_not_read_is_done_again(tmp_path):
    whole = run(CONFIG, 7, 3, resume=tmp_path)
    path = next(one for one in tmp_path.iterdir() if json.loads(one.read_text())["first"] == 0)
    for text in ("", "{", "{}", "[]", json.dumps({**json.loads(path.read_text()), "first": 5})):
        path.write_text(text)
        assert same(whole, run(CONFIG, 7, 3, resume=tmp_path))
        assert json.loads(path.read_text())["first"] == 0


def test_results_sum_up_runs():
    found = run(CONFIG, 6, 2, rounds=np.array([10, 5000]))
    total, average = found.total_regret(), found.time_average()
    ends = found.regret[:, -1]
    assert total.mean == pytest.approx(ends.mean())
    assert total.standard_error == pytest.approx(ends.std(ddof=1) / 6**0.5)
    assert [rounds for rounds, _ in average] == [10, 5000]
    assert average[1][1].mean == pytest.approx(total.mean / 5000)
    assert (found.pulls.sum(axis=1) == 5000).all()
    assert run(CONFIG, 1, 2).total_regret().to_json()["standard_error"] is None
