"""Odometers: shares of delta, Gaussian reports to the last digit, and what is refused."""

from fractions import Fraction

import pytest

from exactdp import Enclosure, ParameterError
from exactdp.accounting import compose
from exactdp.accounting.participation.odometer import GaussianOdometer, RenyiOdometer
from exactdp.mechanisms import AdditiveNoise, Skellam
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

SKELLAM = AdditiveNoise(Skellam(100), 1)


def test_shares_of_delta_are_never_more_than_delta() -> None:
    odometer = RenyiOdometer("1/3", list(range(1, 40)))
    assert sum(level.delta for level in odometer.levels) < Fraction(1, 3)


def test_gaussian_reports_are_those_of_the_level_reached() -> None:
    noise = ContinuousNoise(Shape.GAUSSIAN, 64)
    start = GaussianOdometer("1e-5")
    assert start.epsilon() == Enclosure.exactly(0)
    reached = start.spend(noise, 3).spend(noise)  # (1/32)^2, to the last digit
    assert reached.spent() == Enclosure.exactly(Fraction(1, 1024))
    assert reached.epsilon() == compose(ContinuousNoise(Shape.GAUSSIAN, 32)).epsilon("5e-6")
    assert reached.spend(noise).epsilon().greater_than(Fraction(reached.epsilon().upper))
    assert start.spend(ContinuousNoise(Shape.GAUSSIAN, "1e-3")).epsilon() == Enclosure.infinite()


def test_uses_of_different_neighbours_do_not_add_up() -> None:
    one, other = (ContinuousNoise(Shape.GAUSSIAN, 9, 1, way) for way in ("replace", "add-remove"))
    for odometer in (RenyiOdometer("1e-6"), GaussianOdometer("1e-6")):
        with pytest.raises(ParameterError, match="neighbours must be the same"):
            odometer.spend(one).spend(other)


def test_bad_input_is_named() -> None:
    for delta in (0, 1, "nan"):
        for odometer in (RenyiOdometer, GaussianOdometer):
            with pytest.raises(ParameterError, match="delta must be"):
                odometer(delta)
    with pytest.raises(ParameterError, match="targets must"):
        RenyiOdometer("0.1", [])
    with pytest.raises(ParameterError, match="targets must"):
        RenyiOdometer("0.1", [0])
    with pytest.raises(ParameterError, match="times must"):
        RenyiOdometer("0.1").spend(SKELLAM, "1/2")
