"""The best mu of one shift against sup over k of t(k) - t(k - d), summed apart."""

from fractions import Fraction

import oracles
import pytest
from mpmath import mpf
from normal_quantiles import quantiles

from exactdp import Enclosure
from exactdp.accounting.divergences.gaussian_dp import gaussian_mu
from exactdp.exact import refine
from exactdp.mechanisms.laws import (
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.laws.gaussian_envelope import unit_parameter
from exactdp.mechanisms.pairs.pair import ShiftPair

LAWS = [
    (Skellam(3), oracles.skellam(3), 60),
    (Skellam("0.1"), oracles.skellam("0.1"), 40),
    (DiscreteGaussian("0.3"), oracles.discrete_gaussian("0.3"), 40),
    (DiscreteGaussian(7), oracles.discrete_gaussian(7), 90),
    (DiscreteLaplace(2), oracles.discrete_laplace(2), 400),
    (PolyaDifference(2, "0.7"), oracles.polya_difference(2, "0.7"), 150),
]


def best(law, shift: int) -> Enclosure:
    return refine(lambda: gaussian_mu(ShiftPair(law, shift)), enough=lambda found: bool(found.why))


def largest(pmf, shift: int, reach: int) -> mpf:
    last = 3 * shift + 12
    t = quantiles(pmf, last, reach)
    return max(t[k] - t[k - shift] for k in range(shift + 1 - last, last + 1))


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize(("law", "pmf", "reach"), LAWS, ids=[str(law) for law, *_ in LAWS])
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_it_is_the_best_for_this_shift(law, pmf, reach, shift):
    oracles.assert_holds(best(law, shift), largest(pmf, shift, reach))


def test_a_large_shift_is_enclosed():
    for law in (Skellam(4), DiscreteGaussianSum(3, "0.2")):
        found = best(law, 5000)
        assert found.why and found.is_finite()
        assert found.lower <= unit_parameter(law).times(5000).upper <= found.upper * 2
    exact = best(DiscreteGaussian(4), 5000)
    assert exact.is_within(Fraction(1, 10**12)) and not exact.why


def test_of_sums_the_truth_is_between_the_bounds():
    table = oracles.convolution(oracles.discrete_gaussian("0.25"), 2, 22)
    truth = largest(lambda k: table[k], 2, 20)
    found = best(DiscreteGaussianSum(2, "0.25"), 2)
    assert Fraction(found.lower) <= oracles.exactly(truth) <= Fraction(found.upper)
