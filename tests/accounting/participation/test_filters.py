"""Filters: what fits is accepted, close decisions, and the largest limit for a target."""

from fractions import Fraction

import brute_force as truth
import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import ParameterError
from exactdp.accounting.composition.composed import compose
from exactdp.accounting.divergences.conversion import zcdp_to_epsilon
from exactdp.accounting.participation.filters import (
    Filter,
    GaussianFilter,
    OverspentError,
    PureFilter,
    RenyiFilter,
    ZcdpFilter,
)
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

SKELLAM = AdditiveNoise(Skellam(10), 1)
GAUSSIAN = AdditiveNoise(DiscreteGaussian(50), 1)  # (1/100)-zCDP exactly
LAPLACE = AdditiveNoise(DiscreteLaplace(10), 1)  # (1/10)-DP exactly


@given(
    st.lists(st.tuples(st.fractions("1/60", 1, max_denominator=60), st.integers(1, 9))),
    st.fractions("1/10", 6, max_denominator=1000),
)
def test_a_pure_filter_accepts_exactly_what_fits(
    spending: list[tuple[Fraction, int]], limit: Fraction
) -> None:
    state, spent = PureFilter(limit), Fraction(0)
    for epsilon, times in spending:
        mechanism = RandomizedResponse(epsilon)
        if spent + times * epsilon <= limit:
            state, spent = state.spend(mechanism, times), spent + times * epsilon
        else:
            assert state.fits(mechanism, times) is False
            with pytest.raises(OverspentError, match="does not fit"):
                state.spend(mechanism, times)
        assert state.spent().contains(spent)
        assert state.left().contains(limit - spent)
        assert state.most(mechanism) == (limit - spent) // epsilon


@pytest.mark.parametrize("sign", [1, -1])
def test_close_decisions(sign: int) -> None:
    pair = truth.shifted(oracles.skellam(10), 1, 80)
    limit = 7 * oracles.exactly(truth.renyi(pair, "2.7")) * (1 + sign * Fraction(1, 10**9))
    state = RenyiFilter("2.7", limit)
    assert state.most(SKELLAM) == (7 if sign > 0 else 6)
    assert state.spend(SKELLAM, 3).fits(SKELLAM, 4) is (sign > 0)
    narrow = RenyiFilter(
        "2.7", limit * (1 - sign * Fraction(1, 10**9) + sign * Fraction(1, 10**15))
    )
    assert narrow.fits(SKELLAM, 7) is (sign > 0)  # asks for more digits than usual


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-9"), ("8", "1e-3")])
def test_the_largest_mu_for_a_target(epsilon: str, delta: str) -> None:
    found = GaussianFilter.for_target(epsilon, delta)
    assert found.guarantee(delta).at_most(Fraction(epsilon)) is True
    with mpmath.workdps(40):
        e = oracles.real(epsilon)
        ends = [oracles.real(found.mu) * (1 + k * mpf(10) ** -10) for k in (0, 1)]
        low, high = (
            mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
            for mu in ends
        )
        assert low <= oracles.real(delta) <= high


def test_what_is_refused_changes_nothing() -> None:
    state = ZcdpFilter("0.025").spend(GAUSSIAN, 2)
    before = state.spent()
    with pytest.raises(OverspentError) as refused:
        state.spend(GAUSSIAN, 1)
    assert state.spent() == before
    assert (refused.value.mechanism, refused.value.times) == (GAUSSIAN, 1)
    assert refused.value.cost.contains(Fraction(1, 100))
    assert refused.value.left.contains(Fraction(1, 200))
    assert "does not fit" in str(refused.value)


def test_infinite_costs_never_fit() -> None:
    state = PureFilter(10**6)
    assert state.fits(SKELLAM) is False
    assert state.most(SKELLAM) == 0
    with pytest.raises(OverspentError):
        state.spend(SKELLAM)
    assert PureFilter(0).most(RandomizedResponse(0)) == 10**9


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-9"), ("8", "1e-3")])
def test_the_largest_rho_for_a_target(epsilon: str, delta: str) -> None:
    found = ZcdpFilter.for_target(epsilon, delta)
    assert found.guarantee(delta).at_most(Fraction(epsilon)) is True
    assert zcdp_to_epsilon(found.rho * (1 + Fraction(1, 10**9)), delta).value.greater_than(
        Fraction(epsilon)
    )
    with mpmath.workdps(30):  # where the derivative in the order is 0, the library apart
        rho, d = oracles.real(found.rho), mpf(delta)
        x = mpmath.findroot(lambda x: rho * x**2 + mpmath.log(d) + mpmath.log1p(x), (0.1, 500))
        bound = rho * (1 + x) - mpmath.log(d * (1 + x)) / x - mpmath.log1p(1 / x)
        assert mpf(epsilon) * (1 - mpf("1e-10")) <= bound <= mpf(epsilon)


def test_bad_input_is_named() -> None:
    with pytest.raises(ParameterError, match="order must be"):
        RenyiFilter(1, 1)
    with pytest.raises(ParameterError, match="mu must be"):
        GaussianFilter(-1)
    with pytest.raises(ParameterError, match="rho must be"):
        ZcdpFilter(-1)
    with pytest.raises(ParameterError, match="times must be"):
        PureFilter(1).spend(LAPLACE, 0)
    with pytest.raises(ParameterError, match="delta must be"):
        ZcdpFilter.for_target(1, 0)
    with pytest.raises(ParameterError, match="leaves nothing to spend"):
        RenyiFilter.for_target("0.1", "1e-6", order=2)


@pytest.mark.parametrize(
    "start", [PureFilter(9), RenyiFilter(2, 9), ZcdpFilter(9), GaussianFilter(9)]
)
def test_uses_of_different_neighbours_do_not_add_up(start: Filter) -> None:
    one, other = (ContinuousNoise(Shape.LAPLACE, 9, 1, way) for way in ("replace", "add-remove"))
    spent = start.spend(one)
    for ask in (spent.spend, spent.fits, spent.most):
        for wanted in (other, compose(other)):  # a list of uses is one, too
            with pytest.raises(ParameterError, match="neighbours must be the same"):
                ask(wanted)
    assert spent == start.spend(one)
