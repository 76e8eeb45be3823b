"""Runs of a linear bandit: any workers, and what is counted."""

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.bandit.linear.contexts import UnitBall
from exactdp.bandit.linear.setting import LinearSetting
from exactdp.bandit.linear.simulation import prepare_linear, run_linear

PLACE = UnitBall(2, 4)


@pytest.fixture(scope="module")
def ready():
    return prepare_linear(LinearSetting(2, 2000, 1))


@pytest.mark.slow
def test_any_number_of_workers_finds_the_same(ready):
    one, two = (run_linear(PLACE, ready, 4, 3, workers) for workers in (1, 2))
    for name in ("regret", "certified", "outside", "plain"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


def test_runs_depend_on_seed_and_number_alone(ready):
    ticks = []
    four = run_linear(PLACE, ready, 4, 3, progress=ticks.append)
    assert ticks == [1] * 4 and four.runs == 4
    two = run_linear(PLACE, ready, 2, 3)
    assert np.array_equal(four.regret[:2], two.regret)
    assert np.array_equal(four.plain[:2], two.plain)
    assert len(set(four.regret[:, -1])) > 1
    other = run_linear(PLACE, ready, 2, 4)
    assert not np.array_equal(two.regret, other.regret)
    assert four.total_regret().mean == pytest.approx(four.regret[:, -1].mean())
    assert four.certified_regret().mean >= four.total_regret().mean
    assert four.rounds[-1] == 2000 and not four.outside.any()


def test_another_dimension_is_refused(ready):
    with pytest.raises(ParameterError, match="dimension must be that of"):
        run_linear(UnitBall(3, 4), ready, 1)
