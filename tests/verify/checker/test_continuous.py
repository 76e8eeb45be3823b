"""The checker's continuous noise beside integrals in mpmath, sampled or not, both ways round."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

import mpmath
import oracles
import pytest
from continuous_truth import closed
from mpmath import mpf

from exactdp.verify.checker import continuous, continuous_renyi
from exactdp.verify.checker.arithmetic import INFINITY, precision, value
from exactdp.verify.checker.mechanisms import Continuous, FixedSize

_NOISE = Fraction(3, 2)
_RATES = (Fraction(1), Fraction(1, 4))


def _one(law: str, rate: Fraction, removing: bool) -> Continuous:
    return Continuous(law, _NOISE, Fraction(1), "add-remove", rate, removing)


@cache
def _integral(law: str, rate: Fraction, function) -> mpf:
    """The mean of function(dP/dQ) under Q, by quadrature between the kinks."""
    q, t = oracles.real(rate), oracles.real(_NOISE)
    with mpmath.workdps(30):
        if law == "gaussian":
            edges = [mpf(x) * t for x in range(-12, 16, 2)]

            def mean(x):
                ratio = 1 - q + q * mpmath.exp((2 * x - 1) / (2 * t**2))
                return mpmath.npdf(x, 0, t) * function(ratio)

            return mpmath.quad(mean, edges)
        e = 1 / t

        def ratio(u):
            return 1 - q + q * mpmath.exp(u)

        middle = mpmath.quad(lambda u: mpmath.exp(-(u + e) / 2) / 4 * function(ratio(u)), [-e, e])
        return function(ratio(-e)) / 2 + mpmath.exp(-e) / 2 * function(ratio(e)) + middle


def _moment(law: str, rate: Fraction, removing: bool, order: Fraction) -> mpf:
    a = oracles.real(order if removing else 1 - order)
    return _moments(law, rate, a)


@cache
def _moments(law, rate, a):
    return _integral(law, rate, lambda r: r**a)


def _encloses(found, truth, relative) -> None:
    exact, slack = oracles.exactly(truth), Fraction(1, 10**20)
    assert found[0] - slack <= exact <= found[1] + slack
    assert found[1] - found[0] <= Fraction(relative) * abs(exact) + slack


_CASES = [
    (law, rate, removing)
    for law in ("gaussian", "laplace")
    for rate in _RATES
    for removing in (True, False)
]


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(("law", "rate", "removing"), _CASES)
@pytest.mark.parametrize("order", ["3/2", "4"])
def test_renyi(law, rate, removing, order):
    a = Fraction(order)
    truth = mpmath.log(_moment(law, rate, removing, a)) / (oracles.real(a) - 1)
    with precision(80):
        _encloses(continuous_renyi.renyi(_one(law, rate, removing), a), truth, "1e-5")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_renyi_of_batches(law):
    """From what some neighbours attain to both ways together, or the mechanism on all users."""
    batches = FixedSize(Continuous(law, _NOISE, Fraction(1), "replace", Fraction(1)), 1, 4)
    order = Fraction(5, 2)
    either = [_moment(law, Fraction(1, 4), way, order) for way in (True, False)]
    a = oracles.real(order) - 1
    low, high = mpmath.log(either[0]) / a, mpmath.log(sum(either) - 1) / a
    plain = mpmath.log(_moment(law, Fraction(1), True, order)) / a
    with precision(80):
        found = continuous_renyi.of_batches(batches, order)
    assert found[0] <= oracles.exactly(low) * (1 + Fraction(1, 10**20))
    assert oracles.exactly(min(high, plain)) * (1 - Fraction(1, 10**20)) <= found[1]
    assert found[1] <= oracles.exactly(min(high, plain)) * Fraction("1.0001")
    assert found[0] >= oracles.exactly(low) * Fraction("0.9999")


def _laplace_delta(rate, level, removing):
    """int (P - g Q)+, or (Q - g P)+, up to where the two cross."""
    q, e, g = oracles.real(rate), 1 / oracles.real(_NOISE), mpmath.exp(oracles.real(level))
    crossing = ((g if removing else 1 / g) - 1 + q) / q

    def gain(u):
        ratio = 1 - q + q * mpmath.exp(u)
        return max(ratio - g if removing else 1 - g * ratio, mpf(0))

    cut = min(max(mpmath.log(crossing), -e), e) if crossing > 0 else -e
    found = gain(-e) / 2 + mpmath.exp(-e) / 2 * gain(e)
    ends = [cut, e] if removing else [-e, cut]
    return found + mpmath.quad(lambda u: mpmath.exp(-(u + e) / 2) / 4 * gain(u), ends)


@pytest.mark.parametrize(("law", "rate", "removing"), _CASES)
@pytest.mark.parametrize("level", ["0", "1/10", "2/5"])
def test_delta(law, rate, removing, level):
    if law == "laplace":
        truth = _laplace_delta(rate, level, removing)
    else:
        truth = closed(*map(oracles.real, (rate, _NOISE, level)), removing)
    with precision(80):
        found = continuous.closed_profile([(_one(law, rate, removing), 1)])(Fraction(level))
    _encloses(found, truth, "1e-15")


@pytest.mark.parametrize("removing", [True, False])
@pytest.mark.parametrize("rate", _RATES)
def test_pure(rate, removing):
    q, e = oracles.real(rate), 1 / oracles.real(_NOISE)
    with precision(80):
        found = continuous.pure(_one("laplace", rate, removing))
        gaussian = continuous.pure(_one("gaussian", rate, removing))
    up, down = mpmath.log(1 - q + q * mpmath.exp(e)), -mpmath.log(1 - q + q * mpmath.exp(-e))
    _encloses(found, up if removing else down, "1e-18")
    if removing or rate == 1:
        assert gaussian == (INFINITY, INFINITY)
    else:
        _encloses(gaussian, -mpmath.log(1 - q), "1e-18")


@pytest.mark.parametrize(("law", "rate", "removing"), _CASES)
def test_cells_hold_all_of_both_laws_and_losses_within_them(law, rate, removing):
    step = Fraction(1, 37)
    with precision(80):
        p, q, rest_p, rest_q, level = continuous.cells(_one(law, rate, removing), step, 30)
        sums = [(value(sum(side)), value(rest)[1]) for side, rest in ((p, rest_p), (q, rest_q))]
        losses = [(value(a), value(b)) for a, b in zip(p, q, strict=True)]
    for (low, high), rest in sums:
        assert low <= 1 and high + rest >= 1 - Fraction(1, 10**18)
        assert rest <= Fraction(1, 2**20)
    width = float(step * 2**level)
    places = [
        mpmath.log(oracles.real(a[0]) / oracles.real(b[0])) for a, b in losses if a[0] and b[0]
    ]
    steps = {abs(float(one - other)) for one, other in pairwise(places)}
    assert max(steps) <= 2 * width * (1 + 1e-9)  # neighbours' mean losses are not farther apart
