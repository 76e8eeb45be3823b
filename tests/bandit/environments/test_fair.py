from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from exactdp.bandit.environments.clustering import fair_instance
from exactdp.bandit.environments.rewards import RewardTable


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.mark.slow
def test_arms_are_ratings_of_the_survey(folder: Path) -> None:
    found = fair_instance(cache=folder)
    assert found.name == "fair" and len(found.arms) == 50
    quarters = {Fraction(k, 4) for k in range(5)}
    assert all(isinstance(arm, RewardTable) and set(arm.values) <= quarters for arm in found.arms)
    # The figures of the construction: K-means moves a little from machine to machine.
    assert len(found.best) == 1
    assert 0.85 <= found.means.max() <= 0.95
    assert 0.5 <= found.means.min() <= 0.65
    assert 0.005 <= np.sort(found.gaps)[1] <= 0.06


def test_every_rating_is_in_one_arm() -> None:
    fair = pytest.importorskip("statsmodels.datasets.fair")
    ratings = fair.load_pandas().data["rate_marriage"].to_numpy()
    found = fair_instance(2)
    # The two arms' laws, weighted by their sizes n and 6366 - n, are the law of all ratings.
    overall = np.array([np.mean(ratings == k) for k in range(1, 6)])
    laws = []
    for arm in found.arms:
        assert isinstance(arm, RewardTable)
        masses = dict(zip(arm.values, arm.probabilities, strict=True))
        laws.append([float(masses.get(Fraction(k, 4), Fraction(0))) for k in range(5)])
    first, second = np.array(laws)
    share = (overall - second)[0] / (first - second)[0]
    assert 0 < share < 1
    assert share * first + (1 - share) * second == pytest.approx(overall, abs=1e-12)
    assert share * 6366 == pytest.approx(round(share * 6366), abs=1e-6)
