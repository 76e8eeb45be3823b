"""The discrete Laplace law: closed forms against the paper's Fact 3 and brute force."""

from fractions import Fraction

import mpmath
import oracles
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace
from exactdp.mechanisms.additive.papers import InvertedScale

scales = st.fractions(min_value=Fraction(1, 2), max_value=10**7, max_denominator=1000)


@given(scale=scales, t=st.integers(0, 1000))
def test_tail_is_fact_3(scale: Fraction, t: int) -> None:
    # P(Y > m) = e^(-m/scale)/(e^(1/scale) + 1)
    with mpmath.workdps(60):
        rate = 1 / oracles.real(scale)
        truth = mpmath.exp(-t * rate) / (mpmath.exp(rate) + 1)
        oracles.assert_holds(DiscreteLaplace(scale).sf(t), truth)
        oracles.assert_holds(DiscreteLaplace(scale).two_sided_tail(t), 2 * truth)


def test_a_scale_known_by_a_formula() -> None:
    law = DiscreteLaplace(InvertedScale(Fraction(40)))
    with mpmath.workdps(60):
        beta = 1 - mpmath.exp(mpf(-1) / 40)
        oracles.assert_holds(law.sf(5), beta**6 / (1 + beta))
    assert AdditiveNoise(law, 4).sensitivity == 4
