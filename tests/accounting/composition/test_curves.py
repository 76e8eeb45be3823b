"""Profiles: certified bounds contain curves that are computed otherwise."""

import time
from fractions import Fraction
from itertools import pairwise

import matplotlib
import numpy as np
import oracles
import pytest

from exactdp import Enclosure, ParameterError, Profile, time_limit
from exactdp.accounting import compose
from exactdp.accounting.composition.curves import profile, refined
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteLaplace,
    FinitePair,
    RandomizedResponse,
    Skellam,
)

matplotlib.use("Agg")


def test_the_profile_is_delta():
    m = compose((AdditiveNoise(DiscreteLaplace(10), 1), 9))
    found = m.profile(["0.5", 0, "0.25", "0.5"])
    assert found.epsilons == (0, Fraction(1, 4), Fraction(1, 2))
    for epsilon, delta in zip(found.epsilons, found.deltas, strict=True):
        exact = m.delta(epsilon)
        assert delta.contains(exact.lower) and delta.contains(exact.upper)


@pytest.mark.slow_cases("m0")
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


def test_where_bounds_part_there_are_more_points():
    """On the same number of points the region is far narrower, and contains the truth."""
    m = compose((AdditiveNoise(DiscreteLaplace(10), 1), 30))
    width = Fraction(1, 10**4)
    even, found = m.profile(points=24), refined(m, m.profile(points=8), 16, width)
    assert len(found.epsilons) == 24 and set(m.profile(points=8).epsilons) < set(found.epsilons)
    parts = []
    for curve in (even, found):
        assert all(one.upper >= other.lower for one, other in pairwise(curve.deltas))
        low, high = (line.get_xydata()[:, 1] for line in curve.plot().get_lines())
        parts.append((np.log10(high) - np.log10(low)).max())
    assert parts[1] < 0.7 * parts[0]
    axes = found.plot()
    low, high = (line.get_xydata() for line in axes.get_lines())
    for k in range(5, 2000, 199):
        true = m.delta(Fraction(low[k][0]))
        assert low[k][1] * (1 - 1e-9) <= float(true.lower) <= float(true) <= high[k][1] * (1 + 1e-9)


def test_points_are_added_in_the_time_that_there_is():
    m = compose((AdditiveNoise(Skellam(100), 1), 20))
    with time_limit(0.3):
        known = m.profile(points=4)
        found = refined(m, known, 1000, Fraction(1, 10**4))
    assert len(known.epsilons) == 4 and {known.epsilons[0], known.epsilons[-1]} <= set(
        found.epsilons
    )
    for point in (
        compose(RandomizedResponse(0)),
        compose(FinitePair("ab", ("1", "0"), ("0", "1"))),
    ):
        flat = point.profile(points=5)
        assert len(refined(point, flat, 10, Fraction(1, 100)).epsilons) >= 1


def test_points_that_were_not_reached_are_not_refined_around():
    """As many are added as where they had not been asked for, and at the same places."""
    m, width = compose((AdditiveNoise(DiscreteLaplace(10), 1), 30)), Fraction(1, 10**4)
    few = m.profile([k * 2 for k in range(9)], width=width)
    more = dict(few.points())
    for before, after in pairwise(few.points()):
        more[before[0] + 1] = Enclosure(after[1].lower, before[1].upper)
    many = Profile(tuple(sorted(more)), tuple(more[at] for at in sorted(more)))
    assert refined(m, many, 6, width) == refined(m, few, 6, width)


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
        assert len(known.rows()) == len(known.deltas) == len(asked or range(21))
        assert asked is None or list(known.epsilons) == places
        for epsilon, delta in known.points():
            truth = compose(RandomizedResponse(1)).delta(epsilon)
            assert delta.lower <= truth.upper and truth.lower <= delta.upper
        assert all(b.upper <= a.upper and b.lower <= a.lower for a, b in pairwise(known.deltas))


def test_without_a_limit_every_point_is_there():
    known = profile(Slow(0), None, 21, Fraction(1, 10**4))
    assert len(known.epsilons) == 21
    assert all(delta.is_within(Fraction(1, 10**4)) for delta in known.deltas)
