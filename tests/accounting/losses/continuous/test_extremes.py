"""Extreme noise, rates and orders: still narrow, and within what simpler bounds say."""

import time
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

import exactdp
from exactdp import OutOfTimeError, time_limit
from exactdp.accounting.losses import mixed
from exactdp.accounting.losses.continuous.composed import (
    composed_renyi,
    sampled_gaussian,
    sampled_laplace,
)
from exactdp.accounting.losses.continuous.sampled_laplace import _nodes as laplace_nodes
from exactdp.exact import check_time, working_precision

ADD = "neighbours=add-remove"


def number(end) -> mpf:
    value = Fraction(end)
    return mpf(value.numerator) / value.denominator


@pytest.mark.contract
def test_wide_noise_is_below_what_it_costs_without_sampling():
    noise = exactdp.mechanism(f"gaussian:sigma=1e6,{ADD},poisson=0.01*1000")
    plain = exactdp.mechanism(f"gaussian:sigma=1e6,{ADD}*1000")
    assert noise.delta("0.5").upper <= plain.delta("0.5").upper < Fraction(1, 10**300)
    found = noise.epsilon("1e-9")
    assert found.is_within(Fraction(1, 10**12)) and found.upper <= plain.epsilon("1e-9").upper


@pytest.mark.contract
def test_delta_as_large_as_the_rate_needs_no_epsilon():
    noise = exactdp.mechanism(f"gaussian:sigma=1e-3,{ADD},poisson=0.5")
    assert noise.epsilon("0.5").upper == 0
    assert noise.epsilon("0.4").lower > 0


@pytest.mark.contract
@pytest.mark.parametrize("rate", ["0.01", "1e-9"])
@pytest.mark.parametrize("sigma", ["0.5", "1", "20"])
def test_renyi_of_a_large_whole_order_is_the_binomial_sum(rate, sigma):
    """E (1 - q + q e^u)^a = sum of C(a, k) (1-q)^(a-k) q^k e^(k(k-1)/(2 sigma^2))."""
    order = 1000
    with mp.workdps(80):
        q, s = mpf(rate), mpf(sigma)
        total = mpmath.fsum(
            mpmath.binomial(order, k)
            * (1 - q) ** (order - k)
            * q**k
            * mpmath.exp(k * (k - 1) / (2 * s**2))
            for k in range(order + 1)
        )
        truth = mpmath.log(total) / (order - 1)
        found = exactdp.mechanism(f"gaussian:sigma={sigma},{ADD},poisson={rate}").renyi(order)
        slack = truth * mpf(10) ** -30
        assert number(found.lower) <= truth + slack and truth - slack <= number(found.upper)
        assert found.is_within(Fraction(1, 10**12))


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("order", [3, 500])
def test_rough_bounds_hold_what_is_summed(order, direction):
    for law in (
        sampled_gaussian("0.05", "0.7", 1, direction),
        sampled_laplace("0.05", "0.7", 1, direction),
    ):
        found = composed_renyi([(law, 1)], order)
        with working_precision(128):
            low, high = law.rough(exactdp.exact.ball(Fraction(order - 1)))
            low, high = (end.log() / (order - 1) for end in (low, high))
            assert float(low.lower()) <= float(found.upper)
            assert float(found.lower) <= float(high.upper())


@pytest.mark.contract
def test_tiny_noise_and_huge_orders_are_answered_at_once():
    sharp = exactdp.mechanism(f"gaussian:sigma=1e-3,{ADD},poisson=1e-6").renyi("1e6")
    assert sharp.lower <= Fraction(10**12, 2) and sharp.is_within(Fraction(1, 10**9))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sharp = exactdp.mechanism(f"laplace:scale=0.001,{ADD},poisson=1e-12*1000000")
        assert sharp.epsilon("1e-6").upper == 0
        # at most one use has the user but with probability 5e-13, and any costs at most 1000
        found = sharp.epsilon("1e-9")
        assert found.lower >= 0 and found.upper <= 1000


@pytest.mark.contract
@pytest.mark.parametrize("scale", ["0.01", "0.3", "1", "40"])
def test_rho_of_laplace_noise_is_the_largest_ratio(scale):
    noise = exactdp.mechanism(f"laplace:scale={scale}")
    found = noise.zcdp()
    assert found.is_within(Fraction(1, 10**12))
    with mp.workdps(40):
        e = 1 / mpf(scale)
        kl = e - 1 + mpmath.exp(-e)  # the limit at order 1
        orders = [1 + mpf(2) ** k for k in range(-20, 12)]
        most = kl
        for a in orders:
            near, far = mpmath.exp((a - 1) * e), mpmath.exp(-a * e)
            total = (a * near + (a - 1) * far) / (2 * a - 1)
            most = max(most, mpmath.log(total) / (a * (a - 1)))
        assert number(found.upper) >= most * (1 - mpf(10) ** -30)
        assert number(found.lower) <= most * (1 + mpf(10) ** -6)


@pytest.mark.contract
def test_compositions_are_composed_several_times():
    noise = exactdp.mechanism("gaussian:sigma=2")
    assert exactdp.compose((noise, 3)) == 3 * noise


def test_without_time_one_use_and_basic_composition_bracket(monkeypatch):
    """Not everything from 0 on: what is cheap to know is told."""

    def out_of_time(*_):
        raise OutOfTimeError

    two = exactdp.mechanism(f"gaussian:sigma=2,{ADD},poisson=0.3*2")
    delta, epsilon = two.delta(1), two.epsilon("1e-3")
    monkeypatch.setattr(mixed, "plan", out_of_time)
    for known, plain in ((delta, two.delta(1)), (epsilon, two.epsilon("1e-3"))):
        assert 0 < plain.lower <= known.lower
        assert known.upper <= plain.upper < 2


def test_the_end_of_the_time_is_no_error_of_numpys(monkeypatch):
    """Whose polynomials turn whatever is raised inside them into a ValueError."""
    nodes = np.polynomial.legendre.leggauss

    def turning(count):
        try:
            end = time.monotonic() + 0.05
            while time.monotonic() < end:
                pass
        except ArithmeticError as error:
            raise ValueError from error
        return nodes(count)

    monkeypatch.setattr(np.polynomial.legendre, "leggauss", turning)
    law = sampled_laplace("0.1", 1, 1, "remove")
    laplace_nodes.cache_clear()
    with pytest.raises(OutOfTimeError), time_limit(0.01):
        assert len(law.about[0]) == 202
        check_time()
