"""Tables in Markdown, and numbers whose digits are certain."""

from decimal import Decimal
from fractions import Fraction

import pytest
from pages.page import table

from exactdp import Enclosure
from exactdp.cli.parts import shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Enclosure.exactly(Fraction(1, 3)), "0.333333"),
        (Enclosure.exactly(32), "32"),
        (Enclosure.exactly(0), "0"),
        (Enclosure(Fraction("0.12345678"), Fraction("0.12345679")), "0.123457"),
        (Enclosure(Fraction("0.123"), Fraction("0.124")), "[0.123, 0.124]"),
        (Enclosure(Decimal("1.000000001e-84"), Decimal("1.000000002e-84")), "1.00000e-84"),
        (Enclosure.infinite(), "inf"),
    ],
)
def test_only_certain_digits(value, text):
    assert shown(value) == text


def test_a_table():
    assert table(("a", "b"), [("x|y", "1")]) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |"
