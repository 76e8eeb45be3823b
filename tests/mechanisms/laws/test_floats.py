"""Draws in floats: their type, their range, and what is refused. Their laws: `test_conformance`."""

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.mechanisms import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    Polya,
    PolyaDifference,
    Skellam,
)

LAWS = [
    DiscreteLaplace(10),
    DiscreteLaplace(10**9),
    Polya("1/3", 10),
    PolyaDifference("0.9", 10**9),
    Skellam(10**15),
    DiscreteGaussian("1e15"),
    DiscreteGaussian("0.1"),
    DiscreteGaussianSum(1000, "1/4"),
    DiscreteGaussianSum(10**6, 100),
    Binomial(10**12, "1/3"),
    FiniteLaw({-(10**9): "1/2", 7: "1/2"}),
]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_draws_are_integers_of_the_right_spread(law):
    for size in (0, 1, 20):
        assert law.simulate(np.random.default_rng(1), size).shape == (size,)
    draws = law.simulate(np.random.default_rng(2), 20_000)
    assert draws.dtype == np.int64
    mean, variance = (float(moment.lower) for moment in law.moments())
    # 7 standard errors of a mean; the fourth moments of these laws are at most 6 + 3 variances
    assert abs(draws.mean() - mean) <= 7 * (variance / 20_000) ** 0.5
    assert np.square(draws - mean).mean() == pytest.approx(variance, rel=7 * (9 / 20_000) ** 0.5)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_generator_determines_the_draws(law):
    one, same, other = (law.simulate(np.random.default_rng(seed), 50) for seed in (3, 3, 4))
    assert (one == same).all() and (one != other).any()


def test_what_floats_cannot_hold_is_refused():
    for law in (
        DiscreteLaplace("1e15"),
        PolyaDifference("1e15", 10**3),
        Binomial(10**400, "1/2"),
        FiniteLaw({10**20: 1}),
    ):
        with pytest.raises(ParameterError, match="too wide"):
            law.simulate(np.random.default_rng(0), 3)
