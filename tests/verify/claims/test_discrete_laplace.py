"""Facts 1 and 3, held to sums written out in mpmath."""

from __future__ import annotations

import mpmath
import pytest
from mpmath import mpf
from oracles import convolution, discrete_laplace, polya_difference, tail

from exactdp.verify.claims.discrete_laplace import CLAIMS, prove_shares, prove_tail
from exactdp.verify.claims.finding import Scope, Truth


def test_verdicts() -> None:
    fact1, fact3 = (claim.check() for claim in CLAIMS)
    assert (fact1.truth, fact1.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)
    assert fact1.correction is not None and "[0, 1)" in fact1.correction
    assert (fact3.truth, fact3.scope) == (Truth.HOLDS, Scope.PROVED)
    assert "0.8" in fact3.evidence["least epsilon at Delta = 5/2, epsilon = 1"]


def test_the_proofs_run() -> None:
    prove_shares()
    prove_tail()


@pytest.mark.parametrize("users", [2, 3])
def test_shares_add_up_by_brute_force(users: int) -> None:
    with mpmath.workdps(30):
        total = convolution(polya_difference(f"1/{users}", 2), users, 120)
        law = discrete_laplace(2)
        for x in (0, 1, 5, 20):
            assert mpmath.almosteq(total[x], law(x), mpf(10) ** -20)


def test_the_tail_by_brute_force() -> None:
    with mpmath.workdps(30):
        epsilon, sensitivity = mpf(1) / 3, 4
        law = discrete_laplace(sensitivity * 3)
        for m in (0, 1, 10):
            stated = mpmath.exp(-epsilon * m / sensitivity) / (
                mpmath.exp(epsilon / sensitivity) + 1
            )
            assert mpmath.almosteq(tail(law, m + 1, 1500), stated, mpf(10) ** -25)
