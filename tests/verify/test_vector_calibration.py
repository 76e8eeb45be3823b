"""Noise for vectors: verified, refuted where a vector within reach says so, and open in between."""

import math
from fractions import Fraction

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import exactdp
from exactdp import OutOfTimeError, ParameterError, Verdict, time_limit

pytestmark = pytest.mark.contract
BILLIONTH = Fraction(1, 10**9)


def least_gaussian(epsilon, delta, distance):
    """sigma^2 of the Gaussian mechanism, in floats (Balle and Wang, 2018)."""

    def excess(sigma):
        a, b = distance / (2 * sigma), epsilon * sigma / distance
        return norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b) - delta

    return brentq(excess, distance / 100, distance * 100, xtol=1e-12) ** 2


def least(name, claim, times=None, **norms):
    """With what holds of every answer."""
    found = exactdp.calibrate(name, claim, times=times, **norms)
    assert found.verified.verdict is Verdict.VERIFIED
    assert 0 < found.value - found.neighbour <= BILLIONTH * found.value
    assert found.below.verdict is not Verdict.VERIFIED
    for audit in (found.verified, found.below):
        assert audit.measured.lower <= audit.measured.upper
    if found.failing is not None:
        value, audit = found.failing
        assert value <= found.neighbour and audit.verdict is Verdict.REFUTED
        assert audit.measured.lower > audit.claim.bound
    return found


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.slow), 10])
def test_discrete_gaussians_need_what_the_gaussian_needs(times):
    """At a variance of hundreds they are the same but for the lattice."""
    found = least("discrete-gaussian", "approx:1,1e-5", times, l2=4, dimension=100)
    expected = least_gaussian(1, 1e-5, 4 * math.sqrt(times))
    assert abs(float(found.value) / expected - 1) < 2e-3
    assert found.failing is not None and float(found.failing[0]) > 0.98 * expected


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["gdp:0.5", "zcdp:0.01", "approx:1,1e-5"])
def test_skellam_is_least_in_between(claim):
    found = least("skellam", claim, l2=4)
    assert found.failing is not None and found.failing[0] > found.value * Fraction(9, 10)


@pytest.mark.slow
def test_gdp_needs_little_more_than_the_gaussian():
    """Whose variance is (4 / 0.5)^2; in any dimension."""
    assert 64 <= least("skellam", "gdp:0.5", l2=4, dimension=10**6).value < 65


def test_out_of_time_says_so():
    with pytest.raises(OutOfTimeError, match="the time is over"), time_limit(0.001):
        exactdp.calibrate("skellam", "gdp:0.4937", l2=4)  # not known from elsewhere


@pytest.mark.parametrize(
    ("name", "claim", "norms", "told"),
    [
        ("discrete-laplace", "zcdp:1", {"l2": 4}, "skellam or discrete-gaussian"),
        ("skellam:modulus=16", "zcdp:1", {"l2": 4}, "'modulus' does not go with a norm"),
        ("skelam", "zcdp:1", {"l2": 4}, "NAME must be skellam or discrete-gaussian"),
        ("skellam", "zcdp:1", {"l2": 4, "dimension": 1}, "one coordinate"),
        ("skellam", "zcdp:1", {"l2": 1, "dimension": 100}, "one coordinate"),
        ("skellam", "approx:1,1", {"l2": 4}, "variance"),
        ("skellam", "gdp:1e-9", {"l2": 4}, "no variance"),
        ("skellam", "zcdp:1", {"l2": 4, "l1": 6, "dimension": 3, "rounding": "stochastic"},
         "rounding is for vectors of a norm l2"),
    ],
)  # fmt: skip
def test_what_has_no_least_is_refused(name, claim, norms, told):
    with pytest.raises(ParameterError, match=told):
        exactdp.calibrate(name, claim, **norms)


@pytest.mark.slow
def test_rounding_at_random_needs_about_what_unrounded_vectors_need():
    """The longest vector that may be sent is 17 times as long."""
    with time_limit(20):
        found = least("skellam", "rdp:8,1", l2=64, dimension=2**20, rounding="stochastic")
    assert 64**2 * 4 * 0.99 < found.value < 64**2 * 4 * 1.01


@pytest.mark.parametrize(("l1", "epsilon"), [(4, "0.5"), ("7", "1/3"), ("2.5", 1)])
def test_vectors_of_a_sum_of_moves_are_calibrated_by_it(l1, epsilon):
    """Discrete Laplace noise in every coordinate costs |v|_1/scale, the moves whole numbers."""
    found = least("discrete-laplace", f"pure:{epsilon}", l1=l1)
    truth = math.floor(Fraction(l1)) / Fraction(epsilon)
    assert truth <= found.value <= truth * (1 + Fraction(1, 10**8))
    assert found.below.verdict is Verdict.REFUTED


@pytest.mark.parametrize("claim", ["zcdp:0.1", "rdp:2,0.2"])
def test_what_is_below_the_least_is_not_verified(claim):
    """Where more is known of the vector than what dominates it."""
    found = least("discrete-gaussian", claim, l2=3)
    assert found.value == 45 and found.below.verdict is Verdict.REFUTED
