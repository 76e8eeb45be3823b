"""The count of uses that fit, on costs whose answers are known."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from exactdp import Enclosure
from exactdp.accounting.participation.returning_users import most_uses


@given(st.integers(0, 10**6), st.integers(1, 1000), st.integers(0, 10**5))
def test_linear_costs(target: int, each: int, most: int) -> None:
    found = most_uses(lambda times: Enclosure.exactly(times * each), Fraction(target), most)
    assert found == (min(target // each, most),) * 2


@given(st.integers(0, 300), st.integers(1, 30), st.integers(0, 300))
@example(5, 5, 1)  # whether even one fits is open, and no more is looked at
@example(9, 5, 5)
@example(9, 5, 4)
def test_what_cannot_be_told_is_not_claimed(target: int, vague: int, most: int) -> None:
    def cost(times: int) -> Enclosure:  # the truth is `times`
        return Enclosure(Fraction(times), Fraction(times + vague))

    sure = target - vague
    expected = (most, most) if sure >= most else (max(sure, 0), None)
    assert most_uses(cost, Fraction(target), most) == expected


def test_nothing_fits() -> None:
    assert most_uses(lambda _: Enclosure.exactly(2), Fraction(1), 10) == (0, 0)
    unknown = Enclosure(Fraction(0), Decimal("Infinity"))
    assert most_uses(lambda _: unknown, Fraction(1), 10) == (0, None)
    assert most_uses(
        lambda n: Enclosure.infinite() if n else Enclosure.exactly(0), Fraction(1), 10
    ) == (0, 0)
