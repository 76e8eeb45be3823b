"""Random allocation, against integrals over one or two steps in closed form and by quadrature."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf
from scipy.special import ndtr

from exactdp.accounting.composition.composed import compose
from exactdp.accounting.grid.rung import grid_delta
from exactdp.accounting.losses.continuous.allocated import (
    allocated_delta,
    allocated_epsilon,
    allocated_renyi,
)
from exactdp.accounting.losses.continuous.average import Average, Below
from exactdp.accounting.scenario import Use
from exactdp.exact import working_precision
from exactdp.mechanisms.allocation import Allocation
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

BOTH = (True, False)


def number(end) -> mpf:
    value = Fraction(end)
    return mpf(value.numerator) / value.denominator


def holds(found, truth, error=1e-12) -> bool:
    slack = abs(truth) * error
    return number(found.lower) <= truth + slack and truth - slack <= number(found.upper)


def call(mu, strike):
    """E (R - strike)^+ for one likelihood ratio R."""
    if strike <= 0:
        return 1 - strike
    d = mpmath.log(strike) / mu
    return mpmath.ncdf(mu / 2 - d) - strike * mpmath.ncdf(-mu / 2 - d)


def excess(mu, steps, g):
    """E (S - g)^+ by integrating over all steps but one."""
    if steps == 1:
        return call(mu, g)

    def inner(x):
        ratio = mpmath.exp(mu * x - mu**2 / 2)
        rest = (steps * g - ratio) / (steps - 1)
        value = excess(mu, steps - 1, rest) if rest > 0 else 1 - rest
        return mpmath.npdf(x) * value * (steps - 1) / steps

    kink = (mpmath.log(steps * g) + mu**2 / 2) / mu
    points = sorted({-9, -3, 0, 3, mpf(kink), max(mpf(kink) + 2, mpf(9))})
    return mpmath.quad(inner, points)


def truth(mu, steps, level, removing):
    g = mpmath.exp(level)
    return excess(mu, steps, g) if removing else g * (excess(mu, steps, 1 / g) - 1 + 1 / g)


@pytest.mark.parametrize("removing", BOTH)
@pytest.mark.parametrize(
    ("sigma", "steps", "level"),
    [("2", 2, "0.3"), ("5", 2, "0"), pytest.param("1", 2, "1", marks=pytest.mark.slow)],
)
def test_one_epoch_holds_the_quadrature(sigma, steps, level, removing):
    with mp.workdps(20):
        expected = truth(1 / mpf(sigma), steps, mpf(level), removing)
        found = allocated_delta([(Allocation(sigma, 1, 1, steps, removing), 1)], Fraction(level))
        assert holds(found, expected)
        assert found.is_within(Fraction(1, 10**12))


@pytest.mark.parametrize("removing", BOTH)
def test_three_steps_hold_the_trapezoidal_rule(removing):
    # over two steps, the third in closed form: smooth, also where its strike is 0
    mu, g = 0.5, math.exp(0.2)
    x = np.linspace(-9, 10, 381)
    weights = np.exp(-(x**2) / 2) * (x[1] - x[0]) / math.sqrt(2 * math.pi)
    ratio = np.exp(mu * x - mu**2 / 2)
    odds = g if removing else 1 / g
    strike = 3 * odds - ratio[:, None] - ratio[None, :]
    d = np.log(np.maximum(strike, 1e-300)) / mu
    third = np.where(strike > 0, ndtr(mu / 2 - d) - strike * ndtr(-mu / 2 - d), 1 - strike)
    excess_of_three = float(weights @ third @ weights) / 3
    expected = excess_of_three if removing else g * (excess_of_three - 1 + odds)
    found = allocated_delta([(Allocation(2, 1, 1, 3, removing), 1)], Fraction("0.2"))
    assert holds(found, mpf(expected), 1e-10)


@pytest.mark.parametrize("removing", BOTH)
def test_epsilon_is_the_inverse_of_delta(removing):
    parts = [(Allocation(2, 1, 1, 50, removing), 1)]
    found = allocated_epsilon(parts, Fraction(1, 10**5))
    assert found.is_within(Fraction(1, 10**9)) and found.lower > 0
    delta = allocated_delta(parts, Fraction(found.lower))
    assert abs(number(delta.upper) / mpf("1e-5") - 1) < 1e-6


@pytest.mark.parametrize("removing", BOTH)
def test_two_epochs_hold_a_sum_over_the_profile_of_one(removing):
    # E (1 - e^(level - L1 - L2))^+ = E over L1 of delta(level - L1), by a fine partition of L1:
    # larger values of L1 in each cell are an upper bound, smaller ones a lower bound
    one, level = Allocation(2, 1, 1, 20, removing), mpf("0.2")
    found = grid_delta((Use(one, 2),), Fraction("0.2"), 1024)
    assert found.is_within(Fraction(1, 100))
    with working_precision(160):
        below = Below(Average(Fraction(2), 20), 8.0, -45.0)

        def profile(at: mpf) -> mpf:
            g = mpmath.exp(at)
            where = arb(str(g)) if removing else 1 / arb(str(g))
            value = below(where)
            value = 1 - where + value if removing else value / where
            return mpf(value.mid().str(20, radius=False))

        cells = [mpf(k) / 50 for k in range(-60, 81)]
        heights = [profile(at) for at in cells]
        odds = [mpmath.exp(at) for at in cells]
        low = high = mpf(0)
        slopes = [-1] + [
            (heights[i + 1] - heights[i]) / (odds[i + 1] - odds[i]) for i in range(len(cells) - 1)
        ]
        for i in range(1, len(cells) - 1):
            # Q of losses about the i-th cell, spread to the dots (above), or half a cell lower
            p = (slopes[i + 1] - slopes[i]) * odds[i]
            high += p * profile(level - cells[i])
            low += p * profile(level - cells[i] + mpf(1) / 50)
    assert number(found.lower) <= high * (1 + mpf("1e-9"))
    assert low <= number(found.upper)
    assert low > high / 2


def mean_of_two(mu: float, power: float) -> float:
    """E ((R1 + R2)/2)^power by Gauss-Hermite quadrature, good to about 1e-12."""
    x, weights = np.polynomial.hermite_e.hermegauss(80)
    ratio = np.exp(mu * x - mu**2 / 2)
    values = ((ratio[:, None] + ratio[None, :]) / 2) ** power
    return float(weights @ values @ weights) / (2 * math.pi)


@pytest.mark.parametrize("order", ["2", "3", "2.5", "1.5"])
def test_renyi_of_two_steps_holds_a_quadrature(order):
    value = float(order)
    logs = [math.log(mean_of_two(0.5, power)) for power in (value, 1 - value)]
    found = compose(Allocation(2, 1, 1, 2)).renyi(order)
    expected = max(logs) / (value - 1)
    assert float(found.lower) - 1e-9 <= expected <= float(found.upper) + 1e-9
    assert found.is_within(Fraction(1, 10**12)) or (value % 1 and found.why)


@pytest.mark.parametrize("power", ["0.01", "0.5", "3"])
def test_inverse_moments_hold_a_quadrature(power):
    with working_precision(96):
        found = Average(Fraction(2), 2).inverse_moment(arb(power))
    assert abs(float(found.mid()) / mean_of_two(0.5, -float(power)) - 1) < 1e-10
    assert found.rad() < 1e-14


@pytest.mark.parametrize("epochs", [1, 3])
def test_more_noise_costs_less_and_never_more_than_without_allocation(epochs):
    delta = "1e-5"
    costs = [compose((Allocation(s, 1, 1, 40), epochs)).epsilon(delta, "1e-2") for s in ("2", "4")]
    assert costs[0].lower > costs[1].upper
    for cost, sigma in zip(costs, ("2", "4"), strict=True):
        plain = ContinuousNoise(Shape.GAUSSIAN, sigma, 1, "add-remove")
        assert cost.upper <= compose((plain, epochs)).epsilon(delta, "1e-2").upper


def test_each_epoch_costs_more_and_steps_cost_less():
    delta = "1e-5"
    one, two = (compose((Allocation(2, 1, 1, 40), k)).epsilon(delta, "1e-2") for k in (1, 2))
    longer = compose(Allocation(2, 1, 1, 80)).epsilon(delta, "1e-2")
    assert longer.upper < one.lower < two.lower


def test_several_steps_lie_between_the_sum_of_all_steps_and_as_many_uses():
    found = compose(Allocation(2, 1, 2, 80)).epsilon("1e-5")
    assert found.upper <= compose((Allocation(2, 1, 1, 40), 2)).epsilon("1e-5").upper
    whole = ContinuousNoise(Shape.GAUSSIAN, 2, 1, "add-remove")
    every, plain = compose(Allocation(2, 1, 3, 3)), compose((whole, 3))
    assert every.epsilon("1e-5").hull(plain.epsilon("1e-5")).is_within(Fraction(1, 10**12))
    assert 0 < found.lower <= found.upper and found.why


def test_rho_and_pure_epsilon_are_those_of_the_steps_taken():
    one = compose((Allocation(2, 1, 3, 10), 4))
    assert one.zcdp().lower == one.zcdp().upper == Fraction(12, 8)
    assert one.pure().lower == one.pure().upper > 10**9


def test_orders_too_high_to_sum_lie_between_closed_forms():
    found, plain = compose(Allocation(2, 1, 1, 10)).renyi(500), Fraction(500, 8)
    assert plain - 3 < Fraction(found.lower) < Fraction(found.upper) <= plain


@pytest.mark.slow
def test_so_little_noise_is_bounded_all_the_same():
    found = compose((Allocation("0.3", 1, 1, 100), 2)).epsilon("1e-5")
    assert (
        0
        < found.lower
        < found.upper
        < compose((Allocation("0.3", 1, 1, 1), 2)).epsilon("1e-5").upper
    )
    assert found.why


@pytest.mark.parametrize(("taken", "steps"), [(2, 4), (3, 5), (4, 5), (7, 30)])
def test_renyi_of_several_steps_leaves_no_step_out(taken, steps):
    """Of order 2, user removed: E e^(mu^2 J), J what two sets of steps have in common."""
    common = range(max(0, 2 * taken - steps), taken + 1)
    ways = [math.comb(taken, j) * math.comb(steps - taken, taken - j) for j in common]
    moment = sum(way * math.exp(j / 4) for way, j in zip(ways, common, strict=True))
    truth = math.log(moment / math.comb(steps, taken))
    found = allocated_renyi(Allocation(2, 1, taken, steps), Fraction(2))
    assert float(found.lower) <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= float(found.upper) <= 1.2 * truth
