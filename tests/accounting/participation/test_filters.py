"""Filters: never above the limit, whatever the choices; accepted whenever it clearly fits."""

from collections.abc import Callable, Iterator
from fractions import Fraction

import brute_force as truth
import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import Enclosure, ParameterError
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

Outputs = tuple[bool, ...]
Rule = Callable[[Outputs], Fraction]


def response_renyi(epsilon: Fraction, order: Fraction) -> mpf:
    e, a = oracles.real(epsilon), oracles.real(order)
    total = (mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e))
    return mpmath.log(total) / (a - 1)


def transcripts(start: Filter, rule: Rule, depth: int) -> Iterator[tuple[mpf, mpf]]:
    """(P, Q) of each transcript, when `rule` picks the next randomized response from all outputs.

    A run ends when the filter refuses, and at the latest after `depth` outputs.
    """
    stack: list[tuple[Filter, Outputs, mpf, mpf]] = [(start, (), mpf(1), mpf(1))]
    while stack:
        state, outputs, p, q = stack.pop()
        mechanism = RandomizedResponse(rule(outputs))
        if len(outputs) == depth or not state.fits(mechanism):
            yield p, q
            continue
        fresh = state.spend(mechanism)
        odds = mpmath.exp(oracles.real(mechanism.epsilon))
        kept, flipped = odds / (1 + odds), 1 / (1 + odds)
        stack.append((fresh, (*outputs, True), p * kept, q * flipped))
        stack.append((fresh, (*outputs, False), p * flipped, q * kept))


def bold(outputs: Outputs) -> Fraction:
    """More after each output that speaks for P: makes the most of good luck."""
    return Fraction(1, 4) * (1 + max(sum(outputs[-3:]), 0))


def timid(outputs: Outputs) -> Fraction:
    """As much as possible at once, then less and less while luck lasts."""
    return Fraction(1) if not outputs else Fraction(1, 2 + sum(outputs))


def chaser(outputs: Outputs) -> Fraction:
    """Doubles after each loss."""
    losses = next((n for n, good in enumerate(reversed(outputs)) if good), len(outputs))
    return Fraction(1, 5) * 2**losses


each_rule = pytest.mark.parametrize("rule", [bold, timid, chaser])


@each_rule
def test_a_pure_filter_holds_for_chosen_mechanisms(rule: Rule) -> None:
    pairs = list(transcripts(PureFilter(2), rule, 7))
    assert abs(mpmath.fsum(p for p, _ in pairs) - 1) < mpf(10) ** -50
    assert max(abs(mpmath.log(p / q)) for p, q in pairs) <= 2 + mpf(10) ** -50


@each_rule
def test_a_renyi_filter_holds_for_chosen_mechanisms(rule: Rule) -> None:
    start = RenyiFilter("3.5", "0.9")
    pairs = list(transcripts(start, rule, 7))
    for one_way in (pairs, [(q, p) for p, q in pairs]):
        assert truth.renyi(one_way, "3.5") <= mpf("0.9")
        for delta in ("0.2", "0.01", "1e-4"):
            level = oracles.real(start.guarantee(delta).upper)
            assert truth.delta(one_way, level) <= mpf(delta)


@each_rule
def test_a_zcdp_filter_holds_for_chosen_mechanisms_at_every_order(rule: Rule) -> None:
    start = ZcdpFilter("0.4")
    pairs = list(transcripts(start, rule, 7))
    for order in ("1.001", "1.5", "2", "4", "20"):
        assert truth.renyi(pairs, order) <= mpf("0.4") * mpf(order)
    for delta in ("0.2", "0.01"):
        assert truth.delta(pairs, oracles.real(start.guarantee(delta).upper)) <= mpf(delta)


@each_rule
def test_a_gaussian_filter_holds_for_chosen_mechanisms(rule: Rule) -> None:
    start = GaussianFilter("1.1")
    pairs = sorted(transcripts(start, rule, 7), key=lambda pair: -pair[0] / pair[1])
    p = q = mpf(0)
    for more_p, more_q in pairs[:-1]:  # the optimal tests: none is better than N(1.1, 1)'s
        p, q = p + more_p, q + more_q
        assert p <= mpmath.ncdf(mpf("1.1") + mpmath.sqrt(2) * mpmath.erfinv(2 * q - 1))
    for delta in ("0.2", "0.01"):
        assert truth.delta(pairs, oracles.real(start.guarantee(delta).upper)) <= mpf(delta)


