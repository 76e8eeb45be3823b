from fractions import Fraction
from itertools import pairwise

import mpmath
import oracles
import pytest
from flint import arb
from mpmath import mpf

from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum


@pytest.mark.parametrize(("count", "sigma2"), [(2, "1/30"), (2, "1/70"), (6, "1/9")])
def test_sums_are_known_where_theta_is_asked_midway_between_integers(count, sigma2) -> None:
    # sigma2 s = t/count = 1/2 at the saddle point
    one, reach = oracles.discrete_gaussian(sigma2), 12
    truth = oracles.convolution(one, count, reach)
    for x in (count // 2, -count // 2):
        oracles.assert_holds(DiscreteGaussianSum(count, sigma2).probability(x), truth[x])


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


@pytest.mark.parametrize("j", [-9, -2, -1, 0, 2, 5])
@pytest.mark.parametrize(("shift", "epsilon"), [(1, "1"), (2, "3"), (3, "0")])
def test_a_threshold_tells_most_at_one_noise(j, shift, epsilon):
    def gain(s2):
        pmf, growth = oracles.discrete_gaussian(s2), mpmath.exp(mpf(epsilon))
        return mpmath.fsum(pmf(x) - growth * pmf(x - shift) for x in range(-50, j + 1))

    with mpmath.workdps(40):
        gains = [gain(Fraction(k * k, 16)) for k in range(2, 20)]
    rises = [before < after for before, after in pairwise(gains)]
    assert rises == sorted(rises, reverse=True)
