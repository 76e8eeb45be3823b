"""Means over runs and their standard errors; shares read back as they were."""

import json

import numpy as np
import pytest

from exactdp.bandit.algorithms import SE
from exactdp.bandit.plan import prepare
from exactdp.bandit.results import Results, Share
from exactdp.bandit.setting import Setting


def test_shares_are_joined_in_order_and_read_back_exactly():
    shares = [
        Share(2, [[0.1, 1 / 3]], [[4, 6]], [True], [3], [{"run": 2}], []),
        Share(0, [[1e-17, 2.0], [0.0, 5.5]], [[10, 0], [5, 5]], [False, False], [1, 2], [], []),
    ]
    again = [Share(**json.loads(json.dumps(share.to_json()))) for share in shares]
    assert again == shares
    found = Results.joined(prepare(SE, Setting(2, 10)), np.array([1, 10]), again)
    assert found.runs == 3
    assert found.regret.tolist() == [[1e-17, 2.0], [0.0, 5.5], [0.1, 1 / 3]]
    assert found.pulls.tolist() == [[10, 0], [5, 5], [4, 6]]
    assert found.eliminated.tolist() == [False, False, True]
    assert found.batches.tolist() == [1, 2, 3]
    assert found.lines == [{"run": 2}]
    assert found.total_regret().mean == pytest.approx((2 + 5.5 + 1 / 3) / 3)
    assert found.time_average()[1][1].mean == pytest.approx((2 + 5.5 + 1 / 3) / 30)
