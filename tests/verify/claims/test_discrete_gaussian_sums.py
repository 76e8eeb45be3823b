"""Sums of discrete Gaussians: w, the excess and the proof of Lemma 4, against brute force."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf
from oracles import assert_ball_holds, convolution, discrete_gaussian, exactly

from exactdp.accounting.interop.distributed import gaussians_tau
from exactdp.exact.precision import working_precision
from exactdp.verify.claims.discrete_gaussian_sums import (
    excess_at,
    periodic,
    prove_lemma4_at,
)
from exactdp.verify.claims.proofs import NotProvedError

HALF = Fraction(1, 4)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_w_by_convolution(count: int) -> None:
    with mpmath.workdps(60), working_precision(256):
        total = convolution(discrete_gaussian(HALF), count, 16)
        law = periodic(count, HALF)
        for x in range(count):
            truth = total[x] / total[0] * mpmath.exp(mpf(x * x) / (2 * count * mpf(0.25)))
            assert_ball_holds(law.w[x] / law.w[0], truth)


@pytest.mark.parametrize(
    ("count", "shift", "order"), [(6, 3, "3/2"), (5, 2, "1.01"), (4, 9, "2.3")]
)
def test_the_excess_by_brute_force(count: int, shift: int, order: str) -> None:
    with mpmath.workdps(60), working_precision(256):
        total = convolution(discrete_gaussian(HALF), count, 16)
        a = mpf(Fraction(order).numerator) / Fraction(order).denominator
        masses = [x for x in total if x - shift in total]
        value = mpmath.log(
            mpmath.fsum(total[x] ** a * total[x - shift] ** (1 - a) for x in masses)
        ) / (a - 1)
        truth = value - a * shift**2 / (2 * count * mpf(0.25))
        found = excess_at(periodic(count, HALF), Fraction(order), shift)
        slack = Fraction(1, 10**10)
        assert found.lower <= exactly(truth) + slack and exactly(truth) - slack <= found.upper
        assert abs(Fraction(found.lower) - exactly(truth)) < Fraction(1, 10**8)


def test_xi() -> None:
    with mpmath.workdps(30), working_precision(128):
        for count in (2, 51, 5000):
            truth = 10 * mpmath.fsum(
                mpmath.exp(-(mpmath.pi**2) / 2 * k / (k + 1)) for k in range(1, count)
            )
            assert_ball_holds(gaussians_tau(count, HALF), truth, 1e-2)


def test_the_lemma_is_proved_up_to_50_and_not_at_51() -> None:
    for count in (2, 3, 4, 36, 50):
        prove_lemma4_at(count, HALF)
    with pytest.raises(NotProvedError):
        prove_lemma4_at(51, HALF)
