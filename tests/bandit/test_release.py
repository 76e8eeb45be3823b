"""Releases: sums plus noise of the stated law, mod m, and back."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from exactdp import ParameterError
from exactdp.bandit.environments.gaussian import ClippedGaussian
from exactdp.bandit.environments.table import Bernoulli
from exactdp.bandit.release import LaplaceRelease, ModularRelease, OpenRelease
from exactdp.mechanisms.laws import Binomial, DiscreteLaplace
from exactdp.mechanisms.protocols import SumProtocol, Trust

LEVEL = 1e-6


def rng():
    return np.random.default_rng(4)


def test_noise_is_that_of_the_protocol():
    law = DiscreteLaplace(3)
    release = ModularRelease(SumProtocol(10, 2, 200, 421, law, Trust.CENTRAL))
    sums = np.full(5000, 7)
    noise = release.decoded(release.released(sums, rng())) - 7
    edges = range(-8, 9)
    seen = [np.sum(noise == x) for x in edges]
    mass = [float(law.pmf(x)) for x in edges]
    seen, mass = [*seen, 5000 - sum(seen)], [*mass, 1 - sum(mass)]
    assert stats.chisquare(seen, np.array(mass) * 5000).pvalue > LEVEL


def test_what_leaves_is_reduced():
    release = ModularRelease(SumProtocol(3, 2, 1, 8, DiscreteLaplace(3), Trust.CENTRAL))
    values = release.released(np.full(1000, 3), rng())
    assert set(values.tolist()) == set(range(8))
    assert set(release.decoded(values).tolist()) == {-1, 0, 1, 2, 3, 4, 5, 6}


def test_bits_are_centred_by_their_mean():
    release = ModularRelease(SumProtocol(30, 1, 0, None, Binomial(4, "1/2")))
    assert release.centre == 60
    values = release.decoded(release.released(np.full(4000, 11), rng())) - release.centre - 11
    assert abs(float(np.mean(values.astype(float)))) < 6 * (30 / 4000) ** 0.5


def test_a_modulus_beyond_64_bits_is_refused():
    with pytest.raises(ParameterError, match="modulus must be below 2\\^62"):
        ModularRelease(SumProtocol(2, 1, 0, 1 << 62, DiscreteLaplace(3)))


def test_continuous_noise_is_laplace_of_scale_one_over_epsilon():
    release = LaplaceRelease(100, Fraction(1, 4))
    noise = release.decoded(release.released(np.zeros(5000), rng()))
    assert stats.kstest(noise, stats.laplace(scale=4).cdf).pvalue > LEVEL


def test_open_sums_are_the_rewards():
    release = OpenRelease(1000)
    sums = release.sums(ClippedGaussian("0.5"), rng(), 2000)
    assert (release.released(sums, rng()) == sums).all()
    assert abs(sums.mean() - 500) < 6 * (1000 * 0.01 / 2000) ** 0.5
    assert set(np.unique(OpenRelease(1).sums(Bernoulli(0.5), rng(), 100))) == {0.0, 1.0}
