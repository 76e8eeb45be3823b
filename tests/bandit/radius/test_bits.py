"""The majorant of the noise's tail, and the bound that it gives for bits."""

import numpy as np
import pytest

from exactdp.bandit.radius.exceedance import comparison, envelope
from exactdp.bandit.radius.noise import tails
from exactdp.bandit.radius.plan import ContinuousLaplace
from exactdp.exact.precision import enclose
from exactdp.mechanisms.laws.binomial import Binomial
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace
from exactdp.mechanisms.laws.skellam import Skellam

DEPTH = 30
REACH = 600
GRID = np.array([0, 0.2, 0.5, 0.8, 1])
NOISES = [None, DiscreteLaplace(2), DiscreteLaplace(9), Skellam(30), DiscreteGaussian("1/2")]


def exceeding(noise):
    """x -> P(Y >= x) in floats, from the convolution of the noise with its mirror image."""
    masses = np.zeros(2 * REACH + 1)
    if noise is None:
        masses[REACH] = 1
    else:
        for x in range(-REACH // 2, REACH // 2 + 1):
            masses[x + REACH] = float(noise.pmf(x, 20))
        masses = np.convolve(masses, masses[::-1])[REACH : 3 * REACH + 1]
    tail = np.cumsum(masses[::-1])[::-1]
    return lambda x: (
        tail[np.clip(np.asarray(x, dtype=int) + REACH, 0, 2 * REACH)] * (np.asarray(x) <= REACH)
    )


def binomial(users, chance):
    if chance in (0, 1):
        return np.array([float(j == users * chance) for j in range(users + 1)])
    return np.array([float(Binomial(users, float(chance)).pmf(j, 20)) for j in range(users + 1)])


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_the_majorant_is_above_the_tail_and_close(noise):
    found, at_least = envelope(tails(noise, DEPTH)), exceeding(noise)
    xs = np.arange(-200, 201)
    knots = np.array(found.knots, dtype=float)
    values = float(found.ground.mid()) + np.maximum(xs[:, None] - knots, 0) @ found.floats
    values += np.where(xs > 0, float(found.gap.mid()), 0)
    truth = at_least(-xs)
    assert np.all(values >= truth - 1e-12)
    assert np.all(values <= 1.03 * truth + 2.0**-DEPTH + 1e-12)


def test_the_majorant_of_continuous_noise():
    found = envelope(tails(ContinuousLaplace(10), DEPTH))
    xs = np.linspace(-150, 150, 1201)
    tail = (2 + abs(xs) / 10) * np.exp(-abs(xs) / 10) / 4
    truth = np.where(xs <= 0, tail, 1 - tail)
    knots = np.array(found.knots, dtype=float)
    values = float(found.ground.mid()) + np.maximum(xs[:, None] - knots, 0) @ found.floats
    values += np.where(xs > 0, float(found.gap.mid()), 0)
    assert np.all(values >= truth - 1e-12)
    assert np.all(values <= 1.1 * truth + 1e-8)


@pytest.mark.quick_cases(4)
@pytest.mark.slow_cases(
    "30-1-DiscreteGaussian(sigma2=Fraction(1, 2))",
    "30-1-DiscreteLaplace(scale=Fraction(2, 1))",
    "30-1-DiscreteLaplace(scale=Fraction(9, 1))",
    "30-1-None",
    "30-1-Skellam(variance=Fraction(30, 1))",
    "30-4-DiscreteGaussian(sigma2=Fraction(1, 2))",
    "30-4-DiscreteLaplace(scale=Fraction(2, 1))",
    "30-4-DiscreteLaplace(scale=Fraction(9, 1))",
    "30-4-None",
    "30-4-Skellam(variance=Fraction(30, 1))",
    "4-3-Skellam(variance=Fraction(30, 1))",
)
@pytest.mark.parametrize("noise", NOISES, ids=str)
@pytest.mark.parametrize(("users", "precision"), [(1, 1), (4, 3), (30, 1), (30, 4)])
def test_the_bound_holds_for_all_means_and_is_sharp(noise, users, precision):
    compared, at_least = comparison(users, precision, noise, DEPTH, True), exceeding(noise)
    differences = precision * np.arange(-users, users + 1)
    for k in sorted({1, 2, 5, 20, 50, 90, users * precision // 2 + 1, users * precision}):
        bound = float(enclose(compared.ball(k)).upper)
        tail = at_least(k - differences)
        for worse in GRID:
            for better in GRID[worse <= GRID]:
                masses = np.convolve(binomial(users, worse), binomial(users, better)[::-1])
                assert masses @ tail <= bound * (1 + 1e-12)
        worst = np.convolve(binomial(users, 0.5), binomial(users, 0.5)[::-1]) @ tail
        assert bound <= 1.05 * worst + 1e-8
        general = comparison(users, precision, noise, DEPTH).ball(k)
        assert bound <= float(general.mid()) * (1 + 1e-6)
