"""The derived parameters against a second computation: decimal search for g, mpmath for tau."""

from fractions import Fraction
from itertools import count

import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import UndecidedError
from exactdp.mechanisms import DiscreteGaussianSum, DiscreteLaplace, Skellam
from exactdp.mechanisms.additive.papers import (
    InvertedScale,
    published,
    theorem1,
    theorem2,
    theorem4,
    theorem6,
)

REAL = {"epsilon": "0.5", "batch": 2**20, "horizon": 10**9}


def truth(digits=60):
    return mpmath.workdps(digits)


def log2t(horizon=10**9):
    return mpmath.log(2 * mpmath.mpf(horizon))


def test_theorem2_at_a_real_size():
    preset = theorem2(**REAL, scaling=10)
    assert preset.precision == 5120
    with truth():
        tau = int(mpmath.ceil(2 * 10240 * mpmath.sqrt(log2t()) + mpmath.sqrt(2) * log2t()))
    assert preset.accuracy == tau
    assert preset.mechanism.law == Skellam(10240**2)
    assert preset.mechanism.modulus == 2**20 * 5120 + 2 * tau + 1


def test_theorem4_at_a_real_size():
    preset = theorem4(**REAL, scaling=10)
    with truth():
        tau = int(mpmath.ceil(10240 * mpmath.sqrt(2 * log2t())))
    assert preset.accuracy == tau
    assert preset.mechanism.law == DiscreteGaussianSum(2**20, 100)  # 10240^2 / 2^20
    assert preset.mechanism.modulus == 2**20 * 5120 + 2 * tau + 1


def test_theorem6_at_a_real_size():
    preset = theorem6(**REAL)
    with truth():
        best = 1 / mpmath.sqrt(1 - mpmath.exp(-mpmath.mpf(1) / 2))
        tau = int(mpmath.ceil(best * 1024 * mpmath.sqrt(2 * 2**20 * log2t())))
    assert preset.accuracy == tau
    assert preset.mechanism.law == DiscreteLaplace(1024)
    assert preset.mechanism.modulus == 2**20 * 512 + 2 * tau + 1


def test_published_noise_has_the_inverted_parameter():
    preset = published("0.1", 1024)
    assert preset.precision == 4
    assert preset.mechanism.modulus is None
    with truth(40):
        beta = mpmath.exp(-mpmath.mpf(1) / 40)
        scale = preset.mechanism.law.scale
        assert abs(mpmath.exp(-1 / oracles.known(scale)) - (1 - beta)) < mpmath.mpf(10) ** -38
        assert scale == InvertedScale(Fraction(40))
        # the figures that were measured on the published code
        assert round(float(preset.precision / oracles.known(scale)), 1) == 14.8
        assert round(float(512 / oracles.known(published(1, 262144).mechanism.law.scale))) == 3195


@pytest.mark.parametrize(
    ("epsilon", "batch", "g"),
    [
        ("1/3", 9, 1),  # exactly 1: nothing to round
        ("1/3", 10, 2),
        ("0.5", 16, 2),
        ("0.5", 17, 3),
        ("0.1", 10_000, 10),  # 0.1 in floats would be above 1/10
        ("0.1", 10_001, 11),
        ("0.1", 9_999, 10),
        ("1e-9", 1, 1),
        ("1", 10**18 - 1, 10**9),
        ("0.1", 10**18, 10**8),
        ("0.1", 10**18 + 1, 10**8 + 1),
    ],
)
def test_g_at_perfect_squares(epsilon, batch, g):
    assert theorem1(epsilon, batch, 10).precision == g


@given(st.fractions("1/50", 3, max_denominator=50), st.integers(1, 5000))
def test_g_is_the_least_that_reaches_the_root(epsilon, batch):
    expected = next(g for g in count() if Fraction(g) ** 2 >= epsilon**2 * batch)
    assert theorem1(epsilon, batch, 10).precision == expected


@given(st.fractions("1/50", "49/50", max_denominator=50), st.integers(1, 10**6), st.integers(1, 99))
def test_tau_is_the_ceiling(epsilon, batch, horizon):
    preset = theorem1(epsilon, batch, horizon)
    with truth():
        scale = mpmath.mpf(preset.precision) * epsilon.denominator / epsilon.numerator
        exactly = scale * mpmath.log(2 * horizon)
        assert preset.accuracy - 1 < exactly <= preset.accuracy


def test_a_ceiling_that_stays_open_is_said():
    with pytest.raises(UndecidedError, match="tau"):
        theorem1(Fraction(1, 10**3000), 1, 10)
