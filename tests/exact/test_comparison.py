"""Comparisons of enclosures, and what is rounded up: against exact fractions."""

import math
from decimal import Decimal
from fractions import Fraction
from operator import add, eq, ge, gt, le, lt, mul, ne, sub, truediv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import Enclosure, ParameterError, UndecidedError
from exactdp.common.suggest import instead, uncovered
from exactdp.exact.enclosure import ContradictionError
from exactdp.exact.rounding import float_above, float_below, format_above

FRACTIONS = st.fractions(-3, 3, max_denominator=4)
ENDS = st.one_of(
    FRACTIONS, st.fractions(), st.decimals(allow_nan=False, allow_infinity=False, places=30)
)
OPERATORS = (le, lt, ge, gt)


@pytest.mark.contract
@pytest.mark.slow
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


@pytest.mark.contract
@given(FRACTIONS)
def test_a_number_may_be_of_any_exact_kind_and_on_either_side(x):
    point = Enclosure.exactly(x)
    for operator in OPERATORS:
        for one in (1, Fraction(1), Decimal(1), "1", 1.0):
            assert operator(point, one) is operator(x, 1)
            if not isinstance(one, str):
                assert operator(one, point) is operator(1, x)


@pytest.mark.contract
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


@pytest.mark.contract
@pytest.mark.parametrize("number", [0.335, Decimal("0.335"), "0.335", "67/200", Fraction(67, 200)])
def test_equality_is_not_told_where_it_is_not_known(number):
    with pytest.raises(UndecidedError):
        Enclosure(Fraction(33, 100), Fraction(34, 100)) == number  # noqa: B015
    assert Enclosure.exactly(Fraction("0.335")) == number
    assert Enclosure.exactly(0) != number != Enclosure.infinite()


@pytest.mark.contract
@given(FRACTIONS, FRACTIONS, FRACTIONS, FRACTIONS)
def test_enclosures_are_equal_as_intervals(a, b, c, d):
    left, right = Enclosure(min(a, b), max(a, b)), Enclosure(min(c, d), max(c, d))
    assert (left == right) is ((left.lower, left.upper) == (right.lower, right.upper))
    assert left in {left: 1} and left == Enclosure(left.lower, left.upper, why=("a reason",))
    assert hash(Enclosure.exactly(a)) == hash(a)  # which it equals


@pytest.mark.contract
def test_equality_with_what_is_no_number():
    point = Enclosure.exactly(1)
    for other in (None, "none", "", True, (1, 1), float("nan"), Decimal("NaN"), object()):
        assert point != other != point
    tiny = Decimal("1e-99999")
    assert Enclosure(tiny, tiny) == tiny == Enclosure(tiny, tiny) != Enclosure.exactly(0)
    assert Enclosure.infinite() == math.inf == Enclosure.infinite() == "inf" != Enclosure.exactly(0)
    with pytest.raises(UndecidedError):
        Enclosure.unknown() == math.inf  # noqa: B015


@pytest.mark.contract
def test_infinity():
    assert Enclosure.infinite() >= math.inf and not Enclosure.infinite() < Decimal("Infinity")
    assert Enclosure.exactly(1) < math.inf
    with pytest.raises(UndecidedError):
        Enclosure(Fraction(1), Decimal("Infinity")) < math.inf  # noqa: B015
    assert float(Enclosure.infinite()) == math.inf and f"{Enclosure.infinite():.2f}" == "inf"


@pytest.mark.contract
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


@pytest.mark.contract
def test_formats_that_are_no_numbers_are_of_the_text():
    assert f"{Enclosure.exactly(Fraction(1, 4)):>6}" == "  0.25"
    assert f"{Enclosure(Fraction(1), Fraction(2))}" == "[1, 2]"
    with pytest.raises(ParameterError, match="10000 digits"):
        format(Enclosure.exactly(0).plus(Enclosure(Decimal(0), Decimal("1e99999"))), ".2f")


