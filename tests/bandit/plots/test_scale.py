"""How large the runs are, and where they are looked at."""

import numpy as np
import pytest

from exactdp.bandit.plots.pictures import FULL, QUICK, Place, Scale


def test_the_papers_sizes():
    assert FULL.runs == 20
    papers = {Place.EASY: 10**6, Place.HARD: 10**7, Place.RATINGS: 10**6}
    assert dict(FULL.horizons) == papers | {Place.COINS: 10**6}
    assert (FULL.growth, FULL.arms, FULL.confidence * 10) == (2, 10, 1)


@pytest.mark.parametrize("scale", [FULL, QUICK], ids=["full", "quick"])
@pytest.mark.parametrize("place", Place)
def test_checkpoints_are_whole_rounds_at_about_equal_ratios(scale, place):
    rounds, horizon = scale.rounds(place), scale.horizons[place]
    assert rounds.dtype == np.int64
    assert (rounds[0], rounds[-1]) == (horizon // 10**4, horizon)
    ratios = rounds[1:] / rounds[:-1]
    assert 1.08 < ratios.min() <= ratios.max() < 1.12


@pytest.mark.parametrize("horizon", [1, 2, 37, 9999])
def test_short_runs_are_shown_from_the_first_round(horizon):
    rounds = Scale(1, {Place.EASY: horizon}).rounds(Place.EASY)
    assert (rounds[0], rounds[-1]) == (1, horizon)
    assert (np.diff(rounds) > 0).all()
