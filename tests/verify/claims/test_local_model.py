"""Lemma 5 and Theorem 6: the best constant, its proof, and sums of discrete Laplace noise."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from exactdp.exact.precision import refine
from exactdp.mechanisms.papers import theorem6
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.local_model import (
    EPSILON,
    _series,
    best_constant,
    corrected_accuracy,
    exceeding,
    excess_of,
    proof_of_constant,
    stated_accuracy,
)
from exactdp.verify.claims.proofs import NotProvedError, proved_positive
from exactdp.verify.claims.registry import find


def log_mgf(epsilon, rate):
    """log E e^(rate X), X ~ Lap_Z(1/epsilon), from its definition."""
    beta = mpmath.exp(-epsilon)
    up, down = beta * mpmath.exp(rate), beta * mpmath.exp(-rate)
    return mpmath.log((1 - beta) / (1 + beta) * (1 + up / (1 - up) + down / (1 - down)))


def test_the_best_constant():
    found = refine(best_constant)
    with mpmath.workdps(40):
        truth = 1 / mpmath.sqrt(1 - mpmath.exp(mpmath.mpf(-1) / 2))
        assert mpmath.mpf(str(found.lower)) <= truth <= mpmath.mpf(str(found.upper))


def test_the_constant_serves_every_epsilon_on_a_grid():
    assert proof_of_constant()
    with mpmath.workdps(40):
        c = 1 / mpmath.sqrt(1 - mpmath.exp(mpmath.mpf(-1) / 2))
        for epsilon in map(mpmath.mpf, ("1e-6", "0.01", "0.3", "1", "5", "30")):
            for i in range(1, 41):
                rate = i * epsilon / c / 40
                bound = c**2 * rate**2 / (2 * epsilon**2)
                assert log_mgf(epsilon, rate) <= bound * (1 + mpmath.mpf(10) ** -25)


@pytest.mark.parametrize("epsilon", ["1e-6", "1/10", "3"])
def test_the_excess_against_mpmath(epsilon):
    for constant in ("1.5", "1.6", "2"):
        found = refine(lambda: excess_of(arb(constant), Fraction(epsilon)))  # noqa: B023
        with mpmath.workdps(60):
            e = mpmath.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
            truth = log_mgf(e, e / mpmath.mpf(constant)) - mpmath.mpf(1) / 2
            assert mpmath.mpf(str(found.lower)) <= truth <= mpmath.mpf(str(found.upper))


def test_a_constant_that_is_too_small_by_1e_9_is_refuted():
    small = refine(lambda: excess_of(best_constant() * (1 - arb("1e-9")), Fraction(1, 10**6)))
    assert small.greater_than(0) is True
    enough = refine(lambda: excess_of(best_constant(), Fraction(1, 10**6)))
    assert enough.less_than(0) is True


def test_the_subdivision_refuses_too_large_a_kappa():
    with pytest.raises(NotProvedError):
        proved_positive(lambda w: arb(1) / 2 - arb("0.45") * _series(arb("0.45") * w), 0, 1)


def test_the_series():
    with mpmath.workdps(30):
        for x in ("0.3", "-0.4", "0.01"):
            truth = -mpmath.log(1 - mpmath.mpf(x)) / mpmath.mpf(x)
            assert abs(mpmath.mpf(_series(arb(x)).mid().str(30, radius=False)) - truth) < 1e-15
    assert _series(arb(0)).contains(1)
    with pytest.raises(ArithmeticError):
        _series(arb("0.7"))


def test_the_sum_of_two_discrete_laplace_variables():
    accuracy = stated_accuracy(2, 10**6)
    found = exceeding(2, 10**6, accuracy)
    with mpmath.workdps(40):
        beta = mpmath.exp(-mpmath.mpf(1) / (2 * theorem6(EPSILON, 2, 10**6).precision))
        front = ((1 - beta) / (1 + beta)) ** 2
        # P(X1 + X2 = k), k >= 0: k + 1 terms between 0 and k, and two geometric sides
        start = accuracy + 1
        total = 2 * mpmath.nsum(
            lambda k: front * beta**k * (k + 1 + 2 * beta**2 / (1 - beta**2)), [start, mpmath.inf]
        )
        assert abs(mpmath.mpf(str(found.lower)) / total - 1) < 1e-12
        assert found.greater_than(Fraction(20, 10**6)) is True


def test_the_corrected_accuracy_is_enough():
    for users in (2, 4, 16, 64):
        accuracy = corrected_accuracy(users, 10**6)
        assert accuracy >= stated_accuracy(users, 10**6)
        assert exceeding(users, 10**6, accuracy).at_most(Fraction(1, 10**6)) is True


def test_the_findings():
    constant, local = (claim.check() for claim in find(["D-lem5", "D-thm6"]))
    assert (constant.truth, constant.scope) == (Truth.HOLDS, Scope.PROVED)
    assert "1.5942064115216694" in constant.evidence["best constant"]
    assert (local.truth, local.scope) == (Truth.HOLDS_CORRECTED, Scope.WITNESS)
