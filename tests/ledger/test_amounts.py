"""Amounts: never below what they stand for, exact where they can be."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactdp import Enclosure
from exactdp.ledger import amounts
from exactdp.ledger.amounts import UNIT
from exactdp.ledger.written import read_costs, read_spent

exact = st.fractions(min_value=0)
longs = st.builds(Fraction, st.integers(0, 2**5000), st.integers(1, 2**5000))
some = st.one_of(exact, longs)


@settings(max_examples=20)
@given(some, some)
def test_ends_contain_the_cost(one: Fraction, other: Fraction) -> None:
    low, high = sorted((one, other))
    lower, upper = amounts.ends(Enclosure(low, high))
    assert lower is not None
    assert lower <= low
    assert upper is None or upper >= high
    if upper is not None and upper != high:
        assert upper - high < UNIT


@settings(max_examples=20)
@given(exact)
def test_what_is_known_exactly_stays_exact(cost: Fraction) -> None:
    assert amounts.ends(Enclosure.exactly(cost)) == (cost, cost)


@settings(max_examples=20)
@given(st.lists(some, max_size=8))
def test_sums_are_never_below_and_short(costs: list[Fraction]) -> None:
    upper: amounts.Amount = Fraction(0)
    lower: amounts.Amount = Fraction(0)
    for cost in costs:
        upper = amounts.plus(upper, cost)
        lower = amounts.plus(lower, cost, up=False)
    assert lower is not None
    assert lower <= sum(costs)
    if upper is not None:
        assert sum(costs) <= upper <= sum(costs) + len(costs) * UNIT
        assert len(amounts.text(upper)) < 3000
        assert amounts.read(amounts.text(upper)) == upper


@settings(max_examples=20)
@given(st.lists(exact, max_size=8))
def test_short_sums_are_exact_in_any_order(costs: list[Fraction]) -> None:
    found: amounts.Amount = Fraction(0)
    for cost in reversed(costs):
        found = amounts.plus(found, cost)
    assert found == sum(costs)


@pytest.mark.parametrize("end", ["Infinity", "1e6000", "1e999999999"])
def test_what_is_too_large_is_infinite(end: str) -> None:
    assert amounts.ends(Enclosure(Fraction(1), Decimal(end))) == (1, None)
    assert amounts.plus(None, Fraction(1)) is None
    assert amounts.times(None, 3) is None
    assert amounts.text(None) == "inf"
    assert amounts.read("inf") is None


@pytest.mark.parametrize("end", ["1e-6000", "1e-999999999"])
def test_what_is_too_small_is_a_unit(end: str) -> None:
    assert amounts.ends(Enclosure(Fraction(0), Decimal(end))) == (0, UNIT)


@pytest.mark.parametrize("text", ["", "1", "2/4", "1/0", "nan", " 1/2", "1/2 ", "0.5", "+1/2"])
def test_only_what_is_written_is_read(text: str) -> None:
    with pytest.raises((ValueError, ZeroDivisionError)):
        amounts.read(text)


@pytest.mark.parametrize(
    "written",
    [
        "1e1000000000",
        "1e-1000000000/1",
        "1" * 10**6 + "/1",
        "1/" + "1" * 10**6,
        "01/1",
        "1/01",
        "2/4",
        "0/2",
        "-0/1",
        "+1/1",
        " 1/1",
        "1/1\n",
        "1_0/1",
        "\u0661/1",
        "1",
        "1/0",
        "0.5",
        "nan",
        "Infinity",
        "",
    ],
)
def test_no_other_text_is_an_amount(written: str) -> None:
    """And none takes long to read: no exponents, and no more digits than a sum may have."""
    with pytest.raises(ValueError, match="not an amount"):
        amounts.read(written)
    with pytest.raises(ValueError, match="not"):
        read_spent(f"1/2 {written}")
    with pytest.raises(ValueError, match="not"):
        read_costs(json.dumps([[f"0/1 {written}"]]))


def test_the_longest_sums_are_read() -> None:
    largest = Fraction(2**4096 - 1, 2**4096 - 3)
    assert amounts.read(amounts.text(largest)) == largest
    assert amounts.times(largest, 1) == largest
    for lower in (Fraction(10**4999), Fraction(10**2000, 3), Decimal("1e4999")):
        ends = amounts.ends(Enclosure(lower, Decimal("Infinity")))
        assert ends[0] is not None and ends[0] <= lower and ends[1] is None
        assert [amounts.read(amounts.text(end)) for end in ends] == list(ends)


@pytest.mark.parametrize("text", ["-1/2", "0/1 -1/2", "1/2 -1/200"])
def test_nothing_is_given_back(text: str) -> None:
    with pytest.raises(ValueError, match="below 0"):
        read_spent(text)


@pytest.mark.parametrize("text", ["[" * 10**5, "[[1]]", '[["1/1 2/1 "]]', "{}", "1", "9" * 10**5])
def test_other_text_is_no_cost(text: str) -> None:
    with pytest.raises(ValueError):
        read_costs(text)
