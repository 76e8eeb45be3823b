"""Exact delta(epsilon) of vectors by enumeration, never above the Gaussian envelope's."""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import pytest
from scipy.special import ive, log_ndtr
from scipy.stats import norm

from exactdp.accounting.envelope import shift_parameter, unit_parameter
from exactdp.mechanisms.laws import DiscreteGaussian, DiscreteLaplace, Law, Skellam

ROUNDING = 1 + 1e-9  # all sums have positive terms only
LEVELS = np.linspace(0, 6, 61)


def gaussian_delta(mu: float, level: float) -> float:
    near, far = log_ndtr(mu / 2 - level / mu), level + log_ndtr(-mu / 2 - level / mu)
    return float(-np.exp(near) * np.expm1(far - near))


def table(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes and probabilities, by the definition."""
    if isinstance(law, DiscreteLaplace):
        outcomes = np.arange(-400, 401)
        masses = np.exp(-np.abs(outcomes) / float(law.scale))
    elif isinstance(law, Skellam):
        variance = float(law.variance)
        outcomes = np.arange(-int(12 * variance**0.5) - 20, int(12 * variance**0.5) + 21)
        masses = ive(np.abs(outcomes), variance)
    else:
        sigma2 = float(law.sigma2)
        outcomes = np.arange(-int(12 * sigma2**0.5) - 8, int(12 * sigma2**0.5) + 9)
        masses = np.exp(-(outcomes.astype(float) ** 2) / (2 * sigma2))
    return outcomes, masses / masses.sum()


def losses(law: Law, shift: int) -> tuple[np.ndarray, np.ndarray]:
    """The loss log p(x)/p(x + shift) of X - shift against X, and how likely it is."""
    outcomes, masses = table(law)
    inside = slice(0, len(outcomes) - shift)
    return np.log(masses[inside] / masses[shift:]), masses[inside]


def delta_of(loss: np.ndarray, masses: np.ndarray, level: float) -> float:
    above = loss > level
    return float(-(masses[above] * np.expm1(level - loss[above])).sum())


def product(law: Law, vector: list[int]) -> tuple[np.ndarray, np.ndarray]:
    def joined(one, other):
        return np.add.outer(one[0], other[0]).ravel(), np.multiply.outer(one[1], other[1]).ravel()

    return reduce(joined, (losses(law, abs(v)) for v in vector))


def lattice(law: DiscreteGaussian, vector: list[int], uses: int) -> tuple[np.ndarray, np.ndarray]:
    """For discrete Gaussians the loss is (|v|^2 + 2 <v, X>)/(2 sigma2): convolve <v, X>."""
    outcomes, masses = table(law)
    reach, total = outcomes[-1], np.ones(1)
    for v in vector * uses:
        spread = np.zeros(2 * reach * abs(v) + 1)
        spread[:: abs(v)] = masses
        total = np.convolve(total, spread)
    half = (len(total) - 1) // 2
    square = uses * sum(v * v for v in vector)
    return (square + 2 * np.arange(-half, half + 1)) / (2 * float(law.sigma2)), total


def assert_below(law: Law, vector: list[int], uses: int, found, near: float | None = None) -> None:
    norm_of_v = math.sqrt(uses * sum(v * v for v in vector))
    mu = float(unit_parameter(law)) * norm_of_v
    apart = math.sqrt(uses * sum(float(shift_parameter(law, v)) ** 2 for v in vector))
    assert apart <= mu * ROUNDING
    for level in LEVELS * max(mu, 0.05):
        truth = delta_of(*found, level)
        if truth < 1e-13:
            break
        assert truth <= gaussian_delta(apart, level) * ROUNDING
        if near and truth >= 1e-12:  # in the distance: what noise could be saved
            assert gaussian_delta(mu / near, level) <= truth * ROUNDING


@pytest.mark.parametrize("seed", range(12))
def test_discrete_gaussian_vectors_in_six_dimensions(seed):
    rng = np.random.default_rng(seed)
    law = DiscreteGaussian(str(rng.choice(["0.3", "1", "7", "25", "60"])))
    vector = [int(v) for v in rng.integers(1, 4, rng.integers(1, 7))]
    uses = int(rng.integers(1, 5))
    near = 1 + 1 / float(law.sigma2) if law.sigma2 >= 25 else None
    assert_below(law, vector, uses, lattice(law, vector, uses), near)


@pytest.mark.parametrize(
    ("law", "vector", "uses"),
    [
        (Skellam("0.2"), [1, -2, 1], 1),
        (Skellam(2), [1, 1], 1),
        (Skellam(2), [3, -1, 2], 1),
        (Skellam(25), [1, 2], 1),
        (Skellam(25), [-4], 2),
        (Skellam(100), [1], 2),
        (DiscreteLaplace(1), [1, 1], 1),
        (DiscreteLaplace(2), [3, -2], 1),
        (DiscreteGaussian(2), [2, 1, 1], 1),
    ],
    ids=str,
)
def test_vectors_by_enumeration(law, vector, uses):
    near = None
    if isinstance(law, Skellam) and law.variance >= 25:
        near = 1 + 6 / float(law.variance)  # far out its loss grows slower than the Gaussian's
    assert_below(law, vector, uses, product(law, vector * uses), near)


@pytest.mark.parametrize("law", [Skellam(3), DiscreteGaussian("0.4"), DiscreteLaplace(2)], ids=str)
def test_no_smaller_parameter_would_do(law):
    """At level 0 a unit shift costs exactly what the Gaussian does."""
    mu = float(unit_parameter(law))
    assert delta_of(*losses(law, 1), 0) == pytest.approx(2 * norm.cdf(mu / 2) - 1, rel=1e-12)


def test_the_two_ways_to_one_truth_agree():
    law = DiscreteGaussian(2)
    for level in (0.0, 0.3, 2.0):
        one, other = product(law, [2, 1]), lattice(law, [2, 1], 1)
        assert delta_of(*one, level) == pytest.approx(delta_of(*other, level), rel=1e-11)
