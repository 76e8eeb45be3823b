"""Trade-off curves: certified bounds contain the errors of tests on all sets of outcomes."""

from fractions import Fraction
from itertools import pairwise, product
from math import comb, prod

import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactdp import time_limit
from exactdp.accounting import compose
from exactdp.accounting.composition.tradeoff import further_profiles
from exactdp.accounting.scenario import Use
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.laws import Binomial
from exactdp.mechanisms.sampled import Sampled

ALPHAS = [Fraction(k, 20) for k in range(21)] + [Fraction(1, 1000), Fraction(1, 10**6)]


def corners(p, q):
    """Type I and II errors of the tests that reject P on any set of outcomes."""
    sets = product((0, 1), repeat=len(p))
    return [
        (
            sum((a for a, chosen in zip(p, each, strict=True) if chosen), Fraction(0)),
            sum((b for b, chosen in zip(q, each, strict=True) if not chosen), Fraction(0)),
        )
        for each in sets
    ]


def least_error(points, alpha):
    """The lower convex hull of these points at alpha, by all chords: slow and plain."""
    best = min((beta for x, beta in points if x <= alpha), default=Fraction(1))
    for x, y in points:
        for u, v in points:
            if x < alpha < u:
                best = min(best, y + (v - y) * (alpha - x) / (u - x))
    return best


def assert_errors(found, p, q):
    """Each direction, the smaller of both, and the hull of both."""
    points = corners(p, q) + corners(q, p)
    for k, row in enumerate(found.rows()):
        alpha = row["type_1"]
        one, other = oracles.least_type_2(p, q, alpha), oracles.least_type_2(q, p, alpha)
        assert row["type_2_forward"].contains(one), alpha
        assert row["type_2_backward"].contains(other), alpha
        assert row["type_2"].contains(min(one, other)), alpha
        if k % 4 == 1:
            assert row["symmetric_hull"].contains(least_error(points, alpha)), alpha


def columns(size):
    """Two laws on so many outcomes, in twentieths."""
    cuts = st.lists(st.integers(0, 20), min_size=size - 1, max_size=size - 1).map(sorted)

    def law(cut):
        ends = [0, *cut, 20]
        return tuple(Fraction(b - a, 20) for a, b in pairwise(ends))

    return st.tuples(cuts.map(law), cuts.map(law))


@pytest.mark.slow
@settings(max_examples=10)
@given(columns(4))
def test_tests_on_all_sets_of_outcomes(two):
    p, q = two
    found = compose(FinitePair(("a", "b", "c", "d"), p, q)).tradeoff(ALPHAS)
    assert_errors(found, p, q)


@pytest.mark.slow
@settings(max_examples=6)
@given(columns(2))
def test_two_uses(two):
    p, q = two
    found = (2 * compose(FinitePair(("a", "b"), p, q))).tradeoff(ALPHAS)
    both = [[prod(each) for each in product(law, repeat=2)] for law in (p, q)]
    assert_errors(found, *both)


@pytest.mark.parametrize("delta", ["0", "0.1"])
def test_randomized_response_has_the_curve_of_epsilon_and_delta(delta):
    """Kairouz, Oh, Viswanath, Theorem 2.1: its errors fill the region of (epsilon, delta)-DP."""
    odds = Fraction("2.718281828459045235360287471352662497757247")  # e, below by less than 1e-42
    found = compose(RandomizedResponse(1, delta)).tradeoff(ALPHAS)
    for alpha, beta in zip(found.alphas, found.betas, strict=True):
        rest = 1 - Fraction(delta)
        true = max(Fraction(0), rest - odds * alpha, (rest - alpha) / odds)
        assert beta.at_least(true - Fraction(1, 10**40)) is not False
        assert beta.at_most(true + Fraction(1, 10**40)) is not False
        if alpha:
            assert Fraction(beta.upper) - Fraction(beta.lower) < Fraction(1, 10**9)


@pytest.mark.slow_cases("m2")
@pytest.mark.parametrize(
    "m",
    [
        compose((AdditiveNoise(DiscreteLaplace(3), 1), 7)),
        compose((AdditiveNoise(DiscreteGaussian(9), 2), 3)),
        compose(AdditiveNoise(Skellam(4), 1)),
    ],
)
def test_the_curve_is_symmetric_falls_and_keeps_to_every_epsilon_and_delta(m):
    known, alphas = m.profile(points=12), [Fraction(k, 25) for k in range(26)]
    betas = m.tradeoff(alphas, known=known).betas
    back = m.tradeoff([Fraction(beta.upper) for beta in betas], known=known)  # f(f(alpha)) <= alpha
    inverse = dict(zip(back.alphas, back.betas, strict=True))
    for low, high in pairwise(betas):
        assert low.less_than(high.lower) is not True
    for alpha, beta in zip(alphas, betas, strict=True):
        assert beta.at_most(1 - alpha)
        assert inverse[Fraction(beta.upper)].at_most(alpha) is not False
    for epsilon, odds in (("0.3", "1.349859"), ("1", "2.718282"), ("2.2", "9.025014")):
        level = Fraction(m.delta(epsilon).upper)  # off the grid; odds above e^epsilon
        for alpha, beta in zip(alphas, betas, strict=True):
            assert beta.less_than(1 - level - Fraction(odds) * alpha) is not True


