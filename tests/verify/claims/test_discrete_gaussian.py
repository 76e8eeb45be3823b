"""Fact 2, Lemma 4 and Theorem 4 against sums in mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf
from oracles import convolution, discrete_gaussian, exactly, real

from exactdp.exact.precision import enclose, working_precision
from exactdp.mechanisms import papers
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from exactdp.verify.claims.discrete_gaussian import (
    POINTS,
    SMALLEST,
    WITNESSES,
    excess_bound,
    prove_closed_form,
    violation,
)
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.registry import REGISTRY, find


def test_fact2() -> None:
    prove_closed_form()
    found = REGISTRY["D-fact2"].check()
    assert (found.truth, found.scope) == (Truth.HOLDS, Scope.PROVED)


@pytest.mark.parametrize(("sigma2", "shift", "order"), POINTS)
def test_figures_by_brute_force(sigma2: Fraction, shift: int, order: Fraction) -> None:
    with mpmath.workdps(60):
        law, a = discrete_gaussian(sigma2), real(order)
        total = mpmath.fsum(law(x) ** a * law(x - shift) ** (1 - a) for x in range(-40, 41))
        truth = mpmath.log(total) / (a - 1)
        shown = (
            REGISTRY["D-fact2"]
            .check()
            .evidence[f"sigma² = {sigma2}, Delta = {shift}, order {order}"]
        )
        assert abs(float(shown.split()[0]) - float(truth)) < 1e-6
        assert truth <= a * shift**2 / (2 * real(sigma2)) * (1 + mpmath.mpf(10) ** -50)


@pytest.mark.slow
def test_verdicts() -> None:
    lemma, theorem = (claim.check() for claim in find(["D-lem4", "D-thm4"]))
    assert (lemma.truth, lemma.scope) == (Truth.FAILS, Scope.WITNESS)
    assert lemma.evidence["smallest n"].startswith("51 ") and lemma.correction is not None
    assert (theorem.truth, theorem.scope) == (Truth.HOLDS, Scope.POINTS)


def test_the_smallest_witness_in_mpmath() -> None:
    count, shift, order = WITNESSES[0]
    assert count == SMALLEST
    with mpmath.workdps(200):
        one = [mpmath.exp(-2 * mpf(k * k)) for k in range(-12, 13)]
        # squaring: 51 = 32 + 16 + 2 + 1
        powers = {1: one}
        for k in (2, 4, 8, 16, 32):
            powers[k] = _convolved(powers[k // 2], powers[k // 2])
        total = one
        for k in (2, 16, 32):
            total = _convolved(total, powers[k])
        middle, mass, a = len(total) // 2, mpmath.fsum(total), mpf(order.numerator) / 10000
        reach = 55
        value = mpmath.log(
            mpmath.fsum(
                total[middle + x] ** a * total[middle + x - shift] ** (1 - a)
                for x in range(-reach, reach + 1)
            )
            / mass
        ) / (a - 1)
        excess = value - a * shift**2 / (2 * count * mpf(0.25))
        xi = 10 * mpmath.fsum(
            mpmath.exp(-(mpmath.pi**2) / 2 * mpf(k) / (k + 1)) for k in range(1, count)
        )
        found, allowed = violation(count, shift, order)
        assert excess > a * xi / 4
        assert abs(Fraction(found.lower) - exactly(excess)) < Fraction(1, 10**8)
        assert abs(Fraction(allowed.upper) - exactly(a * xi / 4)) < Fraction(1, 10**8)


def _convolved(left: list[mpf], right: list[mpf]) -> list[mpf]:
    """Through Python integers with 600 bits after the point: exact enough here, and fast."""
    scale = mpf(2) ** 600
    ends = [[int(value * scale) for value in side] for side in (left, right)]
    out = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(ends[0]):
        if a:
            for j, b in enumerate(ends[1]):
                out[i + j] += a * b
    return [mpf(value) / scale / scale for value in out]


def test_the_excess_bound_by_brute_force() -> None:
    with mpmath.workdps(50), working_precision(192):
        for epsilon, users in (("9/10", 2), ("9/10", 4), ("1/2", 6)):
            preset = papers.theorem4(epsilon, users, 2 * users, 1, modulus=None)
            law, g = preset.mechanism.law, preset.precision
            assert isinstance(law, DiscreteGaussianSum)
            total = convolution(discrete_gaussian(law.sigma2), users, 16)
            v = mpf(law.sigma2.numerator) / law.sigma2.denominator * users
            w = [
                total[min(x % users, users - x % users)]
                * mpmath.exp(mpf(min(x % users, users - x % users)) ** 2 / (2 * v))
                for x in range(users)
            ]
            truth = max(mpmath.log(w[x] / w[(x - g) % users]) for x in range(users))
            bound = enclose(excess_bound(law, g))
            assert exactly(truth) <= bound.upper
            assert float(bound.upper) < 20 * float(truth) + 1e-12 or float(truth) < 1e-40
