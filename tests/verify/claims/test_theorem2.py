"""Lemma 3 and Theorem 2 against sums in mpmath: the curve and the radius."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from oracles import exactly, skellam

from exactdp.exact.precision import refine
from exactdp.mechanisms import papers
from exactdp.verify.claims import theorem2
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.registry import REGISTRY
from exactdp.verify.claims.theorem2 import kept, term_ratio


def divergence(variance: str, shift: int, order: int) -> mpmath.mpf:
    law, reach = skellam(variance), 90
    masses = {x: law(x) for x in range(-reach - shift, reach + shift + 1)}
    total = mpmath.fsum(
        masses[x] ** order * masses[x - shift] ** (1 - order) for x in range(-reach, reach + 1)
    )
    return mpmath.log(total) / (order - 1)


def test_lemma3_at_points_by_brute_force() -> None:
    with mpmath.workdps(60):
        points = theorem2.lemma_points([Fraction(1, 4), Fraction(4)], [1, 2], [2, 4])
        assert len(points) == 8 and all(
            point.value.at_most(point.bound) and point.value.at_most(point.gaussian)
            for point in points
        )
        found = iter(points)
        for variance in ("1/4", "4"):
            for shift in (1, 2):
                for order in (2, 4):
                    truth = exactly(divergence(variance, shift, order))
                    value = next(found).value
                    assert value.lower <= truth <= value.upper


@pytest.mark.slow
def test_verdict_of_lemma3() -> None:
    found = REGISTRY["D-lem3"].check()
    assert (found.truth, found.scope) == (Truth.HOLDS, Scope.POINTS)
    assert "245 of 245" in found.evidence["not needed"]
    with mpmath.workdps(40):
        low_order = float(divergence("1", 1, 1.01))  # type: ignore[arg-type]
    assert low_order > 0.505
    assert f"{low_order:.6f}"[:7] in found.evidence["needed below order 2 only"]


def test_the_steps_of_the_curve() -> None:
    theorem2.prove_curve_steps()
    third = Fraction(1, 10)
    assert not theorem2.follows(third, Fraction(10), 2, [2, 1024])
    assert theorem2.follows(third, Fraction(1), 2, [2, 1024])  # s = 1: g >= s
    assert theorem2.follows(Fraction(71, 100), Fraction(30), 2, [2, 1024])  # > 1/sqrt 2


def corrected_curve(epsilon: Fraction, scaling: Fraction, order: int) -> Fraction:
    """Theorem 2's curve with 3 epsilon/2s where it has 3 epsilon²/2s."""
    s = scaling
    fine = (2 * order - 1) * epsilon**2 / (4 * s**2) + 3 * epsilon / (2 * s**3)
    return order * epsilon**2 / 2 + min(fine, 3 * epsilon / (2 * s))


@pytest.mark.parametrize("epsilon", ["1/100", "1/10", "7/10", "3"])
@pytest.mark.parametrize("scaling", ["1", "3/2", "10", "100"])
def test_the_corrected_curve_follows_from_lemma3(epsilon: str, scaling: str) -> None:
    e, s = Fraction(epsilon), Fraction(scaling)
    for users in (1, 2, 7, 100):
        g = papers.theorem2(e, users, 1, s, modulus=None).precision
        for order in (2, 3, 50, 10_000):
            implied = theorem2.lemma3(g**2 / e**2, g, order)
            assert implied <= corrected_curve(e, s, order)


@pytest.mark.slow
def test_verdict_of_the_curve() -> None:
    found = REGISTRY["D-thm2-curve"].check()
    assert (found.truth, found.scope) == (Truth.HOLDS, Scope.POINTS)
    assert found.correction is not None and "3 epsilon/2s}" in found.correction
    assert found.evidence["counterexamples"].startswith("none")


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


def test_verdict_of_the_radius():
    finding = REGISTRY["D-thm2-radius"].check()
    assert (finding.truth, finding.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)
    assert "sqrt(L)" in (finding.correction or "")
