"""Theorem A.1's privacy: exact binomial delta by brute force, and the proof by intervals."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from exactdp.exact.number import ball
from exactdp.exact.precision import enclose, working_precision
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.proofs import NotProvedError
from exactdp.verify.claims.registry import REGISTRY
from exactdp.verify.claims.shuffle_privacy import (
    excess,
    least_constant_few,
    least_constant_many,
    proof_with_constant,
)


def brute_force(trials, success, epsilon):
    """The hockey-stick divergence summed over all outcomes, the larger of both directions."""
    q = mpmath.mpf(success.numerator) / success.denominator
    growth = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)
    p = [mpmath.binomial(trials, k) * q**k * (1 - q) ** (trials - k) for k in range(trials + 1)]
    first, second = [*p, mpmath.mpf(0)], [mpmath.mpf(0), *p]
    pairs = list(zip(first, second, strict=True))
    return max(
        mpmath.fsum(max(a - growth * b, 0) for a, b in pairs),
        mpmath.fsum(max(b - growth * a, 0) for a, b in pairs),
    )


@pytest.mark.parametrize(
    ("trials", "success", "epsilon"),
    [
        (1, "1/2", "1/10"),
        (7, "1/2", "1/2"),
        (40, "1/2", "1/5"),
        (40, "1/10", "1/2"),
        (200, "1/50", "9/10"),
        (11, "1/2", "0"),
        (3, "1/3", "5"),
    ],
)
def test_excess_contains_the_sum_over_all_outcomes(trials, success, epsilon):
    success, epsilon = Fraction(success), Fraction(epsilon)
    with working_precision(128):
        found = enclose(excess(trials, ball(success), epsilon))
    with mpmath.workdps(40):
        truth = brute_force(trials, success, epsilon)
        assert mpmath.mpf(str(found.lower)) <= truth * (1 + mpmath.mpf(10) ** -30)
        assert mpmath.mpf(str(found.upper)) >= truth * (1 - mpmath.mpf(10) ** -30)
        assert mpmath.mpf(str(found.upper)) - mpmath.mpf(str(found.lower)) < mpmath.mpf(10) ** -25


def test_excess_with_success_known_to_a_ball_only():
    with working_precision(128):
        wide = excess(30, arb("0.25", "1e-6"), Fraction(1, 2))
        assert wide.contains(excess(30, arb("0.25"), Fraction(1, 2)))
        assert wide.contains(excess(30, arb("0.2500009"), Fraction(1, 2)))


def test_the_argument_goes_through_with_a_third_of_the_constant():
    assert proof_with_constant(96)
    assert proof_with_constant(32)


@pytest.mark.parametrize("constant", [31, 24, 10])
def test_too_small_a_constant_is_not_proved(constant):
    with pytest.raises(NotProvedError):
        proof_with_constant(constant)


def test_the_least_constants_are_least():
    epsilon, delta = Fraction(99, 100), Fraction(1, 1000)
    few = least_constant_few(epsilon, delta)
    many = least_constant_many(epsilon, delta)
    assert many < few < 32
    with mpmath.workdps(30):
        scale = mpmath.log(2 / mpmath.mpf("0.001")) / mpmath.mpf("0.99") ** 2
        bits = int(mpmath.floor(mpmath.mpf(float(few)) * scale))
        half = Fraction(1, 2)
        assert any(
            brute_force(n, half, epsilon) <= 0.001 < brute_force(n - 1, half, epsilon)
            for n in (bits - 1, bits, bits + 1)
        )


@pytest.mark.slow
def test_the_finding():
    finding = REGISTRY["S-thmA1-privacy"].check()
    assert (finding.truth, finding.scope) == (Truth.HOLDS, Scope.PROVED)
    assert finding.correction is None
