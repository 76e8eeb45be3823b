"""Exact numbers, enclosures and rising precision."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from exactdp import Enclosure, ParameterError
from exactdp.exact import decimal_text, enclose, exact, refine, whole, working_precision
from exactdp.exact.number import Logarithm

rationals = st.fractions(min_value=-(10**12), max_value=10**12, max_denominator=10**15)


def test_a_number_is_what_is_written() -> None:
    assert exact(0.1, "x") == exact("0.1", "x") == exact(Decimal("0.1"), "x") == Fraction(1, 10)
    assert exact("1/3", "x") == Fraction(1, 3)
    assert exact("48448/100000", "x") == exact("4.8448/10", "x") == Fraction("0.48448")
    assert exact("-1e-3/.5", "x") == Fraction(-1, 500)
    assert exact("1e-6", "x") == Fraction(1, 10**6)
    assert exact(np.float64(0.1), "x") == Fraction(1, 10)
    assert whole("1e6", "n") == 10**6


@pytest.mark.parametrize(
    "bad",
    [
        "nan",
        "inf",
        "-inf",
        "",
        "1/0",
        "0x10",
        "1e99999999",
        "１",
        "1_0",
        "1/2/3",
        "1/-2",
        "1/0.0",
        "/2",
        "1/",
        "1 /2",
        "1e1000/1e-1000/1",
        f"1e1000/{'1' * 990}e-1000",
        True,
        None,
        [],
        1j,
    ],
)
def test_refused(bad: object) -> None:
    with pytest.raises(ParameterError, match="x must be"):
        exact(bad, "x")


def test_ranges_are_named() -> None:
    with pytest.raises(ParameterError, match="x must be an exact number above 0 and below 1, got"):
        exact("1", "x", above=0, below=1)
    with pytest.raises(ParameterError, match="whole number"):
        whole("0.5", "n")


@given(rationals)
def test_text_is_exact(value: Fraction) -> None:
    assert exact(decimal_text(value), "x") == value


@pytest.mark.contract
@given(rationals, rationals)
def test_outward_and_back(a: Fraction, b: Fraction) -> None:
    enclosure = Enclosure(min(a, b), max(a, b))
    again = Enclosure.from_json(enclosure.to_json())
    for end in (a, b):
        assert again.contains(end)
        assert enclosure.contains(end)


@pytest.mark.contract
@pytest.mark.slow
@given(rationals, rationals, rationals)
def test_three_values(a: Fraction, b: Fraction, value: Fraction) -> None:
    enclosure = Enclosure(min(a, b), max(a, b))
    assert enclosure.at_most(value) == (
        True if max(a, b) <= value else False if min(a, b) > value else None
    )
    assert enclosure.at_least(value) == (
        True if min(a, b) >= value else False if max(a, b) < value else None
    )


@pytest.mark.contract
@pytest.mark.parametrize("exponent", [-(10**8), -6000, -5, 0, 5, 6000, 10**8])
@pytest.mark.parametrize("sign", [1, -1])
def test_decimals_of_any_size_compare_with_rationals(exponent: int, sign: int) -> None:
    number = Decimal((0 if sign > 0 else 1, (3,), exponent))
    point = Enclosure(number, number)
    assert point.greater_than(0) is (sign > 0)
    assert point.less_than(Fraction(10)) is (sign < 0 or exponent <= 0)
    assert point.less_than(Fraction(-10)) is (sign < 0 and exponent >= 1)


@pytest.mark.contract
def test_only_certain_digits_are_shown() -> None:
    assert str(Enclosure(Decimal("0.12345"), Decimal("0.12346"))) == "0.123"
    assert str(Enclosure(Decimal("0.1"), Decimal("0.9"))) == "[0.1, 0.9]"
    assert str(Enclosure.infinite()) == "inf"
    assert str(Enclosure.exactly(Fraction(1, 2))) == "0.5"


@pytest.mark.contract
def test_malformed_enclosures() -> None:
    with pytest.raises(ParameterError, match="above"):
        Enclosure(Fraction(2), Fraction(1))
    for data in ({"lower": "1"}, {"lower": "x", "upper": "1"}, {"lower": "nan", "upper": "1"}):
        with pytest.raises(ParameterError):
            Enclosure.from_json(data)


def test_precision_rises_until_the_width_is_met_and_is_restored() -> None:
    before = ctx.prec
    found = refine(lambda: (arb(10) ** 40 + arb(2).sqrt()) - arb(10) ** 40)
    assert found.is_within(Fraction(1, 10**12))
    assert found.contains(Decimal("1.41421356237309504880168872420969807856967187537694807"))
    assert ctx.prec == before
    wide = refine(lambda: arb(0).union(arb(1)))
    assert not wide.is_within(Fraction(1, 2))
    assert not Enclosure(Decimal(0), Decimal("1e-100000000000")).is_within(Fraction(1, 2))


def test_a_ball_is_enclosed_outward() -> None:
    with working_precision(64):
        third = arb(1) / 3
        assert enclose(third).contains(Fraction(1, 3))
        assert enclose((-(arb(10) ** 9)).exp()).greater_than(0) is True


@pytest.mark.contract
@pytest.mark.parametrize("exponent", [4999, 5001, 5600, 9000])
def test_decimals_of_huge_exponents_compare_with_fractions(exponent):
    tiny = Enclosure(Decimal(f"1e-{exponent}"), Decimal(f"2e-{exponent}"))
    power = Fraction(1, 10**exponent)
    assert tiny.less_than(3 * power) is True
    assert tiny.greater_than(power / 2) is True
    assert tiny.at_most(Fraction(3, 2) * power) is None
    assert tiny.at_least(power) is True
    assert tiny.greater_than(2 * power) is False


@pytest.mark.parametrize("text", ["1e10000", "1e-10000", "1e1001", "7" * 4301, "1/" + "7" * 4301])
def test_numbers_beyond_what_can_be_written_are_refused(text):
    for value in (text, Decimal(text)) if "/" not in text and len(text) < 9 else (text,):
        with pytest.raises(ParameterError, match="given must be"):
            exact(value, "given")


def test_numbers_of_any_size_are_shown():
    huge = 7**6000
    assert decimal_text(10**5000) == "1" + "0" * 5000
    assert decimal_text(Fraction(-1, 10**5000)) == "-1e-5000"
    top, _, bottom = decimal_text(Fraction(huge, 3**10_000)).partition("/")
    assert (Decimal(top), Decimal(bottom)) == (Decimal(huge), Decimal(3**10_000))
    for value in (huge, -Fraction(1, huge)):
        with pytest.raises(ParameterError, match=r"a number of 168\d\d bits"):
            exact(value, "given", above=0, below=0)


@pytest.mark.contract
def test_why_an_enclosure_is_wide_goes_along_with_it():
    wide = Enclosure(Fraction(1), Fraction(3)).because("no lattice")
    other = Enclosure(Fraction(2), Fraction(4)).because("no time", "no lattice")
    assert wide == Enclosure(Fraction(1), Fraction(3))  # no part of the value
    for made in (wide.maximum(other), wide.minimum(other), wide.hull(other), wide.plus(other)):
        assert made.why == ("no lattice", "no time")
    assert wide.intersection(Enclosure.exactly(2)).why == wide.times(5).why == ("no lattice",)
    assert Enclosure.total([wide, other]).why == ("no lattice", "no time")
    assert wide.minimum(other) == Enclosure(Fraction(1), Fraction(3))


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize(
    "argument", [Fraction(1, 10**90), Fraction(1, 3), 1 + Fraction(1, 10**90), Fraction(10**90)]
)
def test_a_logarithm_is_known_however_small_its_argument_is(argument: Fraction, bits: int) -> None:
    with working_precision(bits):
        found = Logarithm(argument).ball()
    with working_precision(2048):
        truth = arb(argument.numerator).log() - arb(argument.denominator).log()
        assert found.is_finite() and found.overlaps(truth)
        assert found.rad() <= abs(truth) * arb(2) ** (8 - bits)
