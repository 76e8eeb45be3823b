"""Roots and squares of ends: each rounded to its own side, exact where they can be."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from exactdp import Enclosure
from exactdp.accounting.divergences.gaussian_bounds import root_of, squared

numbers = st.fractions(0, 10**9, max_denominator=10**9)
INFINITE = Decimal("Infinity")


@given(numbers, numbers)
def test_the_root_of_each_end_is_on_its_side(one: Fraction, other: Fraction) -> None:
    low, high = sorted((one, other))
    found = root_of(Enclosure(low, high))
    below, above = Fraction(found.lower), Fraction(found.upper)
    assert below**2 <= low <= (below + Fraction(1, 10**9)) ** 2
    assert above**2 >= high and (not high or (above - Fraction(1, 10**9)) ** 2 <= high)


@given(numbers)
def test_roots_of_squares_are_exact(number: Fraction) -> None:
    assert squared(root_of(Enclosure.exactly(number**2))) == Enclosure.exactly(number**2)
    assert root_of(squared(Enclosure.exactly(number))) == Enclosure.exactly(number)


def test_infinite_ends_stay() -> None:
    for how in (root_of, squared):
        assert how(Enclosure(Fraction(4), INFINITE)).upper == INFINITE
        assert how(Enclosure.infinite()) == Enclosure.infinite()
