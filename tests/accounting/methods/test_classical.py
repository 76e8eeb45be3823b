"""The dominating pair of (epsilon, delta)-DP, and the classical composition theorems."""

from fractions import Fraction

import brute_force as truth
import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp import Enclosure, ParameterError
from exactdp.accounting.methods.classical import (
    DoesNotApplyError,
    Each,
    advanced,
    basic,
    optimal,
    theorem7,
    theorem7_number,
)


def outcomes(level: str | Fraction, share: str | Fraction) -> list[tuple[mpf, mpf]]:
    """The four outcomes of randomized response with the bit revealed now and then."""
    d, odds = oracles.real(share), mpmath.exp(oracles.real(level))
    p = [d, (1 - d) * odds / (1 + odds), (1 - d) / (1 + odds), mpf(0)]
    return list(zip(p, reversed(p), strict=True))


# -- theorems about (epsilon_i, delta_i) ----------------------------------------------------------


def all_outcomes(uses: list[tuple[str, str]]) -> list[tuple[mpf, mpf]]:
    """The joint law of these randomized responses, outcome by outcome."""
    pair = [(mpf(1), mpf(1))]
    for level, share in uses:
        pair = [(p * a, q * b) for p, q in pair for a, b in outcomes(level, share)]
    return pair


def each(uses: list[tuple[str, str]]) -> list[Each]:
    return [Each(level, share) for level, share in uses]


MIXED = [("0.5", "1e-4"), ("0.1", "1e-7"), ("1.1", "0"), ("0.5", "1e-4"), ("0", "1e-3")]


@pytest.mark.parametrize("uses", [MIXED, MIXED[:2], [("0.3", "0.001")] * 5, [("2", "0")]])
def test_optimal_is_the_composition_of_randomized_responses(uses: list[tuple[str, str]]) -> None:
    with mpmath.workdps(60):
        pair = all_outcomes(uses)
        spent = 1 - mpmath.fprod(1 - oracles.real(share) for _, share in uses)
        for goal in ("0.2", "0.01", "1e-5"):
            found = optimal(each(uses), goal)
            if oracles.real(goal) < spent:
                assert found == Enclosure.infinite()
            else:
                oracles.assert_holds(found, truth.epsilon(pair, goal), 1e-12)


@pytest.mark.parametrize("slack", ["0.5", "1e-6", "1e-300"])
@pytest.mark.parametrize("uses", [MIXED, [("1e-5", "0")] * 3, [("6", "0.1"), ("3", "0")]])
def test_basic_and_advanced(uses: list[tuple[str, str]], slack: str) -> None:
    assert basic(each(uses)) == Enclosure.exactly(sum(Fraction(level) for level, _ in uses))
    with mpmath.workdps(60):
        levels = [oracles.real(level) for level, _ in uses]
        value = mpmath.sqrt(
            2 * mpmath.log(1 / oracles.real(slack)) * mpmath.fsum(e * e for e in levels)
        )
        value += mpmath.fsum(e * mpmath.expm1(e) for e in levels)
        oracles.assert_holds(advanced(each(uses), slack), value, 1e-12)


@given(
    uses=st.lists(
        st.tuples(st.sampled_from(["0", "0.1", "0.7", "2"]), st.sampled_from(["0", "1e-3", "0.2"])),
        min_size=1,
        max_size=4,
    ),
    slack=st.sampled_from(["0.999", "0.3", "1e-3", "1e-12"]),
)
def test_theorems_are_never_below_the_optimum(uses: list[tuple[str, str]], slack: str) -> None:
    known, shares = each(uses), sum((Fraction(share) for _, share in uses), Fraction(0))
    spent = min(shares + Fraction(slack), Fraction(1))
    best = optimal(known, spent)
    assert best.lower <= advanced(known, slack).upper
    assert optimal(known, min(shares, Fraction(1))).lower <= basic(known).upper
    try:
        stated = theorem7(known, slack)
    except DoesNotApplyError:
        return
    largest = max((level for level, _ in uses), key=Fraction)
    same = [Each(largest, share) for _, share in uses]
    assert optimal(same, spent).lower <= stated.upper


def test_theorem7_where_it_holds_and_where_not() -> None:
    with mpmath.workdps(40):
        value = 2 * mpf("0.001") * mpmath.sqrt(200 * mpmath.log(mpf(10) ** 6))
        oracles.assert_holds(theorem7([Each("0.001", "1e-9", 100)], "1e-6"), value, 1e-12)
    # the largest epsilon counts
    assert theorem7([Each("0.001", 0, 99), Each("0.0001")], "1e-6") == theorem7(
        [Each("0.001", 0, 100)], "1e-6"
    )
    with pytest.raises(DoesNotApplyError, match="below 1"):
        theorem7([Each("0.1", 0, 100)], "1e-6")


def test_theorem7_as_stated_is_false() -> None:
    many, slack = [Each("0.1", 0, 10_000)], Fraction("0.999")
    stated = theorem7_number(many, slack)
    assert stated.less_than(1) is True
    assert optimal(many, slack).greater_than(Fraction(stated.upper)) is True
    with pytest.raises(DoesNotApplyError, match="false"):
        theorem7(many, slack)


def test_enclosures_of_epsilon_go_through() -> None:
    vague = [Each(Enclosure(Fraction("0.1"), Fraction("0.11")), "1e-9", 10)]
    low, high = [Each("0.1", "1e-9", 10)], [Each("0.11", "1e-9", 10)]
    for theorem in (
        basic,
        lambda uses: advanced(uses, "1e-6"),
        lambda uses: theorem7_number(uses, Fraction("1e-6")),
        lambda uses: optimal(uses, "1e-6"),
    ):
        found = theorem(vague)
        assert found.lower == theorem(low).lower
        assert found.upper == theorem(high).upper
    open_end = [Each(Enclosure(Fraction(1), Enclosure.infinite().upper)), Each(1)]
    assert basic(open_end).lower == 2
    assert advanced(open_end, "0.1").upper == Enclosure.infinite().upper
    with pytest.raises(DoesNotApplyError, match="some epsilon_i is not known"):
        optimal(open_end, "0.1")
    assert basic([Each(Enclosure.infinite())]) == Enclosure.infinite()
    assert advanced([Each(Enclosure.infinite())], "0.1") == Enclosure.infinite()


def test_bad_uses() -> None:
    for bad in ("-1", "nan", None):
        with pytest.raises(ParameterError, match="epsilon must be"):
            Each(bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="epsilon must be at least 0"):
        Each(Enclosure(Fraction(-1), Fraction(1)))
    with pytest.raises(ParameterError, match="delta must be"):
        Each(1, "1.5")
    with pytest.raises(ParameterError, match="times must be"):
        Each(1, 0, 0)
    for slack in ("0", "1.5"):
        with pytest.raises(ParameterError, match="slack must be"):
            advanced([Each(1)], slack)
