"""Comparisons of enclosures, and what is rounded up: against exact fractions."""

import math
from decimal import Decimal
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp.exact import Enclosure, ParameterError, UndecidedError
from exactdp.exact.enclosure import ContradictionError
from exactdp.exact.rounding import float_above, float_below, format_above
from exactdp.exact.suggest import meant

FRACTIONS = st.fractions(-3, 3, max_denominator=4)
ENDS = st.one_of(
    FRACTIONS, st.fractions(), st.decimals(allow_nan=False, allow_infinity=False, places=30)
)
OPERATORS = (le, lt, ge, gt)


@given(FRACTIONS, FRACTIONS, FRACTIONS, FRACTIONS)
def test_an_answer_is_that_of_all_numbers_inside(a, b, c, d):
    left, right = Enclosure(min(a, b), max(a, b)), Enclosure(min(c, d), max(c, d))
    for operator in OPERATORS:
        answers = {operator(x, y) for x in (a, b) for y in (c, d)}
        if len(answers) > 1:
            with pytest.raises(UndecidedError, match="cannot be told"):
                operator(left, right)
        else:
            assert operator(left, right) is answers.pop()


@given(FRACTIONS)
def test_a_number_may_be_of_any_exact_kind_and_on_either_side(x):
    point = Enclosure.exactly(x)
    for operator in OPERATORS:
        for one in (1, Fraction(1), Decimal(1), "1", 1.0):
            assert operator(point, one) is operator(x, 1)
            if not isinstance(one, str):
                assert operator(one, point) is operator(1, x)


@given(FRACTIONS, FRACTIONS, FRACTIONS, st.sampled_from((Fraction, str)))
def test_equality_with_a_number_is_of_the_number_inside(a, b, x, kind):
    found, x = Enclosure(min(a, b), max(a, b)), kind(x)
    if a == b == Fraction(x):
        assert found == x and x == found and x in [found]
    elif min(a, b) <= Fraction(x) <= max(a, b):
        for ask in (eq, ne, lambda one, other: other in (one,)):
            for sides in ((found, x), (x, found)):
                with pytest.raises(UndecidedError, match="cannot be told"):
                    ask(*sides)
    else:
        assert found != x and x != found and x not in [found]


@pytest.mark.parametrize("number", [0.335, Decimal("0.335"), "0.335", "67/200", Fraction(67, 200)])
def test_equality_is_not_told_where_it_is_not_known(number):
    with pytest.raises(UndecidedError):
        Enclosure(Fraction(33, 100), Fraction(34, 100)) == number  # noqa: B015
    assert Enclosure.exactly(Fraction("0.335")) == number
    assert Enclosure.exactly(0) != number != Enclosure.infinite()


@given(FRACTIONS, FRACTIONS, FRACTIONS, FRACTIONS)
def test_enclosures_are_equal_as_intervals(a, b, c, d):
    left, right = Enclosure(min(a, b), max(a, b)), Enclosure(min(c, d), max(c, d))
    assert (left == right) is ((left.lower, left.upper) == (right.lower, right.upper))
    assert left in {left: 1} and left == Enclosure(left.lower, left.upper, why=("a reason",))
    assert hash(Enclosure.exactly(a)) == hash(a)  # which it equals


def test_equality_with_what_is_no_number():
    point = Enclosure.exactly(1)
    for other in (None, "none", "", True, (1, 1), float("nan"), Decimal("NaN"), object()):
        assert point != other != point
    tiny = Decimal("1e-99999")
    assert Enclosure(tiny, tiny) == tiny == Enclosure(tiny, tiny) != Enclosure.exactly(0)
    assert Enclosure.infinite() == math.inf == Enclosure.infinite() == "inf" != Enclosure.exactly(0)
    with pytest.raises(UndecidedError):
        Enclosure.unknown() == math.inf  # noqa: B015


def test_infinity():
    assert Enclosure.infinite() >= math.inf and not Enclosure.infinite() < Decimal("Infinity")
    assert Enclosure.exactly(1) < math.inf
    with pytest.raises(UndecidedError):
        Enclosure(Fraction(1), Decimal("Infinity")) < math.inf  # noqa: B015
    assert float(Enclosure.infinite()) == math.inf and f"{Enclosure.infinite():.2f}" == "inf"


