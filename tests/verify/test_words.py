"""What is told of a certificate: numbers of any size, rounded so that what is said is true."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp.verify.checker.arithmetic import INFINITY
from exactdp.verify.checker.statement import end_text as _end


@given(st.fractions(min_value=0), st.integers(-400, 400))
def test_ends_are_rounded_outwards(number: Fraction, power: int) -> None:
    end = number * Fraction(10) ** power
    low, high = _end(end, ROUND_FLOOR), _end(end, ROUND_CEILING)
    assert Fraction(Decimal(low)) <= end <= Fraction(Decimal(high))
    assert Fraction(Decimal(high)) - Fraction(Decimal(low)) <= end / 10**16


@pytest.mark.parametrize(
    ("end", "low", "high"),
    [
        (Fraction(1, 3 * 10**12), "3.3333333333333333e-13", "3.3333333333333334e-13"),
        (Fraction(2, 3), "0.66666666666666666", "0.66666666666666667"),
        (Fraction(1, 200), "0.005", "0.005"),
        (Fraction(10**40), "1e+40", "1e+40"),
        (INFINITY, "inf", "inf"),
    ],
)
def test_numbers_read_as_one_types_them(end: Fraction, low: str, high: str) -> None:
    assert (_end(end, ROUND_FLOOR), _end(end, ROUND_CEILING)) == (low, high)
