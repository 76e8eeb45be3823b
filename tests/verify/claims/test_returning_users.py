"""Appendix I: exact composition needs the least noise, equation 14 by far the most."""

from __future__ import annotations

from fractions import Fraction

from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.returning_users import CLAIMS, TARGETS, rows


def test_verdict() -> None:
    found = CLAIMS[0].check()
    assert (found.truth, found.scope) == (Truth.FAILS, Scope.POINTS)
    assert sum("eq. 14" in text and "exact" in text for text in found.evidence.values()) == 8


def test_the_gain_is_the_product_of_its_parts() -> None:
    for row in rows(*TARGETS[1]):
        product = Fraction(row.advanced_over_optimal.lower) * Fraction(row.optimal_over_renyi.lower)
        assert product <= Fraction(row.advanced_over_renyi.upper)
        assert row.renyi_over_exact.greater_than(1) is True
