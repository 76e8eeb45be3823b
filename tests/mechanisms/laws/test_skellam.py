from fractions import Fraction

import mpmath
import numpy as np
import oracles
import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf
from scipy import stats

from exactdp import ParameterError
from exactdp.exact.number import ball
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws.skellam import Skellam

VARIANCES = ["0.01", "1", "7/2", "100", "2500"]


@pytest.mark.slow_cases("100")
@pytest.mark.parametrize("variance", VARIANCES)
def test_probabilities_and_tails_contain_the_sums(variance: str) -> None:
    law = Skellam(variance)
    with mpmath.workdps(45):
        truth = oracles.skellam(variance)
        deviation = max(1, int(float(Fraction(variance)) ** 0.5))
        for x in {0, 1, -1, -3 * deviation, 12 * deviation}:
            oracles.assert_holds(law.probability(x), truth(x))
            assert mpmath.almosteq(law.pmf(x), truth(x), mpf(10) ** -38)
        if deviation > 10:
            return
        reach = 30 * deviation + 40
        masses = [truth(x) for x in range(reach)]
        for t in (1, 2, 5 * deviation, 11 * deviation):
            upper = mpmath.fsum(masses[t:])
            oracles.assert_tails(law, t, upper)
        for p in ("0.3", "1e-12"):
            t = law.tail_quantile(p)
            assert 2 * mpmath.fsum(masses[t + 1 :]) <= oracles.real(p)
            assert t == 0 or 2 * mpmath.fsum(masses[t:]) > oracles.real(p)


@pytest.mark.parametrize("variance", ["1e6", "1e10", "1e14"])
def test_large_variances_are_close_to_normal(variance: str) -> None:
    law, sigma = Skellam(variance), float(variance) ** 0.5
    for z in (0, 1, 6):
        t = int(z * sigma)
        normal = float(mpmath.erfc((t + 0.5) / sigma / mpmath.sqrt(2)) / 2)
        assert float(law.sf(t).upper) == pytest.approx(normal, rel=100 / sigma**2 + 1e-9)
        assert law.sf(t).is_within(Fraction(1, 10**12))
        oracles.assert_holds(law.probability(t), law.pmf(t, 40))


@pytest.mark.parametrize("far", [100, 10_000])
def test_outcomes_far_beyond_the_bulk(far: int) -> None:
    # p(k) = e^(-v) (v/2)^k/k! (1 + O(v^2/k)): the first two terms bracket it
    law = Skellam(2)
    with mpmath.workdps(40):
        first = mpmath.exp(-2) / mpmath.factorial(far)
        below, above = first * (1 + mpf(1) / (far + 1)), first * mpmath.exp(mpf(1) / (far + 1))
        found = law.probability(far)
        assert oracles.exactly(below) <= Fraction(found.lower)
        assert Fraction(found.upper) <= oracles.exactly(above)
        tail = law.sf(far)
        assert Fraction(tail.upper) <= Fraction(found.upper) / far


@pytest.mark.parametrize("variance", ["0.3", "100", "1e10"])
def test_windows_agree_with_single_probabilities(variance: str) -> None:
    law = Skellam(variance)
    with working_precision(128):
        for low, high in ((-3, 400), (50, 60), (-60, -50), (0, 0)):
            window = law.balls(low, high)
            assert len(window) == high - low + 1
            for x in (low, high, (low + high) // 2):
                assert window[x - low].overlaps(law.ball(x))
            assert min(p.rel_accuracy_bits() for p in window) > 80
        total = sum(law.balls(-400, 400), arb(0)) + 2 * law.upper_tail(401)
        assert abs(total - 1) < 1e-25


@given(st.fractions(Fraction(1, 100), 10**4, max_denominator=100), st.integers(-20_000, 20_000))
def test_floats_follow_the_balls_into_the_tail(variance: Fraction, x: int) -> None:
    law = Skellam(variance)
    with working_precision(128):
        exactly = float(law.ball(x).log().mid())
    assert law.log_pmf(np.array([x]))[0] == pytest.approx(exactly, rel=1e-9, abs=1e-9)


def test_floats_agree_with_scipy_in_the_bulk() -> None:
    for variance in (1, 100, 10_000):
        xs = np.arange(-3 * int(variance**0.5), 3 * int(variance**0.5) + 1)
        expected = stats.skellam.logpmf(xs, variance / 2, variance / 2)
        assert np.allclose(Skellam(variance).log_pmf(xs), expected, rtol=1e-8)


@given(
    st.fractions(Fraction(1, 10), 1000, max_denominator=10),
    st.fractions(Fraction(1, 10**6), 1, max_denominator=10**6),
)
def test_proposition_1_bounds_the_tail(variance: Fraction, p: Fraction) -> None:
    """P(|X| > 2 sigma sqrt(log(2/p)) + sqrt(2) log(2/p)) <= p."""
    log = mpmath.log(2 / oracles.real(p))
    threshold = 2 * mpmath.sqrt(oracles.real(variance) * log) + mpmath.sqrt(2) * log
    assert Skellam(variance).two_sided_tail(int(threshold)).at_most(p) is True


@pytest.mark.slow
@given(
    st.fractions(Fraction(1, 10), 40, max_denominator=10),
    st.fractions(Fraction(1, 10), 40, max_denominator=10),
    st.integers(-15, 15),
)
def test_closed_under_sums(first: Fraction, second: Fraction, x: int) -> None:
    one, two, total = Skellam(first), Skellam(second), Skellam(first + second)
    with working_precision(128):
        reach = 150
        left, right = one.balls(-reach, reach), two.balls(x - reach, x + reach)[::-1]
        folded = sum((a * b for a, b in zip(left, right, strict=True)), arb(0))
        assert abs(folded - total.ball(x)) < 1e-30
        z = acb("0.2", 3)
        assert (one.cumulant(z) + two.cumulant(z)).overlaps(total.cumulant(z))
    assert one.sum_of(5) == Skellam(5 * first)


@pytest.mark.slow
@given(st.fractions(Fraction(1, 10), 100, max_denominator=10), st.integers(1, 6))
def test_second_differences_stay_within_their_bounds(variance: Fraction, shift: int) -> None:
    law = Skellam(variance)
    with working_precision(192):
        logs = [p.log() for p in law.balls(-60, 1)]  # of x = -60, ..., 1
        step = {x: logs[x + 60] - logs[x + 59] for x in range(-59, 2)}
        for x in (-40, -7, 0):
            high, low = law.steepening(x, shift), law.flattening(x, shift)
            assert low is not None
            rises = [step[y - shift] - step[y] for y in range(shift - 59, 1)]
            assert all(rise < high for rise in rises[: x + 60 - shift])
            assert all(rise > low for rise in rises[x + 59 - shift :])


def test_moments_and_generating_function() -> None:
    law = Skellam("7/2")
    assert law.moments().variance.lower == Fraction(7, 2) and law.moments().mean.upper == 0
    assert law.mgf_domain == (None, None) and law.loss_limit(1) is None
    with mpmath.workdps(40):
        expected = mpmath.exp(mpf(7) / 2 * (mpmath.cosh(mpf(3) / 4) - 1))
        oracles.assert_holds(law.mgf("0.75"), expected)
    with working_precision(128):
        assert law.slope(acb(1, 2)).overlaps(ball(law.variance) * acb(1, 2).sinh())


def test_bad_parameters_are_refused() -> None:
    for bad in (0, -1, "nan", True, None, float("inf"), "1/0"):
        with pytest.raises(ParameterError, match="variance"):
            Skellam(bad)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at most 0"):
        Skellam(1).steepening(1, 1)
