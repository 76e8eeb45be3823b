"""Profiles and trade-off curves: certified bounds contain curves that are computed otherwise."""

from fractions import Fraction
from itertools import pairwise

import matplotlib
import oracles
import pytest

import exactdp
from exactdp import ParameterError, time_limit

matplotlib.use("Agg")
LAPLACE = "discrete-laplace:scale=10"


@pytest.mark.contract
def test_the_profile_is_delta():
    m = 9 * exactdp.mechanism(LAPLACE)
    found = m.profile(["0.5", 0, "0.25", "0.5"])
    assert found.epsilons == (0, Fraction(1, 4), Fraction(1, 2))
    for epsilon, delta in zip(found.epsilons, found.deltas, strict=True):
        exact = m.delta(epsilon)
        assert delta.contains(exact.lower) and delta.contains(exact.upper)


@pytest.mark.contract
def test_the_shaded_region_contains_what_lies_between_the_points():
    m = 30 * exactdp.mechanism(LAPLACE)
    axes = m.profile(points=8).plot()
    low, high = (line.get_xydata() for line in axes.get_lines())
    for k in range(50, 2000, 333):
        true = m.delta(Fraction(low[k][0]))
        assert low[k][1] * (1 - 1e-9) <= float(true.lower) <= float(true) <= high[k][1] * (1 + 1e-9)


@pytest.mark.contract
def test_no_time_leaves_bounds_that_hold():
    m = 20 * exactdp.mechanism("skellam:variance=100")
    with time_limit(0.3):
        found = m.profile(points=4)
    assert len(found.epsilons) == 4
    assert all(b.upper <= a.upper and b.lower <= a.lower for a, b in pairwise(found.deltas))
    for epsilon, delta in zip(found.epsilons, found.deltas, strict=True):
        oracles.assert_meet(delta, m.delta(epsilon, Fraction(1, 10**3)))


@pytest.mark.contract
def test_a_sampled_gaussian_has_two_directions():
    """sigma = 1/3, rate 1/2, alpha = 1/4: {x > t} and {x < t} are the tests; by mpmath."""
    m = exactdp.mechanism("gaussian:sigma=1/3,neighbours=add-remove,poisson=1/2")
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


@pytest.mark.contract
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
        call(exactdp.mechanism(LAPLACE))
