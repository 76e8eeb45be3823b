from fractions import Fraction

import mpmath
import numpy as np
import oracles
import pytest
from flint import arb
from mpmath import mpf

from exactdp.accounting import compose
from exactdp.exact.number import ball
from exactdp.exact.precision import working_precision
from exactdp.mechanisms import AdditiveNoise
from exactdp.mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum

CASES = [(2, "0.3"), (3, "1"), (5, "0.05"), (7, "2"), (4, "20"), (10, "0.16"), (9, "1/2")]


def convolved(count: int, sigma2: str) -> tuple[dict[int, mpf], int]:
    """The law by direct convolution, and how far it is right to 30 digits (relative)."""
    reach = int(16 * float(Fraction(sigma2)) ** 0.5) + 5
    return oracles.convolution(oracles.discrete_gaussian(sigma2), count, reach), reach


@pytest.mark.slow_cases("4-20", "7-2")
@pytest.mark.parametrize(("count", "sigma2"), CASES)
def test_gap_and_spread_bound_the_truth(count: int, sigma2: str) -> None:
    law = DiscreteGaussianSum(count, sigma2)
    with mpmath.workdps(50), working_precision(128):
        truth, _ = convolved(count, sigma2)
        s2 = count * oracles.real(sigma2)
        limit = oracles.discrete_gaussian(count * Fraction(sigma2))
        widest = max(abs(mpmath.log(truth[x] / limit(x))) for x in range(count + 1))
        w = [mpmath.log(truth[x]) + mpf(x * x) / (2 * s2) for x in range(count + 1)]
        spread = max(w) - min(w)
        gap, bound = law.gaussian_gap(), law.periodic_spread()
        resolved = mpf(10) ** -40  # by the truth above
        assert bound <= gap and mpf(bound.upper()) >= spread - resolved
        if gap.is_finite():
            assert mpf(gap.upper()) >= widest - resolved
        if gap > 1e-3:
            assert mpf(bound.upper()) <= spread * (1 + mpf(10) ** -20)
        elif spread > resolved * 1000:
            assert mpf(gap.upper()) <= 3 * widest


@pytest.mark.parametrize(("count", "sigma2"), [(3, "1"), (5, "0.05"), (9, "1/2"), (7, "2")])
def test_second_differences_stay_within_their_bounds(count: int, sigma2: str) -> None:
    law = DiscreteGaussianSum(count, sigma2)
    with working_precision(192):
        logs = [p.log() for p in law.balls(-40, 40)]
        step = {x: logs[x + 40] - logs[x + 39] for x in range(-39, 41)}
        for shift in (1, 2, count, count + 1, 2 * count):
            rises = [step[y - shift] - step[y] for y in range(shift - 39, 1)]
            high = law.steepening(0, shift)
            assert all(rise - high < 1e-30 for rise in rises)
        exactly = step[-count] - step[0] - 1 / ball(Fraction(sigma2))
        assert abs(exactly) < 1e-30


@pytest.mark.slow_cases("1000-0.2", "1000000-0.1", "1000000-1", "1073741824-1")
@pytest.mark.parametrize(
    ("count", "sigma2"), [(1000, "0.2"), (10**6, "0.1"), (10**6, "1"), (2**30, "1"), (2**30, "50")]
)
def test_many_copies(count: int, sigma2: str) -> None:
    law = DiscreteGaussianSum(count, sigma2)
    deviation = float(law.moments().variance.upper) ** 0.5
    with working_precision(128):
        start = int(2.5 * deviation)
        window = law.balls(start, start + 300)
        for x in (start, start + 77, start + 300):
            assert window[x - start].overlaps(law.ball(x))
            assert window[x - start].rel_accuracy_bits() > 90
        between = law.upper_tail(start) - law.upper_tail(start + 301)
        assert abs(between - sum(window, arb(0))) < 1e-30
        quick = law.log_pmf(np.arange(start, start + 301))
        exact = [float(p.log().mid()) for p in window]
        assert np.allclose(quick, exact, rtol=1e-11, atol=0)
        value = law.pmf(start, 30)
        assert abs(mpf(window[0].mid()) / value - 1) < 1e-13
        # the law is within its gap of the discrete Gaussian of the whole variance
        if (gap := law.gaussian_gap()).is_finite():
            limit = DiscreteGaussian(count * Fraction(sigma2))
            off = (law.ball(start) / limit.ball(start)).log()
            assert abs(off) < gap + 1e-30
    for t in (0, start, int(9 * deviation)):
        assert law.sf(t).is_within(Fraction(1, 10**12))
    normal = mpmath.erfc((start + 0.5) / deviation / mpmath.sqrt(2)) / 2
    assert float(law.sf(start).upper) == pytest.approx(float(normal), rel=1e-2)


@pytest.mark.parametrize("count", [10**12, 10**15])
def test_a_transform_too_long_for_memory_is_refused(count):
    """Of 10^12 summands it took 15 GB to choose where to look."""
    law = DiscreteGaussianSum(count, Fraction(1))
    with pytest.raises(ArithmeticError, match="points"):
        law.log_pmf(np.arange(-(10**7), 10**7, 10**5))
    found = compose(AdditiveNoise(law, 10**5)).renyi(8)
    as_gaussian = 8 * Fraction(10**10, 2 * count)  # of the same variance
    assert as_gaussian <= found.upper < Fraction(1001, 1000) * as_gaussian


@pytest.mark.parametrize("count", [10**6, 10**20, 10**45])
def test_a_single_probability_of_very_many_is_that_of_a_normal_law(count):
    """By the local limit theorem with its first correction, from the cumulants of one term."""
    law = DiscreteGaussianSum(count, "1/4")
    with mpmath.workdps(60):
        one = oracles.discrete_gaussian("1/4")
        second, fourth = (mpmath.fsum(2 * one(k) * k**m for k in range(1, 12)) for m in (2, 4))
        excess = (fourth / second**2 - 3) / count
        normal = 1 / mpmath.sqrt(2 * mpmath.pi * count * second)
        truth = normal * (1 + excess / 8)
        with working_precision(128):
            assert abs(law.ball(0) / arb(str(truth)) - 1) < 10 / arb(count) ** 2 + arb(10) ** -25
            assert law.ball(0).rel_accuracy_bits() > 90


@pytest.mark.parametrize("shift", [1, 3, 7])
def test_what_the_summands_tell_is_at_least_the_divergence(shift):
    law = DiscreteGaussianSum(3, Fraction(1, 2))
    most = law.renyi_of_summands(Fraction(4), shift)
    assert compose(AdditiveNoise(law, shift)).renyi(4).lower <= most


@pytest.mark.parametrize("bits", [12, 24, 64])
def test_the_spread_is_an_upper_bound_however_few_the_bits(bits):
    law = DiscreteGaussianSum(3, "0.3")
    with working_precision(bits):
        found = law.periodic_spread()
    with working_precision(300):
        truth = law.periodic_spread()
        assert truth * (1 - arb(2) ** -200) <= found <= truth * (1 + arb(2) ** (12 - bits))


@pytest.mark.parametrize("count", [10**9, 10**400])
def test_shares_that_no_float_counts_have_a_gap(count: int) -> None:
    assert DiscreteGaussianSum(count, "0.25").gaussian_gap() == arb.pos_inf()
    assert DiscreteGaussianSum(count, 100).gaussian_gap() >= 0
