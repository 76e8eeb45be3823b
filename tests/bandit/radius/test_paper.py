from fractions import Fraction

import mpmath
import numpy as np
import pytest

from exactdp.bandit.radius.paper import (
    NoiseScale,
    discrete_gaussian_scale,
    discrete_laplace_scale,
    local_scale,
    paper_radius,
    sajed_sheffet_epoch,
    shuffle_radius,
    shuffle_variance,
    skellam_scale,
)
from exactdp.bandit.radius.plan import RadiusPlan


def plan(batches, **changed):
    told = {"arms": 4, "horizon": 10**6, "confidence": "0.1"} | changed
    return RadiusPlan(
        batches=batches, noises=[None] * len(batches), precisions=[1] * len(batches), **told
    )


def test_equation_two_as_written():
    sigma, h, p = 3.5, 0.75, mpmath.mpf("0.1")
    table = paper_radius(plan([2, 4, 8]), [NoiseScale(sigma, h)] * 3)
    assert table.shape == (3, 5)
    assert np.all(np.isinf(table[:, 0]))
    for b in (1, 2, 3):
        for active in range(1, 5):
            n = 2**b
            two = mpmath.log(2 * active * b**2 / p)
            four = mpmath.log(4 * active * b**2 / p)
            beta = mpmath.sqrt(four / (2 * n)) + sigma * mpmath.sqrt(two) / n + h * two / n
            assert table[b - 1, active] == pytest.approx(float(beta), rel=1e-13)


def test_the_constants_of_the_proofs():
    assert discrete_laplace_scale(Fraction("0.1")) == NoiseScale(
        pytest.approx(14.142135623730951), pytest.approx(10)
    )
    assert skellam_scale(Fraction("0.5"), Fraction(10)) == NoiseScale(
        pytest.approx(4 + 0.28284271247461906), pytest.approx(0.2)
    )
    assert discrete_gaussian_scale(Fraction("0.5"), Fraction(10)) == NoiseScale(
        pytest.approx(3.1112698372208096), 0
    )
    c = 1 / mpmath.sqrt(1 - mpmath.exp(-0.5))
    expected = float((c * mpmath.sqrt(2 * 64) + mpmath.sqrt(2)) / mpmath.mpf("0.5"))
    assert local_scale(Fraction("0.5"), 64) == NoiseScale(pytest.approx(expected), 0)


def test_epochs_of_sajed_and_sheffet():
    # e = 2, |S| = 3, beta = 0.1, epsilon = 0.1: the sampling term decides
    log8, log4 = mpmath.log(8 * 3 * 4 / 0.1), mpmath.log(4 * 3 * 4 / 0.1)
    sampling, noise = 32 * log8 * 16, 8 * log4 * 4 / 0.1
    assert sampling > noise
    users, radius = sajed_sheffet_epoch(2, 3, Fraction("0.1"), Fraction("0.1"))
    assert users == int(mpmath.ceil(sampling + 1))
    r = users
    assert radius == pytest.approx(float(mpmath.sqrt(log8 / (2 * r)) + log4 / (r * 0.1)))
    # and for epsilon = 0.001 the noise does
    assert sajed_sheffet_epoch(2, 3, Fraction("0.1"), Fraction("0.001"))[0] == int(
        mpmath.ceil(8 * log4 * 4 / mpmath.mpf("0.001") + 1)
    )


@pytest.mark.parametrize(("trials", "success"), [(50, "1/2"), (400, "1/20"), (10**6, "1/5000")])
def test_the_sub_gaussian_variance_of_binomial_noise_is_the_least(trials, success):
    q = Fraction(success)
    found = shuffle_variance(trials, q)
    chance = mpmath.mpf(q.numerator) / q.denominator

    def needed(x):  # 2 log M(x)/x²
        m = mpmath.log(1 - chance + chance * mpmath.exp(x)) - chance * x
        return float(2 * trials * m / x**2)

    tried = [needed(mpmath.mpf(k) / 50) for k in range(-600, 1200) if k]
    assert max(tried) <= found * (1 + 1e-9)
    assert max(tried) >= found * (1 - 1e-3)


def test_the_shuffle_radius_as_written():
    made = plan([8, 16, 24], cumulative=True)
    tau, variance = 1e4, 500.0
    table = shuffle_radius(made, [variance] * 3, tau)
    for t, n in ((1, 8), (2, 16), (3, 24)):
        sigma, log = mpmath.sqrt(variance), mpmath.log(10**6)
        expected = (2 * mpmath.sqrt(t) * sigma / n + 1 / mpmath.sqrt(n)) * mpmath.sqrt(2 * log)
        assert np.allclose(table[t - 1, 1:], float(expected), rtol=1e-13)


def test_the_variance_is_capped_where_the_error_is_only_sub_exponential():
    made = plan([8], cumulative=True)
    capped = shuffle_radius(made, [1e9], 1e4)
    assert np.array_equal(capped[:, 1:], shuffle_radius(made, [1.5e4], 1e4)[:, 1:])
    # but not for horizons for which that is not proved
    small = shuffle_radius(made, [1e9], 1.0)
    assert np.all(small[:, 1:] > shuffle_radius(made, [1.5], 1.0)[:, 1:])
