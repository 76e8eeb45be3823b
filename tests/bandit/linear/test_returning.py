"""Users of several batches: against Gaussian noise in closed form, and what pure DP adds up to."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from exactdp import ParameterError
from exactdp.bandit.linear.release import certified_release, returning
from exactdp.bandit.linear.setting import LinearSetting

DELTA = Fraction(1, 10**6)


def _gaussian(mu):
    def excess(epsilon):
        below = np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        return norm.cdf(mu / 2 - epsilon / mu) - below - float(DELTA)

    return brentq(excess, 0, 100)


@pytest.fixture(scope="module")
def releases():
    return {
        name: certified_release(LinearSetting(3, 2000, 1, release=name))
        for name in ("skellam", "discrete-laplace")
    }


@pytest.mark.slow_cases("2")
@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("batches", [1, 2, 7])
def test_batches_cost_about_what_gaussian_noise_costs_and_are_certified(releases, batches):
    one = releases["skellam"]
    found = returning(one, batches, DELTA, 7)
    truth = _gaussian(batches**0.5 / one.deviation)
    assert (
        found.epsilon.lower <= truth * 1.001 and truth * 0.999 <= found.epsilon.upper < 1.02 * truth
    )
    assert found.pure is None and found.batches == batches
    content = found.certificate.content
    assert content["uses"][0]["times"] == str(batches)
    assert float(content["claim"]["epsilon"]) <= 1.001 * float(found.epsilon.upper)
    assert found.certificate.check().valid


@pytest.mark.slow
def test_pure_epsilons_add_up_and_delta_makes_less_of_them(releases):
    found = returning(releases["discrete-laplace"], 5, DELTA, 7)
    assert found.pure.lower <= 5 and found.pure.upper <= 5
    assert found.epsilon.upper < found.pure.lower and found.certificate.check().valid


@pytest.mark.parametrize("batches", [0, 8, "two"])
def test_more_batches_than_there_are_is_refused(releases, batches):
    with pytest.raises(ParameterError, match="returning"):
        returning(releases["skellam"], batches, DELTA, 7)
