"""The laws of noise: moments against sums over outcomes, and what the search starts from."""

import numpy as np
import pytest
from flint import arb

from exactdp.bandit.linear.release import deviation, log_moment
from exactdp.mechanisms.laws import DiscreteLaplace, Skellam

LAWS = [Skellam(9), DiscreteLaplace(3), DiscreteLaplace("0.7")]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_moments_are_sums_over_outcomes(law):
    places = np.arange(-700, 701)
    masses = np.exp(law.log_pmf(places))
    found = []
    for s in (0.05, 0.1, 0.2, 0.3):
        truth = np.log((masses * np.exp(s * places)).sum())
        assert float(log_moment(law, arb(s))) == pytest.approx(truth, rel=1e-9)
        found.append(truth / s**2)
    assert found == sorted(found)
    assert deviation(law) == pytest.approx(np.sqrt((masses * places**2).sum()))


def test_moments_end_where_tails_are_as_heavy():
    assert log_moment(DiscreteLaplace(3), arb(1) / 3 + arb(2) ** -40) == arb("inf")
    assert log_moment(DiscreteLaplace(3), arb(1) / 3 - arb(2) ** -40).is_finite()
