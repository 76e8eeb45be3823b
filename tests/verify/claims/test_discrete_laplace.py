"""Facts 1 and 3, Theorem 5 and the published noise, held to sums written out in mpmath."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from mpmath import mpf
from oracles import convolution, discrete_laplace, exactly, polya_difference, real, tail

from exactdp.accounting.composition.divergence import pure_epsilon
from exactdp.mechanisms import papers
from exactdp.mechanisms.papers import theorem5
from exactdp.verify.claims.discrete_laplace import (
    CODE_POINTS,
    prove_shares,
    prove_tail,
    true_epsilon,
)
from exactdp.verify.claims.finding import Scope, Truth
from exactdp.verify.claims.registry import REGISTRY, find
from exactdp.verify.claims.theorem1 import spared


def test_the_facts() -> None:
    fact1, fact3 = (claim.check() for claim in find(["D-fact1", "D-fact3"]))
    assert (fact1.truth, fact1.scope) == (Truth.HOLDS_CORRECTED, Scope.PROVED)
    assert fact1.correction is not None and "[0, 1)" in fact1.correction
    assert (fact3.truth, fact3.scope) == (Truth.HOLDS, Scope.PROVED)
    assert "0.8" in fact3.evidence["least epsilon at Delta = 5/2, epsilon = 1"]


def test_the_proofs_run() -> None:
    prove_shares()
    prove_tail()


@pytest.mark.slow_cases("3")
@pytest.mark.parametrize("users", [2, 3])
def test_shares_add_up_by_brute_force(users: int) -> None:
    with mpmath.workdps(30):
        total = convolution(polya_difference(f"1/{users}", 2), users, 120)
        law = discrete_laplace(2)
        for x in (0, 1, 5, 20):
            assert mpmath.almosteq(total[x], law(x), mpf(10) ** -20)


def test_the_tail_by_brute_force() -> None:
    with mpmath.workdps(30):
        epsilon, sensitivity = mpf(1) / 3, 4
        law = discrete_laplace(sensitivity * 3)
        for m in (0, 1, 10):
            stated = mpmath.exp(-epsilon * m / sensitivity) / (
                mpmath.exp(epsilon / sensitivity) + 1
            )
            assert mpmath.almosteq(tail(law, m + 1, 1500), stated, mpf(10) ** -25)


def test_the_published_code() -> None:
    found = REGISTRY["D-code"].check()
    assert (found.truth, found.scope) == (Truth.FAILS, Scope.PROVED)
    assert found.correction is not None and "beta/(1-beta)" in found.correction
    assert found.evidence["true epsilon at epsilon = 1/10, n = 1024"].startswith("14.80")


def test_true_epsilon_in_mpmath() -> None:
    with mpmath.workdps(40):
        for epsilon, users in CODE_POINTS:
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


def test_the_slack_is_what_the_reduction_mod_m_gains():
    preset = theorem5("1/10", 4, 10)
    found = spared(preset.epsilon, preset.precision, preset.mechanism.modulus)
    measured = pure_epsilon(preset.mechanism)
    with mpmath.workdps(40):
        g, m = preset.precision, preset.mechanism.modulus
        beta = mpmath.exp(-mpmath.mpf(1) / (10 * g))
        masses = [beta**x + beta ** (m - x) for x in range(m)]
        worst = max(mpmath.log(masses[x] / masses[(x - g) % m]) for x in range(m))
        truth = mpmath.mpf(1) / 10 - worst
        assert abs(mpmath.mpf(str(found.lower)) - truth) < 1e-15
        assert abs(mpmath.mpf(str(measured.lower)) - worst) < 1e-13


def test_the_central_model():
    finding = REGISTRY["D-thm5"].check()
    assert (finding.truth, finding.scope, finding.correction) == (Truth.HOLDS, Scope.PROVED, None)