@pytest.mark.contract
def test_ends_are_exact_and_what_is_refused_can_be_written_however_long_it_is():
    just_below = 1 - Fraction(1, 10**6000)
    with pytest.raises(ParameterError, match="lower 1 is above upper 1"):
        Enclosure(Fraction(1), just_below)
    for end in (float("inf"), float("nan"), 0.5, "1"):
        with pytest.raises(ParameterError, match="exact numbers"):
            Enclosure(Fraction(0), end)


@pytest.mark.contract
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


@pytest.mark.contract
@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
@given(data=st.data())
def test_arithmetic_contains_the_result_of_all_numbers_inside(operation, data):
    whole = st.fractions(-9, 9, max_denominator=9)
    share = st.fractions(0, 1, max_denominator=4)
    a, b, c, d = (data.draw(whole) for _ in range(4))
    one, two = Enclosure(min(a, b), max(a, b)), Enclosure(min(c, d), max(c, d))
    x = one.lower + data.draw(share) * (one.upper - one.lower)
    y = two.lower + data.draw(share) * (two.upper - two.lower)
    if operation is truediv and two.contains(0):
        with pytest.raises(ZeroDivisionError):
            operation(one, two)
        return
    assert operation(one, two).contains(operation(x, y))
    assert operation(one, y).contains(operation(x, y))
    assert operation(x, two).contains(operation(x, y))
    assert operation(x, Enclosure.exactly(y)) == operation(x, y)


@pytest.mark.contract
def test_arithmetic_at_the_extremes():
    tiny, large = Decimal("1e-999999999"), Decimal("1e999999999")
    found = Enclosure(tiny, tiny) + 1
    assert found.lower == 1 and 1 < found.upper < 1 + Fraction(1, 10**4000)
    found = -1 * Enclosure(large, large)
    assert found.lower == Decimal("-Infinity") and found.upper == -(10**5000)
    assert 2 * Enclosure.unknown() + 1 == Enclosure(1, Decimal("Infinity"))
    for wrong in (
        lambda: Enclosure.infinite() - Enclosure.infinite(),
        lambda: 0 * Enclosure.unknown(),
        lambda: Enclosure.exactly(1) + "x",
        lambda: round(Enclosure.exactly(1), 10**9),
    ):
        with pytest.raises(ParameterError):
            wrong()
    for divisor in (0, Enclosure.unknown(), Enclosure(tiny, tiny), Enclosure(-1, 1)):
        with pytest.raises(ZeroDivisionError):
            1 / Enclosure.exactly(1) / divisor
    assert np.float64(0.5) * Enclosure.exactly(2) == 1
    assert round(Enclosure(Fraction(-1, 3), Fraction(1, 3)), 2) == Enclosure(
        Fraction(-34, 100), Fraction(34, 100)
    )
    assert round(Enclosure.exactly(1234), -2) == Enclosure(1200, 1300)


@pytest.mark.contract
def test_why_and_methods_go_along_with_arithmetic():
    one = Enclosure(Fraction(0), Fraction(1), why=("a",), by=("m",))
    two = Enclosure(Fraction(0), Fraction(1), why=("b",), by=("n",))
    assert (one * two).why == ("a", "b") and (one + two).by == ("m", "n")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("LaplaceBoundedDomain", "not covered"),
        ("make_snapping", "not covered"),
        ("AIM", "not covered"),
        ("zcdp", "guarantee:zcdp:RHO"),
        ("shuffle", "shuffled=USERS"),
        ("mean", "a sum and a count"),
    ],
)
def test_what_stands_for_others_mechanisms_that_are_not_here(name, said):
    assert said in uncovered(name)


@pytest.mark.parametrize("name", ["bananas", "", "x" * 10**6, "dp", "event"])
def test_nothing_is_said_of_what_nobody_has(name):
    assert uncovered(name) == instead(name) == ""
