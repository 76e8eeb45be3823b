"""Regret over time: exact at every round, whatever the batches."""

import numpy as np

from exactdp.bandit.results import RegretCurve

GAPS = np.array([0.0, 0.5, 0.25])


def test_regret_grows_by_the_gap_of_the_arm_that_is_pulled():
    curve = RegretCurve(GAPS, 2)
    rounds = np.arange(0, 13)
    rows, arms = np.arange(2), np.array([[0, 1, 2]] * 2)
    curve.add(rows, arms, np.array([[2, 1, 3], [0, 2, 0]]))
    curve.add(rows, arms, np.array([[1, 5, 0], [10, 0, 0]]))
    order = [[0, 0, 1, 2, 2, 2, 0, 1, 1, 1, 1, 1], [1, 1] + [0] * 10]
    expected = [np.cumsum([0.0, *GAPS[arms]]) for arms in order]
    assert np.allclose(curve.at(rounds), expected, rtol=1e-15)


def test_long_horizons_lose_no_round():
    curve = RegretCurve(GAPS, 1)
    curve.add(np.arange(1), np.array([[0, 1, 2]]), np.array([[10**12, 3, 0]]))
    assert curve.at(np.array([10**12, 10**12 + 1, 10**12 + 3])).tolist() == [[0, 0.5, 1.5]]
