"""Releases: sums plus noise of the stated law, mod m, and back."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from exactdp import ParameterError
from exactdp.bandit.release import LaplaceRelease, ModularRelease
from exactdp.mechanisms.laws import Binomial, DiscreteLaplace
from exactdp.protocols import SumProtocol, Trust

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
