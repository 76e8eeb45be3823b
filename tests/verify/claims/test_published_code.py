"""The published implementation's epsilon, from its Gamma-mixed Poisson shares in mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from mpmath import mpf
from oracles import exactly, real

from exactdp.mechanisms import papers
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.published_code import CLAIMS, POINTS, true_epsilon


def test_verdict() -> None:
    found = CLAIMS[0].check()
    assert (found.truth, found.scope) == (Truth.FAILS, Scope.PROVED)
    assert found.correction is not None and "beta/(1-beta)" in found.correction
    assert found.evidence["true epsilon at epsilon = 1/10, n = 1024"].startswith("14.80")


def test_true_epsilon_in_mpmath() -> None:
    with mpmath.workdps(40):
        for epsilon, users in POINTS:
            g = papers.published(epsilon, users).precision
            truth = -g * mpmath.log(1 - mpmath.exp(-real(epsilon) / g))
            found = true_epsilon(epsilon, g)
            assert abs(Fraction(found.lower) - exactly(truth)) < Fraction(1, 10**12)
            assert found.greater_than(epsilon) is True


def test_a_share_as_the_code_draws_it_is_polya_of_one_minus_beta() -> None:
    with mpmath.workdps(25):
        beta, r = mpmath.exp(mpf(-1) / 4), mpf(1) / 8
        theta = (1 - beta) / beta
        for x in (0, 1, 3):
            drawn = mpmath.quad(
                lambda rate, x=x: (
                    mpmath.exp(-rate)
                    * rate**x
                    / mpmath.factorial(x)
                    * rate ** (r - 1)
                    * mpmath.exp(-rate / theta)
                    / (mpmath.gamma(r) * theta**r)
                ),
                [0, mpf(10) ** -20, mpf(10) ** -8, mpf("1e-3"), 1, 10, 60],
            )
            share = mpmath.rf(r, x) / mpmath.factorial(x) * (1 - beta) ** x * beta**r
            assert abs(drawn - share) < mpf("0.004") * share  # the integrand is singular at 0
