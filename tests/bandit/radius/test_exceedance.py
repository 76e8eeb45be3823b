"""The bound of P(D >= k) against exact convolutions, over a grid of pairs of Bernoulli means."""

from functools import cache

import mpmath
import numpy as np
import pytest

from exactdp.bandit.radius.exceedance import comparison
from exactdp.exact.precision import enclose
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace
from exactdp.mechanisms.laws.skellam import Skellam

DEPTH = 30
GRID = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
NOISES = [None, DiscreteLaplace(2), DiscreteLaplace(15), Skellam(4), DiscreteGaussian("1/2")]


@cache
def noise_difference(noise, reach):
    if noise is None:
        return np.array([float(x == 0) for x in range(-reach, reach + 1)])
    masses = np.array([float(noise.pmf(x, 20)) for x in range(-reach, reach + 1)])
    return np.convolve(masses, masses)[reach : 3 * reach + 1]


@cache
def reward_difference(users, worse, better):
    def binomial(chance):
        return np.array(
            [
                float(mpmath.binomial(users, j)) * chance**j * (1 - chance) ** (users - j)
                for j in range(users + 1)
            ]
        )

    return np.convolve(binomial(worse), binomial(better)[::-1])  # from -users to users


def exceeds(users, precision, noise, worse, better, ks):
    """P(D >= k) for each k, in floats: all terms are positive, so to about 1e-13."""
    reach = 400
    noises, rewards = noise_difference(noise, reach), reward_difference(users, worse, better)
    tail = np.cumsum(noises[::-1])[::-1]  # P(Y >= y), y = -reach, ...

    def at_least(y):
        return 1.0 if y <= -reach else (0.0 if y > reach else tail[y + reach])

    return [sum(p * at_least(k - precision * w) for w, p in enumerate(rewards, -users)) for k in ks]


@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(("users", "precision"), [(1, 1), (3, 2), (12, 1), (12, 5)])
def test_the_bound_holds_for_all_means(noise, users, precision):
    compared = comparison(users, precision, noise, DEPTH)
    spread = precision * users + (0 if noise is None else 60)
    ks = sorted({1, 2, 3, *range(1, spread, max(1, spread // 12)), users * precision})
    bounds = [float(enclose(compared.ball(k)).upper) for k in ks]
    assert bounds == sorted(bounds, reverse=True)
    for worse in GRID:
        for better in GRID:
            if worse <= better:
                truths = exceeds(users, precision, noise, worse, better, ks)
                for bound, truth in zip(bounds, truths, strict=True):
                    assert bound >= truth * (1 - 1e-12)
