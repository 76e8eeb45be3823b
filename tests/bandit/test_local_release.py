"""Reports that users randomise: their law, their privacy, and what identification finds in them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from small_bandits import coins

from exactdp import ParameterError
from exactdp.bandit.algorithms import HALVINGS, named
from exactdp.bandit.environments.rewards import Bernoulli, RewardTable
from exactdp.bandit.identification.identify import identify, ready
from exactdp.bandit.instances import Fixed
from exactdp.bandit.privacy import privacy
from exactdp.bandit.release import LocalRelease
from exactdp.bandit.run import Config
from exactdp.bandit.setting import Setting

LOCAL = named("local-lucb")


@pytest.mark.parametrize("law", [Bernoulli("0.3"), RewardTable([0, "0.6"], ["0.5", "0.5"])])
def test_reports_are_as_many_as_randomised_response_makes(law):
    release, rng = LocalRelease(12, Fraction(1)), np.random.default_rng(4)
    seen = release.released(release.sums(law, rng, 20_000), rng)
    flips = 1 / (1 + math.e)
    chances = stats.binom.pmf(np.arange(13), 12, flips + (1 - 2 * flips) * 0.3)
    counts = np.bincount(seen.astype(int), minlength=13)
    few = chances * 20_000 < 10
    observed = np.append(counts[~few], counts[few].sum())
    expected = np.append(chances[~few], chances[few].sum()) * 20_000
    assert stats.chisquare(observed, expected).pvalue > 1e-6
    with pytest.raises(ParameterError, match="rewards must be 0 or 1"):
        release.released(np.array([0.5]), rng)


def test_the_means_of_reports_are_moved_to_the_safe_side():
    release, environment = LocalRelease(5, Fraction(1, 2)), coins("0.9", "0.9", "0.5", "0")
    near, far = (release.reports(environment, apart).means for apart in (-1, 1))
    flips = 1 / (1 + math.exp(0.5))
    assert near == pytest.approx(flips + (1 - 2 * flips) * environment.means, abs=1e-14)
    assert (near[:2] < far[:2]).all() and (near[2:] > far[2:]).all()
    assert release.reports(environment, -1).best == (0, 1)


def test_every_report_is_private_by_itself_and_a_returning_user_pays_for_each():
    config = Config(LOCAL, Setting(3, "1e4", "0.5"), Fixed(coins("0.9", "0.5", "0.3")))
    plan = ready(config).plan
    once = privacy(plan)
    assert once.trust == "local" and str(once.claim) == "pure:0.5"
    assert once.once.upper <= Fraction(1, 2) and once.once.lower > 0.4999
    back = privacy(plan, 4, "1e-6")
    assert back.together.upper <= 2 and back.one_sum == back.together and back.epsilon.upper <= 2


def test_the_best_arm_is_found_within_the_bounds_of_its_reports():
    config = Config(LOCAL, Setting(3, "1e6", 1), Fixed(coins("0.9", "0.5", "0.3")))
    found = identify(config, 60, 2)
    assert found.wrong == found.undecided == 0
    time = found.time().mean
    assert float(found.least) < time < found.most < 10 * time
    assert found.results.pulls.sum(axis=1).max() <= found.most
    open_ = identify(Config(named("lucb"), config.setting, config.instances), 60, 2)
    assert time > 2 * open_.time().mean  # reports tell less than rewards


def test_the_error_of_a_fixed_budget_is_below_the_bound_of_its_reports():
    algorithm = next(each for each in HALVINGS if each.name == "local-halving")
    config = Config(algorithm, Setting(2, 200, 1), Fixed(coins("0.7", "0.5")))
    found = identify(config, 2000, 5)
    flips = 1 / (1 + math.e)
    high, low = (
        stats.binom.pmf(np.arange(101), 100, flips + (1 - 2 * flips) * m) for m in (0.7, 0.5)
    )
    truth = sum(high[k] * low[k + 1 :].sum() for k in range(100))  # equal sums: the first arm
    least, most = found.error_interval(1 - 1e-6)
    assert least <= truth <= most and truth <= found.error.upper <= 8 * truth
