"""Index policies played many batches at a time: as one by one, from other random numbers."""

import numpy as np
import pytest
from small_bandits import unproved

from exactdp.bandit.algorithms import DIST_DP_KLUCB_DOUBLING, KL_UCB_DOUBLING
from exactdp.bandit.environments.environment import Environment
from exactdp.bandit.environments.rewards import Bernoulli
from exactdp.bandit.instances import easy
from exactdp.bandit.plan import prepare
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import play
from exactdp.bandit.source import Simulated
from exactdp.bandit.transcript import write_transcript
from exactdp.bandit.transcript_check import check_transcript

COINS = Environment("coins", tuple(map(Bernoulli, ("0.3", "0.6", "0.55", "0.5"))))


@pytest.mark.parametrize(
    "algorithm", [DIST_DP_KLUCB_DOUBLING, KL_UCB_DOUBLING], ids=lambda each: each.name
)
def test_runs_have_the_same_law_as_one_by_one(algorithm, monkeypatch):
    """Which batches are kept must not depend on what they are: means of pulls, of their squares,
    of regret midway, and of what the second and third batch of each arm release."""
    plan = prepare(algorithm, Setting(4, 3000, 1, confidence="0.01"), prove=unproved)
    found = []
    for number, least in enumerate((2, 99)):
        monkeypatch.setattr("exactdp.bandit.simulation.MANY_ARMS", least)
        seen = []
        source = Simulated(np.random.default_rng([7, number]))
        played = play(plan, COINS, 600, source, seen.append)
        columns = [played.pulls, played.pulls**2.0, played.released[:, None]]
        columns.append(played.curve.at(np.array([300, 1000, 3000])))
        moments = [(each.mean(axis=0), each.var(axis=0) / 600) for each in columns]
        values = {}
        for one in seen:
            if one.batch.number in (2, 3):
                had = one.batch.release.decoded(one.values)[0]
                values.setdefault((one.batch.number, int(one.arms[0])), []).append(had)
        for key in sorted(values):
            sample = np.array(values[key], dtype=float)
            assert len(sample) > 40
            moments.append(([sample.mean()], [sample.var() / len(sample)]))
        found.append([np.concatenate(each) for each in zip(*moments, strict=True)])
    (one, error), (other, wide) = found
    assert len(one) == len(other) > 15
    scores = (one - other) / np.sqrt(error + wide + 1e-12)
    assert np.abs(scores).max() < 4.9  # each by chance with 1e-6


@pytest.mark.slow
def test_many_arms_depend_on_the_seed_alone_and_leave_a_valid_transcript(tmp_path):
    config = Config(KL_UCB_DOUBLING, Setting(300, 6000, confidence="0.001"), easy(300, None))
    plan = config.plan()
    two = run(config, 2, 3, plan=plan, transcript=True)
    seven = run(config, 7, 3, plan=plan)
    assert np.array_equal(two.regret, seven.regret[:2])
    assert np.array_equal(two.pulls, seven.pulls[:2])
    assert two.pulls.sum(axis=1).tolist() == [6000] * 2
    assert (two.pulls.min(axis=1) > 0).all() and two.batches.min() > 600
    file = tmp_path / "ahead.jsonl"
    write_transcript(file, two, {"runs": 2, "seed": 3})
    assert check_transcript(file).valid