def test_more_points_narrow_it():
    m = compose((AdditiveNoise(DiscreteLaplace(3), 1), 7))
    coarse, fine = (m.profile(points=points) for points in (5, 50))

    def widest(profile):
        betas = m.tradeoff(ALPHAS, known=profile).betas
        return max(Fraction(beta.upper) - Fraction(beta.lower) for beta in betas)

    assert widest(fine) < widest(coarse) / 4


def test_the_smaller_error_is_above_the_symmetric_hull():
    """Columns whose two directions differ, at 0.01: Neyman and Pearson's test has 7/8."""
    found = compose(FinitePair("abcd", (".5", ".3", ".2", "0"), (".1", ".3", ".5", ".1")))
    (row,) = found.tradeoff(["0.01"]).rows()
    assert row["type_2"].contains(Fraction(7, 8)) and row["type_2_forward"].contains(Fraction(7, 8))
    assert row["symmetric_hull"].less_than(row["type_2"].lower) is True


def test_a_sampled_gaussian_has_two_directions():
    """sigma = 1/3, rate 1/2, alpha = 1/4: {x > t} and {x < t} are the tests; by mpmath."""
    m = compose(ContinuousNoise(Shape.GAUSSIAN, "1/3", 1, "add-remove", "1/2"))
    found = m.tradeoff(["0.25"])
    mp = oracles.mpmath.mp

    def upper(x):
        return mp.erfc(x / mp.sqrt(2)) / 2

    with mp.workdps(30):
        mixed = lambda t: (upper(t) + upper(t - 3)) / 2  # noqa: E731
        forward = upper(mp.findroot(lambda t: 1 - mixed(t) - mp.mpf("0.25"), 0.5))
        backward = 1 - mixed(mp.findroot(lambda t: upper(t) - mp.mpf("0.25"), 0.6))
    for enclosures, true in ((found.forward, forward), (found.backward, backward)):
        (one,) = enclosures
        assert one.lower <= Fraction(str(true)) <= one.upper
        assert Fraction(one.upper) - Fraction(one.lower) < Fraction(1, 10)
    assert found.betas[0].lower <= Fraction(str(min(forward, backward))) <= found.betas[0].upper


@pytest.mark.parametrize("modulus", [None, 2, 3, 4])
@pytest.mark.parametrize("rate", ["1", "1/3"])
def test_what_neighbours_choose(modulus, rate):
    """Asymmetric noise, several shifts, sampled or not: the best of all choices is between."""
    noise = AdditiveNoise(Binomial(2, "1/3"), 3, modulus)
    masses = [Fraction(comb(2, k) * 2 ** (2 - k), 9) for k in range(3)]
    share, size = Fraction(rate), modulus or 9

    def shifted(d):
        law = [Fraction(0)] * size
        for k, mass in enumerate(masses):
            law[(k + d) % size] += mass
        return law

    q = shifted(0)
    forward, backward = [], []
    for d in range(-3, 4):
        p = [share * a + (1 - share) * b for a, b in zip(shifted(d), q, strict=True)]
        forward.append((p, q))
        backward.append((q, p))
    m = compose(Sampled(noise, rate) if share < 1 else noise)
    found = m.tradeoff(ALPHAS[::3])
    for alpha, one, other, beta in zip(
        found.alphas, found.forward, found.backward, found.betas, strict=True
    ):
        first = min(oracles.least_type_2(*pair, alpha) for pair in forward)
        second = min(oracles.least_type_2(*pair, alpha) for pair in backward)
        if share == 1:  # every pair is met both ways round
            first = second = min(first, second)
        assert one.contains(first) and other.contains(second), alpha
        assert beta.contains(min(first, second)), alpha


def test_no_time_leaves_curves_that_hold():
    m = compose((Sampled(AdditiveNoise(Skellam(100), 1), "1/2"), 20))
    known = m.profile(points=3, width="0.1")
    with time_limit(0.01, rings=False):
        quick = m.tradeoff(ALPHAS[::5], known=known)
    full = m.tradeoff(ALPHAS[::5], known=known)
    for one, other in zip(quick.betas, full.betas, strict=True):
        oracles.assert_meet(one, other)


@pytest.mark.parametrize(
    ("mechanism", "several"),
    [
        (AdditiveNoise(DiscreteLaplace(2), 3), False),
        (RandomizedResponse(1), False),
        (AdditiveNoise(DiscreteLaplace(2), 3, 16), True),
        (AdditiveNoise(Binomial(9, "1/3")), True),
    ],
)
def test_one_pair_is_told_from_a_choice_of_several(mechanism, several):
    """Else what only all pairs together have would be said to be attained by a test."""
    assert (further_profiles([Use(mechanism, 1)]) > 0) is several
