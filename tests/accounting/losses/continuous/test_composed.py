"""Composed sampled mechanisms, against slow quadrature and inversion, and against each other."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from attrs import evolve
from continuous_truth import by_inversion, closed, renyi, single_gaussian, two_gaussians
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from sampled_gaussians import (
    sampled_gaussian_delta,
    sampled_gaussian_epsilon,
    sampled_gaussian_renyi,
)
from scipy.signal import fftconvolve

from exactdp import Enclosure, ParameterError
from exactdp.accounting.composition.composed import compose
from exactdp.accounting.divergences import gaussian
from exactdp.accounting.losses.composite import Composite, saddle_at
from exactdp.accounting.losses.continuous.composed import (
    composed_pure,
    composed_renyi,
    sampled_gaussian,
    sampled_laplace,
)
from exactdp.accounting.losses.continuous.inversion import Profile, plan
from exactdp.accounting.losses.mixed import delta as composed_delta
from exactdp.accounting.losses.mixed import epsilon as composed_epsilon
from exactdp.exact import working_precision
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

BOTH = ("remove", "add")
WIDE = Fraction(1, 10**6)


def number(end) -> mpf:
    value = Fraction(end)
    return mpf(value.numerator) / value.denominator


def holds(found: Enclosure, truth: mpf, error: float) -> bool:
    """Is the truth, known up to a relative error, inside?"""
    slack = abs(truth) * error
    return number(found.lower) <= truth + slack and truth - slack <= number(found.upper)


# -- one use --------------------------------------------------------------------------------------


@pytest.mark.slow_cases(
    "0.01-1-0.3-remove", "0.5-5-0-add", "0.5-5-0-remove", "0.9-0.2-3-remove", "1e-6-0.5-1e-6-remove"
)
@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(
    ("rate", "noise", "level"),
    [("0.01", "1", "0.3"), ("0.5", "5", "0"), ("1e-6", "0.5", "1e-6"), ("0.9", "0.2", "3")],
)
def test_one_use_holds_the_quadrature(rate, noise, level, direction):
    with mp.workdps(40):
        q, t, gamma = mpf(rate), mpf(noise), mpmath.exp(mpf(level))
        truth = single_gaussian(q, t, gamma, direction == "remove")
        found = sampled_gaussian_delta(rate, noise, 1, 1, level, direction)
        assert holds(found, truth, 1e-20) or abs(truth) < mpf(10) ** -30
        assert found.is_within(Fraction(1, 10**12))


@pytest.mark.slow_cases(
    "0.01-1-1.001-add",
    "0.01-1-1.001-remove",
    "0.01-1-1.5-add",
    "0.01-1-1.5-remove",
    "0.01-1-2-remove",
    "0.5-4-1.001-add",
    "0.5-4-1.001-remove",
    "0.5-4-1.5-add",
    "0.5-4-1.5-remove",
    "0.5-4-2-remove",
    "1e-4-0.6-1.001-add",
    "1e-4-0.6-1.001-remove",
    "1e-4-0.6-1.5-add",
    "1e-4-0.6-1.5-remove",
    "1e-4-0.6-2-add",
    "1e-4-0.6-2-remove",
)
@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(
    "order",
    ["1.001", "1.5", "2"] + [pytest.param(one, marks=pytest.mark.slow) for one in ("17.3", "128")],
)
@pytest.mark.parametrize(("rate", "noise"), [("0.01", "1"), ("0.5", "4"), ("1e-4", "0.6")])
def test_renyi_holds_the_quadrature(rate, noise, order, direction):
    with mp.workdps(40):
        truth = 7 * renyi(mpf(rate), mpf(noise), mpf(order), direction == "remove")
        found = sampled_gaussian_renyi(rate, noise, 1, 7, order, direction)
        assert holds(found, truth, 1e-16)
        assert found.is_within(Fraction(1, 10**12))


def test_renyi_without_sampling_is_exact():
    found = sampled_gaussian_renyi(1, 2, 3, 5, 4, "remove")
    assert found.contains(Fraction(5 * 4 * 9, 8))


# -- several uses ---------------------------------------------------------------------------------

TABLE = [  # rate, noise, times, and epsilon at 1e-5 and 1e-10 (remove), by others' inversion
    ("0.01", "1", 1000, 1.8282367, 3.2904438),
    ("256/60000", "1.1", 14062, 2.3815969, 3.7358386),
    ("0.001", "0.8", 10000, 0.7823878, 2.1921719),
    ("0.1", "2", 100, 2.3373996, 3.8291493),
    ("0.5", "5", 64, 3.4890280, 5.3561675),
]


@pytest.mark.parametrize(("rate", "noise", "times", "coarse", "fine"), TABLE)
def test_published_settings_agree_with_an_inversion_in_floats(rate, noise, times, coarse, fine):
    for delta, epsilon in (("1e-5", coarse), ("1e-10", fine)):
        found = sampled_gaussian_epsilon(rate, noise, 1, times, delta, "remove")
        assert found.is_within(Fraction(1, 10**12))
        assert abs(float(found.upper) - epsilon) < 1e-7


@pytest.mark.slow_cases(
    "parts0-2.3-5-25-0.1-add",
    "parts0-2.3-5-25-0.1-remove",
    "parts2-1.8-6-28-0.1-add",
    "parts2-1.8-6-28-0.1-remove",
)
@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(
    ("parts", "level", "c", "height", "spacing"),
    [
        ([("0.1", "2", 100)], "2.3", 5, 25, "0.1"),
        ([("0.5", "5", 64)], "5.3", 7, 16, "0.1"),
        ([("0.01", "1", 1000)], "1.8", 6, 28, "0.1"),
        pytest.param(
            [("0.2", "3", 40), ("0.05", "2", 60), ("1", "20", 10)],
            "1.5",
            6,
            30,
            "0.1",
            marks=pytest.mark.slow,
        ),
        pytest.param([("0.3", "0.9", 30)], "9", 1, 40, "0.05", marks=pytest.mark.slow),
    ],
)
def test_many_uses_hold_an_inversion_on_the_real_axis(parts, level, c, height, spacing, direction):
    with mp.workdps(32):
        truths = []
        for step in (mpf(spacing), mpf(spacing) * mpf("0.83")):
            truths.append(
                by_inversion(
                    [(mpf(q), mpf(t), k) for q, t, k in parts],
                    mpf(level),
                    mpf(c),
                    step,
                    int(height / step),
                    direction == "remove",
                )
            )
        error = abs(truths[0] - truths[1]) / truths[0]
        assert error < 1e-11
        laws = [(sampled_gaussian(q, t, 1, direction), k) for q, t, k in parts]
        found = composed_delta(laws, level)
        assert holds(found, truths[1], float(2 * error) + 1e-25)
        assert found.is_within(Fraction(1, 10**11))
        back = composed_epsilon(laws, Fraction(found.upper))
        assert number(back.lower) <= mpf(level) + mpf(10) ** -11
        assert number(back.upper) >= mpf(level) - mpf(10) ** -11


@pytest.mark.slow_cases(
    "0.1-1-0.4-remove", "0.3-0.7-0.2-add", "0.3-0.7-0.2-remove", "0.5-2-1-remove"
)
@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(
    ("rate", "noise", "level"), [("0.1", "1", "0.4"), ("0.5", "2", "1"), ("0.3", "0.7", "0.2")]
)
def test_two_uses_hold_the_mean_over_the_other_loss(rate, noise, level, direction):
    with mp.workdps(25):
        truth = two_gaussians(mpf(rate), mpf(noise), mpf(level), direction == "remove")
        found = sampled_gaussian_delta(rate, noise, 1, 2, level, direction, WIDE, work=0.5)
        assert holds(found, truth, 1e-9)
        assert found.is_within(Fraction(1, 100))


def test_a_rare_large_loss_is_met_where_the_saddle_point_is_not():
    found = sampled_gaussian_epsilon("0.00033", 4, 1, 10_000, "1.13e-18", "remove")
    assert found.is_within(Fraction(1, 10**12))
    assert abs(float(found.upper) - 0.0672) < 5e-5


@pytest.mark.parametrize("delta", ["0.9", "0.1", "1e-30"])
def test_delta_and_epsilon_are_inverse(delta):
    law = sampled_gaussian("0.02", "0.9", 1, "remove")
    epsilon = composed_epsilon([(law, 500)], delta)
    if epsilon.upper == 0:
        assert composed_delta([(law, 500)], 0).at_most(Fraction(delta))
        return
    assert composed_delta([(law, 500)], Fraction(epsilon.upper)).lower <= Fraction(delta)
    assert composed_delta([(law, 500)], Fraction(epsilon.lower)).upper >= Fraction(delta)


def test_a_million_uses():
    found = sampled_gaussian_epsilon("1e-4", "0.5", 1, 10**6, "1e-6", "remove")
    assert found.is_within(Fraction(1, 10**12))
    assert abs(float(found.upper) - 4.7283) < 1e-4


# -- without sampling -----------------------------------------------------------------------------


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(("noise", "times", "level"), [(10, 100, 3), (1, 4, 2), ("0.5", 50, 130)])
def test_inversion_without_sampling_agrees_with_the_closed_form(noise, times, level, direction):
    with working_precision(200):
        law = sampled_gaussian(1, noise, 1, direction)
        saddle = saddle_at(Composite(((law, times),)), float(level))
        chosen = plan([(law, times)], saddle, saddle.log_delta, math.log(1e-12))
        lower, upper = Profile([(law, times)], chosen, 1.0).bounds(arb(level))
        exact = gaussian.delta(arb(times).sqrt() / arb(str(noise)), arb(level))
        assert not lower > exact
        assert not upper < exact
        assert (upper - lower) / upper < 1e-10


def test_several_gaussians_are_one():
    laws = [(sampled_gaussian(1, 3, 1, "add"), 9), (sampled_gaussian(1, 10, 20, "add"), 2)]
    one = composed_delta([(sampled_gaussian(1, 1, 3, "add"), 1)], 4)  # 9/9 + 2 * 4 = 9
    many = composed_delta(laws, 4)
    assert many.lower <= one.upper
    assert one.lower <= many.upper


# -- Laplace --------------------------------------------------------------------------------------


def bracket(rate: float, epsilon: float, times: int, level: float, removing: bool, step: float):
    """delta(level) with every loss rounded up, and down, to a multiple of the step."""
    u = np.linspace(-epsilon, epsilon, 4_001)
    loss = np.log(1 - rate + rate * np.exp(u))
    share = np.exp(-epsilon / 2 - u / 2) / 4
    inner = -2 * np.diff(share) * np.exp(0.0)
    ends = []
    for up in (True, False):
        best = loss[1:] if up == removing else loss[:-1]
        losses = np.concatenate(
            [best if removing else -best, (1 if removing else -1) * loss[[0, -1]]]
        )
        odds = np.exp(np.concatenate([loss[1:] if up else loss[:-1], loss[[0, -1]]]))
        masses = np.concatenate([inner, [0.5, math.exp(-epsilon) / 2]])
        masses = masses * odds if removing else masses
        cells = np.ceil(losses / step) if up else np.floor(losses / step)
        low = int(cells.min())
        one = np.zeros(int(cells.max()) - low + 1)
        np.add.at(one, (cells - low).astype(int), masses)
        law = np.array([1.0])
        for _ in range(times):
            law = np.maximum(fftconvolve(law, one), 0.0)  # wrong by about 1e-16
        values = (low * times + np.arange(len(law))) * step
        gain = np.maximum(-np.expm1(level - values), 0.0)
        ends.append(float(law @ gain))
    return min(ends) * (1 - 1e-9), max(ends) * (1 + 1e-9)


@pytest.mark.slow_cases(
    "0.3-2.0-20-3.0-add",
    "0.3-2.0-20-3.0-remove",
    "1.0-0.1-100-2.0-add",
    "1.0-0.1-100-2.0-remove",
    "1.0-1.0-20-4.0-add",
    "1.0-1.0-20-4.0-remove",
)
@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(
    ("rate", "epsilon", "times", "level"),
    [
        (1.0, 1.0, 20, 4.0),
        (0.3, 2.0, 20, 3.0),
        (0.1, 0.5, 12, 0.2),
        (0.5, 1.0, 3, 0.5),
        (1.0, 0.1, 100, 2.0),
        (0.1, 0.5, 30, 0.5),
    ],
)
def test_laplace_lies_between_losses_rounded_down_and_up(rate, epsilon, times, level, direction):
    low, high = bracket(rate, epsilon, times, level, direction == "remove", 2e-4)
    law = sampled_laplace(str(rate), 1, str(epsilon), direction)
    found = composed_delta([(law, times)], str(level), WIDE, work=1.0)
    assert high < 1.2 * low
    assert float(found.lower) <= high
    assert low <= float(found.upper)
    assert found.is_within(Fraction(1, 100))


def test_laplace_has_no_loss_beyond_its_own():
    law = sampled_laplace(1, 10, 1, "remove")
    assert composed_delta([(law, 7)], "0.7") == Enclosure.exactly(0)
    assert composed_pure([(law, 7)]).contains(Fraction(7, 10))
    sampled = sampled_laplace("0.1", 1, 1, "remove")
    with mp.workdps(30):
        assert holds(composed_pure([(sampled, 3)]), 3 * mpmath.log(1 + (mpmath.e - 1) / 10), 1e-25)


# -- relations ------------------------------------------------------------------------------------

rates = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)
noises = st.fractions(Fraction(1, 2), 20, max_denominator=20)
directions = st.sampled_from(BOTH)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(rates, rates, noises, st.integers(5, 3000), st.integers(1, 12), directions)
def test_larger_rates_and_more_uses_never_cost_less(one, other, noise, times, digits, direction):
    low, high = sorted((one, other))
    delta = Fraction(1, 10**digits)

    def cost(rate, count):
        return sampled_gaussian_epsilon(rate, noise, 1, count, delta, direction, WIDE, 0.3)

    here = cost(low, times)
    assert here.lower <= cost(high, times).upper
    assert here.lower <= cost(low, times + 1).upper
    assert here.lower <= cost(1, times).upper


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(rates, noises, st.integers(2, 300), st.fractions(0, 3, max_denominator=50), directions)
def test_composed_delta_is_at_most_what_renyi_allows(rate, noise, times, level, direction):
    law = sampled_gaussian(rate, noise, 1, direction)
    delta = composed_delta([(law, times)], level, WIDE, 0.3)
    order = Fraction(3)
    divergence = composed_renyi([(law, times)], order, WIDE)
    bound = math.exp(float((order - 1) * (Fraction(divergence.upper) - level)))
    assert float(delta.lower) <= bound * (1 + 1e-9)


@settings(max_examples=20, deadline=None)
@given(rates, noises, st.fractions(0, 2, max_denominator=50), directions)
def test_one_use_agrees_with_the_normal_distribution(rate, noise, level, direction):
    with mp.workdps(40):
        q, t = number(rate), number(noise)
        truth = closed(q, t, number(level), direction == "remove")
        found = sampled_gaussian_delta(rate, noise, 1, 1, level, direction)
        assert holds(found, truth, 1e-12) or abs(truth) < mpf(10) ** -30


@pytest.mark.slow_cases("0.01-0.1-20-1e-5")
@pytest.mark.parametrize(
    ("rate", "noise", "times", "delta"),
    [("0.01", "0.1", 20, "1e-5"), ("1e-8", 1, 10, "1e-12"), ("0.01", 1, 2, "1e-30")],
)
def test_extreme_settings_lie_between_one_use_and_basic_composition(rate, noise, times, delta):
    for direction in BOTH:
        found = sampled_gaussian_epsilon(rate, noise, 1, times, delta, direction, WIDE, 0.3)
        one = sampled_gaussian_epsilon(rate, noise, 1, 1, delta, direction)
        share = sampled_gaussian_epsilon(rate, noise, 1, 1, Fraction(delta) / times, direction)
        assert one.lower <= found.lower
        assert found.upper <= times * share.upper


def test_epsilon_is_zero_where_delta_covers_the_total_variation():
    for rate, noise, times, delta in (("0.5", 1000, 2, "1e-3"), ("1e-8", 1, 10**5, "1e-3")):
        found = sampled_gaussian_epsilon(rate, noise, 1, times, delta, "add")
        assert found == Enclosure.exactly(0)


# -- input ----------------------------------------------------------------------------------------


def test_nothing_is_spent_where_nobody_takes_part():
    assert sampled_gaussian_delta(0, 1, 1, 10, 0, "remove") == Enclosure.exactly(0)
    assert sampled_gaussian_epsilon("0.1", 1, 1, 0, "1e-6", "add") == Enclosure.exactly(0)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("1.1", 1, 1, "remove"), "rate"),
        (("0.1", 0, 1, "remove"), "sigma"),
        (("0.1", 1, -1, "remove"), "sensitivity"),
        (("0.1", 1, 1, "replace"), "direction"),
    ],
)
def test_bad_parameters_are_named(arguments, name):
    with pytest.raises(ParameterError, match=name):
        sampled_gaussian(*arguments)


def test_directions_do_not_mix():
    laws = [(sampled_gaussian("0.1", 1, 1, way), 2) for way in BOTH]
    with pytest.raises(ParameterError, match="direction"):
        composed_delta(laws, 1)


def test_sampled_and_unsampled_uses_together():
    """Nobody is sampled in some uses: these are the same both ways round, and fit either."""
    plain = ContinuousNoise(Shape.GAUSSIAN, "2.5", 1, "add-remove")
    both = compose((evolve(plain, rate="0.1"), 3), plain)
    with mp.workdps(15):
        parts = [(mpf("0.1"), mpf("2.5"), 3), (mpf(1), mpf("2.5"), 1)]
        truth = max(
            by_inversion(parts, mpf("0.5"), mpf(3), mpf("0.4"), 60, removing)
            for removing in (True, False)
        )
        found = both.delta("0.5")
        assert abs(float(found) / float(truth) - 1) < 1e-12
    assert compose(plain, both).delta("0.5") == compose(both, plain).delta("0.5")
