from fractions import Fraction

import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws.skellam import Skellam


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
@given(st.fractions(Fraction(1, 10), 100, max_denominator=10), st.integers(1, 6))
def test_second_differences_stay_within_their_bounds(variance: Fraction, shift: int) -> None:
    law = Skellam(variance)
    with working_precision(192):
        logs = [p.log() for p in law.balls(-60, 1)]  # of x = -60, ..., 1
        step = {x: logs[x + 60] - logs[x + 59] for x in range(-59, 2)}
        for x in (-40, -7, 0):
            high = law.steepening(x, shift)
            rises = [step[y - shift] - step[y] for y in range(shift - 59, 1)]
            assert all(rise < high for rise in rises[: x + 60 - shift])