def test_exact_composition_of_what_was_used_is_not_a_filter() -> None:
    first, bold_one, rare = (
        RandomizedResponse("1/2"),
        RandomizedResponse(1),
        RandomizedResponse(0, "0.179"),
    )
    assert compose(first, bold_one).delta(1).at_most(Fraction("0.18"))
    assert compose(first, rare).delta(1).at_most(Fraction("0.18"))
    kept = mpmath.exp(0.5) / (1 + mpmath.exp(0.5))
    d, more = mpf("0.179"), mpmath.e / (1 + mpmath.e)
    pairs = [(kept * more, (1 - kept) * (1 - more)), (kept * (1 - more), (1 - kept) * more)]
    pairs += [((1 - kept) * d, mpf(0)), (mpf(0), kept * d), ((1 - kept) * (1 - d), kept * (1 - d))]
    assert abs(mpmath.fsum(p for p, _ in pairs) - 1) < mpf(10) ** -30
    assert truth.delta(pairs, mpf(1)) > mpf("0.24")


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


@given(st.lists(st.integers(1, 400), min_size=1, max_size=8), st.integers(1, 60))
def test_a_zcdp_filter_accepts_exactly_what_fits(variances: list[int], limit: int) -> None:
    state, spent = ZcdpFilter(Fraction(limit, 100)), Fraction(0)
    for sigma2 in variances:
        mechanism, rho = AdditiveNoise(DiscreteGaussian(sigma2), 1), Fraction(1, 2 * sigma2)
        fits = spent + rho <= state.rho
        assert state.fits(mechanism) is fits
        if fits:
            state, spent = state.spend(mechanism), spent + rho
    assert state.spent().contains(spent)
    assert spent <= state.rho


@given(st.lists(st.fractions("1/50", 1, max_denominator=50), min_size=1, max_size=8))
def test_a_renyi_filter_never_exceeds_its_limit(epsilons: list[Fraction]) -> None:
    state, spent = RenyiFilter("2.5", "1/2"), mpf(0)
    for epsilon in epsilons:
        mechanism, cost = RandomizedResponse(epsilon), response_renyi(epsilon, Fraction("2.5"))
        if state.fits(mechanism):
            state, spent = state.spend(mechanism), spent + cost
            assert spent <= mpf("0.5") + mpf(10) ** -50
        else:
            assert spent + cost > mpf("0.5") * (1 - mpf(10) ** -20)


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


def test_a_limit_met_exactly_is_met() -> None:
    assert PureFilter(1).spend(LAPLACE, 10).left().contains(0)
    assert PureFilter(1).most(LAPLACE) == 10
    assert PureFilter(1).spend(LAPLACE, 10).most(LAPLACE) == 0
    assert ZcdpFilter("0.37").spend(GAUSSIAN, 37).fits(GAUSSIAN) is False
    assert ZcdpFilter("0.37").most(GAUSSIAN) == 37


def test_gaussian_noise_meets_the_limit_of_its_filter_exactly() -> None:
    fifth, three, four = (
        ContinuousNoise(Shape.GAUSSIAN, scale) for scale in (5, Fraction(5, 3), Fraction(5, 4))
    )
    assert GaussianFilter(1).most(fifth) == 25
    assert GaussianFilter(1).spend(fifth, 25).fits(fifth) is False
    spent = GaussianFilter(1).spend(three).spend(four)
    assert spent.spent() == Enclosure.exactly(1) and spent.left() == Enclosure.exactly(0)
    one = compose(three, four).gdp()
    assert one == Enclosure.exactly(1)


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


def test_filters_are_values() -> None:
    state = PureFilter(1)
    assert state.spend(LAPLACE) == state.spend(LAPLACE) != state
    assert state == PureFilter("1")
    assert hash(state.spend(LAPLACE)) == hash(state.spend(LAPLACE))
    assert state.spend(LAPLACE, 3) == state.spend(LAPLACE, 2).spend(LAPLACE)


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


@pytest.mark.parametrize("mechanism", [SKELLAM, GAUSSIAN, LAPLACE, RandomizedResponse("0.3")])
def test_the_order_suits_the_mechanism(mechanism: AdditiveNoise | RandomizedResponse) -> None:
    found = RenyiFilter.for_target(2, "1e-5", mechanism)
    assert found.guarantee("1e-5").at_most(2) is True
    uses = found.epsilon / Fraction(found.cost(mechanism).upper)
    for order in ("1.5", "3", "6", "12", "30", "100", "2000"):
        try:
            other = RenyiFilter.for_target(2, "1e-5", order=order)
        except ParameterError:
            continue  # nothing to spend there
        assert other.guarantee("1e-5").at_most(2) is True
        assert uses >= other.epsilon / Fraction(other.cost(mechanism).upper) * Fraction("0.999")


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
