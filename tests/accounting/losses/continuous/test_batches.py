"""Continuous noise under batches of a fixed size, against what dominates it and is dominated."""

import math
from fractions import Fraction

import numpy as np
import pytest
from sampled_gaussians import (
    sampled_gaussian_delta,
    sampled_gaussian_epsilon,
    sampled_gaussian_renyi,
)

from exactdp import ParameterError
from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms import FixedSize
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.spec import parse

GAUSSIAN = ContinuousNoise(Shape.GAUSSIAN, 1, 1)
BATCHES = FixedSize(GAUSSIAN, 1, 5)


def test_one_use_is_exactly_that_of_the_pair_that_attains_it():
    found = compose(BATCHES).delta("0.3")
    assert found.is_within(Fraction(1, 10**12))
    # q h(1 + (g - 1)/q), h the profile of the Gaussian of mu = 1
    level = math.log1p(5 * math.expm1(0.3))
    tail = [math.erfc(-x / math.sqrt(2)) / 2 for x in (0.5 - level, -0.5 - level)]
    expected = (tail[0] - math.exp(level) * tail[1]) / 5
    assert math.isclose(float(found.lower), expected, rel_tol=1e-12)
    epsilon = compose(BATCHES).epsilon(found.lower)
    assert epsilon.at_most("0.3000000001") and epsilon.at_least("0.2999999999")


def two_way(q: float, mu: float, level: float, times: int, step: float = 0.002) -> float:
    """delta of the pair with the profile both ways round, composed on a grid in floats."""
    count = 3000
    g = np.exp(step * np.arange(-count, count + 1))
    above = np.maximum(g, 1 / g)
    inner = np.log1p((above - 1) / q)
    phi = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2)
    h = q * (phi(mu / 2 - inner / mu) - np.exp(inner) * phi(-mu / 2 - inner / mu))
    heights = np.where(g >= 1, h, 1 - g + g * h)
    slopes = np.concatenate([[(heights[0] - 1) / g[0]], np.diff(heights) / np.diff(g), [0]])
    masses = np.maximum(np.diff(slopes), 0) * g
    total = masses
    for _ in range(times - 1):
        total = np.convolve(total, masses)
    losses = step * np.arange(-count * times, count * times + 1)
    kept = losses > level
    return float(total[kept] @ -np.expm1(level - losses[kept]))


def test_several_uses_lie_between_the_attained_pair_and_the_one_both_ways_round():
    composition = compose((BATCHES, 2))
    found = composition.delta("0.5")
    attained = sampled_gaussian_delta(Fraction(1, 5), 1, 1, 2, "0.5", "remove")
    assert found.lower == attained.lower
    expected = two_way(0.2, 1.0, 0.5, 2)
    assert 1 - 1e-5 <= float(found.upper) / expected < 1.01
    assert found.why
    epsilon = composition.epsilon("1e-3")
    attained = sampled_gaussian_epsilon(Fraction(1, 5), 1, 1, 2, "1e-3", "remove")
    assert epsilon.lower == attained.lower
    assert two_way(0.2, 1.0, float(epsilon.upper), 2) <= 1e-3 * (1 + 1e-4)  # that is above, too
    assert two_way(0.2, 1.0, float(epsilon.upper) * 0.98, 2) > 1e-3


def test_renyi_lies_between_the_attained_pair_and_the_one_both_ways_round():
    found = compose((BATCHES, 3)).renyi("2.5")
    x = np.linspace(-15, 20, 200_001)
    weights = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0])
    r = 0.8 + 0.2 * np.exp(x - 0.5)
    gain = np.where(r > 1, r**2.5 + r**-1.5 - r - 1, 0)
    attained = sampled_gaussian_renyi(Fraction(1, 5), 1, 1, 3, "2.5", "remove")
    assert math.isclose(float(found.lower), float(attained.lower), rel_tol=1e-12)
    assert float(found.upper) >= 3 * math.log1p(float(weights @ gain)) / 1.5
    assert found.upper <= compose((GAUSSIAN, 3)).renyi("2.5").upper


def test_full_batches_are_the_mechanism_itself():
    whole, plain = compose((FixedSize(GAUSSIAN, 7, 7), 3)), compose((GAUSSIAN, 3))
    for one, other in (
        (whole.epsilon("1e-5"), plain.epsilon("1e-5")),
        (whole.delta(1), plain.delta(1)),
        (whole.renyi("1.5"), plain.renyi("1.5")),
        (whole.zcdp(), plain.zcdp()),
    ):
        assert one.hull(other).is_within(Fraction(1, 10**11))


def test_pure_epsilon_of_the_laplace_adds_up_and_the_gaussian_has_none():
    laplace = FixedSize(ContinuousNoise(Shape.LAPLACE, 2, 1), 1, 10)
    expected = 3 * math.log1p(math.expm1(0.5) / 10)
    found = compose((laplace, 3)).pure()
    assert math.isclose(float(found.lower), expected, rel_tol=1e-12)
    assert found.is_within(Fraction(1, 10**12))
    assert compose((laplace, 2)).epsilon("1e-9").upper <= 2 * Fraction(found.upper) / 3
    assert not compose(BATCHES).pure().is_finite()


def test_rho_is_that_without_sampling():
    found = compose((BATCHES, 4)).zcdp()
    assert found.lower == found.upper == 2


def test_specs_name_them():
    assert parse("gaussian:sigma=1,fixed-size=1/5").mechanism == BATCHES
    with pytest.raises(ParameterError, match="replace"):
        parse("laplace:scale=1,neighbours=add-remove,fixed-size=1/5")
    with pytest.raises(ParameterError, match="poisson"):
        parse("gaussian:sigma=1,poisson=0.1,fixed-size=1/5")
