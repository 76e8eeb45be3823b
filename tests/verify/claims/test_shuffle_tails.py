"""Theorem A.1's accuracy: the exact sub-Gaussian variance against mpmath, and its failure."""

from fractions import Fraction

import mpmath
import pytest

from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.registry import REGISTRY
from exactdp.verify.claims.shuffle_tails import (
    WITNESS,
    proof_of_clean_event,
    proof_of_correction,
    proof_of_failure,
    tail_witness,
    variance_ratio,
)


@pytest.mark.parametrize("ratio", [2, 9, 10, 1000])
def test_the_variance_is_the_largest_that_the_generating_function_asks_for(ratio):
    found = variance_ratio(Fraction(ratio))
    with mpmath.workdps(40):
        q = mpmath.mpf(1) / (2 * ratio)

        def asked(x):  # 2 log E e^(x(B - E B))/x² in units of tau, m = ratio tau
            return 2 * ratio * (mpmath.log1p(q * mpmath.expm1(x)) - q * x) / x**2

        best = 2 * mpmath.log((1 - q) / q)
        assert mpmath.mpf(str(found.lower)) <= asked(best) * (1 + mpmath.mpf(10) ** -30)
        assert mpmath.mpf(str(found.upper)) >= asked(best) * (1 - mpmath.mpf(10) ** -30)
        for x in (-2, -0.1, 0.1, best * 0.9, best * 1.1, 3 * best):
            assert asked(x) < mpmath.mpf(str(found.upper))


def test_the_stated_variance_is_too_small_from_ten_tau_on_and_enough_before():
    assert proof_of_failure()
    assert variance_ratio(Fraction(10)).greater_than(Fraction(3, 2)) is True
    assert variance_ratio(Fraction(9)).less_than(Fraction(3, 2)) is True


def test_the_tail_witness_against_a_plain_sum():
    tail, bound, distance = tail_witness()
    epsilon, delta, users = WITNESS
    with mpmath.workdps(30):
        tau = 96 * mpmath.log(2 / mpmath.mpf(float(delta))) / mpmath.mpf("0.99") ** 2
        assert epsilon == Fraction(99, 100)
        q = tau / (2 * users)
        start = int(mpmath.ceil(tau / 2 + distance))
        term = mpmath.binomial(users, start) * q**start * (1 - q) ** (users - start)
        total, k = mpmath.mpf(0), start
        while term > total * mpmath.mpf(10) ** -35:
            total, k = total + term, k + 1
            term *= (users - k + 1) * q / (k * (1 - q))
        stated = mpmath.exp(-(mpmath.mpf(distance) ** 2) / (3 * tau))
        assert stated < mpmath.mpf(str(tail.lower)) * (1 - mpmath.mpf(10) ** -9)
        assert abs(mpmath.mpf(str(bound.lower)) / stated - 1) < 1e-15
        assert mpmath.mpf(str(tail.lower)) <= total * (1 + mpmath.mpf(10) ** -15)


def test_the_correction_on_a_grid():
    assert proof_of_correction()
    for i in range(-100, 101):
        x = mpmath.mpf(i) / 100
        assert mpmath.expm1(x) - x <= 0.75 * x * x


def test_the_clean_event_keeps_its_probability_as_far_as_stated():
    assert proof_of_clean_event()
    with mpmath.workdps(30):
        assert 1.92 * 96 * mpmath.log(2) > 55 * mpmath.log(10)  # the least tau, δ and ε near 1

        def exponent(u):
            return (1 + u) * mpmath.log1p(u) - u - mpmath.mpf(u) ** 2 / 6

        assert exponent(mpmath.mpf("9.6")) > 0 > exponent(mpmath.mpf("9.7"))
        # small batches, m <= tau: fair bits, at most 2 tau of them
        for x in (0.01, 0.5, 2):
            assert mpmath.log(mpmath.cosh(mpmath.mpf(x) / 2)) * 4 <= mpmath.expm1(x) - x


def test_the_finding():
    finding = REGISTRY["S-thmA1-subgauss"].check()
    assert (finding.truth, finding.scope) == (Truth.FAILS, Scope.PROVED)
    assert "sub-exponential" in (finding.correction or "")
