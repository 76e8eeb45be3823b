"""The least delta at which a condition holds, for conditions whose answer is known."""

from fractions import Fraction

import pytest

from exactdp import Enclosure
from exactdp.accounting.methods.classical import DoesNotApplyError
from exactdp.accounting.methods.comparison import least_delta
from exactdp.exact import WIDTH


@pytest.mark.parametrize("root", ["0.9999", "1/3", "2e-9", "7e-300", "3e-1500"])
@pytest.mark.parametrize("blur", ["0", "1e-20"])
def test_a_condition_with_one_crossing(root: str, blur: str) -> None:
    def condition(delta: Fraction, width: Fraction) -> tuple[Enclosure, Fraction]:
        value = 1 / delta
        return Enclosure(value * (1 - Fraction(blur)), value * (1 + Fraction(blur))), 1 / at

    at = Fraction(root)
    found = least_delta(condition, WIDTH)
    assert found.contains(at)
    assert found.is_within(100 * WIDTH)


@pytest.mark.parametrize("root", ["0.02", "1e-40"])
@pytest.mark.parametrize("before", [Fraction(2), None, DoesNotApplyError("too small")])
def test_a_condition_that_jumps(root: str, before: Fraction | Exception | None) -> None:
    def condition(delta: Fraction, width: Fraction) -> tuple[Enclosure, Fraction]:
        if delta >= Fraction(root):
            return Enclosure.exactly(Fraction(1, 4)), Fraction(1)
        if isinstance(before, Exception):
            raise before
        return Enclosure.infinite() if before is None else Enclosure.exactly(before), Fraction(1)

    found = least_delta(condition, WIDTH)
    assert found.contains(Fraction(root))
    if isinstance(before, Exception):  # then nothing proves that less would not do
        assert found.lower == 0
        assert found.upper <= Fraction(root) * (1 + 10 * WIDTH)
    else:
        assert found.is_within(10 * WIDTH)


def test_conditions_that_never_hold_or_always() -> None:
    never = least_delta(lambda delta, width: (Enclosure.exactly(2), Fraction(1)), WIDTH)
    assert never == Enclosure.exactly(1)
    always = least_delta(lambda delta, width: (Enclosure.exactly(0), Fraction(1)), WIDTH)
    assert always.lower == 0
    assert always.upper < Fraction(1, 10**2000)
