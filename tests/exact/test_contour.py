"""Contour integrals that are interrupted, or whose time is over: they have no value."""

import pytest

from exactdp import OutOfTimeError
from exactdp.exact import contour
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws import Skellam


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, OutOfTimeError])
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
