"""The one search: what stays open is told, and certain answers are asked for once."""

from fractions import Fraction

import pytest

from exactdp import OutOfTimeError, ParameterError, UndecidedError
from exactdp.exact.search import Grid, Search


def refuse(value: Fraction, met: bool | None) -> None:
    raise ParameterError(f"{value} {met}")


def search(met):
    return Search(met, Grid(Fraction(1, 10**9), Fraction(10**15), 10), refuse, "noise", True)


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
