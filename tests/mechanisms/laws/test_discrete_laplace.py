"""The discrete Laplace law: closed forms against the paper's Fact 3 and brute force."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import ParameterError
from exactdp.accounting.divergences.renyi_sums import RenyiSums
from exactdp.exact import working_precision
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace, PolyaDifference
from exactdp.mechanisms.papers import InvertedScale
from exactdp.mechanisms.shift_pair import ShiftPair

scales = st.fractions(min_value=Fraction(1, 2), max_value=10**7, max_denominator=1000)


@given(scale=scales, t=st.integers(0, 1000))
def test_tail_is_fact_3(scale: Fraction, t: int) -> None:
    # P(Y > m) = e^(-m/scale)/(e^(1/scale) + 1)
    with mpmath.workdps(60):
        rate = 1 / oracles.real(scale)
        truth = mpmath.exp(-t * rate) / (mpmath.exp(rate) + 1)
        oracles.assert_holds(DiscreteLaplace(scale).sf(t), truth)
        oracles.assert_holds(DiscreteLaplace(scale).two_sided_tail(t), 2 * truth)


@given(scale=scales, x=st.integers(-1000, 1000))
def test_three_computations_agree(scale: Fraction, x: int) -> None:
    law = DiscreteLaplace(scale)
    with mpmath.workdps(60):
        truth = oracles.discrete_laplace(scale)(x)
        oracles.assert_holds(law.probability(x), truth)
        assert abs(law.pmf(x, 40) / truth - 1) < mpf("1e-38")
        log = float(mpmath.log(truth))
    assert law.log_pmf(np.array([x]))[0] == pytest.approx(log, rel=1e-12, abs=1e-12)


def test_it_is_the_polya_difference_of_shape_one() -> None:
    ours, other = DiscreteLaplace("2.5"), PolyaDifference(1, "2.5")
    for x in (-3, 0, 1, 40):
        assert ours.cdf(x).intersection(other.cdf(x)).is_finite()
        assert ours.probability(x).intersection(other.probability(x)).is_finite()
    assert ours.mgf("0.1").intersection(other.mgf("0.1")).is_finite()
    assert ours.mgf("0.4") == other.mgf("0.4")  # outside the domain: infinite
    assert ours.sum_of(3) == PolyaDifference(3, "2.5")


def test_quantile_is_the_least() -> None:
    law = DiscreteLaplace(7)
    for p in ("0.9", "0.1", "1e-9", "1e-300"):
        t = law.tail_quantile(p)
        assert law.two_sided_tail(t).at_most(Fraction(p)) is True
        assert t == 0 or law.two_sided_tail(t - 1).greater_than(Fraction(p)) is True


def test_moments() -> None:
    mean, variance = DiscreteLaplace(3).moments()
    assert mean.lower == mean.upper == 0
    with mpmath.workdps(60):
        pmf = oracles.discrete_laplace(3)
        oracles.assert_holds(variance, 2 * mpmath.fsum(x * x * pmf(x) for x in range(1, 600)))


@pytest.mark.parametrize("shift", [1, 2, 9])
@pytest.mark.parametrize("order", ["1.01", "2", "7.3"])
def test_closed_renyi_sum_is_the_general_one(shift: int, order: str) -> None:
    with working_precision(128):
        sums = RenyiSums(ShiftPair(DiscreteLaplace("2.5"), shift))
        closed = sums.closed(Fraction(order))
        general = sums.summed(Fraction(order), 2)
        assert closed is not None
        assert closed.overlaps(general[0])
        assert general[0].rel_accuracy_bits() > 40
        for exact_one, summed in zip(sums.derivatives(Fraction(order)), general, strict=True):
            assert exact_one.overlaps(summed)


def test_a_scale_known_by_a_formula() -> None:
    law = DiscreteLaplace(InvertedScale(Fraction(40)))
    with mpmath.workdps(60):
        beta = 1 - mpmath.exp(mpf(-1) / 40)
        oracles.assert_holds(law.sf(5), beta**6 / (1 + beta))
    assert AdditiveNoise(law, 4).sensitivity == 4


@pytest.mark.parametrize("bad", [0, -1, "nan", "", True, "1e400", "1e-400", None])
def test_bad_scale(bad: object) -> None:
    with pytest.raises(ParameterError, match="scale must be"):
        DiscreteLaplace(bad)  # type: ignore[arg-type]
