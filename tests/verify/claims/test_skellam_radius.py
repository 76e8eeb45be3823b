"""Theorem 2's radius: the ratio of the two noise terms, and its growth."""

from fractions import Fraction

import mpmath

from exactdp.exact.precision import refine
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.skellam_radius import CLAIMS, kept, term_ratio


def test_the_ratio_of_the_terms():
    found = term_ratio(10**6, Fraction(10))
    with mpmath.workdps(40):
        log = mpmath.log(2 * 10**6)
        truth = mpmath.mpf("1.1") * log / (2 * mpmath.sqrt(log) + mpmath.sqrt(2) * log / 10)
        assert mpmath.mpf(str(found.lower)) <= truth <= mpmath.mpf(str(found.upper))


def test_the_pulls_outgrow_every_multiple_of_what_is_claimed():
    def share(horizon):
        pulled = refine(lambda: kept(horizon, Fraction(1)))
        log = mpmath.log(2 * mpmath.mpf(horizon))
        return mpmath.mpf(str(pulled.lower)) / (3 * log + 2 * mpmath.sqrt(log))

    shares = [share(10**power) for power in (10, 100, 10**3, 10**4)]
    assert shares == sorted(shares)
    assert shares[-1] > 90


def test_the_finding():
    finding = CLAIMS[0].check()
    assert (finding.truth, finding.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)
    assert "sqrt(L)" in (finding.correction or "")
