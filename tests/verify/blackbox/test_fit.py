"""Goodness of fit: true laws pass as often as stated, wrong ones are found, bins are certain."""

import math

import mpmath
import numpy as np
import oracles
import pytest
from known_samplers import laplace, modulo, of_law
from scipy import stats

from exactdp import ParameterError
from exactdp.mechanisms import (
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    FiniteLaw,
    Polya,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.additive import papers
from exactdp.verify.blackbox import SampleVerdict, fit
from exactdp.verify.blackbox.fit import EXPECTED, _fit, _log_p_values, bins_of

VIOLATION, NONE = SampleVerdict.VIOLATION, SampleVerdict.NONE


# -- bins ---------------------------------------------------------------------------------------


@pytest.mark.slow_cases("1000-law3-pmf", "100000-law3-pmf", "30-law3-pmf")
@pytest.mark.parametrize(
    ("law", "truth"),
    [
        (DiscreteLaplace(10), oracles.discrete_laplace(10)),
        (DiscreteLaplace("0.3"), oracles.discrete_laplace("0.3")),
        (DiscreteGaussian(50), oracles.discrete_gaussian(50)),
        (Skellam(50), oracles.skellam(50)),
    ],
)
@pytest.mark.parametrize("samples", [30, 1000, 100_000])
def test_bins_have_the_probabilities_of_the_law(law, truth, samples):
    bins = bins_of(law, samples)
    assert math.isclose(sum(bins.masses), 1, rel_tol=1e-12)
    ends = [-400, *bins.edges, 401]
    for mass, low, high in zip(bins.masses, ends, ends[1:], strict=False):
        exact = mpmath.fsum(truth(x) for x in range(low, high))
        assert abs(mass / exact - 1) < 1e-9
    if len(bins.masses) > 3:
        assert min(bins.masses) * samples >= EXPECTED
    assert len(bins.masses) < 80


def test_an_outcome_that_is_all_but_certain():
    """The published noise for epsilon = 1 and 262,144 users is hardly ever anything but 0."""
    law = papers.published(1, 262_144).mechanism.law
    bins = bins_of(law, 100)
    assert bins.edges == (0, 1)
    assert fit(np.zeros(1000, dtype=int), law).verdict is NONE
    assert fit(np.r_[np.zeros(100, dtype=int), np.ones(20, dtype=int)], law).verdict is VIOLATION


# -- the test itself ----------------------------------------------------------------------------


@pytest.mark.parametrize(("trials", "share"), [(1, 0.5), (12, 0.3), (40, 0.01), (0, 0.7)])
def test_p_values_of_splits_are_valid(trials, share):
    counts = np.arange(trials + 1)
    values = np.exp(
        _log_p_values(counts, np.full_like(counts, trials), np.full(len(counts), share))
    )
    masses = stats.binom.pmf(counts, trials, share)
    for level in values:
        assert masses[values <= level].sum() <= level * (1 + 1e-9)


LAWS = [
    DiscreteLaplace(2),
    DiscreteGaussian("0.5"),
    Skellam(100),
    Binomial(30, "0.2"),
    PolyaDifference("0.05", 8),
    FiniteLaw({0: "0.9", 3: "0.09", 10: "0.01"}),
]


def false_alarms(law, samples, repetitions, error):
    rng = np.random.default_rng(7)
    sampler, bins = of_law(law), bins_of(law, samples)
    return sum(
        _fit(sampler(0, samples, rng), law, bins, error).verdict is VIOLATION
        for _ in range(repetitions)
    )


@pytest.mark.parametrize("law", LAWS[:3])
def test_false_alarms_stay_below_the_error(law):
    assert false_alarms(law, 1000, 200, 0.05) <= 23  # P(Bin(200, 0.05) > 23) = 8e-5


@pytest.mark.slow
@pytest.mark.parametrize("samples", [50, 5000])
@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_stay_below_the_error_in_2000_repetitions(law, samples):
    assert false_alarms(law, samples, 2000, 0.05) <= 139  # P(Bin(2000, 0.05) > 139) = 7e-5


@pytest.mark.slow_cases("law4")
@pytest.mark.parametrize("law", LAWS)
def test_true_laws_pass(law):
    rng = np.random.default_rng(3)
    found = fit(of_law(law)(5, 100_000, rng), law, offset=5)
    assert (found.verdict, found.impossible) == (NONE, 0)
    assert found.p_value > 1e-3
    assert sum(found.counts) == found.samples == 100_000


@pytest.mark.parametrize(
    ("drawn", "law"),
    [
        (DiscreteLaplace("1.9"), DiscreteLaplace(2)),
        (DiscreteGaussian(4), Skellam(4)),
        (Skellam(106), Skellam(100)),
        (PolyaDifference("0.06", 8), PolyaDifference("0.05", 8)),
        (Binomial(30, "0.21"), Binomial(30, "0.2")),
    ],
)
def test_wrong_laws_are_found(drawn, law):
    found = fit(of_law(drawn)(0, 100_000, np.random.default_rng(3)), law)
    assert found.verdict is VIOLATION
    assert found.p_value <= 1e-6


def test_the_published_noise_is_not_the_noise_of_theorem_1():
    published, stated = papers.published("0.1", 1024), papers.theorem1("0.1", 1024, 10**6)
    drawn = of_law(published.mechanism.law)(0, 1000, np.random.default_rng(1))
    assert fit(drawn, stated.mechanism.law).verdict is VIOLATION
    assert fit(drawn, published.mechanism.law).verdict is NONE


def test_outcomes_that_cannot_be():
    law = FiniteLaw({0: "0.5", 2: "0.5"})
    drawn = np.tile([0, 2], 500)
    assert fit(drawn, law).verdict is NONE
    drawn[3] = 1
    found = fit(drawn, law)
    assert (found.verdict, found.impossible, found.p_value) == (VIOLATION, 1, 0.0)
    one = Binomial(5, "0.5")
    assert fit([*of_law(one)(0, 100, np.random.default_rng(1)), 6], one).impossible == 1


def test_what_is_detectable_is_detected():
    """A law whose lower half has gained the stated shift, all else in proportion."""
    law, samples = DiscreteLaplace(3), 5000
    rng = np.random.default_rng(5)
    drawn = of_law(law)(0, 200_000, rng)
    bins = bins_of(law, samples)
    stated = _fit(drawn[:samples], law, bins, 1e-6)
    lows, highs = drawn[drawn < stated.middle], drawn[drawn >= stated.middle]
    below = float(law.cdf(stated.middle - 1).upper) + stated.detectable_shift
    hits = 0
    for _ in range(100):
        low = rng.random(samples) < below
        shifted = np.where(low, rng.choice(lows, samples), rng.choice(highs, samples))
        hits += _fit(shifted, law, bins, 1e-6).verdict is VIOLATION
    assert hits >= 86  # P(Bin(100, 0.95) < 86) = 1e-4


# -- shares, offsets, moduli --------------------------------------------------------------------


def fit_shares(table, share_law, total_law):
    """Every share, and every sum of one row; each of the two tests has half of the error."""
    half = 5e-7
    return fit(table.ravel(), share_law, error=half), fit(table.sum(axis=1), total_law, error=half)


def test_shares_and_their_sum():
    share, total = Polya("1/8", 5), Polya(1, 5)
    rng = np.random.default_rng(2)
    beta = math.exp(-1 / 5)
    drawn = rng.negative_binomial(1 / 8, 1 - beta, (5000, 8))
    found = fit_shares(drawn, share, total)
    assert found[0].verdict is found[1].verdict is NONE
    assert (found[0].samples, found[1].samples) == (40_000, 5000)
    inverted = rng.negative_binomial(1 / 8, beta, (5000, 8))
    assert fit_shares(inverted, share, total)[0].verdict is VIOLATION


def test_correlated_shares_show_in_the_sum():
    rng = np.random.default_rng(2)
    once = rng.negative_binomial(1 / 2, 1 - math.exp(-1 / 5), 5000)
    found = fit_shares(np.column_stack([once, once]), Polya("1/2", 5), Polya(1, 5))
    assert found[1].verdict is VIOLATION


def test_reduced_outputs():
    rng = np.random.default_rng(1)
    drawn = modulo(laplace(0.5), 1001)(7, 10_000, rng)
    assert fit(drawn, DiscreteLaplace(2), offset=7, modulus=1001).verdict is NONE
    assert fit(drawn, DiscreteLaplace(2), offset=8, modulus=1001).verdict is VIOLATION
    with pytest.raises(ParameterError, match="modulus 31"):
        fit(drawn, DiscreteLaplace(2), offset=7, modulus=31)


@pytest.mark.parametrize(
    ("samples", "named"), [([1] * 19, "20"), ([[1] * 30], "shape"), ([0.5] * 30, "integers")]
)
def test_bad_input_is_named(samples, named):
    with pytest.raises(ParameterError, match=named):
        fit(samples, DiscreteLaplace(2))
