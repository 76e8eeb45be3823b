"""The one search: two values next to each other, on either side of an edge that is known."""

import math
from decimal import ROUND_FLOOR
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import Enclosure, OutOfTimeError, ParameterError, UndecidedError
from exactdp.exact.search import Grid, Search

LEAST, LARGEST = Fraction(1, 10**9), Fraction(10**15)
DECIMALS = Grid(LEAST, LARGEST, 10)
WHOLE = Grid(Fraction(0), Fraction(10**7))
EDGES = st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6)


def refuse(value: Fraction, met: bool | None) -> None:
    raise ParameterError(f"{value} {met}")


def search(met, grid=DECIMALS, rises=True):
    return Search(met, grid, refuse, "noise", rises)


@given(edge=EDGES, start=EDGES, rises=st.booleans())
def test_the_two_are_next_to_each_other(edge: Fraction, start: Fraction, rises: bool) -> None:
    one = search(lambda value: (value >= edge) is rises, rises=rises)
    bad, good = one.narrowed(*one.bracketed(start))
    assert one.answers[bad] is False and one.answers[good] is True
    assert DECIMALS.between(bad, good) is None and one.nearest() == (bad, good)
    assert abs(good - bad) <= good * Fraction(2, 10**9)


@given(edge=st.integers(1, 10**6), start=EDGES, rises=st.booleans())
def test_whole_numbers(edge: int, start: Fraction, rises: bool) -> None:
    one = search(lambda value: (value >= edge) is rises, WHOLE, rises)
    low, high = sorted(one.narrowed(*one.bracketed(start)))
    assert (low, high) == (edge - 1, edge)
    assert all(0 <= value <= 10**7 for value in one.answers)


@given(edge=EDGES, start=EDGES, power=st.sampled_from([-2.0, -0.5, 0.5, 2.0]))
def test_what_floats_choose_is_decided_by_answers(edge: Fraction, start: Fraction, power: float):
    """cost = value^power, within 1e-9 of what it is; rising powers are met by smaller values."""

    def cost(value: Fraction, width: Fraction) -> Enclosure:
        about = Fraction(float(value) ** power)
        return Enclosure(about * (1 - width), about * (1 + width))

    rises = power < 0
    one = search(lambda value: (value >= edge) is rises, rises=rises)
    widths = (Fraction(1, 1000), Fraction(1, 10**9))
    guess, doubt = one.located(cost, Fraction(float(edge) ** power), float(start), widths, 1e-11)
    assert math.isclose(guess, edge, rel_tol=1e-6)
    bad, good = one.around(guess, doubt)
    assert DECIMALS.between(bad, good) is None and (good >= edge) is rises


@pytest.mark.parametrize("met", [True, False])
@pytest.mark.parametrize("grid", [DECIMALS, WHOLE])
def test_an_edge_beyond_the_grid_is_for_the_caller_to_tell(met: bool, grid: Grid) -> None:
    end = grid.least if met else grid.largest
    with pytest.raises(ParameterError, match=f"^{end} {met}$"):
        search(lambda _: met, grid).bracketed(Fraction(7))


def test_what_stays_open_is_raised_and_the_nearest_two_are_known() -> None:
    """The same where the time ends: nothing that was not asked is told."""
    for error in (UndecidedError, OutOfTimeError):

        def met(value: Fraction, error: type[ArithmeticError] = error) -> bool | None:
            if 3 < value < 4:
                if error is UndecidedError:
                    return None
                raise error("the time allowed is over")
            return value >= 4

        one = search(met)
        with pytest.raises(error):
            one.narrowed(Fraction(1), Fraction(8))
        bad, good = one.nearest()
        assert (bad is None or bad <= 3) and (good is None or good >= 4)
        assert set(one.answers) >= {value for value in (bad, good) if value is not None}


def test_open_answers_are_asked_again_and_certain_ones_are_not() -> None:
    told = iter([None, True])
    one = search(lambda _: next(told))
    assert [one.ask(Fraction(1)) for _ in range(3)] == [None, True, True]


def test_a_short_decimal_between_the_two_is_asked() -> None:
    grid = Grid(LEAST, LARGEST, 12, Fraction(1, 10**6), short=6)
    one = search(lambda value: value >= Fraction("0.7"), grid)
    assert one.narrowed(Fraction(1, 3), Fraction(1))[1] == Fraction("0.7")


def test_the_middle_is_rounded_as_asked() -> None:
    assert Grid(LEAST, LARGEST, 1).between(Fraction(3), Fraction(6)) == 5
    assert Grid(LEAST, LARGEST, 1, rounding=ROUND_FLOOR).between(Fraction(3), Fraction(6)) == 4
