"""The elimination core against a plain one, user by user and arm by arm."""

from fractions import Fraction

import numpy as np
import pytest
from small_bandits import coins

from exactdp import ParameterError
from exactdp.bandit.algorithms import DIST_DP_SE, SE, VB_SDP_AE
from exactdp.bandit.plan import prepare
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import play


class Scripted:
    """Releases without noise: the sum of a batch is its mean, whatever the release."""

    def __init__(self, shift=0):
        self.shift = shift

    def released(self, release, laws, counts):
        values = []
        for law, count in zip(laws, counts, strict=True):
            value = round(law.mean * release.users * release.precision) + self.shift
            modulus = getattr(getattr(release, "protocol", None), "modulus", None)
            values += [value if modulus is None else value % modulus] * count
        return np.array(values)


def by_hand(means, horizon, radius):
    """Algorithm 1 with l(b) = 2^b on noiseless means: pulls of each arm, and regret a round."""
    active, pulls, regret, best = list(range(len(means))), [0] * len(means), [], max(means)

    def pull(arm, count):
        for _ in range(count):
            if sum(pulls) == horizon:
                return False
            pulls[arm] += 1
            regret.append(best - means[arm])
        return True

    batch = 0
    while True:
        batch += 1
        if len(active) == 1:
            pull(active[0], horizon)
            return pulls, np.cumsum(regret)
        for arm in active:
            if not pull(arm, 2**batch):
                return pulls, np.cumsum(regret)
        beta = radius(batch, len(active))
        top = max(means[arm] for arm in active)
        active = [arm for arm in active if means[arm] + beta >= top - beta]


@pytest.mark.parametrize("horizon", [1, 2, 5, 6, 7, 500, 20_000, 100_003])
def test_pulls_and_regret_are_those_of_algorithm_1(horizon):
    means = (0.125, 0.75, 0.5, 0.625)
    plan = prepare(SE, Setting(4, horizon))

    def radius(batch, active):
        log = np.log(4 * active * batch**2 / 0.1)
        return np.sqrt(log / (2 * 2.0**batch))

    pulls, regret = by_hand(means, horizon, radius)
    played = play(plan, coins(*means), 3, Scripted())
    rounds = np.arange(1, horizon + 1)
    assert played.pulls.tolist() == [pulls] * 3
    assert np.allclose(played.curve.at(rounds), regret, rtol=1e-12, atol=1e-9)


def test_a_batch_that_the_horizon_cuts_is_not_released():
    whole, cut = ([], [])
    for horizon, seen in ((2 * 2 + 2 * 4, whole), (2 * 2 + 2 * 4 - 1, cut)):
        plan = prepare(DIST_DP_SE, Setting(2, horizon, "0.5"))
        played = play(plan, coins(0.5, 0.25), 1, Scripted(), seen.append)
        assert played.pulls.sum() == horizon
    assert [seen.batch.number for seen in whole] == [1, 2]
    assert [seen.batch.number for seen in cut] == [1]


def test_nothing_is_released_once_one_arm_is_left():
    seen = []
    plan = prepare(SE, Setting(2, 10**6))
    played = play(plan, coins(1, 0), 1, Scripted(), seen.append)
    assert seen[-1].stays.tolist() == [True, False]
    assert played.pulls.sum() == 10**6
    assert played.pulls[0, 1] == sum(each.batch.users for each in seen)


@pytest.mark.parametrize("gap", [-1, 0, 1])
def test_an_arm_leaves_just_above_the_radius(gap):
    plan = prepare(DIST_DP_SE, Setting(2, 10**5, "0.5"))
    batch = plan.batch(10, 2)
    limit = Fraction(batch.radius) * 2 * batch.units
    assert batch.threshold <= limit < batch.threshold + 1

    class Apart:
        def released(self, release, laws, counts):
            apart = batch.threshold + gap if release.users == batch.users else 0
            return np.array([apart, 0])

    seen = []
    play(plan, coins(0.5, 0.5), 1, Apart(), seen.append)
    tenth = seen[9]
    assert tenth.stays.tolist() == [True, gap <= 0]


def test_sums_below_zero_are_decoded():
    plan = prepare(DIST_DP_SE, Setting(2, 1000, "0.5"))
    release = plan.batch(4, 2).release
    modulus, tau = release.protocol.modulus, release.protocol.accuracy
    values = np.array([0, modulus - tau - 1, modulus - tau, modulus - 1])
    assert release.decoded(values).tolist() == [0, modulus - tau - 1, -tau, -1]
    assert modulus - tau - 1 == release.users * release.precision + tau


def test_estimates_accumulate_for_the_shuffle_paper_only():
    seen = []
    plan = prepare(VB_SDP_AE, Setting(2, 200, "0.9", delta="0.1"))
    play(plan, coins(1, 0), 1, Scripted(shift=5), seen.append)
    assert [each.batch.units for each in seen] == [2, 6, 14, 30, 62]
    assert [int(each.totals[0]) for each in seen] == [7, 16, 29, 50, 87]
    seen.clear()
    play(prepare(DIST_DP_SE, Setting(2, 200, "0.9")), coins(1, 0), 1, Scripted(), seen.append)
    assert [int(each.totals[0]) for each in seen[:3]] == [2 * 2, 4 * 2, 8 * 3]


def test_an_environment_of_other_arms_is_refused():
    plan = prepare(SE, Setting(3, 100))
    with pytest.raises(ParameterError, match="arms must be those of the environment, 2, got 3"):
        play(plan, coins(0, 1), 1, Scripted())
