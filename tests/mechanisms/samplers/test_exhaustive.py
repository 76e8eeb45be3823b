"""The samplers of integers only, through all their choices: laws are bracketed, not estimated.

Each layer on the one below it, which has its own test here: numbers below a bound on single bits,
coins on numbers below a bound, and geometric and Gaussian variables on coins.
"""

from fractions import Fraction
from functools import cache
from importlib import import_module

import mpmath
import pytest
from exhaustive import exhaust

from exactdp.mechanisms import Binomial, DiscreteGaussian, DiscreteLaplace, FiniteLaw, Polya
from exactdp.mechanisms.samplers import Table, rounded
from exactdp.mechanisms.samplers.coins import below, bernoulli, coin_exp
from exactdp.mechanisms.samplers.geometric import geometric


def bracketed(sample, truth, narrow):
    """Do the bounds contain every probability, and leave less than `narrow` open?"""
    found, left = exhaust(sample, narrow)
    assert left <= narrow
    for outcome, lower in found.items():
        rounding = mpmath.mpf(10) ** -40
        assert lower - rounding <= truth(outcome) <= lower + left + rounding


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(50):
        yield


@pytest.fixture
def choices(monkeypatch):
    """Let `below` be one choice of the path, instead of trying bits."""
    for name in ("coins", "geometric"):
        module = import_module(f"exactdp.mechanisms.samplers.{name}")
        monkeypatch.setattr(module, "below", lambda bound, path: path.below(bound))


@pytest.fixture
def coins(choices, monkeypatch):
    """Let `coin_exp` be one choice as well."""
    module = import_module("exactdp.mechanisms.samplers.geometric")
    monkeypatch.setattr(
        module, "coin_exp", lambda n, d, path: path.coin(mpmath.exp(-mpmath.mpf(n) / d))
    )


@pytest.fixture
def laplace(coins, monkeypatch):
    """Let a discrete Laplace variable be one choice; outcomes beyond 12 stay open."""

    @cache
    def masses(numerator, denominator):
        law = DiscreteLaplace(Fraction(numerator, denominator))
        return [law.pmf(x) for x in range(-12, 13)]

    def choose(numerator, denominator, path):
        return path.choose(masses(numerator, denominator)) - 12

    monkeypatch.setattr(
        import_module("exactdp.mechanisms.samplers.geometric"),
        "discrete_laplace_exp",
        choose,
    )


def real(value):
    value = Fraction(value)
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8, 11])
def test_uniform(bound):
    bracketed(lambda bits: below(bound, bits), lambda _: real(Fraction(1, bound)), 0.02)


@pytest.mark.parametrize("p", ["0", "1", "1/2", "1/3", "5/7"])
def test_rational_coins(choices, p):
    truth = {True: real(p), False: 1 - real(p)}
    bracketed(lambda bits: bernoulli(p, bits), truth.get, 1e-9)


@pytest.mark.parametrize("gamma", ["0", "1/4", "1/3", "2/3", "1", "3/2", "2", "7/3"])
def test_exponential_coins(choices, gamma):
    truth = {True: mpmath.exp(-real(gamma)), False: 1 - mpmath.exp(-real(gamma))}
    bracketed(lambda bits: coin_exp(*Fraction(gamma).as_integer_ratio(), bits), truth.get, 1e-3)


@pytest.mark.parametrize("scale", ["1/3", "1", "2", "3/2", "5"])
def test_geometric(coins, scale):
    law = Polya(1, scale)
    bracketed(lambda bits: geometric(Fraction(scale), bits), law.pmf, 0.02)


@pytest.mark.parametrize("scale", ["1/2", "1", "2", "5/3"])
def test_discrete_laplace(coins, scale):
    law = DiscreteLaplace(scale)
    bracketed(law.sampler(), law.pmf, 0.2)


@pytest.mark.slow_cases("1")
@pytest.mark.parametrize("sigma2", ["1/2", "1", "2", "5"])
def test_discrete_gaussian(laplace, sigma2):
    law = DiscreteGaussian(sigma2)
    bracketed(law.sampler(), law.pmf, 0.12)


def test_finite(choices):
    law = FiniteLaw({-3: "1/7", 0: "2/7", 5: "1/2", 6: "1/14"})
    bracketed(law.sampler(), law.pmf, 1e-9)
    table = Table((Fraction(1, 4), Fraction(0), Fraction(3, 4)))
    assert exhaust(table.draw, 0) == ({0: 0.25, 2: 0.75}, 0)


def test_fair_coins_are_counted():
    found, left = exhaust(Binomial(10, "1/2").sampler(), 0)
    assert left < 1e-40
    assert found == {k: mpmath.binomial(10, k) / 1024 for k in range(11)}


@pytest.mark.parametrize("reward", ["0", "0.3", "1/3", "5/7", "1"])
def test_rounding_has_the_right_mean(choices, reward):
    found, left = exhaust(lambda bits: rounded(reward, 4, bits), 0)
    mean = sum(x * p for x, p in found.items())
    assert abs(mean - 4 * real(reward)) < 1e-40
    assert left < 1e-40


def test_a_wrong_sampler_is_not_bracketed(coins):
    def wrong(bits):  # -0 is not refused
        size = geometric(Fraction(1), bits)
        return size if bits.take(1) else -size

    with pytest.raises(AssertionError):
        bracketed(wrong, DiscreteLaplace(1).pmf, 1e-3)
