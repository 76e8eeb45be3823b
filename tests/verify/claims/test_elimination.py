"""Lemma 2 and Assumption 1: the witness against a product in mpmath, pulls by counting, wraps."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from exactdp.exact.precision import refine
from exactdp.mechanisms.papers import theorem1
from exactdp.verify.claims.elimination import (
    ARMS,
    EPSILON,
    HORIZON,
    STEEPNESS,
    WITNESS_ARMS,
    WITNESS_HORIZON,
    asked_constant,
    batches,
    failure_probability,
    least_factor,
    level,
    pulls,
    wrapping,
)
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.registry import REGISTRY, find


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
    p = Fraction(1, WITNESS_HORIZON)
    many = refine(
        lambda: failure_probability(
            p, WITNESS_ARMS, batches(WITNESS_ARMS, WITNESS_HORIZON), STEEPNESS
        )
    )
    few = refine(lambda: failure_probability(p, WITNESS_ARMS, 6, STEEPNESS))
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
    probability, counted = (claim.check() for claim in find(["D-lem2-prob", "D-lem2-pulls"]))
    assert (probability.truth, probability.scope) == (Truth.FAILS, Scope.WITNESS)
    assert "4.1123352" in probability.evidence["union bound"]
    assert (counted.truth, counted.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)


@pytest.mark.parametrize("users", [2, 64, 2**16])
def test_wrapping_in_closed_form(users):
    preset = theorem1(EPSILON, users, HORIZON)
    found = wrapping(preset)
    with mpmath.workdps(40):
        beta = mpmath.exp(-mpmath.mpf(1) / (2 * preset.precision))
        tau = preset.accuracy
        truth = (beta ** (tau + 1) - beta ** (2 * tau + 1)) / (1 + beta)
        assert abs(mpmath.mpf(str(found.lower)) / truth - 1) < 1e-15
        assert abs(mpmath.mpf(str(found.upper)) / truth - 1) < 1e-15


def test_the_level_and_the_constant():
    assert level(4) == Fraction(1, 16 * ARMS * HORIZON)
    found = asked_constant(1024, Fraction(1, 1000))
    log = mpmath.log(2000)
    assert abs(mpmath.mpf(str(found.lower)) - 512 / (mpmath.sqrt(log) + log)) < 1e-10


@pytest.mark.parametrize("users", [2, 1024])
def test_the_accuracy_at_the_level_of_the_union_is_enough(users):
    b = users.bit_length() - 1
    preset = theorem1(EPSILON, users, HORIZON)
    law = preset.mechanism.law
    with mpmath.workdps(30):
        scale = mpmath.mpf(preset.precision) * 2
        tau = int(mpmath.ceil(scale * mpmath.log(1 / mpmath.mpf(float(level(b))))))
    assert law.two_sided_tail(tau).at_most(level(b)) is True
    assert tau > preset.accuracy


def test_the_assumption():
    finding = REGISTRY["D-asm1"].check()
    assert (finding.truth, finding.scope) == (Truth.FAILS, Scope.WITNESS)
    assert "b = 16: 318.4" in finding.evidence["Theorem 1"]
