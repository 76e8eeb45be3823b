"""Lemma 10's conversions on mechanisms whose exact costs are known."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from oracles import exactly, real

from exactdp.accounting.methods import conversion
from exactdp.verify.claims.conversions import (
    CLAIMS,
    PURE_POINTS,
    prove_concentrated,
    prove_from_renyi,
    prove_pure,
)
from exactdp.verify.claims.finding import Scope, Truth


def test_verdict() -> None:
    found = CLAIMS[0].check()
    assert (found.truth, found.scope) == (Truth.HOLDS, Scope.PROVED)
    assert len([name for name in found.evidence if name.startswith("pure")]) == len(PURE_POINTS)


def test_the_proofs_run() -> None:
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
