"""Tail bounds against the laws themselves, for parameters drawn by hypothesis.

The bounds are the claims of verify/claims; the tails are the laws' own certified sums, and for some
of them a sum in mpmath that shares no code with the library.
"""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import exactly, real, skellam

from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace
from exactdp.mechanisms.laws.skellam import Skellam
from exactdp.verify.claims.skellam_tail import improved_tail, stated_tail
from exactdp.verify.claims.theorem1 import least_tau

variances = st.fractions(Fraction(1, 100), 2000, max_denominator=100)
probabilities = st.integers(1, 15).map(lambda digits: Fraction(1, 10**digits)) | st.fractions(
    Fraction(1, 1000), 1, max_denominator=1000
)


@given(variances, probabilities)
def test_skellam_keeps_to_proposition_1(variance: Fraction, p: Fraction) -> None:
    bound = math.floor(stated_tail(variance, p).lower)
    assert Skellam(variance).two_sided_tail(bound).at_most(p) is True


@given(variances, probabilities)
def test_skellam_keeps_to_the_improved_bound(variance: Fraction, p: Fraction) -> None:
    bound = improved_tail(variance, p)
    assert Skellam(variance).two_sided_tail(math.floor(bound.lower)).at_most(p) is True
    assert bound.less_than(stated_tail(variance, p).lower) is True


@settings(max_examples=15)
@given(st.fractions(Fraction(1, 10), 20, max_denominator=10), probabilities)
def test_the_improved_bound_in_mpmath(variance: Fraction, p: Fraction) -> None:
    bound = math.floor(improved_tail(variance, p).lower)
    with mpmath.workdps(30):
        law = skellam(variance)
        inside = law(0) + 2 * mpmath.fsum(law(x) for x in range(1, bound + 1))
        assert exactly(1 - inside) <= p + Fraction(1, 10**25)


@given(variances, st.fractions(Fraction(1, 100), Fraction(141, 100), max_denominator=100))
def test_the_moment_generating_function_is_as_sub_exponential_as_stated(
    variance: Fraction, t: Fraction
) -> None:
    """E e^(tX) <= e^(v t²) for |t| <= sqrt 2, and more than e^(v t²/2): no better factor than v."""
    found = Skellam(variance).mgf(t)
    with mpmath.workdps(40):
        square = real(variance) * real(t) ** 2
        assert found.at_most(exactly(mpmath.exp(square))) is True
        assert found.at_least(exactly(mpmath.exp(square / 2))) is True


@given(
    st.fractions(Fraction(1, 20), 5, max_denominator=20), st.integers(1, 50), st.integers(1, 10**6)
)
def test_the_least_tau_of_theorem_1_is_the_least(epsilon: Fraction, g: int, rounds: int) -> None:
    law, tau = DiscreteLaplace(g / epsilon), least_tau(epsilon, g, rounds)
    assert law.two_sided_tail(tau).at_most(Fraction(1, rounds)) is True
    assert tau == 0 or law.two_sided_tail(tau - 1).at_most(Fraction(1, rounds)) is False


@pytest.mark.slow
@given(st.fractions(Fraction(1, 4), 2000, max_denominator=100), st.integers(1, 60))
def test_the_discrete_gaussian_keeps_to_fact_2(sigma2: Fraction, t: int) -> None:
    with mpmath.workdps(40):
        stated = exactly(2 * mpmath.exp(-mpmath.mpf(t * t) / (2 * real(sigma2))))
    assert DiscreteGaussian(sigma2).two_sided_tail(t - 1).at_most(stated) is True  # P(|Y| >= t)