@pytest.mark.parametrize("other", ["x", math.nan, Decimal("nan"), None, [1], True])
def test_what_is_no_number_is_refused(other):
    with pytest.raises(ParameterError, match="the number compared with must be"):
        Enclosure.exactly(1) <= other  # noqa: B015


@given(ENDS)
def test_the_nearest_floats_on_either_side(end):
    for found, sign in ((float_above(end), 1), (float_below(end), -1)):
        assert sign * (Fraction(found) - Fraction(end)) >= 0
        inner = math.nextafter(found, -sign * math.inf)
        assert sign * (Fraction(inner) - Fraction(end)) < 0


@pytest.mark.parametrize(
    ("end", "above"),
    [
        (Decimal("1e-400"), 5e-324),
        (Decimal("-1e-400"), 0.0),
        (Decimal("1e400"), math.inf),
        (Decimal("-1e400"), -1.7976931348623157e308),
        (Fraction(10) ** 400, math.inf),
        (-(Fraction(10) ** 400), -1.7976931348623157e308),
        (Decimal("-Infinity"), -math.inf),
    ],
)
def test_floats_of_any_size(end, above):
    assert float_above(end) == above


@given(ENDS, st.sampled_from(["e", "f", "g", "%"]), st.integers(0, 40))
def test_formats_round_up_by_less_than_one_unit(end, kind, places):
    text = format_above(end, f".{places}{kind}")
    scale = 100 if kind == "%" else 1
    shown, true = Fraction(text.rstrip("%")) / scale, Fraction(end)
    digits = max(places, 1) if kind == "g" else places + 1
    unit = Fraction(1, scale * 10**places)
    if kind in "eg" and true:
        size = math.floor(math.log10(abs(true.numerator)) - math.log10(true.denominator))
        unit = Fraction(10) ** (size + 2 - digits)  # log10 may be one off
    assert 0 <= shown - true < unit


def test_formats_that_are_no_numbers_are_of_the_text():
    assert f"{Enclosure.exactly(Fraction(1, 4)):>6}" == "  0.25"
    assert f"{Enclosure(Fraction(1), Fraction(2))}" == "[1, 2]"
    with pytest.raises(ParameterError, match="10000 digits"):
        format(Enclosure.exactly(0).plus(Enclosure(Decimal(0), Decimal("1e99999"))), ".2f")


@pytest.mark.parametrize(
    ("name", "known", "suggested"),
    [
        ("geometric", ["discrete-laplace", "skellam"], "discrete-laplace"),
        ("Discrete_Laplace", ["discrete-laplace"], "discrete-laplace"),
        ("sensitivty", ["scale", "sensitivity"], "sensitivity"),
        ("sigma", ["sigma2"], "sigma2"),
        ("geometric", ["skellam"], None),
        ("", ["skellam"], None),
        ("x" * 10**6, ["skellam"], None),
    ],
)
def test_names_that_were_meant(name, known, suggested):
    assert meant(name, known) == (f" (did you mean {suggested!r}?)" if suggested else "")


def test_ends_are_exact_and_what_is_refused_can_be_written_however_long_it_is():
    just_below = 1 - Fraction(1, 10**6000)
    with pytest.raises(ParameterError, match="lower 1 is above upper 1"):
        Enclosure(Fraction(1), just_below)
    for end in (float("inf"), float("nan"), 0.5, "1"):
        with pytest.raises(ParameterError, match="exact numbers"):
            Enclosure(Fraction(0), end)


def test_the_methods_that_found_an_end_go_along_with_it():
    wide = Enclosure(Fraction(0), Fraction(3)).found_by("wide")
    low = Enclosure(Fraction(1), Fraction(9)).found_by("low")
    assert wide.intersection(low).by == ("wide", "low")
    assert low.intersection(Enclosure(Fraction(2), Fraction(4)).found_by("both")).by == ("both",)
    assert wide.plus(low).times(2).negated().by == ("wide", "low")
    assert wide.maximum(low).by == ("low",)
    assert wide.found_by("another").by == ("wide",)


def test_two_enclosures_of_one_number_meet():
    with pytest.raises(ContradictionError, match="lies in"):
        Enclosure.exactly(1).intersection(Enclosure.exactly(2))
