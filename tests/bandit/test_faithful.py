"""Every user through R, S and A, against sums drawn in one go: the same law.

Two-sample tests (Kolmogorov and Smirnov; conservative for discrete laws) at the level 1e-6, with
fixed seeds; the last tests show what they would find.
"""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from exactdp import ParameterError
from exactdp.bandit.algorithms import ALGORITHMS, CDP_SE, DIST_DP_SE, LDP_SE, SE
from exactdp.bandit.environments.environment import Environment
from exactdp.bandit.environments.gaussian import ClippedGaussian
from exactdp.bandit.environments.rewards import Bernoulli, drawn_sums
from exactdp.bandit.plan import prepare
from exactdp.bandit.release import ModularRelease
from exactdp.bandit.setting import Setting
from exactdp.bandit.simulation import play
from exactdp.bandit.source import Aggregator, Faithful, Simulated
from exactdp.mechanisms.laws import DiscreteLaplace
from exactdp.mechanisms.samplers.bits import SeededBits
from exactdp.protocols import SumProtocol, Trust

LEVEL = 1e-6
LAW = ClippedGaussian("0.4", "0.3")
SETTING = Setting(2, 200, "0.9", delta="0.1", scaling=2)


def faithful(seed=1, aggregator=Aggregator.PLAIN):
    return Faithful(np.random.default_rng(seed), SeededBits(seed), aggregator)


def simulated(seed=2):
    return Simulated(np.random.default_rng(seed))


def decoded(source, release, count, law=LAW):
    return release.decoded(source.released(release, [law], [count]))


@pytest.mark.quick_cases(8)
@pytest.mark.slow_cases("ldp-se")
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
def test_released_values_have_the_same_law(algorithm):
    release = algorithm.release(SETTING, 4)
    one_by_one = decoded(faithful(), release, 1000)
    at_once = decoded(simulated(), release, 20_000)
    assert stats.ks_2samp(one_by_one, at_once).pvalue > LEVEL


@pytest.mark.parametrize("algorithm", [DIST_DP_SE, CDP_SE, LDP_SE], ids=lambda each: each.name)
def test_sums_wrap_around_alike(algorithm):
    """With a small modulus, and little accuracy, values wrap often."""
    protocol = algorithm.release(SETTING, 4).protocol
    m = protocol.users * protocol.precision + 2
    tight = SumProtocol(4, protocol.precision, 1, m, protocol.noise, protocol.trust)
    release = ModularRelease(tight)
    one_by_one, at_once = decoded(faithful(), release, 400), decoded(simulated(), release, 20_000)
    assert min(one_by_one) == -1 == min(at_once)
    assert stats.ks_2samp(one_by_one, at_once).pvalue > LEVEL


@pytest.mark.slow
def test_pulls_have_the_same_law():
    plan = prepare(DIST_DP_SE, Setting(2, 300, 3, confidence="0.99"))
    environment = Environment("coins", (Bernoulli(0.1), Bernoulli(0.85)))
    slow = play(plan, environment, 150, faithful()).pulls[:, 0]
    fast = play(plan, environment, 20_000, simulated()).pulls[:, 0]
    assert len(np.unique(fast)) > 2  # both arms leave, or none, at several batches
    assert stats.ks_2samp(slow, fast).pvalue > LEVEL


def test_masks_change_nothing():
    pytest.importorskip("cryptography")
    release = DIST_DP_SE.release(SETTING, 4)
    plain = faithful(7).released(release, [LAW], [3])
    masked = faithful(7, Aggregator.MASKED).released(release, [LAW], [3])
    assert plain.tolist() == masked.tolist()


@pytest.mark.parametrize("wrong", [Fraction(1, 2), Fraction(2)])
def test_noise_of_another_scale_would_be_found(wrong):
    protocol = CDP_SE.release(SETTING, 4).protocol
    other = DiscreteLaplace(protocol.noise.scale * wrong)
    g, tau, m = protocol.precision, protocol.accuracy, protocol.modulus
    release = ModularRelease(SumProtocol(4, g, tau, m, other, Trust.CENTRAL))
    one_by_one = decoded(faithful(), release, 1500)
    at_once = decoded(simulated(), ModularRelease(protocol), 20_000)
    assert stats.ks_2samp(one_by_one, at_once).pvalue < LEVEL


def test_rewards_that_are_not_rounded_at_random_would_be_found():
    class Rounded:
        def draw(self, rng, size):
            return np.round(LAW.draw(rng, size))

    release = LDP_SE.release(Setting(2, 200, 100), 4)
    one_by_one = decoded(faithful(), release, 1500, Rounded())
    at_once = decoded(simulated(), release, 20_000)
    assert stats.ks_2samp(one_by_one, at_once).pvalue < LEVEL


class _Own:
    """A law of one's own, whose rewards are not what they must be."""

    def __init__(self, reward, mean=0.5):
        self.reward, self.mean = reward, mean

    def draw(self, rng, size):
        return np.full(size, self.reward)

    def sums(self, rng, precision, count, size):
        return drawn_sums(self, rng, precision, count, size)

    def real_sums(self, rng, count, size):
        return self.draw(rng, size * count).reshape(size, count).sum(axis=1)


@pytest.mark.parametrize("reward", [1.5, -0.1, float("nan")])
@pytest.mark.parametrize("algorithm", [DIST_DP_SE, SE], ids=lambda each: each.name)
def test_rewards_out_of_range_are_refused(algorithm, reward):
    release = algorithm.release(SETTING, 8)
    rng = np.random.default_rng(0)
    for source in (Simulated(rng), Faithful.seeded(rng, Aggregator.PLAIN)):
        with pytest.raises(ParameterError, match=r"rewards must be in \[0, 1\], got some from"):
            source.released(release, [_Own(reward)], [2])
        assert len(source.released(release, [_Own(1.0)], [2])) == 2
    with pytest.raises(ParameterError, match=r"the mean of arm 1 is 1[.]5"):
        _ = Environment("own", (_Own(0.5), _Own(0.5, mean=1.5))).gaps
