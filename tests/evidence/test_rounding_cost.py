"""What few bits cost: the table of docs/rounding.md."""

from fractions import Fraction

from exactdp.evidence.rounding_cost import RoundingCost, table


def test_table_is_rounded_up() -> None:
    half = Fraction(10001, 10000)
    cost = RoundingCost(
        12, Fraction(510), Fraction(4), 9.0571, 2.01, 4.0, half, half, Fraction(7, 8)
    )
    lines = table([cost]).splitlines()
    assert lines[2] == "| 12 | 510 | 9.058 | 2.010 | 4.000 | 1.001 | 1.001 | 0.875 |"
    assert len({line.count("|") for line in lines}) == 1
