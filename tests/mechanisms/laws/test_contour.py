"""Contour integrals and the trapezoidal rule against each other and sums; interrupted ones."""

import math

import pytest
from flint import arb

from exactdp import OutOfTimeError
from exactdp.exact.precision import working_precision
from exactdp.mechanisms.laws import DiscreteGaussianSum, Polya, PolyaDifference, Skellam, contour

LAWS = [
    Skellam("0.01"),
    Skellam(9),
    Skellam(10**6),
    Skellam(10**15),
    DiscreteGaussianSum(500, 30),
    PolyaDifference(40, 25),
    Polya(20, 3),
]
FIGURES = {0: contour.probability, 1: contour.upper_tail, -1: contour.lower_tail}


@pytest.mark.parametrize("bits", [20, 64, 200])
@pytest.mark.parametrize("side", FIGURES)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_rule_is_the_integral(law, side, bits, monkeypatch):
    """With few bits aliases and what is left out are large: they must not be forgotten."""
    moments = law.moments()
    mean, deviation = float(moments.mean.upper), math.sqrt(float(moments.variance.upper))
    for aside in (0.1, 1, 5, 20):
        t = math.floor(mean) + (side or 1) * math.ceil(aside * deviation)
        if t < 0 and isinstance(law, Polya):
            continue
        with working_precision(bits):
            found = FIGURES[side](law, t, law.path(t, side))
            assert found.rel_accuracy_bits() > bits - 16
        with working_precision(256), monkeypatch.context() as patch:
            patch.setattr(contour, "_by_rule", lambda *_: None)
            truth = FIGURES[side](law, t, law.path(t, side))
        assert found.overlaps(truth)
        assert truth.rel_accuracy_bits() > 200


def test_the_rule_encloses_exact_sums():
    law = Skellam(9)
    with working_precision(100):
        for t in (1, 4, 9, 15):
            total = sum(law.balls(t, 150), arb(0))  # what is left is below 1e-100
            assert contour.upper_tail(law, t, law.path(t, 1)).overlaps(total)
            assert contour.lower_tail(law, -t, law.path(-t, -1)).overlaps(total)


@pytest.mark.parametrize("falls", [True, False])
@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, OutOfTimeError])
@pytest.mark.parametrize("after", [1, 7, 15])
def test_an_interrupt_is_raised_as_what_it_is(monkeypatch, falls, stop, after):
    law, asked = Skellam(10**4), 0

    def spend(_):
        nonlocal asked
        asked += 1
        if asked == after:
            raise stop

    monkeypatch.setattr(contour, "spend", spend)
    monkeypatch.setattr(Skellam, "falls_off_axis", falls)
    with working_precision(64), pytest.raises(stop):
        contour.probability(law, 7, law.path(7, 0))
