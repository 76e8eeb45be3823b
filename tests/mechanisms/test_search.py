"""The least whole number that meets a falling condition, and certified comparisons."""

from fractions import Fraction

import pytest
from flint import arb

from exactdp import UndecidedError
from exactdp.exact.roots import first_met_near
from exactdp.mechanisms.search import first_within


@pytest.mark.parametrize("answer", [0, 1, 2, 7, 64, 1000, 123_456_789])
@pytest.mark.parametrize("guess", [0, 1, 63, 64, 65, 10**6, 10**12])
def test_first_finds_the_boundary_from_any_guess(answer: int, guess: int) -> None:
    asked: list[int] = []

    def meets(t: int) -> bool:
        asked.append(t)
        return t >= answer

    assert first_met_near(meets, guess, -1) == answer
    assert min(asked) >= 0 and len(asked) < 100


def test_first_gives_up_where_nothing_meets() -> None:
    with pytest.raises(UndecidedError):
        first_met_near(lambda t: False, 1, -1)


def test_a_level_is_decided_next_to_it_and_not_on_it() -> None:
    third = Fraction(1, 3)
    near = Fraction(1, 10**60)
    assert first_within(lambda t: arb(1) / 3, third + near, "p") == 0
    assert first_within(lambda t: arb(1) / 3, third - near, "p", end=7) == 7
    with pytest.raises(UndecidedError, match="p at 0 = "):
        first_within(lambda t: arb(1) / 3, third, "p at {}")
