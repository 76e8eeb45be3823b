"""Contour integrals whose time is over: they end after a few steps more, with no value."""

from fractions import Fraction

import pytest

from exactdp import OutOfTimeError
from exactdp.exact import contour
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws import DiscreteGaussian, Skellam

_LET = 50  # evaluations before the time is over


@pytest.mark.parametrize("law", [Skellam(10**4), DiscreteGaussian(Fraction(1, 4)).sum_of(9)])
@pytest.mark.parametrize("bits", [64, 1024])
@pytest.mark.parametrize("integral", ["upper_tail", "probability", "lower_tail"])
def test_an_integral_ends_soon_after_its_time(monkeypatch, law, bits, integral):
    asked = 0

    def spend(_):
        nonlocal asked
        asked += 1
        if asked > _LET:
            raise OutOfTimeError

    evaluated, transform = 0, type(law).transform

    def counted(*arguments):
        nonlocal evaluated
        evaluated += 1
        return transform(*arguments)

    monkeypatch.setattr(contour, "spend", spend)
    monkeypatch.setattr(type(law), "transform", counted)
    side = {"upper_tail": 1, "probability": 0, "lower_tail": -1}[integral]
    t = 7 * (side or 1)
    with working_precision(bits), pytest.raises(OutOfTimeError):
        getattr(contour, integral)(law, t, law.path(t, side))
    assert asked == _LET + 1 and evaluated <= 3 * _LET + 2


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("after", [1, 7, 30])
def test_an_interrupt_inside_an_integral_is_raised_as_what_it_is(monkeypatch, stop, after):
    law, asked = Skellam(10**4), 0

    def spend(_):
        nonlocal asked
        asked += 1
        if asked == after:
            raise stop

    monkeypatch.setattr(contour, "spend", spend)
    with working_precision(64), pytest.raises(stop):
        contour.probability(law, 7, law.path(7, 0))
