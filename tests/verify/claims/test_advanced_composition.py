"""Theorem 7's true range: the proof, its edge, and the witnesses by brute force."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from oracles import exactly, real

from exactdp.verify.claims.advanced_composition import (
    CLAIMS,
    TARGET,
    WITNESSES,
    allowed_share,
    cost,
    prove_range,
)
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.inequality import NotProvedError, proved_positive


def test_verdict() -> None:
    found = CLAIMS[0].check()
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
