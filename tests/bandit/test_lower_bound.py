"""The lower bound of regret, against minimisations that know nothing of its closed form."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from exactdp import ParameterError
from exactdp.bandit.algorithms import DIST_DP_KLUCB_DOUBLING
from exactdp.bandit.environments.environment import Environment, drawn_instance
from exactdp.bandit.environments.instance import instance
from exactdp.bandit.environments.rewards import Bernoulli, RewardTable
from exactdp.bandit.lower_bound import Barrier, at_horizon, hardness, lower_bound
from exactdp.bandit.setting import Setting


def kl(x, y):
    return sum(a * math.log(a / b) for a, b in ((x, y), (1 - x, 1 - y)) if a > 0)


def brute(x, y, epsilon):
    """The infimum over a grid of z, and then nearby."""
    grid = np.linspace(x, y, 2001)
    at = [epsilon * (z - x) + kl(z, y) for z in grid]
    k = int(np.argmin(at))
    low, high = grid[max(k - 1, 0)], grid[min(k + 1, 2000)]
    near = minimize_scalar(
        lambda z: epsilon * (z - x) + kl(z, y),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-13},
    )
    return min(min(at), near.fun)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "3", "20"])
@pytest.mark.parametrize(
    ("x", "y"), [("0.7", "0.75"), ("0.25", "0.75"), ("0", "0.5"), ("0.98", "0.99")]
)
def test_the_closed_form_is_the_infimum(x, y, epsilon):
    found = hardness(x, y, epsilon)
    truth = brute(float(x), float(y), float(epsilon))
    assert float(found.lower) <= truth + 1e-12
    assert truth == pytest.approx(float(found.upper), rel=1e-6)
    assert found.is_within(1e-12)


def test_responses_tell_less_than_coins():
    for epsilon in (0.1, 1.0, 4.0):
        grown = math.exp(epsilon)
        x, y = ((1 + mean * (grown - 1)) / (1 + grown) for mean in (0.4, 0.7))
        found = float(hardness("0.4", "0.7", epsilon, Barrier.LOCAL))
        assert found == pytest.approx(min(kl(x, y), brute(0.4, 0.7, epsilon)), rel=1e-6)
        assert found <= float(hardness("0.4", "0.7", epsilon))


def test_arms_add_up_and_best_ones_do_not_count():
    means = (0.75, 0.625, 0.5, 0.375, 0.25, 0.75)
    found = lower_bound(Environment("five", tuple(map(Bernoulli, means))), "0.5")
    truth = sum((0.75 - mean) / brute(mean, 0.75, 0.5) for mean in means[1:5])
    assert float(found.upper) == pytest.approx(truth, rel=1e-6)
    at = at_horizon([found], 10**6)
    assert float(at.upper) == pytest.approx(truth * math.log(10**6), rel=1e-6)
    assert at.lower <= at.upper
    one = drawn_instance(1, 3, sigma=None)
    other = drawn_instance(2, 3, sigma=None)
    two = [lower_bound(each, 1) for each in (one, other)]
    mean = sum(map(float, two)) / 2 * math.log(100)
    assert float(at_horizon(two, 100)) == pytest.approx(mean)


def test_other_rewards_have_no_bound_here():
    assert lower_bound(drawn_instance(1, 3), 1) is None
    for x, y in (("0.5", "0.5"), ("0.6", "0.5"), ("-0.1", "0.5"), ("0.5", "1.1")):
        with pytest.raises(ParameterError):
            hardness(x, y, 1)


def test_tables_of_zeros_and_ones_are_coins():
    table = Environment("tables", (RewardTable(("0", 1), ("1/4", "3/4")), RewardTable((0,), (1,))))
    found = lower_bound(table, "0.5")
    assert float(found.upper) == pytest.approx(0.75 / brute(1e-300, 0.75, 0.5), rel=1e-6)
    other = Environment("other", (Bernoulli("0.5"), RewardTable(("0", "1/2"), ("1/4", "3/4"))))
    assert lower_bound(other, 1) is None


def test_coins_can_be_named():
    named = instance("coins:0.75,1/2")
    assert named.arms == (Bernoulli("0.75"), Bernoulli("0.5"))
    for text in ("coins:", "coins:0.5", "coins:0.5,2", "coins:a,b"):
        with pytest.raises(ParameterError):
            instance(text)
    with pytest.raises(ParameterError, match="arms must be 2"):
        instance("coins:0.5,0.4", arms=3)


@pytest.mark.parametrize("barrier", list(Barrier), ids=lambda each: each.name)
def test_many_arms_are_the_sum_of_each(barrier):
    """As added up in floats, and narrow; a best arm that always pays leaves kl infinite."""
    means = [Fraction(k, 2000) for k in range(300, 1300)]
    place = Environment("many", tuple(map(Bernoulli, means)))
    found = lower_bound(place, "0.5", barrier)
    best = max(place.means.tolist())
    parts = [
        (best - mean) / float(hardness(mean, best, "0.5", barrier))
        for mean in place.means.tolist()[:-1:50]
    ]
    fewer = Environment("some", (*place.arms[:-1:50], place.arms[-1]))
    assert float(lower_bound(fewer, "0.5", barrier)) == pytest.approx(sum(parts), rel=1e-9)
    assert found.is_within(Fraction(1, 10**12))
    assert found.greater_than(lower_bound(fewer, "0.5", barrier).upper)
    sure = Environment("sure", (*fewer.arms, Bernoulli(1)))
    assert (float(lower_bound(sure, "0.5", barrier)) == 0) == (barrier is Barrier.NONE)


@pytest.mark.parametrize("epsilon", ["0.01", "0.1", "1", "8"])
@pytest.mark.parametrize("low", ["0.01", "0.3", "0.9"])
def test_a_first_batch_is_at_most_three_gaps_of_it(epsilon, low):
    """As d is at most epsilon Delta: what docs/bandit.md says of the first batches of indices."""
    horizon = 10**6
    usual = DIST_DP_KLUCB_DOUBLING.usual_confidence(horizon)
    setting = Setting(2, horizon, epsilon, confidence=usual)
    gap = Fraction("0.99") - Fraction(low)
    share = float(hardness(low, "0.99", epsilon).upper) / math.log(horizon)
    ratio = DIST_DP_KLUCB_DOUBLING.schedule(setting, 1, 2) * share
    assert ratio <= (3 + float(epsilon) / math.log(horizon)) * gap
    if (epsilon, low) == ("0.1", "0.01"):
        assert ratio == pytest.approx(2.94, abs=0.005)
