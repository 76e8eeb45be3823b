"""Lemma 10, Theorem 7 and Appendix I on mechanisms whose exact costs are known."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from oracles import exactly, real

from exactdp.accounting.divergences import conversion
from exactdp.verify.claims.composition import (
    PURE_POINTS,
    TARGET,
    TARGETS,
    WITNESSES,
    allowed_share,
    cost,
    prove_concentrated,
    prove_from_renyi,
    prove_pure,
    prove_range,
    rows,
)
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.proofs import NotProvedError, proved_positive
from exactdp.verify.claims.registry import REGISTRY


def test_lemma10() -> None:
    found = REGISTRY["D-lem10"].check()
    assert (found.truth, found.scope) == (Truth.HOLDS, Scope.PROVED)
    assert len([name for name in found.evidence if name.startswith("pure")]) == len(PURE_POINTS)


def test_the_proofs_of_lemma10_run() -> None:
    prove_from_renyi()
    prove_concentrated()
    prove_pure()


def test_the_tight_pure_to_renyi_is_randomized_response() -> None:
    with mpmath.workdps(40):
        for epsilon, order in PURE_POINTS:
            e, a = real(epsilon), real(order)
            keep = 1 / (1 + mpmath.exp(-e))
            total = keep**a * (1 - keep) ** (1 - a) + (1 - keep) ** a * keep ** (1 - a)
            truth = mpmath.log(total) / (a - 1)
            assert conversion.pure_to_renyi(epsilon, order).contains(exactly(truth))
            closed = mpmath.log(mpmath.cosh((a - 0.5) * e) / mpmath.cosh(e / 2)) / (a - 1)
            assert mpmath.almosteq(truth, closed, mpmath.mpf(10) ** -30)
            assert truth < a * e * e / 2


def test_the_concentrated_infimum_in_mpmath() -> None:
    with mpmath.workdps(30):
        log_delta = mpmath.log(mpmath.mpf(10) ** -6)

        def at(a: mpmath.mpf) -> mpmath.mpf:
            return a / 2 + (-log_delta - mpmath.log(a)) / (a - 1) + mpmath.log(1 - 1 / a)

        best = mpmath.findroot(lambda a: mpmath.diff(at, a), 6)
        found = conversion.zcdp_to_epsilon(Fraction(1, 2), "1e-6").value
        assert abs(Fraction(found.upper) - exactly(at(best))) < Fraction(1, 10**10)
        assert at(best) < mpmath.sqrt(-2 * log_delta) + mpmath.mpf(1) / 2


def test_theorem7() -> None:
    found = REGISTRY["D-thm7"].check()
    assert (found.truth, found.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)
    assert found.correction is not None and "0.9925" in found.correction


def test_the_proof_stops_where_its_inequality_does() -> None:
    prove_range()
    with pytest.raises(NotProvedError):
        proved_positive(lambda x: (-2 * x).exp() + (-1 / (32 * x)).exp() - 1, "0.0074", 1)


@pytest.mark.parametrize(("count", "failure"), WITNESSES[:3])
def test_the_cost_by_the_binomial_sum(count: int, failure: Fraction) -> None:
    share = allowed_share(count, failure)
    with mpmath.workdps(50):
        allowed = real(TARGET) / (2 * mpmath.sqrt(2 * count * mpmath.log(1 / real(failure))))
        assert 0 < allowed - real(share) < mpmath.mpf(10) ** -7
        keep = 1 / (1 + mpmath.exp(-real(share)))
        truth = mpmath.mpf(0)
        for k in range(count + 1):
            p = keep**k * (1 - keep) ** (count - k)
            q = keep ** (count - k) * (1 - keep) ** k
            truth += mpmath.binomial(count, k) * max(
                mpmath.mpf(0), p - mpmath.exp(real(TARGET)) * q
            )
        found = cost(count, failure)
        assert found.contains(exactly(truth))
        assert truth > real(failure)


def test_inside_the_range_nothing_exceeds() -> None:
    for count in (1, 5, 100):
        for failure in (Fraction("0.9925"), Fraction("0.9"), Fraction("0.1")):
            assert cost(count, failure).at_most(failure) is True


@pytest.mark.slow
def test_appendix_i() -> None:
    found = REGISTRY["D-appI"].check()
    assert (found.truth, found.scope) == (Truth.FAILS, Scope.POINTS)
    assert sum("eq. 14" in text and "exact" in text for text in found.evidence.values()) == 8


@pytest.mark.slow
def test_the_gain_is_the_product_of_its_parts() -> None:
    for row in rows(*TARGETS[1]):
        product = Fraction(row.advanced_over_optimal.lower) * Fraction(row.optimal_over_renyi.lower)
        assert product <= Fraction(row.advanced_over_renyi.upper)
        assert row.renyi_over_exact.greater_than(1) is True
