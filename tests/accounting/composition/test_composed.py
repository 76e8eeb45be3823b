"""Compositions: lists of uses, what may be asked of them, and figures at the extremes."""

from decimal import Decimal
from fractions import Fraction

import pytest

import exactdp
from exactdp import ParameterError, compose

pytestmark = pytest.mark.contract
LAPLACE, SKELLAM = "discrete-laplace:scale=3,sensitivity=2", "skellam:variance=4"


def test_equal_mechanisms_are_counted_together() -> None:
    both = compose(compose((SKELLAM, 2), LAPLACE), compose(LAPLACE, SKELLAM), (SKELLAM, "1e3"))
    assert [use.times for use in both.uses] == [1003, 2] and both.times == 1005
    assert both == compose(SKELLAM, (LAPLACE, 2), (SKELLAM, 1002))
    assert hash(both) == hash(compose((SKELLAM, 1003), (LAPLACE, 2)))


@pytest.mark.parametrize("times", [0, -1, "1.5", "nan", True, None, 10**10])
def test_bad_times(times: object) -> None:
    with pytest.raises(ParameterError, match="times must"):
        compose((SKELLAM, times))


def test_uses_add_up_to_at_most_a_billion() -> None:
    most, refused = 10**9, pytest.raises(ParameterError, match="times must")
    for whole in (
        compose((SKELLAM, most)),
        compose((SKELLAM, most - 1), SKELLAM),
        most // 2 * compose(SKELLAM, SKELLAM),
    ):
        assert whole.times == most
        with refused:
            whole + exactdp.mechanism(LAPLACE)
        with refused:
            2 * whole
    for times in (most + 1, 2 * most):
        with refused:
            compose((SKELLAM, times))
        with refused:
            compose((SKELLAM, 1), (LAPLACE, times - 1))


def test_bad_questions() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        compose()
    composition = compose((SKELLAM, 3))
    for level in ("-1", "nan", "inf", None):
        with pytest.raises(ParameterError, match="epsilon must be"):
            composition.delta(level)
    for delta in ("-1e-9", "1.1", "nan", True):
        with pytest.raises(ParameterError, match="delta must be"):
            composition.epsilon(delta)
    with pytest.raises(ParameterError, match="order must be"):
        composition.renyi(1)
    for figure in (composition.delta, composition.epsilon):
        with pytest.raises(ParameterError, match="width must be"):
            figure("0.5", width="-1e-9")


def test_outcomes_that_one_side_hardly_has() -> None:
    """Three outcomes of four are told for certain at each use: 1 - 8^-3 of the mass is at infinity.

    The loss of the fourth is 0, beside one whose mass is 0 to within the working precision.
    """
    told = "binomial:trials=3,probability=1/2,sensitivity=3,modulus=192"
    found = compose((told, 3), ("binomial:trials=3,probability=0.9,sensitivity=4,modulus=3", 20))
    assert found.epsilon("0.9").lower == Decimal("Infinity")
    assert found.delta(100).lower > 1 - Fraction(1, 8**3) - Fraction(1, 10**9)


def test_rho_of_a_list_with_what_tells_nothing_is_that_of_the_rest() -> None:
    """Reduced mod 1 it has no pair at all, which left no choice of pairs."""
    response, nothing = ("randomized-response:epsilon=40", 3), "skellam:variance=1,modulus=1"
    found, rest = (compose(response, *more).zcdp() for more in ((nothing,), ()))
    assert found.lower <= rest.upper and rest.lower <= found.upper
    assert found.is_within(Fraction(1, 10**9))


@pytest.mark.parametrize("power", [12, 15, 300])
def test_an_order_too_high_for_any_sum_is_bounded_by_the_gaussian(power: int) -> None:
    """It was anything, and so were all orders asked for with it."""
    high, low = exactdp.mechanism("skellam:variance=100").renyi_curve([10**power, 2])
    nearly = Fraction(low.lower) * (1 - Fraction(1, 10**12))  # the order below, asked less narrowly
    assert nearly <= high.lower <= high.upper < Fraction(51, 10**4) * 10**power
    assert low.is_within(Fraction(1, 10))


def test_a_rho_that_is_known_besides_says_nothing_of_pure_epsilon() -> None:
    """|v|_1 <= 8 within reach: 8/10, and 1 of the other one."""
    found = compose("discrete-laplace:scale=10,l2=5,dimension=3", "exponential:epsilon=1").pure()
    assert found.lower <= Fraction(9, 5) <= found.upper < Decimal("Infinity")
