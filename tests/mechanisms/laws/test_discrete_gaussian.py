from fractions import Fraction

import mpmath
import numpy as np
import oracles
import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st

from exactdp import ParameterError
from exactdp.exact.precision import enclose, working_precision
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum

SIGMA2 = ["1e-4", "0.05", "0.16", "1/6", "0.17", "1", "7/3", "100", "2500"]


@pytest.mark.slow_cases("1e-4", "2500")
@pytest.mark.parametrize("sigma2", SIGMA2)
def test_probabilities_and_tails_contain_the_truth(sigma2: str) -> None:
    law = DiscreteGaussian(sigma2)
    with mpmath.workdps(60):
        truth = oracles.discrete_gaussian(sigma2)
        deviation = max(1, int(float(Fraction(sigma2)) ** 0.5))
        reach = 25 * deviation + 5
        for x in {0, 1, -1, 2, deviation, 5 * deviation - 3, 2 - 9 * deviation}:
            oracles.assert_holds(law.probability(x), truth(x))
            assert mpmath.almosteq(law.pmf(x), truth(x), mpmath.mpf(10) ** -45)
            upper = oracles.tail(truth, x + 1, reach)
            oracles.assert_holds(law.sf(x), upper)
            lower = 1 - upper if x >= 0 else oracles.tail(truth, -x, reach)
            oracles.assert_holds(law.cdf(x), lower)
        outside = 2 * oracles.tail(truth, deviation + 1, reach)
        oracles.assert_holds(law.two_sided_tail(deviation), outside)


