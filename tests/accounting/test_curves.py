"""Profiles and trade-off curves: certified bounds contain curves that are computed otherwise."""

import time
from fractions import Fraction
from itertools import pairwise, product
from math import prod

import matplotlib
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactdp.accounting import compose
from exactdp.accounting.curves import profile, tradeoff
from exactdp.exact import ParameterError, time_limit
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    RandomizedResponse,
    Skellam,
)

matplotlib.use("Agg")

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


def both_ways(p, q):
    return corners(p, q) + corners(q, p)


def columns(size):
    """Two laws on so many outcomes, in twentieths."""
    cuts = st.lists(st.integers(0, 20), min_size=size - 1, max_size=size - 1).map(sorted)

    def law(cut):
        ends = [0, *cut, 20]
        return tuple(Fraction(b - a, 20) for a, b in pairwise(ends))

    return st.tuples(cuts.map(law), cuts.map(law))


@given(columns(4))
def test_tests_on_all_sets_of_outcomes(two):
    p, q = two
    found = compose(FinitePair(("a", "b", "c", "d"), p, q)).tradeoff(ALPHAS)
    points = both_ways(p, q)
    for alpha, beta in zip(found.alphas, found.betas, strict=True):
        assert beta.contains(least_error(points, alpha)), alpha


@settings(max_examples=15)
@given(columns(2))
def test_two_uses(two):
    p, q = two
    found = (2 * compose(FinitePair(("a", "b"), p, q))).tradeoff(ALPHAS)
    points = both_ways(*([prod(each) for each in product(law, repeat=2)] for law in (p, q)))
    for alpha, beta in zip(found.alphas, found.betas, strict=True):
        assert beta.contains(least_error(points, alpha)), alpha


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
    betas = tradeoff(known, alphas, 1).betas
    back = tradeoff(known, [Fraction(beta.upper) for beta in betas], 1)  # f(f(alpha)) <= alpha
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
        betas = tradeoff(profile, ALPHAS, 1).betas
        return max(Fraction(beta.upper) - Fraction(beta.lower) for beta in betas)

    assert widest(fine) < widest(coarse) / 4


def test_the_profile_is_delta():
    m = compose((AdditiveNoise(DiscreteLaplace(10), 1), 9))
    found = m.profile(["0.5", 0, "0.25", "0.5"])
    assert found.epsilons == (0, Fraction(1, 4), Fraction(1, 2))
    for epsilon, delta in zip(found.epsilons, found.deltas, strict=True):
        exact = m.delta(epsilon)
        assert delta.contains(exact.lower) and delta.contains(exact.upper)


@pytest.mark.parametrize(
    "m",
    [
        compose(AdditiveNoise(DiscreteLaplace("0.001"), 1)),  # epsilon = 1000
        compose(RandomizedResponse(0)),
        compose(FinitePair(("a", "b"), ("1", "0"), ("0", "1"))),  # nothing is hidden
    ],
)
def test_extremes_are_drawn(m):
    drawn = m.tradeoff(points=5).plot()
    assert drawn.get_xlabel() == "type I error α"
    assert m.profile(points=5).plot(drawn.figure.subplots()).get_ylabel() == "δ"


def test_the_shaded_region_contains_what_lies_between_the_points():
    m = compose((AdditiveNoise(DiscreteLaplace(10), 1), 30))
    axes = m.profile(points=8).plot()
    low, high = (line.get_xydata() for line in axes.get_lines())
    for k in range(50, 2000, 333):
        true = m.delta(Fraction(low[k][0]))
        assert low[k][1] * (1 - 1e-9) <= float(true.lower) <= float(true) <= high[k][1] * (1 + 1e-9)


def test_no_time_leaves_bounds_that_hold():
    m = compose((AdditiveNoise(Skellam(100), 1), 20))
    with time_limit(0.3):
        found = m.profile(points=4)
    for epsilon, delta in zip(found.epsilons, found.deltas, strict=True):
        exact = m.delta(epsilon, Fraction(1, 10**3))
        oracles.assert_meet(delta, exact)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: m.profile([]), "at least one"),
        (lambda m: m.profile([-1]), "epsilon must be"),
        (lambda m: m.profile(points=1), "points must be"),
        (lambda m: m.tradeoff([]), "at least one"),
        (lambda m: m.tradeoff([2]), "alpha must be"),
        (lambda m: m.tradeoff(points=0), "points must be"),
    ],
)
def test_bad_grids_are_refused(call, says):
    with pytest.raises(ParameterError, match=says):
        call(compose(AdditiveNoise(DiscreteLaplace(10), 1)))


class Slow:
    """Of randomized response with epsilon = 1, each delta after so many seconds."""

    def __init__(self, seconds):
        self.seconds, self.one = seconds, compose(RandomizedResponse(1))

    def delta(self, epsilon, width):
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            pass
        return self.one.delta(epsilon, width)

    def epsilon(self, delta, width):
        return self.one.epsilon(delta, width)


@pytest.mark.parametrize("rings", [True, False])
@pytest.mark.parametrize("seconds", [0.02, 10])
def test_a_profile_that_is_cut_short_is_still_one(seconds, rings):
    places = [Fraction(k, 8) for k in range(9)]
    for asked in (places, None):
        with time_limit(0.2, rings=rings):
            known = profile(Slow(seconds), asked, 21, Fraction(1, 10**4))
        assert len(known.rows()) == len(known.epsilons) == len(known.deltas) <= 21
        assert asked is None or list(known.epsilons) == places
        for epsilon, delta in known.points():
            truth = compose(RandomizedResponse(1)).delta(epsilon)
            assert delta.lower <= truth.upper and truth.lower <= delta.upper
        assert all(b.upper <= a.upper and b.lower <= a.lower for a, b in pairwise(known.deltas))


def test_without_a_limit_every_point_is_there():
    known = profile(Slow(0), None, 21, Fraction(1, 10**4))
    assert len(known.epsilons) == 21
    assert all(delta.is_within(Fraction(1, 10**4)) for delta in known.deltas)
