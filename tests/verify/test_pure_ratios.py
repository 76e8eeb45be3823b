"""Pure DP against ratios of probabilities, for parameters drawn by hypothesis.

No ratio of two masses may exceed e^epsilon, and one must come as near to it as it is stated.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import discrete_laplace, exactly, polya_difference, real

from exactdp.accounting.composition import divergence
from exactdp.mechanisms import papers
from exactdp.mechanisms.laws.discrete_laplace import DiscreteLaplace, PolyaDifference
from exactdp.mechanisms.mechanism import AdditiveNoise
from exactdp.verify.claims.theorem1 import spared

scales = st.fractions(Fraction(1, 5), 20, max_denominator=20)
TINY = Fraction(1, 10**25)


@given(scales, st.integers(1, 20), st.integers(-60, 60), st.data())
def test_discrete_laplace(scale: Fraction, sensitivity: int, x: int, data: st.DataObject) -> None:
    shift = data.draw(st.integers(-sensitivity, sensitivity))
    found = divergence.pure_epsilon(AdditiveNoise(DiscreteLaplace(scale), sensitivity))
    with mpmath.workdps(40):
        law = discrete_laplace(scale)
        loss = exactly(mpmath.log(law(x) / law(x - shift)))
        assert loss <= Fraction(found.upper) + TINY
        assert found.contains(sensitivity / scale)  # attained at x <= 0


@settings(max_examples=20)
@given(scales, st.integers(1, 8), st.integers(2, 40), st.data())
def test_discrete_laplace_mod_m(
    scale: Fraction, sensitivity: int, modulus: int, data: st.DataObject
) -> None:
    found = divergence.pure_epsilon(AdditiveNoise(DiscreteLaplace(scale), sensitivity, modulus))
    residue = data.draw(st.integers(0, modulus - 1))
    shift = data.draw(st.integers(-min(sensitivity, modulus - 1), min(sensitivity, modulus - 1)))
    with mpmath.workdps(40):
        beta = mpmath.exp(-1 / real(scale))

        def mass(c: int) -> mpmath.mpf:
            c %= modulus
            return (beta**c + beta ** (modulus - c)) * (1 - beta) / (1 + beta) / (1 - beta**modulus)

        loss = exactly(mpmath.log(mass(residue) / mass(residue - shift)))
        assert loss <= Fraction(found.upper) + TINY
        worst = max(
            mpmath.log(mass(c) / mass(c - d))
            for c in range(modulus)
            for d in range(1, min(sensitivity, modulus - 1) + 1)
        )
        assert Fraction(found.lower) - TINY <= exactly(worst) <= Fraction(found.upper) + TINY


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.sampled_from([Fraction(1, 2), Fraction(3, 4), Fraction(9, 10)]),
    st.fractions(1, 5, max_denominator=4),
    st.integers(1, 4),
    st.integers(-12, 12),
)
def test_polya_difference_with_shares_missing(
    shape: Fraction, scale: Fraction, sensitivity: int, x: int
) -> None:
    found = divergence.pure_epsilon(AdditiveNoise(PolyaDifference(shape, scale), sensitivity))
    with mpmath.workdps(40):
        law = polya_difference(shape, scale)
        assert exactly(mpmath.log(law(x) / law(x - sensitivity))) <= Fraction(found.upper) + TINY
        worst = exactly(mpmath.log(law(0) / law(sensitivity)))  # the supremum is at 0
        assert Fraction(found.lower) - TINY <= worst <= Fraction(found.upper) + TINY


@given(
    st.fractions(Fraction(1, 20), 5, max_denominator=20), st.integers(2, 200), st.integers(1, 10**5)
)
def test_theorem_1_is_strictly_below_epsilon(epsilon: Fraction, users: int, rounds: int) -> None:
    preset = papers.theorem1(epsilon, users, rounds)
    m = preset.mechanism.modulus
    assert m is not None and m >= 2 * preset.precision
    assert spared(epsilon, preset.precision, m).greater_than(0) is True
