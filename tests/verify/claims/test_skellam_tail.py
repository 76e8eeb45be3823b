"""Proposition 1's constants against mpmath, and slightly wrong constants that must not pass."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from flint import arb_series
from mpmath import mpf
from oracles import exactly

from exactdp.verify.claims import skellam_tail
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.proofs import NotProvedError, proved_positive, proved_positive_beyond
from exactdp.verify.claims.registry import find


@pytest.mark.slow
def test_verdicts() -> None:
    proposition, claim1 = (claim.check() for claim in find(["D-prop1", "D-claim1"]))
    assert (proposition.truth, proposition.scope) == (Truth.HOLDS, Scope.PROVED)
    assert "1.178183557" in proposition.evidence["best variance factor at h = sqrt(2)/2"]
    assert "0.3352479190" in proposition.evidence["best h at variance factor 2 v"]
    assert (claim1.truth, claim1.scope) == (Truth.HOLDS, Scope.PROVED)


def test_best_constants_in_mpmath() -> None:
    with mpmath.workdps(40):
        factor = skellam_tail.best_variance_factor()
        assert factor.contains(exactly(mpmath.cosh(mpmath.sqrt(2)) - 1))
        root = mpmath.findroot(lambda s: mpmath.cosh(s) - 1 - s * s, 3)
        reach, argument = skellam_tail.best_reach()
        assert argument.contains(exactly(root)) and reach.contains(exactly(1 / root))
        assert Fraction(reach.upper) - Fraction(reach.lower) < Fraction(1, 10**20)


def test_the_least_linear_term_in_mpmath() -> None:
    def needed(s: mpf) -> mpf:
        kappa = s * mpmath.sinh(s) - mpmath.cosh(s) + 1
        return (mpmath.sinh(s) - mpmath.sqrt(2 * kappa)) / kappa

    with mpmath.workdps(30):
        at = mpmath.findroot(lambda s: mpmath.diff(needed, s), 3.8)
        least = exactly(needed(at))
    assert skellam_tail.LINEAR - Fraction(1, 10**9) < least < skellam_tail.LINEAR


def test_slightly_wrong_constants_are_not_proved() -> None:
    with pytest.raises(NotProvedError):
        skellam_tail.prove_linear_term(skellam_tail.LINEAR - Fraction(2, 10**9))
    assert not skellam_tail.refute_linear_term(skellam_tail.LINEAR)
    # the variance factor: cosh s - 1 <= (c/2) s² up to sqrt 2 fails for c just below the best one
    best = skellam_tail.best_variance_factor()
    wrong = Fraction(best.lower) - Fraction(1, 10**8)
    with pytest.raises(NotProvedError):
        proved_positive(
            lambda s: s * s * wrong.numerator / wrong.denominator / 2 + 1 - s.cosh(),
            1,
            Fraction(14143, 10**4),
        )
    # h: beyond 2.98287 the inequality is false
    with pytest.raises(NotProvedError):
        proved_positive(lambda s: s * s + 1 - s.cosh(), 1, Fraction(2983, 1000))


def test_claim1_is_not_proved_with_a_smaller_exponent() -> None:
    def series(c: Fraction) -> Callable[[arb_series], arb_series]:
        def difference(x: arb_series) -> arb_series:
            return (x * x * c.numerator / c.denominator).exp() - (x.exp() + (-x).exp()) / 2

        return difference

    proved_positive_beyond(series(Fraction(1, 2)), 0, 5, order=4)
    with pytest.raises(NotProvedError):
        proved_positive_beyond(series(Fraction(499, 1000)), 0, 5, order=2)
