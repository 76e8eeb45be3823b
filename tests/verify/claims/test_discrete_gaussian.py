"""Fact 2: the closed form of the divergence against sums in mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from oracles import discrete_gaussian, real

from exactdp.verify.claims.discrete_gaussian import CLAIMS, POINTS, prove_closed_form
from exactdp.verify.claims.finding import Scope, Truth


def test_verdict() -> None:
    prove_closed_form()
    found = CLAIMS[0].check()
    assert (found.truth, found.scope) == (Truth.HOLDS, Scope.PROVED)


@pytest.mark.parametrize(("sigma2", "shift", "order"), POINTS)
def test_figures_by_brute_force(sigma2: Fraction, shift: int, order: Fraction) -> None:
    with mpmath.workdps(60):
        law, a = discrete_gaussian(sigma2), real(order)
        total = mpmath.fsum(law(x) ** a * law(x - shift) ** (1 - a) for x in range(-40, 41))
        truth = mpmath.log(total) / (a - 1)
        shown = CLAIMS[0].check().evidence[f"sigma² = {sigma2}, Delta = {shift}, order {order}"]
        assert abs(float(shown.split()[0]) - float(truth)) < 1e-6
        assert truth <= a * shift**2 / (2 * real(sigma2)) * (1 + mpmath.mpf(10) ** -50)