@pytest.mark.parametrize(("count", "sigma2"), [(2, "1/30"), (2, "1/70"), (6, "1/9")])
def test_sums_are_known_where_theta_is_asked_midway_between_integers(count, sigma2) -> None:
    # sigma2 s = t/count = 1/2 at the saddle point
    one, reach = oracles.discrete_gaussian(sigma2), 12
    truth = oracles.convolution(one, count, reach)
    for x in (count // 2, -count // 2):
        oracles.assert_holds(DiscreteGaussianSum(count, sigma2).probability(x), truth[x])


@pytest.mark.parametrize("sigma2", SIGMA2)
def test_variance_is_the_second_moment(sigma2: str) -> None:
    with mpmath.workdps(60):
        truth = oracles.discrete_gaussian(sigma2)
        reach = int(25 * float(Fraction(sigma2)) ** 0.5) + 5
        square = mpmath.fsum(2 * x * x * truth(x) for x in range(1, reach))
        oracles.assert_holds(DiscreteGaussian(sigma2).moments().variance, square)


@pytest.mark.parametrize("sigma2", ["1e-4", "0.1", "0.2", "1", "30"])
@pytest.mark.parametrize("t", ["0", "0.3", "1/2", "-7.75", "1000.1"])
def test_theta_contains_its_defining_sum(sigma2: str, t: str) -> None:
    with mpmath.workdps(60), working_precision(120):
        s2, shift = oracles.real(sigma2), oracles.real(t)
        around = int(mpmath.nint(shift))
        truth = mpmath.fsum(
            mpmath.exp(-((x - shift) ** 2) / (2 * s2)) for x in range(around - 99, around + 100)
        )
        exact = Fraction(t)
        value = DiscreteGaussian(sigma2).theta(arb(exact.numerator) / exact.denominator)
        oracles.assert_ball_holds(value, truth, relative=1e-30)


def test_theta_is_even_periodic_and_quick_at_every_scale() -> None:
    for sigma2 in ("1e-4", "0.16", "0.17", "1e12"):
        law = DiscreteGaussian(sigma2)
        with working_precision(200):
            assert law.theta(arb("0.3")).overlaps(law.theta(arb("-12.7")))
            assert law.theta(arb("0.3")).rel_accuracy_bits() > 120
            # a wide argument gives a wide answer that still contains both ends
            wide = law.theta(arb(0.25, 0.25))
            assert all(wide.contains(law.theta(arb(end)).mid()) for end in (0, 0.5))


def test_the_transform_is_the_generating_function() -> None:
    for sigma2 in ("0.1", "0.2", "2"):
        law = DiscreteGaussian(sigma2)
        with mpmath.workdps(60), working_precision(160):
            truth = oracles.discrete_gaussian(sigma2)
            for z in (0.4, 1.5 + 3j, -2 + 3.1j, 0.1 - 1j):
                exponent, factor = law.transform(acb(z))
                value = exponent.exp() * factor
                sums = mpmath.fsum(truth(x) * mpmath.exp(mpmath.mpc(z) * x) for x in range(-99, 99))
                oracles.assert_ball_holds(value.real, sums.real, relative=1e-25)
                oracles.assert_ball_holds(value.imag, sums.imag, relative=1e-25, absolute=1e-30)
            assert law.mgf("0.4").contains(enclose(law.cumulant(acb("0.4")).real.exp()).lower)


@pytest.mark.parametrize("sigma2", ["1e6", "1e10", "1e12"])
def test_large_variance_follows_the_continuous_law(sigma2: str) -> None:
    # Euler-Maclaurin: the sum over x > t is the integral from t + 1/2 up to 1/(24 sigma2) relative
    law = DiscreteGaussian(sigma2)
    sigma = float(sigma2) ** 0.5
    for z in (0.0, 1.0, 5.0):
        t = int(z * sigma)
        normal = mpmath.erfc((t + 0.5) / sigma / mpmath.sqrt(2)) / 2
        middle = float(law.sf(t).lower)
        assert middle == pytest.approx(float(normal), rel=3 / sigma**2 + 1e-9)
        assert law.sf(t).is_within(Fraction(1, 10**12))


def test_quantile_is_the_first_crossing() -> None:
    law = DiscreteGaussian(40)
    with mpmath.workdps(40):
        truth = oracles.discrete_gaussian(40)
        for p in ("1/2", "0.01", "1e-9"):
            t = law.tail_quantile(p)
            assert 2 * oracles.tail(truth, t + 1, 300) <= oracles.real(p)
            assert 2 * oracles.tail(truth, t, 300) > oracles.real(p)


@given(st.integers(-400, 400), st.fractions(Fraction(1, 50), 500, max_denominator=50))
def test_three_ways_to_one_probability(x: int, sigma2: Fraction) -> None:
    law = DiscreteGaussian(sigma2)
    exactly = mpmath.log(law.pmf(x))
    quick = law.log_pmf(np.array([x]))[0]
    assert abs(float(exactly) - quick) <= 1e-14 * (1 + abs(quick)) * 10
    if exactly > -1000:
        oracles.assert_holds(law.probability(x), law.pmf(x))


def test_renyi_sum_and_its_rational_values() -> None:
    law = DiscreteGaussian("3/2")
    with mpmath.workdps(40), working_precision(160):
        truth = oracles.discrete_gaussian("3/2")
        for order, shift in ((Fraction(5, 2), 1), (Fraction(7, 3), 2), (Fraction(2), 3)):
            a = oracles.real(order)
            total = mpmath.fsum(
                truth(x) ** a * truth(x - shift) ** (1 - a) for x in range(-120, 120)
            )
            value = law.renyi_sum(arb(order.numerator) / order.denominator, shift)
            oracles.assert_ball_holds(value, total, relative=1e-30)
            known = law.renyi_exact(order, shift)
            if known is not None:
                assert mpmath.almosteq(mpmath.log(total) / (a - 1), oracles.real(known), 1e-30)
            assert mpmath.log(total) / (a - 1) / a <= oracles.real(law.zcdp_exact(shift)) + 1e-30
    assert law.renyi_exact(Fraction(5, 2), 1) is None


def test_bad_parameters_are_refused() -> None:
    for bad in (0, -1, "nan", True, None, float("inf")):
        with pytest.raises(ParameterError, match="sigma2"):
            DiscreteGaussian(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("ends", [(-7, 3), (-3, 7), (2, 9), (-9, -2), (0, 0), (5, 4)])
def test_many_probabilities_are_those_of_each(ends: tuple[int, int]) -> None:
    law = DiscreteGaussian("7/3")
    with working_precision(192):
        each = [law.ball(x) for x in range(ends[0], ends[1] + 1)]
        found = law.balls(*ends)
    assert len(found) == len(each)
    assert all(one.overlaps(other) for one, other in zip(found, each, strict=True))
