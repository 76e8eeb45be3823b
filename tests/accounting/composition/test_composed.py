"""Compositions: what holds for every list of uses, whatever the mechanisms."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from math import prod

import composed_truth as truth
import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import Composition, Enclosure, OutOfTimeError, ParameterError
from exactdp.accounting import pure_epsilon, renyi_curve, zcdp
from exactdp.accounting.composition import composed
from exactdp.accounting.composition.composed import Use, compose
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    Mechanism,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)

ORDERS = ["1.25", "2", "5", "17"]
LAPLACE = AdditiveNoise(DiscreteLaplace(3), 2)
GAUSSIAN = AdditiveNoise(DiscreteGaussian(2), 1)
SKELLAM = AdditiveNoise(Skellam(4), 1)
POLYA = AdditiveNoise(PolyaDifference("0.6", 2), 1)
WRAPPED = AdditiveNoise(DiscreteGaussian(2), 1, 8)
PAIR = FinitePair(("a", "b", "c"), ("0.5", "0.3", "0.2"), ("0.2", "0.3", "0.5"))
NAMED = {
    "laplace": LAPLACE,
    "gaussian": GAUSSIAN,
    "response": RandomizedResponse("0.8", "1e-4"),
    "skellam": SKELLAM,
    "wrapped": WRAPPED,
    "pair": PAIR,
}
LITTLE = Fraction(1, 10**9)
each_mechanism = pytest.mark.parametrize("mechanism", NAMED.values(), ids=NAMED)


def width_for(mechanism: Mechanism) -> Fraction:
    """Losses off every lattice take seconds where they are asked for more than this."""
    return Fraction(1, 10**4 if mechanism == SKELLAM else 10**12)


def overlap(a: Enclosure, b: Enclosure) -> bool:
    return a.at_most(b.upper) is not False and a.at_least(b.lower) is not False


# -- the list -------------------------------------------------------------------------------------


def test_equal_mechanisms_are_counted_together() -> None:
    first, second = compose((SKELLAM, 2), LAPLACE), compose(LAPLACE, SKELLAM)
    both = compose(first, second, (SKELLAM, "1e3"))
    assert both.uses == (Use(SKELLAM, 1003), Use(LAPLACE, 2))
    assert both.times == 1005
    assert both == Composition([Use(SKELLAM, 1), Use(LAPLACE, 2), Use(SKELLAM, 1002)])
    assert hash(both) == hash(compose((SKELLAM, 1003), (LAPLACE, 2)))


@pytest.mark.parametrize("times", [0, -1, "1.5", "nan", True, None, 10**10])
def test_bad_times(times: object) -> None:
    with pytest.raises(ParameterError, match="times must"):
        compose((SKELLAM, times))  # type: ignore[arg-type]


def test_uses_add_up_to_at_most_a_billion() -> None:
    most, refused = 10**9, pytest.raises(ParameterError, match="times must")
    for whole in (
        compose((PAIR, most)),
        compose((PAIR, most - 1), PAIR),
        most // 2 * compose(PAIR, PAIR),
    ):
        assert whole.times == most
        with refused:
            whole + LAPLACE
        with refused:
            2 * whole
    for times in (most + 1, 2 * most):
        with refused:
            compose((PAIR, times))
        with refused:
            compose((PAIR, 1), (LAPLACE, times - 1))


def test_bad_questions() -> None:
    with pytest.raises(ParameterError, match="at least one use"):
        compose()
    composition = compose((SKELLAM, 3))
    for level in ("-1", "nan", "inf", None):
        with pytest.raises(ParameterError, match="epsilon must be"):
            composition.delta(level)  # type: ignore[arg-type]
    for delta in ("-1e-9", "1.1", "nan", True):
        with pytest.raises(ParameterError, match="delta must be"):
            composition.epsilon(delta)
    with pytest.raises(ParameterError, match="order must be"):
        composition.renyi(1)
    for figure in (composition.delta, composition.epsilon):
        with pytest.raises(ParameterError, match="work must be"):
            figure("0.5", work="-1e-9")
        with pytest.raises(ParameterError, match="width must be"):
            figure("0.5", width="-1e-9")
        with pytest.raises(ParameterError, match="cap must be"):
            figure("0.5", cap=0)


# -- sums -----------------------------------------------------------------------------------------


@each_mechanism
def test_k_uses_cost_k_times_as_much(mechanism: Mechanism) -> None:
    composition = compose((mechanism, 1000))
    for one, all_of_them in zip(
        [pure_epsilon(mechanism), zcdp(mechanism), *renyi_curve(mechanism, ORDERS)],
        [composition.pure(), composition.zcdp(), *composition.renyi_curve(ORDERS)],
        strict=True,
    ):
        if one.is_finite():
            assert all_of_them.lower == 1000 * Fraction(one.lower)
            assert all_of_them.upper == 1000 * Fraction(one.upper)
        else:
            assert all_of_them.upper == one.upper


def test_unlike_costs_add_up() -> None:
    parts = [(LAPLACE, 3), (POLYA, 2), (RandomizedResponse(1), 4)]
    together = compose(*parts)
    for order in ORDERS:
        each = [(times, renyi_curve(mechanism, [order])[0]) for mechanism, times in parts]
        found = together.renyi(order)
        assert found.lower == sum(times * Fraction(value.lower) for times, value in each)
        assert found.upper == sum(times * Fraction(value.upper) for times, value in each)
    assert together.pure().is_within(Fraction(1, 10**12))
    assert compose((LAPLACE, 3), SKELLAM).pure() == Enclosure.infinite()


def test_zcdp_of_unlike_mechanisms_is_above_every_order() -> None:
    composition = compose((LAPLACE, 3), (RandomizedResponse(2), 2))
    found = composition.zcdp()
    for order in ("1.001", "1.7", "3", "30"):
        assert composition.renyi(order).lower / Fraction(order) <= Fraction(found.upper)
    sums = 3 * Fraction(zcdp(LAPLACE).upper) + 2 * Fraction(zcdp(RandomizedResponse(2)).upper)
    assert Fraction(found.upper) <= sums


# -- what does not depend on how it is written ----------------------------------------------------


@pytest.mark.slow_cases("mixed")
@pytest.mark.parametrize(
    "parts",
    [
        ((LAPLACE, 3), (GAUSSIAN, 2)),
        ((SKELLAM, 2), (LAPLACE, 3), (PAIR, 2)),
        ((WRAPPED, 2), (LAPLACE, 1)),
    ],
    ids=["lattices", "mixed", "wrapped"],
)
def test_order_and_splitting_do_not_matter(parts: tuple[tuple[Mechanism, int], ...]) -> None:
    forward, backward = compose(*parts), compose(*reversed(parts))
    split = compose(*(mechanism for mechanism, times in parts for _ in range(times)))
    rough = Fraction(1, 10**4)
    assert split == forward
    assert overlap(forward.delta("0.5", rough), backward.delta("0.5", rough))
    assert overlap(forward.epsilon("1e-5", rough), backward.epsilon("1e-5", rough))


@pytest.mark.slow_cases("gaussian", "skellam", "wrapped")
@each_mechanism
def test_bounds_that_hold_for_all(mechanism: Mechanism) -> None:
    once, composition, width = compose(mechanism), compose((mechanism, 8)), width_for(mechanism)
    for goal in ("1e-3", "1e-9"):
        if once.epsilon(Fraction(goal) / 8) == Enclosure.infinite():
            continue
        found = composition.epsilon(goal, width)
        # basic composition, and the conversion of Rényi DP (Mironov 2017, Proposition 3)
        basic = 8 * Fraction(once.epsilon(Fraction(goal) / 8).upper)
        assert Fraction(found.upper) <= basic * (1 + 2 * width)
        for order, value in zip(ORDERS, composition.renyi_curve(ORDERS), strict=True):
            if value.is_finite():
                logs = Fraction(str(mpmath.log(1 / mpf(goal)) + mpf("1e-9")))
                bound = Fraction(value.upper) + logs / (Fraction(order) - 1)
                assert Fraction(found.upper) <= bound * (1 + 2 * width)
    pure = composition.pure()
    if pure.is_finite():
        assert Fraction(composition.epsilon("1e-300").upper) <= Fraction(pure.upper) * (1 + LITTLE)


@pytest.mark.slow_cases("skellam", "wrapped")
@each_mechanism
def test_profile_falls_and_is_convex_in_odds(mechanism: Mechanism) -> None:
    composition = compose((mechanism, 5))
    levels = [Fraction(step, 4) for step in range(0, 12, 2)]
    found = [composition.delta(level, width_for(mechanism)) for level in levels]
    for near, far in pairwise(found):
        assert near.at_least(far.lower) is not False
        assert near.at_most(1) is True
    with mpmath.workdps(60):
        ends = [(oracles.real(Fraction(v.lower)), oracles.real(Fraction(v.upper))) for v in found]
        odds = [mpmath.exp(oracles.real(level)) for level in levels]
        for k in range(1, len(levels) - 1):
            share = (odds[k] - odds[k - 1]) / (odds[k + 1] - odds[k - 1])
            chord = (1 - share) * ends[k - 1][1] + share * ends[k + 1][1]
            assert ends[k][0] <= chord * (1 + mpf(10) ** -50)


@pytest.mark.slow_cases(
    "skellam-1e-1", "skellam-1e-30", "skellam-1e-6", "wrapped-1e-1", "wrapped-1e-30", "wrapped-1e-6"
)
@pytest.mark.parametrize("goal", ["1e-1", "1e-6", "1e-30"])
@each_mechanism
def test_there_and_back(mechanism: Mechanism, goal: str) -> None:
    composition, share, width = compose((mechanism, 3)), Fraction(goal), width_for(mechanism)
    found = composition.epsilon(share, width)
    if not found.is_finite():
        assert composition.delta(10**4).greater_than(share) is True
        return
    assert found.is_within(2 * width)
    beyond = 2 * width + LITTLE
    assert composition.delta(Fraction(found.upper) * (1 + beyond), width).at_most(share) is True
    if found.lower > 0:
        below = Fraction(found.lower) * (1 - beyond)
        assert composition.delta(below, width).greater_than(share) is True


@pytest.mark.slow
def test_more_uses_never_cost_less() -> None:
    for mechanism in (LAPLACE, SKELLAM, WRAPPED):
        width = width_for(mechanism)
        costs = [compose((mechanism, times)).epsilon("1e-6", width) for times in (1, 2, 3, 9)]
        for fewer, more in pairwise(costs):
            assert fewer.at_most(more.upper) is True
    noisy, plain = (compose((AdditiveNoise(Binomial(n, "1/2"), 1), 2)) for n in (64, 16))
    assert noisy.epsilon("1e-3").at_most(plain.epsilon("1e-3").upper) is True


# -- any finite pair ------------------------------------------------------------------------------

weights = st.lists(
    st.tuples(st.integers(0, 12), st.integers(0, 12)).filter(any), min_size=1, max_size=3
).filter(lambda each: all(any(side) for side in zip(*each, strict=True)))
Weights = list[tuple[int, int]]


def pair_of(each: Weights) -> FinitePair:
    p_total, q_total = (sum(side) for side in zip(*each, strict=True))
    return FinitePair(
        tuple(map(str, range(len(each)))),
        tuple(Fraction(p, p_total) for p, _ in each),
        tuple(Fraction(q, q_total) for _, q in each),
    )


def brute(pairs: list[FinitePair], level: Fraction) -> mpf:
    """The larger of the two directions that all pairs share, outcome by outcome."""
    there = [
        list(zip(map(truth.real, pair.p), map(truth.real, pair.q), strict=True)) for pair in pairs
    ]
    back = [[(q, p) for p, q in atoms] for atoms in there]
    with mpmath.workdps(truth.DIGITS):
        odds = mpmath.exp(truth.real(level))
        sides = (truth.product(*there), truth.product(*back))
        return max(mpmath.fsum(max(p - odds * q, mpf(0)) for p, q in side) for side in sides)


@given(a=weights, b=weights, times=st.integers(1, 2), level=st.fractions(0, 4, max_denominator=9))
def test_delta_of_random_pairs(a: Weights, b: Weights, times: int, level: Fraction) -> None:
    first, second = pair_of(a), pair_of(b)
    found = compose((first, times), second).delta(level)
    value = oracles.exactly(brute([first] * times + [second], level))
    hair = Fraction(1, 10**60)
    assert Fraction(found.lower) - hair <= value <= Fraction(found.upper) + hair
    assert Fraction(found.upper) - Fraction(found.lower) <= value / 10**11 + hair


@given(a=weights, times=st.integers(2, 4), goal=st.sampled_from(["0.3", "0.05", "1e-4", "1e-12"]))
def test_epsilon_of_random_pairs(a: Weights, times: int, goal: str) -> None:
    pair, share = pair_of(a), Fraction(goal)
    found = compose((pair, times)).epsilon(goal)
    escapes = brute([pair] * times, Fraction(10**4))
    if oracles.exactly(escapes) > share:
        assert found == Enclosure.infinite()
        return
    assert found.is_finite() or oracles.exactly(escapes) == share
    if found.is_finite():
        ends = Fraction(found.lower), Fraction(found.upper)
        truth.assert_level_holds(ends, share, lambda level: brute([pair] * times, level))


def test_outcomes_that_one_side_hardly_has():
    """Three outcomes of four are told for certain at each use: 1 - 8^-3 of the mass is at infinity.

    The loss of the fourth is 0, beside one whose mass is 0 to within the working precision.
    """
    told = AdditiveNoise(Binomial(3, "1/2"), 3, modulus=192)
    found = compose((told, 3), (AdditiveNoise(Binomial(3, "0.9"), 4, modulus=3), 20))
    assert found.epsilon("0.9").lower == Decimal("Infinity")
    assert found.delta(100).lower > 1 - Fraction(1, 8**3) - Fraction(1, 10**9)


@given(a=weights, b=weights, times=st.integers(1, 3))
def test_a_delta_that_is_just_met_needs_no_epsilon(a: Weights, b: Weights, times: int) -> None:
    """At the total variation distance, summed in fractions; a little below it something is due."""
    parts = [pair_of(a)] * times + [pair_of(b)]
    distance = Fraction(0)
    for outcomes in product(*(list(zip(pair.p, pair.q, strict=True)) for pair in parts)):
        p, q = (prod(side) for side in zip(*outcomes, strict=True))
        distance += max(Fraction(p) - Fraction(q), Fraction(0))
    composition = compose((pair_of(a), times), pair_of(b))
    if 0 < distance < 1:
        assert composition.epsilon(distance) == Enclosure.exactly(0)
    less = distance * (1 - Fraction(1, 1000))
    if less:
        assert composition.epsilon(less).upper > 0


def test_rho_without_time_is_bracketed_by_one_order_and_pure_epsilon(monkeypatch):
    noise, measured = AdditiveNoise(DiscreteLaplace(3), 2), composed.composed_zcdp

    def out_of_time(uses, *how):
        if uses[0].mechanism == noise:
            raise OutOfTimeError
        return measured(uses, *how)

    true, share = zcdp(noise), renyi_curve(noise, [2])[0].times(Fraction(1, 2))
    monkeypatch.setattr(composed, "composed_zcdp", out_of_time)
    found = compose(noise).zcdp()
    assert share.lower * (1 - Fraction(1, 10**5)) <= found.lower <= true.lower
    assert true.upper <= found.upper <= pure_epsilon(noise).upper


def test_rho_of_a_list_with_what_tells_nothing_is_that_of_the_rest():
    """Reduced mod 1 it has no pair at all, which left no choice of pairs."""
    response, nothing = RandomizedResponse(40), AdditiveNoise(Skellam(1), 1, modulus=1)
    found, rest = (compose((response, 3), *more).zcdp() for more in ((nothing,), ()))
    assert found.lower <= rest.upper
    assert rest.lower <= found.upper
    assert found.is_within(Fraction(1, 10**9))


@pytest.mark.parametrize("power", [12, 15, 300])
def test_an_order_too_high_for_any_sum_is_bounded_by_the_gaussian(power):
    """It was anything, and so were all orders asked for with it."""
    of = compose(AdditiveNoise(Skellam(100), 1))
    high, low = of.renyi_curve([10**power, 2])
    nearly = Fraction(low.lower) * (1 - Fraction(1, 10**12))  # the order below, asked less narrowly
    assert nearly <= high.lower <= high.upper < Fraction(51, 10**4) * 10**power
    assert low.is_within(Fraction(1, 10))
