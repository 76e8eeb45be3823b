"""What the methods of accounting report, against their formulas and against the exact truth."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import brute_force as truth
import mpmath
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import Composition, Enclosure, ParameterError
from exactdp.accounting.composition.composed import compose
from exactdp.accounting.divergences.conversion import (
    renyi_to_epsilon,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from exactdp.accounting.methods.comparison import (
    ADVANCED,
    BASIC,
    EXACT,
    KOV,
    METHODS,
    RDP,
    THEOREM7,
    ZCDP,
    DoesNotApplyError,
    Method,
    compare,
)
from exactdp.exact import WIDTH
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    RandomizedResponse,
    Skellam,
)

LAPLACE = AdditiveNoise(DiscreteLaplace(10), 1)
GAUSSIAN = AdditiveNoise(DiscreteGaussian(20), 1)
COMPOSITIONS = {
    "laplace": compose((LAPLACE, 64)),
    "faint": compose((AdditiveNoise(DiscreteLaplace(1000), 1), 40)),
    "two": compose((LAPLACE, 3), (AdditiveNoise(DiscreteLaplace(7), 1), 2)),
    "revealing": compose((RandomizedResponse(1, "1e-9"), 10)),
    "useless": compose((RandomizedResponse(0, "1e-9"), 2), (RandomizedResponse(2), 2)),
    "pair": compose((FinitePair(("a", "b", "c"), ("0.5", "0.3", "0.2"), ("0.4", "0.3", "0.3")), 3)),
}
TAILS = {  # slower: no pure epsilon, a search for every epsilon_i
    "gaussian": compose((GAUSSIAN, 5)),
    "once": compose(GAUSSIAN),
    "binomial": compose((AdditiveNoise(Binomial(30, "1/2"), 1), 2)),
}
each_composition = pytest.mark.parametrize("composition", COMPOSITIONS.values(), ids=COMPOSITIONS)
each_of_all = pytest.mark.parametrize(
    "composition", [*COMPOSITIONS.values(), *TAILS.values()], ids=[*COMPOSITIONS, *TAILS]
)
each_with_tails = pytest.mark.parametrize("composition", TAILS.values(), ids=TAILS)


@pytest.mark.quick_cases(8)
@pytest.mark.slow_cases(
    "0.29-gaussian", "1e-30-gaussian", "1e-30-once", "1e-6-gaussian", "1e-6-once"
)
@each_of_all
@pytest.mark.parametrize("goal", ["0.29", "1e-6", "1e-30"])
def test_no_method_reports_less_than_the_truth(composition: Composition, goal: str) -> None:
    rows = compare(composition, goal)
    assert [row.method for row in rows] == list(METHODS.values())
    exact = rows[0].value
    assert rows[0].method is EXACT
    assert exact is not None
    for row in rows:
        if row.value is None:
            assert row.remark
        else:
            assert row.value.upper >= exact.lower, row.method.name
            assert row.value.is_within(WIDTH), row.method.name


def check_deltas(composition: Composition, level: str) -> None:
    exact = EXACT.delta(composition, Fraction(level), WIDTH)
    for method in METHODS.values():
        with suppress(DoesNotApplyError):
            value = method.delta(composition, Fraction(level), WIDTH)
            assert value.upper >= exact.lower, method.name
            assert value.lower >= 0
            assert value.upper <= 1
            # rho is known to 6e-14 only, and below 1e-1000 logarithms in floats locate no better
            if method is not ZCDP and value.upper > Fraction(1, 10**1000):
                assert value.is_within(10 * WIDTH), method.name


def check_inverse(composition: Composition, method: Method, level: Fraction) -> None:
    try:
        found = method.delta(composition, level, WIDTH)
    except DoesNotApplyError:
        return
    if 0 < found.upper < 1:
        enough = Fraction(found.upper) * (1 + Fraction(1, 10**9))
        assert method.epsilon(composition, enough, WIDTH).lower <= level
    if found.lower > 0:
        less = Fraction(found.lower) * (1 - Fraction(1, 10**9))
        with suppress(DoesNotApplyError):
            assert method.epsilon(composition, less, WIDTH).upper > level


@pytest.mark.quick_cases(8)
@pytest.mark.slow_cases("0.3-two")
@each_composition
@pytest.mark.parametrize("level", ["0", "0.3", "2", "30"])
def test_no_method_reports_a_smaller_delta(composition: Composition, level: str) -> None:
    check_deltas(composition, level)


@pytest.mark.quick_cases(10)
@pytest.mark.slow_cases("kov-laplace", "kov-revealing", "kov-two", "kov-useless", "zcdp-faint")
@each_composition
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_delta_is_the_inverse_of_epsilon(composition: Composition, method: Method) -> None:
    for level in (Fraction(1, 50), Fraction(1, 2), Fraction(3)):
        check_inverse(composition, method, level)


@pytest.mark.slow
@each_with_tails
def test_deltas_of_mechanisms_without_a_pure_epsilon(composition: Composition) -> None:
    for level in ("0", "0.3", "2", "30"):
        check_deltas(composition, level)
    for method in METHODS.values():
        check_inverse(composition, method, Fraction(1, 2))


@pytest.mark.parametrize("goal", ["0.1", "1e-6", "1e-300"])
def test_formulas_at_pure_epsilons(goal: str) -> None:
    # the Laplace mechanism at its pure epsilon, or at its epsilon for delta/(2K)
    composition, count = compose((LAPLACE, 64)), 64
    with mpmath.workdps(400):
        d, e = oracles.real(goal), mpf(1) / 10

        def at(share: mpf) -> mpf:  # epsilon of randomized response at this delta
            return max(mpmath.log(mpmath.exp(e) - share * (1 + mpmath.exp(e))), mpf(0))

        def advanced(e_i: mpf, slack: mpf) -> mpf:
            root = mpmath.sqrt(2 * count * mpmath.log(1 / slack))
            return root * e_i + count * e_i * mpmath.expm1(e_i)

        value = min(advanced(e, d), advanced(at(d / (2 * count)), d / 2))
        oracles.assert_holds(ADVANCED.epsilon(composition, Fraction(goal), WIDTH), value, 1e-12)
        oracles.assert_holds(
            BASIC.epsilon(composition, Fraction(goal), WIDTH), count * at(d / count), 1e-12
        )
        rho = count * e * mpmath.tanh(e / 2)
        by_hand = zcdp_to_epsilon(oracles.exactly(rho), goal).value
        # both contain the same number
        oracles.assert_meet(ZCDP.epsilon(composition, Fraction(goal), WIDTH), by_hand)
    # randomized response cannot be improved upon
    assert KOV.epsilon(composition, Fraction(goal), WIDTH).contains(
        Fraction(composition.epsilon(goal).lower)
    )


def test_shares_of_delta_for_mechanisms_without_a_pure_epsilon() -> None:
    composition, goal, count = compose((AdditiveNoise(Skellam(4), 1), 3)), Fraction("1e-3"), 3
    with mpmath.workdps(60):
        pair = truth.shifted(oracles.skellam(4), 1, 80)
        e_i = truth.epsilon(pair, goal / (2 * count))
        root = mpmath.sqrt(2 * count * mpmath.log(2 / oracles.real(goal)))
        value = root * e_i + count * e_i * mpmath.expm1(e_i)
        oracles.assert_holds(ADVANCED.epsilon(composition, goal, WIDTH), value, 1e-12)
        value = count * truth.epsilon(pair, goal / count)
        oracles.assert_holds(BASIC.epsilon(composition, goal, WIDTH), value, 1e-12)
        d_i = oracles.real(goal / (2 * count))
        one = [
            (d_i, mpf(0)),
            ((1 - d_i) / (1 + mpmath.exp(-e_i)), (1 - d_i) / (1 + mpmath.exp(e_i))),
            ((1 - d_i) / (1 + mpmath.exp(e_i)), (1 - d_i) / (1 + mpmath.exp(-e_i))),
            (mpf(0), d_i),
        ]
        both = [(a * c * x, b * d * y) for a, b in one for c, d in one for x, y in one]
        oracles.assert_holds(
            KOV.epsilon(composition, goal, WIDTH), truth.epsilon(both, goal), 1e-12
        )


def test_theorem7_is_reported_where_it_holds_only() -> None:
    faint = compose((AdditiveNoise(DiscreteLaplace(1000), 1), 40))
    with mpmath.workdps(40):
        value = 2 * mpf("0.001") * mpmath.sqrt(80 * mpmath.log(mpf(10) ** 6))
        share = Fraction(1, 80 * 10**6)
        odds = mpmath.exp(mpf("0.001"))
        e_i = mpmath.log(odds - oracles.real(share) * (1 + odds))
        other = 2 * e_i * mpmath.sqrt(80 * mpmath.log(2 * mpf(10) ** 6))
        found = THEOREM7.epsilon(faint, Fraction("1e-6"), WIDTH)
        oracles.assert_holds(found, min(value, other), 1e-12)
    (row,) = compare(compose((LAPLACE, 64)), "1e-6", names=["theorem7"])
    assert (row.value, row.remark) == (None, "stated for results below 1")
    with pytest.raises(DoesNotApplyError, match="stated for results below 1"):
        THEOREM7.delta(faint, Fraction(1), WIDTH)


def test_extremes_of_delta() -> None:
    composition = compose((LAPLACE, 4))
    values = {row.method.name: row.value for row in compare(composition, 0)}
    pure = composition.pure()
    for name in ("exact", "kov", "rdp", "basic"):
        assert values[name] == pure, name
    assert values["zcdp"] == Enclosure.infinite()
    assert values["advanced"] is values["theorem7"] is None
    for name in ("exact", "kov", "rdp", "zcdp", "basic"):
        assert METHODS[name].epsilon(composition, Fraction(1), WIDTH) == Enclosure.exactly(0), name
    for name in ("exact", "kov", "rdp", "basic"):
        assert METHODS[name].delta(composition, Fraction("0.4"), WIDTH) == Enclosure.exactly(0), (
            name
        )


def test_revealing_mechanisms_have_no_curve() -> None:
    composition = compose((RandomizedResponse(1, "1e-9"), 10))
    assert RDP.epsilon(composition, Fraction("1e-6"), WIDTH) == Enclosure.infinite()
    assert RDP.epsilon(composition, Fraction(1), WIDTH) == Enclosure.exactly(0)
    assert RDP.delta(composition, Fraction(5), WIDTH) == Enclosure.exactly(1)
    (row,) = compare(composition, "1e-6", names=["zcdp"])
    assert row.value is None
    # less than what is revealed for certain
    values = {row.method.name: row.value for row in compare(composition, "1e-10")}
    assert values["exact"] == values["basic"] == Enclosure.infinite()
    assert values["kov"] == values["advanced"] == Enclosure.infinite()


def test_curves_are_composed_exactly() -> None:
    composition = compose((LAPLACE, 3), (GAUSSIAN, 2))
    narrow = Fraction(1, 10**20)
    by_hand = renyi_to_epsilon(lambda orders: composition.renyi_curve(orders, narrow), "1e-9").value
    oracles.assert_meet(RDP.epsilon(composition, Fraction("1e-9"), WIDTH), by_hand)
    only_gaussian = compose((GAUSSIAN, 8))
    rho = Fraction(8, 40)
    found = ZCDP.epsilon(only_gaussian, Fraction("1e-9"), WIDTH)
    oracles.assert_meet(found, zcdp_to_epsilon(rho, "1e-9").value)
    found = ZCDP.delta(only_gaussian, Fraction(2), WIDTH)
    oracles.assert_meet(found, zcdp_to_delta(rho, 2).value)


@pytest.mark.slow
@settings(max_examples=15)
@given(
    weights=st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=2, max_size=3),
    count=st.integers(1, 3),
    level=st.sampled_from(["0.2", "1"]),
    goal=st.sampled_from(["0.2", "1e-3", "1e-8"]),
)
def test_random_compositions(
    weights: list[tuple[int, int]], count: int, level: str, goal: str
) -> None:
    totals = [sum(one[side] for one in weights) for side in (0, 1)]
    p, q = (tuple(Fraction(one[side], totals[side]) for one in weights) for side in (0, 1))
    pair = FinitePair(tuple(map(str, range(len(p)))), p, q)
    rows = compare(compose((pair, count), RandomizedResponse(level)), goal)
    assert rows[0].value is not None
    for row in rows:
        assert row.value is None or row.value.upper >= rows[0].value.lower, row.method.name


def test_bad_input() -> None:
    composition = compose(LAPLACE)
    with pytest.raises(ParameterError, match="delta must be"):
        compare(composition, "1.5")
    with pytest.raises(ParameterError, match="method must be one of exact, kov"):
        compare(composition, "0.1", names=["moments"])
