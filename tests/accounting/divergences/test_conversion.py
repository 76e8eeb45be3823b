"""Conversions between notions of privacy, against dense minimisation at 50 digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import brute_force as truth
import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import Enclosure, ParameterError
from exactdp.accounting import delta, epsilon, renyi_curve, renyi_divergence, zcdp
from exactdp.accounting.divergences.conversion import (
    Curve,
    pure_to_renyi,
    pure_to_zcdp,
    renyi_to_delta,
    renyi_to_epsilon,
    zcdp_to_delta,
    zcdp_to_epsilon,
    zcdp_to_epsilon_simple,
)
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    RandomizedResponse,
    Skellam,
)

Real = Callable[[mpf], mpf]


def least(objective: Real, low: int = -60, high: int = 60) -> mpf:
    """The minimum over t = e^s, s in [low, high], of a function with one valley: golden section."""
    ratio = (mpmath.sqrt(5) - 1) / 2
    a, b = mpf(low), mpf(high)
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = objective(mpmath.exp(c)), objective(mpmath.exp(d))
    for _ in range(170):
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = objective(mpmath.exp(c))
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = objective(mpmath.exp(d))
    return min(at_c, at_d)


def best_epsilon(curve: Real, goal: str, **where: int) -> mpf:
    """min over a = 1 + t of D(a) + log(1/(a delta))/(a-1) + log(1 - 1/a), as the lemma has it."""
    d = oracles.real(goal)

    def objective(t: mpf) -> mpf:
        a = 1 + t
        return curve(a) + mpmath.log(1 / (a * d)) / t + mpmath.log(t / a)

    return max(least(objective, **where), mpf(0))


def best_log_delta(curve: Real, level: str, **where: int) -> mpf:
    """min over a = 1 + t of (a-1)(D(a) - epsilon + log(1 - 1/a)) - log a."""
    e = oracles.real(level)

    def objective(t: mpf) -> mpf:
        a = 1 + t
        return t * (curve(a) - e + mpmath.log(t / a)) - mpmath.log(a)

    return least(objective, **where)


def response(level: str) -> Real:
    e = oracles.real(level)
    return lambda a: (
        mpmath.log((mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e))) / (a - 1)
    )


def of(mechanism: object) -> Curve:
    return lambda orders: renyi_curve(mechanism, orders, Fraction(1, 10**18))  # type: ignore[arg-type]


DELTAS = ["0.9", "0.1", "1e-6", "1e-15", "1e-300"]
RHOS = ["1e-12", "1e-4", "0.5", "30", "1e6"]


@pytest.mark.parametrize("goal", DELTAS)
@pytest.mark.parametrize("rho", RHOS)
def test_zcdp_to_epsilon(rho: str, goal: str) -> None:
    found = zcdp_to_epsilon(rho, goal)
    with mpmath.workdps(60):
        cost = oracles.real(rho)
        oracles.assert_holds(found.value, best_epsilon(lambda a: cost * a, goal), 1e-12)
    assert zcdp_to_epsilon_simple(rho, goal).at_least(found.value.lower) is not False


@pytest.mark.slow_cases("1e-12-20", "1e-12-3000")
@pytest.mark.parametrize("level", ["0", "1e-3", "0.7", "20", "3000"])
@pytest.mark.parametrize("rho", RHOS)
def test_zcdp_to_delta(rho: str, level: str) -> None:
    found = zcdp_to_delta(rho, level)
    with mpmath.workdps(60):
        cost = oracles.real(rho)
        log_delta = best_log_delta(lambda a: cost * a, level)
        ends = [mpf(end) for end in found.value.to_json().values()]
        low, high = (mpmath.log(end) if end else -mpmath.inf for end in ends)
        assert low - mpf("1e-20") <= log_delta <= high + mpf("1e-20")
        assert high - low <= (1e-12 if log_delta > -(10**9) else mpmath.inf)


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("goal", DELTAS)
@pytest.mark.parametrize("level", ["1e-5", "0.3", "4", "40"])
def test_bounded_losses_to_epsilon(level: str, goal: str) -> None:
    # for tiny deltas the infimum is approached as the order grows without bound
    found = renyi_to_epsilon(
        of(RandomizedResponse(level)), goal, Enclosure.exactly(Fraction(level))
    )
    with mpmath.workdps(320):
        value = best_epsilon(response(level), goal, high=40)
        reached = min(value, oracles.real(level))
        oracles.assert_holds(found.value, reached, 1e-12)
    assert found.value.upper <= Fraction(level)


def test_the_limit_of_large_orders_need_not_be_given() -> None:
    curve = of(RandomizedResponse("0.3"))
    for goal in ("0.01", "1e-6", "1e-300"):
        without = renyi_to_epsilon(curve, goal).value
        assert without.is_within(Fraction(1, 10**12))
        without.intersection(
            renyi_to_epsilon(curve, goal, Enclosure.exactly(Fraction("0.3"))).value
        )


@pytest.mark.parametrize("level", ["0", "0.1", "0.29", "0.2999999", "0.3", "0.4"])
def test_bounded_losses_to_delta(level: str) -> None:
    curve, pure = of(RandomizedResponse("0.3")), Enclosure.exactly(Fraction("0.3"))
    found = renyi_to_delta(curve, level, pure).value
    if Fraction(level) >= Fraction("0.3"):
        assert found == Enclosure.exactly(0)
        return
    with mpmath.workdps(60):
        oracles.assert_holds(found, mpmath.exp(best_log_delta(response("0.3"), level)), 1e-12)


@pytest.mark.slow_cases("1e-6")
@pytest.mark.parametrize("goal", ["0.1", "1e-6", "1e-300"])
def test_mechanisms(goal: str) -> None:
    with mpmath.workdps(40):
        pmf = oracles.discrete_gaussian(3)
        pair = [(pmf(x), pmf(x - 1)) for x in range(-450, 451)]
    mechanism = AdditiveNoise(DiscreteGaussian(3), 1)
    found = renyi_to_epsilon(of(mechanism), goal)
    assert found.order is not None
    assert found.value.is_within(Fraction(1, 10**12))
    with mpmath.workdps(40):
        d = oracles.real(goal)
        for step in (Fraction(-1, 10), Fraction(0), Fraction(1, 10)):
            a = oracles.real(found.order + step * (found.order - 1))
            at_order = (
                mpmath.log(mpmath.fsum(p**a * q ** (1 - a) for p, q in pair)) / (a - 1)
                + mpmath.log(1 / (a * d)) / (a - 1)
                + mpmath.log(1 - 1 / a)
            )
            at_order = oracles.exactly(max(at_order, mpf(0)))
            assert at_order * (1 + Fraction(1, 10**20)) >= found.value.lower
            if step == 0:  # the upper end is the value at this order
                assert abs(at_order - Fraction(found.value.upper)) <= at_order / 10**15
    assert epsilon(mechanism, goal).at_most(found.value.upper) is True


@pytest.mark.slow_cases("1e-40-mechanism1")
@pytest.mark.parametrize("mechanism", [Skellam(4), DiscreteLaplace("0.7"), DiscreteGaussian(9)])
@pytest.mark.parametrize("goal", ["0.2", "1e-4", "1e-40"])
def test_there_and_back(mechanism: Skellam, goal: str) -> None:
    # at the epsilon found for delta, delta is found again; a little below, a larger one
    curve = of(AdditiveNoise(mechanism, 1))
    there = renyi_to_epsilon(curve, goal).value
    if there.upper == 0:
        return
    assert renyi_to_delta(curve, Fraction(there.upper)).value.lower <= Fraction(goal)
    nearer = Fraction(there.lower) * (1 - Fraction(1, 10**6))
    assert renyi_to_delta(curve, nearer).value.upper > Fraction(goal)


def exponentials(slow: str, fast: str) -> tuple[Real, Curve]:
    """The curve of Exp(slow) against Exp(fast), infinite from order fast/(fast - slow) on."""
    one, two = Fraction(slow), Fraction(fast)

    def real(a: mpf) -> mpf:
        x, y = oracles.real(one), oracles.real(two)
        rest = a * x + (1 - a) * y
        if rest <= 0:
            return mpmath.inf
        return mpmath.log(x / y) + mpmath.log(x / rest) / (a - 1)

    def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
        found = []
        with mpmath.workdps(60):
            for a in orders:
                if a >= two / (two - one):
                    found.append(Enclosure.infinite())
                    continue
                value = oracles.exactly(real(oracles.real(a)))
                found.append(Enclosure(value * (1 - Fraction(1, 10**40)), value))
        return found

    return real, curve


@pytest.mark.slow_cases("0.3-1-1.001", "1e-300-1-1.001", "1e-6-1-1.001")
@pytest.mark.parametrize(("slow", "fast"), [("1", "2"), ("1", "1.001"), ("1", "50")])
@pytest.mark.parametrize("goal", ["0.3", "1e-6", "1e-300"])
def test_curves_that_are_infinite_beyond_some_order(slow: str, fast: str, goal: str) -> None:
    real, curve = exponentials(slow, fast)
    found = renyi_to_epsilon(curve, goal, Enclosure.infinite())
    with mpmath.workdps(60):
        oracles.assert_holds(found.value, best_epsilon(real, goal), 1e-12)
        for level in ("0.01", "3"):
            log_delta = best_log_delta(real, level)
            oracles.assert_holds(renyi_to_delta(curve, level).value, mpmath.exp(log_delta), 1e-12)


def test_curves_that_are_infinite_everywhere() -> None:
    def curve(orders: Sequence[Fraction]) -> list[Enclosure]:
        return [Enclosure.infinite() for _ in orders]

    assert renyi_to_epsilon(curve, "1e-6").value.lower > 10**9
    assert renyi_to_epsilon(curve, "1e-6").order is None
    assert renyi_to_epsilon(curve, "1e-6").value.upper == Enclosure.infinite().upper
    assert renyi_to_delta(curve, 3).value.contains(1)


@given(
    rho=st.fractions("1e-4", 5, max_denominator=10**4),
    blur=st.sampled_from(["1e-2", "1e-5", "1e-9"]),
    goal=st.sampled_from(["0.2", "1e-5", "1e-60"]),
)
def test_a_vague_curve_gives_a_wide_result_around_the_truth(
    rho: Fraction, blur: str, goal: str
) -> None:
    slack = Fraction(blur)
    vague = Enclosure(rho * (1 - slack), rho * (1 + slack))
    sharp = zcdp_to_epsilon(rho, goal).value
    found = zcdp_to_epsilon(vague, goal).value
    assert found.lower <= sharp.lower
    assert sharp.upper <= found.upper
    if sharp.lower > 1:
        assert found.is_within(20 * slack)
    level = Fraction(sharp.upper) / 2
    one, other = zcdp_to_delta(rho, level).value, zcdp_to_delta(vague, level).value
    assert other.lower <= one.lower
    assert one.upper <= other.upper


@pytest.mark.slow
@given(
    weights=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=2, max_size=5),
    goal=st.sampled_from(["0.3", "1e-2", "1e-7"]),
)
def test_never_below_the_exact_truth(weights: list[tuple[int, int]], goal: str) -> None:
    totals = [sum(each[side] for each in weights) for side in (0, 1)]
    p, q = (tuple(Fraction(each[side], totals[side]) for each in weights) for side in (0, 1))
    mechanism = FinitePair(tuple(map(str, range(len(p)))), p, q)
    if p == q:
        return
    found = renyi_to_epsilon(of(mechanism), goal).value
    assert found.is_within(Fraction(1, 10**12))
    assert epsilon(mechanism, goal).lower <= found.upper
    level = Fraction(1, 10)
    assert delta(mechanism, level).lower <= renyi_to_delta(of(mechanism), level).value.upper


@pytest.mark.parametrize("level", ["1e-9", "0.1", "1", "7", "300"])
def test_pure_to_zcdp_and_renyi(level: str) -> None:
    best = pure_to_zcdp(level)
    assert best == zcdp(RandomizedResponse(level))
    with mpmath.workdps(100):
        e = oracles.real(level)
        oracles.assert_holds(best, e * mpmath.tanh(e / 2), 1e-12)
        samples = [response(level)(a) / a for a in (mpf("1.0001"), mpf("1.5"), mpf(2), mpf(30))]
        assert oracles.exactly(max(samples)) <= Fraction(best.upper)
    assert best.at_most(Fraction(level) ** 2 / 2) is not False
    for order in ("1.01", "2", "64"):
        found = pure_to_renyi(level, order)
        assert found == renyi_divergence(RandomizedResponse(level), order)
        with mpmath.workdps(400):
            oracles.assert_holds(found, response(level)(oracles.real(order)), 1e-12)
        simple = min(Fraction(level), Fraction(order) * Fraction(level) ** 2 / 2)
        assert found.at_most(simple) is not False


@given(
    weights=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=2, max_size=5),
    order=st.fractions("1.01", 20, max_denominator=100),
)
def test_no_pure_mechanism_beats_randomized_response(
    weights: list[tuple[int, int]], order: Fraction
) -> None:
    totals = [sum(each[side] for each in weights) for side in (0, 1)]
    p, q = (tuple(Fraction(each[side], totals[side]) for each in weights) for side in (0, 1))
    with mpmath.workdps(60):
        pair = [(oracles.real(a), oracles.real(b)) for a, b in zip(p, q, strict=True)]
        level = max(truth.pure(pair), truth.pure([(b, a) for a, b in pair]))
        divergence = oracles.exactly(truth.renyi(pair, order))
        bound = Fraction(int(mpmath.ceil(level * 10**30)), 10**30)
    assert divergence <= Fraction(pure_to_renyi(bound, order).upper) + Fraction(1, 10**40)
    assert divergence <= order * Fraction(pure_to_zcdp(bound).upper) + Fraction(1, 10**40)


def test_ends_of_the_range() -> None:
    pure = Enclosure.exactly(Fraction(1, 3))
    curve = of(RandomizedResponse("1/3"))
    assert renyi_to_epsilon(curve, 0, pure).value == pure
    assert renyi_to_epsilon(curve, 1, pure).value == Enclosure.exactly(0)
    assert zcdp_to_epsilon(1, 0).value == Enclosure.infinite()
    assert zcdp_to_epsilon(0, 0).value == Enclosure.exactly(0)
    assert zcdp_to_epsilon(0, "1e-9").value == Enclosure.exactly(0)
    assert zcdp_to_delta(0, 0).value == Enclosure.exactly(0)
    assert zcdp_to_epsilon_simple(2, 1) == Enclosure.exactly(2)
    assert zcdp_to_epsilon_simple(2, 0) == Enclosure.infinite()
    assert pure_to_zcdp(0) == Enclosure.exactly(0)
    assert pure_to_renyi(0, 2) == Enclosure.exactly(0)
    with pytest.raises(ParameterError, match="delta must be above 0 where"):
        renyi_to_epsilon(curve, 0)
    for bad in ("-1", "nan", "1.5"):
        with pytest.raises(ParameterError, match="delta must be"):
            zcdp_to_epsilon(1, bad)
    with pytest.raises(ParameterError, match="rho must be"):
        zcdp_to_epsilon("-1", "1e-6")
    with pytest.raises(ParameterError, match="rho must be"):
        zcdp_to_delta(Enclosure(Fraction(-2), Fraction(-1)), 1)
    with pytest.raises(ParameterError, match="epsilon must be"):
        zcdp_to_delta(1, "-0.1")
    with pytest.raises(ParameterError, match="order must be"):
        pure_to_renyi(1, 1)


def test_the_simple_form_of_the_paper() -> None:
    # Lemma 10: e (sqrt(2 log(1/delta)) + e/2) for e^2/2-zCDP
    with mpmath.workdps(40):
        for e, goal in (("0.1", "1e-6"), ("3", "1e-300"), ("1e-8", "0.5")):
            x, d = oracles.real(e), oracles.real(goal)
            value = x * (mpmath.sqrt(2 * mpmath.log(1 / d)) + x / 2)
            oracles.assert_holds(zcdp_to_epsilon_simple(Fraction(e) ** 2 / 2, goal), value, 1e-12)
