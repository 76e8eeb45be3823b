"""The best mu of one shift against sup over k of t(k) - t(k - d), summed apart."""

from fractions import Fraction

import oracles
import pytest
from mpmath import mpf
from normal_quantiles import quantiles

from exactdp import ParameterError
from exactdp.accounting.envelope import NoEnvelopeError, shift_parameter, unit_parameter
from exactdp.mechanisms.laws import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    PolyaDifference,
    Skellam,
)

LAWS = [
    (Skellam(3), oracles.skellam(3), 60),
    (Skellam("0.1"), oracles.skellam("0.1"), 40),
    (DiscreteGaussian("0.3"), oracles.discrete_gaussian("0.3"), 40),
    (DiscreteGaussian(7), oracles.discrete_gaussian(7), 90),
    (DiscreteLaplace(2), oracles.discrete_laplace(2), 400),
    (PolyaDifference(2, "0.7"), oracles.polya_difference(2, "0.7"), 150),
]


def largest(pmf, shift: int, reach: int) -> mpf:
    last = 3 * shift + 12
    t = quantiles(pmf, last, reach)
    return max(t[k] - t[k - shift] for k in range(shift + 1 - last, last + 1))


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(("law", "pmf", "reach"), LAWS, ids=[str(law) for law, *_ in LAWS])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_it_is_the_best_for_this_shift(law, pmf, reach, shift):
    oracles.assert_holds(shift_parameter(law, shift), largest(pmf, shift, reach))


def test_a_large_shift_is_enclosed():
    for law in (Skellam(4), DiscreteGaussianSum(3, "0.2")):
        found = shift_parameter(law, 5000)
        assert found.why and found.is_finite()
        assert found.lower <= unit_parameter(law).times(5000).upper <= found.upper * 2
    exact = shift_parameter(DiscreteGaussian(4), 5000)
    assert exact.is_within(Fraction(1, 10**12)) and not exact.why


def test_of_sums_the_truth_is_between_the_bounds():
    table = oracles.convolution(oracles.discrete_gaussian("0.25"), 2, 22)
    truth = largest(lambda k: table[k], 2, 20)
    found = shift_parameter(DiscreteGaussianSum(2, "0.25"), 2)
    assert Fraction(found.lower) <= oracles.exactly(truth) <= Fraction(found.upper)


def test_bad_input_is_refused():
    with pytest.raises(ParameterError, match="shift"):
        shift_parameter(Skellam(1), "0.5")
    with pytest.raises(NoEnvelopeError):
        shift_parameter(Binomial(9, "0.5"), 2)
