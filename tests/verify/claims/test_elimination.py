"""Lemma 2: the witness against a plain product in mpmath, and the pulls by counting."""

from fractions import Fraction

import mpmath
import pytest

from exactdp.exact.precision import refine
from exactdp.verify.claims.elimination import (
    ARMS,
    CLAIMS,
    HORIZON,
    STEEPNESS,
    batches,
    failure_probability,
    least_factor,
    pulls,
)
from exactdp.verify.claims.finding import Scope, Truth


def failing(p, arms, count, steepness):
    """1 - the product over batches and arms of P(|noise| <= what the radius allows)."""
    kept = mpmath.mpf(1)
    for b in range(1, count + 1):
        q = p / (arms * b * b)
        users = 2**b
        allowed = steepness * mpmath.log(2 / q)
        allowed += users * mpmath.sqrt(mpmath.log(4 / q) / (2 * users))
        kept *= (1 - 4 * mpmath.exp(-allowed / steepness)) ** arms  # P(|noise| > x) = 4 e^(-x/h)
    return 1 - kept


@pytest.mark.parametrize(("p", "arms", "count"), [("1e-3", 2, 7), ("1e-6", 5, 3), ("0.1", 1, 10)])
def test_the_failure_probability(p, arms, count):
    found = refine(lambda: failure_probability(Fraction(p), arms, count, STEEPNESS))
    with mpmath.workdps(60):
        truth = failing(mpmath.mpf(p), arms, count, STEEPNESS)
        assert mpmath.mpf(str(found.lower)) <= truth <= mpmath.mpf(str(found.upper))


def test_the_witness_is_above_3p_and_few_batches_are_not():
    p = Fraction(1, HORIZON)
    many = refine(lambda: failure_probability(p, ARMS, batches(ARMS, HORIZON), STEEPNESS))
    few = refine(lambda: failure_probability(p, ARMS, 6, STEEPNESS))
    assert many.greater_than(3 * p) is True
    assert few.less_than(3 * p) is True


def test_batches_fit_into_the_horizon():
    for arms, horizon in [(1, 2), (2, 4), (2, 11), (2, 12), (3, 1000)]:
        count = batches(arms, horizon)
        assert arms * sum(2**b for b in range(1, count + 1)) <= horizon
        assert arms * sum(2**b for b in range(1, count + 2)) > horizon


def test_the_least_factor_gives_3p():
    found = refine(least_factor)
    with mpmath.workdps(40):
        factor = 4 * mpmath.pi**2 / (36 - mpmath.pi**2)
        assert mpmath.mpf(str(found.lower)) <= factor <= mpmath.mpf(str(found.upper))
        assert abs((2 / factor + mpmath.mpf(1) / 2) * mpmath.zeta(2) - 3) < 1e-30


def test_pulls():
    assert pulls(0) == 2
    assert all(pulls(last) == 4 * 2**last - 2 for last in range(1, 40))


def test_the_findings():
    probability, counted = (claim.check() for claim in CLAIMS)
    assert (probability.truth, probability.scope) == (Truth.FAILS, Scope.WITNESS)
    assert "4.1123352" in probability.evidence["union bound"]
    assert (counted.truth, counted.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)
