"""The checker's laws beside the oracles: every end on its side of the truth, and near it."""

from fractions import Fraction
from functools import cache

import mpmath
import oracles
import pytest

from exactdp.verify.checker import laws
from exactdp.verify.checker.arithmetic import interval, precision, value
from exactdp.verify.checker.binomial import Binomial


def _sum_of_gaussians(x: int) -> mpmath.mpf:
    return _SUM.get(x, mpmath.mpf(0))


_SUM = oracles.convolution(oracles.discrete_gaussian("0.6"), 3, 40)

LAWS = {
    "laplace": (laws.DiscreteLaplace(Fraction(5, 2)), oracles.discrete_laplace("2.5")),
    "gaussian": (laws.DiscreteGaussian(Fraction(7, 2)), oracles.discrete_gaussian("3.5")),
    "skellam": (laws.Skellam(Fraction(5)), cache(oracles.skellam(5))),
    "polya-peaked": (
        laws.PolyaDifference(Fraction(1, 3), Fraction(2)),
        cache(oracles.polya_difference("1/3", 2)),
    ),
    "polya-one": (
        laws.PolyaDifference(Fraction(1), Fraction(2)),
        cache(oracles.polya_difference(1, 2)),
    ),
    "polya-near-one": (
        laws.PolyaDifference(Fraction(999, 1000), Fraction(2)),
        cache(oracles.polya_difference("999/1000", 2)),
    ),
    "polya-round": (
        laws.PolyaDifference(Fraction(5, 2), Fraction(2)),
        cache(oracles.polya_difference("2.5", 2)),
    ),
    "sum": (laws.DiscreteGaussianSum(3, Fraction("0.6")), _sum_of_gaussians),
}
_FAR = {name: 36 if name == "sum" else 160 for name in LAWS}
_each = pytest.mark.parametrize("name", LAWS)


def encloses(found, truth, relative="1e-15"):
    """Whether (lower, upper) holds a truth that is known to 30 digits, and is that narrow."""
    exact = oracles.exactly(truth)
    slack = abs(exact) / 10**30
    low, high = found
    return (
        low - slack <= exact <= high + slack
        and high - low <= Fraction(relative) * abs(exact) + slack
    )


@pytest.mark.quick_cases(6)
@_each
@pytest.mark.parametrize("reach", [1, 7])
def test_probabilities_are_enclosed_and_what_is_beyond_is_bounded(name, reach):
    law, truth = LAWS[name]
    with precision(160):
        found = law.pmf(reach)
        beyond = value(found.beyond)
    assert (found.low, found.high) == (-reach, reach)
    outside = oracles.exactly(oracles.tail(truth, reach + 1, _FAR[name]))
    assert beyond[0] == beyond[1] and outside <= beyond[0] <= 40 * outside
    for x in range(-reach, reach + 1):
        low, high = value(found.at(x))
        assert low <= oracles.exactly(truth(x)) <= high
        assert high - low <= 4 * beyond[1] + Fraction(1, 10**25)


@pytest.mark.quick_cases(12)
@_each
@pytest.mark.parametrize("order", ["1.5", "4"])
@pytest.mark.parametrize("shift", [1, 3])
def test_far_terms_are_bounded_from_above(name, order, shift):
    law, truth = LAWS[name]
    last, a = (25 if name == "sum" else 30), Fraction(order)
    exponent = mpmath.mpf(a.numerator) / a.denominator
    left = mpmath.fsum(
        truth(x) ** exponent * truth(x - shift) ** (1 - exponent)
        for x in range(-_FAR[name] + shift, -last)
    )
    with precision(160):
        bound = value(law.far_terms(a, shift, law.pmf(last + shift + 1), last))[1]
    assert oracles.exactly(left) <= bound <= 10**6 * oracles.exactly(left)


@_each
def test_what_is_said_of_later_ratios_holds(name):
    law, truth = LAWS[name]
    if not isinstance(law, laws.RatioLaw):
        return
    ratios = [oracles.exactly(truth(k + 1) / truth(k)) for k in range(40)]
    with precision(160):
        for k, ratio in enumerate(law.ratios(12)):
            assert encloses(value(ratio), truth(k + 1) / truth(k))
            later = value(law.later(ratio))[1]
            assert max(ratios[k:]) <= later * (1 + Fraction(1, 10**30))
            for shift in (1, 4):
                flat = value(law.flattening(k, shift))[1] * (1 + Fraction(1, 10**30))
                assert max(ratios[j] / ratios[j + shift] for j in range(k, 30)) <= flat


@pytest.mark.parametrize(("trials", "bits"), [(12, None), (900, 40), (900, 90)])
def test_binomial_probabilities_are_enclosed(trials, bits):
    chance = Fraction(3, 10)
    truth = oracles.binomial(trials, "3/10")
    with precision(160):
        found = Binomial(trials, chance).pmf(bits)
        beyond = value(found.beyond)[1]
    left = mpmath.fsum(truth(x) for x in range(found.low))
    right = mpmath.fsum(truth(x) for x in range(found.high + 1, trials + 1))
    assert max(oracles.exactly(left), oracles.exactly(right)) <= beyond
    assert beyond <= (Fraction(2) ** -bits if bits else 0)
    for x in range(found.low, found.high + 1):
        low, high = value(found.at(x))
        truly = oracles.exactly(truth(x))
        assert low - truly / 10**30 <= truly <= high + truly / 10**30
        assert high - low <= truly * (3 * beyond + Fraction(1, 10**20))


@pytest.mark.parametrize("up", [False, True])
def test_products_in_fixed_point_are_rounded_one_way(up):
    bits, a, b = 10, [3, 700, 0, 1023], [1024, 5, 999]
    found = laws.convolve(a, b, bits, up)
    for k, got in enumerate(found):
        whole = sum(a[i] * b[k - i] for i in range(len(a)) if 0 <= k - i < len(b))
        truth = Fraction(whole, 1 << bits)
        assert (0 <= got - truth < 1) if up else (0 <= truth - got < 1)
    assert len(found) == len(a) + len(b) - 1


def test_the_spread_of_a_sum_of_gaussians_is_an_upper_bound():
    count, sigma2 = 3, Fraction("0.6")
    truth, twice = LAWS["sum"][1], 2 * count * mpmath.mpf("0.6")
    logs = [mpmath.log(truth(x)) + x * x / twice for x in range(-3, 4)]
    spread = oracles.exactly(max(logs) - min(logs))
    with precision(160):
        found = value(laws.DiscreteGaussianSum(count, sigma2).spread())[1]
        assert value(interval(spread))[0] <= found * (1 + Fraction(1, 10**12))
    assert found <= spread * Fraction("1.001")
