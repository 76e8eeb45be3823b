"""Noise for vectors: verified, refuted where a vector within reach says so, and open in between."""

import math
from fractions import Fraction

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from exactdp import ParameterError, PureDP, Verdict, time_limit
from exactdp.accounting.composition.vectors import sides_of
from exactdp.accounting.scenario import Use
from exactdp.exact import decimal_text
from exactdp.mechanisms.reach import Reach
from exactdp.mechanisms.spec import parse
from exactdp.verify import parse_claim
from exactdp.verify.calibration import UnfinishedError
from exactdp.verify.vector_calibration import calibrate_vector, choose_vector

BILLIONTH = Fraction(1, 10**9)


def least_gaussian(epsilon, delta, distance):
    """sigma^2 of the Gaussian mechanism, in floats (Balle and Wang, 2018)."""

    def excess(sigma):
        a, b = distance / (2 * sigma), epsilon * sigma / distance
        return norm.cdf(a - b) - math.exp(epsilon) * norm.cdf(-a - b) - delta

    return brentq(excess, distance / 100, distance * 100, xtol=1e-12) ** 2


def checked(found):
    """What holds of every answer."""
    assert found.verified.verdict is Verdict.VERIFIED
    assert 0 < found.value - found.neighbour <= BILLIONTH * found.value
    assert found.below.verdict is not Verdict.VERIFIED
    for audit in (found.verified, found.below):
        assert audit.measured.lower <= audit.measured.upper
    if found.failing is not None:
        value, audit = found.failing
        assert value <= found.neighbour
        assert audit.verdict is Verdict.REFUTED
        assert audit.measured.lower > audit.claim.bound
    return found


@pytest.mark.parametrize("times", [pytest.param(1, marks=pytest.mark.slow), 10])
def test_discrete_gaussians_need_what_the_gaussian_needs(times):
    """At a variance of hundreds they are the same but for the lattice."""
    family = choose_vector("discrete-gaussian", 4, 100)
    found = checked(calibrate_vector(family, parse_claim("approx:1,1e-5"), times))
    expected = least_gaussian(1, 1e-5, 4 * math.sqrt(times))
    assert abs(float(found.value) / expected - 1) < 2e-3
    assert found.failing is not None
    assert float(found.failing[0]) > 0.98 * expected


@pytest.mark.slow
@pytest.mark.parametrize("claim", ["gdp:0.5", "zcdp:0.01", "approx:1,1e-5"])
def test_skellam_is_least_in_between(claim):
    found = checked(calibrate_vector(choose_vector("skellam", 4, None), parse_claim(claim)))
    assert found.failing is not None
    assert found.failing[0] > found.value * Fraction(9, 10)


@pytest.mark.slow
def test_gdp_needs_little_more_than_the_gaussian():
    """Whose variance is (4 / 0.5)^2; in any dimension."""
    family = choose_vector("skellam", 4, 10**6)
    with time_limit(10):
        found = checked(calibrate_vector(family, parse_claim("gdp:0.5")))
    assert 64 <= found.value < Fraction(65)


def test_more_uses_need_more():
    family, claim = choose_vector("discrete-gaussian", 4, None), parse_claim("zcdp:0.1")
    with time_limit(4):
        one, four = (calibrate_vector(family, claim, times).value for times in (1, 4))
    assert one * Fraction(39, 10) < four < one * Fraction(41, 10)


def test_out_of_time_says_so():
    family = choose_vector("skellam", 4, None)
    with pytest.raises(UnfinishedError, match="the time is over"), time_limit(0.001):
        calibrate_vector(family, parse_claim("gdp:0.4937"))  # not known from elsewhere


@pytest.mark.parametrize("name", ["discrete-laplace", "skellam:modulus=16", "skelam"])
def test_other_noise_is_refused(name):
    with pytest.raises(ParameterError, match="NAME must be skellam or discrete-gaussian"):
        choose_vector(name, 4, None)


def test_a_single_number_is_refused():
    with pytest.raises(ParameterError, match="one coordinate"):
        choose_vector("skellam", 4, 1)
    with pytest.raises(ParameterError, match="one coordinate"):
        choose_vector("skellam", 1, 100)


def test_targets_that_none_or_all_meet_are_refused():
    family = choose_vector("skellam", 4, None)
    with pytest.raises(ParameterError):
        calibrate_vector(family, parse_claim("approx:1,1"))
    with pytest.raises(ParameterError, match="no variance"):
        calibrate_vector(family, parse_claim("gdp:1e-9"))


@pytest.mark.parametrize(
    "more", [{"rounding": "stochastic"}, {"poisson": "1/2"}, {"rounding": "nearest"}]
)
def test_the_spec_is_of_the_mechanism(more):
    family = choose_vector("skellam", 4, 100, **more)
    assert parse(family.spec(Fraction(90))).mechanism == family.build(Fraction(90))


@pytest.mark.slow
def test_rounding_at_random_needs_about_what_unrounded_vectors_need():
    """The longest vector that may be sent is 17 times as long."""
    family = choose_vector("skellam", 64, 2**20, "stochastic")
    claim = parse_claim("rdp:8,1")
    with time_limit(10):
        found = checked(calibrate_vector(family, claim))
    assert 64**2 * 4 * 0.99 < found.value < 64**2 * 4 * 1.01
    sides = sides_of([Use(family.build(found.neighbour), 1)])
    assert sides.renyi(claim.order).upper > claim.bound >= found.verified.measured.upper


@pytest.mark.slow
def test_nothing_but_delta_may_be_asked_for():
    family = choose_vector("skellam", 4, None)
    with time_limit(3):
        found = calibrate_vector(family, parse_claim("approx:0,0.3"))
    assert found.verified.verdict is Verdict.VERIFIED


@pytest.mark.parametrize(("l1", "epsilon"), [(4, "0.5"), ("7", "1/3"), ("2.5", 1)])
def test_vectors_of_a_sum_of_moves_are_calibrated_by_it(l1, epsilon):
    """Discrete Laplace noise in every coordinate costs |v|_1/scale, the moves whole numbers."""
    family = choose_vector("discrete-laplace", None, None, l1=l1)
    found = checked(calibrate_vector(family, PureDP(epsilon)))
    truth = math.floor(Fraction(l1)) / Fraction(epsilon)
    assert truth <= found.value <= truth * (1 + Fraction(1, 10**8))
    assert found.below.verdict is Verdict.REFUTED
    assert f"l1={decimal_text(Fraction(l1))}" in family.spec(found.value)


def test_both_norms_bound_the_vector():
    family = choose_vector("skellam", 4, None, l1=6)
    assert family.reach == Reach(4, 6)
    assert "l2=4,l1=6" in family.spec(Fraction(1))
    with pytest.raises(ParameterError, match="rounding is for vectors of a norm l2"):
        choose_vector("skellam", 4, 3, "stochastic", l1=6)
    with pytest.raises(ParameterError, match="skellam or discrete-gaussian for vectors"):
        choose_vector("discrete-laplace", 4, None)


@pytest.mark.parametrize(
    ("name", "claim", "least"),
    [("discrete-gaussian", "zcdp:0.1", "45"), ("discrete-gaussian", "rdp:2,0.2", "45")],
)
def test_what_is_below_the_least_is_not_verified(name, claim, least):
    """Where more is known of the vector than what dominates it."""
    found = calibrate_vector(choose_vector(name, 3, None), parse_claim(claim))
    assert found.value == Fraction(least)
    assert found.below.verdict is Verdict.REFUTED
