"""Norms of noise: against enumerations and draws, never below, seldom much above."""

import itertools
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from flint import arb
from scipy.stats import binom, skellam

from exactdp.bandit.linear.contribution import Contribution
from exactdp.bandit.linear.radius import _log_sphere, error_bound, matrix_bound
from exactdp.mechanisms.laws import DiscreteLaplace, Skellam

VARIANCE, SCALE = 9, 4


def _release(dimension, variance=VARIANCE):
    return SimpleNamespace(contribution=Contribution(dimension, SCALE, 40), noise=Skellam(variance))


def _coordinate(batches, users):
    """The law of one coordinate of W: noise, and rounding halves up or down."""
    reach = 12 * int((batches * VARIANCE + users) ** 0.5)
    noise = skellam.pmf(
        np.arange(-reach, reach + 1), batches * VARIANCE / 2, batches * VARIANCE / 2
    )
    rounding = binom.pmf(np.arange(users + 1), users, 0.5)
    places = np.arange(-reach, reach + users + 1) - users / 2
    return places, np.convolve(noise, rounding)


def _quantile(values, masses, failure):
    order = np.argsort(-values)
    beyond = np.cumsum(masses[order])
    return values[order][np.searchsorted(beyond, failure)]


@pytest.mark.parametrize(("batches", "users"), [(1, 0), (1, 20), (3, 40)])
@pytest.mark.parametrize("failure", [Fraction(1, 1000), Fraction(1, 10**8)])
def test_one_dimension_is_enumerated(batches, users, failure):
    places, masses = _coordinate(batches, users)
    truth = _quantile(np.abs(places), masses, float(failure)) * 5 / (3 * SCALE)
    found = matrix_bound(_release(1), batches, users, failure)
    assert truth <= found <= 1.35 * truth
    first, second = np.meshgrid(places, places)
    both = np.outer(masses, masses).ravel()
    for norm in (Fraction(1, 2), Fraction(2)):
        errors = np.abs(5 / 4 * first - 5 / 3 * float(norm) * second).ravel() / SCALE
        truth = _quantile(errors, both, float(failure))
        assert truth <= error_bound(_release(1), batches, users, norm, failure) <= 1.35 * truth


@pytest.mark.parametrize("batches", [1, 4])
@pytest.mark.parametrize("failure", [Fraction(1, 1000), Fraction(1, 10**8)])
def test_one_dimension_of_heavier_noise_is_enumerated(batches, failure):
    """Its tails are as heavy as e^(-|x|/scale): two batches and more by convolution."""
    law = DiscreteLaplace(3)
    one = masses = np.exp(law.log_pmf(np.arange(-150, 151)))
    for _ in range(batches - 1):
        masses = np.convolve(masses, one)
    places = np.arange(len(masses)) - len(masses) // 2
    release = SimpleNamespace(contribution=Contribution(1, SCALE, 40), noise=law)
    truth = _quantile(np.abs(places), masses, float(failure)) * 5 / (3 * SCALE)
    assert truth <= matrix_bound(release, batches, 0, failure) <= 1.6 * truth
    first, second = np.meshgrid(places, places)
    both = np.outer(masses, masses).ravel()
    for norm in (Fraction(1, 2), Fraction(2)):
        errors = np.abs(5 / 4 * first - 5 / 3 * float(norm) * second).ravel() / SCALE
        truth = _quantile(errors, both, float(failure))
        assert truth <= error_bound(release, batches, 0, norm, failure) <= 1.6 * truth


@pytest.mark.parametrize("norm", [1, 4])
def test_noise_that_is_far_from_gaussian_is_enumerated(norm):
    """Of variance 1/50 an outcome of 3 is far likelier than e^(-9/(2/50))."""
    places, failure = np.arange(-12, 13), Fraction(1, 10**9)
    masses = skellam.pmf(places, 0.01, 0.01)
    first, second = np.meshgrid(places, places)
    errors = np.abs(5 / 4 * first - 5 / 3 * norm * second).ravel() / SCALE
    truth = _quantile(errors, np.outer(masses, masses).ravel(), float(failure))
    found = error_bound(_release(1, Fraction(1, 50)), 1, 0, Fraction(norm), failure)
    assert truth <= found <= 2 * truth


def test_a_matrix_is_enumerated():
    places, masses = _coordinate(1, 4)
    kept = masses > 1e-12
    triples = itertools.product(zip(places[kept], masses[kept], strict=True), repeat=3)
    found = np.array([(a * a + b * b + c * c, p * q * r) for (a, p), (b, q), (c, r) in triples])
    norms = np.sqrt(found[:, 0]) * 5 / (3 * SCALE)
    for failure in (Fraction(1, 1000), Fraction(1, 10**6)):
        truth = _quantile(norms, found[:, 1], float(failure))
        assert truth <= matrix_bound(_release(2), 1, 4, failure) <= 1.3 * truth


@pytest.mark.parametrize("law", [Skellam(VARIANCE), DiscreteLaplace(2)], ids=["skellam", "laplace"])
@pytest.mark.parametrize(("dimension", "norm"), [(2, 1), (5, 3), (12, 1)])
def test_more_dimensions_are_drawn(dimension, norm, law):
    rng, count, failure = np.random.default_rng(dimension), 6000, Fraction(1, 50)
    release = SimpleNamespace(contribution=Contribution(dimension, SCALE, 40), noise=law)
    batches, users = 2, 10
    size = release.contribution.size
    drawn = sum(law.simulate(rng, count * size) for _ in range(batches)).reshape(count, size)
    noise = drawn + rng.binomial(users, 0.5, (count, size)) - users / 2
    theta = rng.standard_normal(dimension)
    theta *= norm / np.linalg.norm(theta)
    read = [release.contribution.unscaled(row) for row in noise / SCALE]
    matrices = np.array([np.linalg.norm(matrix) for matrix, _ in read])
    errors = np.array([np.linalg.norm(vector - matrix @ theta) for matrix, vector in read])
    for values, bound in (
        (matrices, matrix_bound(release, batches, users, failure)),
        (errors, error_bound(release, batches, users, Fraction(norm), failure)),
    ):
        assert (values > bound).mean() <= float(failure)
        most = 1.4 if isinstance(law, Skellam) else 3  # s ends where the moments do
        assert bound <= most * np.quantile(values, 1 - float(failure))


def test_means_over_the_sphere_are_from_below():
    for x in (0.1, 1.0, 10.0, 300.0):
        one, three = (float(_log_sphere(size, arb(x))) for size in (1, 3))
        assert one == pytest.approx(np.logaddexp(x, -x) - np.log(2), rel=1e-12)
        assert three == pytest.approx(x + np.log(-np.expm1(-2 * x)) - np.log(2 * x), rel=1e-12)
    drawn = np.random.default_rng(0).standard_normal((200_000, 6))
    first = drawn[:, 0] / np.linalg.norm(drawn, axis=1)
    assert float(_log_sphere(6, arb(3))) == pytest.approx(
        np.log(np.exp(3 * first).mean()), abs=0.01
    )
