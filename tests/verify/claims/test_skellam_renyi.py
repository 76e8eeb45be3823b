"""Lemma 3 and Theorem 2's curve against sums in mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from oracles import exactly, skellam

from exactdp.mechanisms import papers
from exactdp.verify.claims import skellam_renyi
from exactdp.verify.claims.finding import Scope, Truth


def divergence(variance: str, shift: int, order: int) -> mpmath.mpf:
    law, reach = skellam(variance), 90
    masses = {x: law(x) for x in range(-reach - shift, reach + shift + 1)}
    total = mpmath.fsum(
        masses[x] ** order * masses[x - shift] ** (1 - order) for x in range(-reach, reach + 1)
    )
    return mpmath.log(total) / (order - 1)


def test_lemma3_at_points_by_brute_force() -> None:
    with mpmath.workdps(60):
        points = skellam_renyi.lemma_points([Fraction(1, 4), Fraction(4)], [1, 2], [2, 4])
        assert len(points) == 8 and all(point.holds and point.below_gaussian for point in points)
        found = iter(points)
        for variance in ("1/4", "4"):
            for shift in (1, 2):
                for order in (2, 4):
                    truth = exactly(divergence(variance, shift, order))
                    value = next(found).value
                    assert value.lower <= truth <= value.upper


def test_verdict_of_lemma3() -> None:
    found = skellam_renyi.CLAIMS[0].check()
    assert (found.truth, found.scope) == (Truth.HOLDS, Scope.POINTS)
    assert "245 of 245" in found.evidence["not needed"]
    with mpmath.workdps(40):
        low_order = float(divergence("1", 1, 1.01))  # type: ignore[arg-type]
    assert low_order > 0.505
    assert f"{low_order:.6f}"[:7] in found.evidence["needed below order 2 only"]


def test_the_steps_of_the_curve() -> None:
    skellam_renyi.prove_curve_steps()
    third = Fraction(1, 10)
    assert not skellam_renyi.follows(third, Fraction(10), 2, [2, 1024])
    assert skellam_renyi.follows(third, Fraction(1), 2, [2, 1024])  # s = 1: g >= s
    assert skellam_renyi.follows(Fraction(71, 100), Fraction(30), 2, [2, 1024])  # > 1/sqrt 2


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
            implied = skellam_renyi.lemma3(g**2 / e**2, g, order)
            assert implied <= corrected_curve(e, s, order)


def test_verdict_of_the_curve() -> None:
    found = skellam_renyi.CLAIMS[1].check()
    assert (found.truth, found.scope) == (Truth.HOLDS, Scope.POINTS)
    assert found.correction is not None and "3 epsilon/2s}" in found.correction
    assert found.evidence["counterexamples"].startswith("none")
