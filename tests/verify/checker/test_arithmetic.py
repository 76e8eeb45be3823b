"""Directions of rounding in the checker's arithmetic: each end on its side, and close by."""

import math
from fractions import Fraction

import mpmath
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp.verify.checker import arithmetic
from exactdp.verify.checker.arithmetic import OpenError, hull, interval, precision, value

numbers = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)
bits = st.integers(24, 120)


@given(st.fractions(-50, 50, max_denominator=999), st.integers(0, 40), bits)
def test_fixed_point(x: Fraction, shift: int, prec: int) -> None:
    with precision(prec):
        low, high = value(interval(x))
        assert low <= x <= high and high - low <= abs(x) * Fraction(2) ** (2 - prec)
        found = hull(interval(x - Fraction(1, 7)), interval(x))
        assert arithmetic.floor(found, shift) == math.floor(value(found)[0] * 2**shift)
        assert arithmetic.ceiling(found, shift) == math.ceil(value(found)[1] * 2**shift)


@given(numbers, bits)
def test_exponentials_and_logarithms(x: Fraction, prec: int) -> None:
    with mpmath.workdps(80):
        truths = mpmath.exp(oracles.real(x / 10)), mpmath.log(oracles.real(x))
        near = mpmath.log1p(oracles.real(x) / 10**9)
    with precision(prec):
        unit = Fraction(2) ** (14 - prec)
        found = (
            arithmetic.exp(interval(x / 10)),
            arithmetic.log(interval(x)),
            arithmetic.log(interval(1 + x / 10**9)),
        )
        for ball, truth in zip(found, (*truths, near), strict=True):
            low, high = value(ball)
            exact = oracles.exactly(truth)
            assert low <= exact <= high and high - low <= unit * (abs(exact) + 1)
        low, high = value(arithmetic.power(interval(x), 7))
        assert low <= x**7 <= high <= low * (1 + unit)


@given(st.fractions(0, 10**6, max_denominator=10**6))
def test_roots(square: Fraction) -> None:
    low, high = arithmetic.root_below(square), arithmetic.root_above(square)
    assert low**2 <= square <= high**2 and high - low <= Fraction(1, 1 << 256)
    assert arithmetic.root_below(square**2) == arithmetic.root_above(square**2) == square


def test_ends() -> None:
    with precision(64):
        wide = hull(interval(1), interval(3))
        assert value(arithmetic.lower(wide)) == (1, 1) and value(arithmetic.upper(wide)) == (3, 3)
        assert value(arithmetic.at_least(wide, 0)) == (1, 3)
        assert value(arithmetic.at_least(wide, 2)) == (2, 3)
        assert value(arithmetic.at_least(wide, 3)) == (3, 3)
        assert value(arithmetic.at_least(wide, 4)) == (4, 4)
        assert arithmetic.middle(wide) == 2
        assert value(arithmetic.total([wide, wide, interval(1)])) == (3, 7)
        with pytest.raises(OpenError):
            value(interval(1) / hull(interval(-1), interval(1)))
    with precision(24):
        assert (
            value(interval(Fraction(1, 3)))[0] < Fraction(1, 3) < value(interval(Fraction(1, 3)))[1]
        )
