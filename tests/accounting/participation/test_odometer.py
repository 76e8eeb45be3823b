"""The odometer's report at data-dependent stopping times, against whole decision trees."""

from collections.abc import Callable, Iterator
from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import Enclosure, ParameterError
from exactdp.accounting.composition import divergence
from exactdp.accounting.participation.filters import RenyiFilter
from exactdp.accounting.participation.gaussian_odometer import GaussianOdometer
from exactdp.accounting.participation.odometer import RenyiOdometer
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

Outputs = tuple[bool, ...]
Odometer = RenyiOdometer | GaussianOdometer
Next = Callable[[Outputs, Odometer], "RandomizedResponse | None"]

SKELLAM = AdditiveNoise(Skellam(100), 1)


def runs(start: Odometer, step: Next, depth: int) -> Iterator[tuple[mpf, mpf, mpf]]:
    """(P, Q, the report) of each transcript; `step` picks the next mechanism, or stops."""
    stack: list[tuple[Odometer, Outputs, mpf, mpf]] = [(start, (), mpf(1), mpf(1))]
    while stack:
        state, outputs, p, q = stack.pop()
        mechanism = step(outputs, state) if len(outputs) < depth else None
        if mechanism is None:
            yield p, q, oracles.real(Fraction(state.epsilon().upper))
            continue
        odds = mpmath.exp(oracles.real(mechanism.epsilon))
        kept, flipped = odds / (1 + odds), 1 / (1 + odds)
        fresh = state.spend(mechanism)
        stack.append((fresh, (*outputs, True), p * kept, q * flipped))
        stack.append((fresh, (*outputs, False), p * flipped, q * kept))


def stop_when_ahead(outputs: Outputs, _: Odometer) -> RandomizedResponse | None:
    """Stops as soon as the loss is large: where a fixed-time bound would be cheated."""
    ahead = 2 * sum(outputs) - len(outputs)
    return None if abs(ahead) >= 4 else RandomizedResponse("1/2")


def stop_by_report(outputs: Outputs, state: Odometer) -> RandomizedResponse | None:
    """Looks at the report itself, and takes larger steps when behind."""
    if state.epsilon().upper >= 2:
        return None
    return RandomizedResponse("1/3" if not outputs or outputs[-1] else "1/2")


@pytest.mark.slow_cases(
    "<lambda>-0.02-stop_when_ahead", "<lambda>-0.3-stop_by_report", "<lambda>-0.3-stop_when_ahead"
)
@pytest.mark.parametrize("step", [stop_when_ahead, stop_by_report])
@pytest.mark.parametrize("delta", ["0.3", "0.02"])
@pytest.mark.parametrize(
    "start", [lambda delta: RenyiOdometer(delta, ["1/2", 1, 2]), GaussianOdometer]
)
def test_reports_are_valid_where_a_run_stops(
    start: Callable[[str], Odometer], step: Next, delta: str
) -> None:
    found = list(runs(start(delta), step, 9))
    assert abs(mpmath.fsum(p for p, _, _ in found) - 1) < mpf(10) ** -30
    for one_way in (found, [(q, p, e) for p, q, e in found]):
        excess = mpmath.fsum(max(p - mpmath.exp(e) * q, 0) for p, q, e in one_way)
        assert excess <= mpf(delta)


def test_one_level_reports_what_a_filter_of_its_order_would() -> None:
    odometer = RenyiOdometer("1e-5", [2]).spend(SKELLAM, 12)
    (level,) = odometer.levels
    assert level.delta == Fraction("1e-5") / 2
    cost = RenyiFilter(level.order, 100).spend(SKELLAM, 12).spent()
    limit = RenyiFilter(level.order, Fraction(cost.upper)).guarantee(level.delta)
    assert abs(Fraction(odometer.epsilon().upper) - Fraction(limit.upper)) < Fraction(1, 10**12)


def test_shares_of_delta_are_never_more_than_delta() -> None:
    odometer = RenyiOdometer("1/3", list(range(1, 40)))
    assert sum(level.delta for level in odometer.levels) < Fraction(1, 3)


def test_reports_grow_and_start_at_zero() -> None:
    state = RenyiOdometer("1e-6")
    assert state.epsilon().upper == 0
    last = Fraction(0)
    for times in (1, 2, 5, 50, 400, 3000):
        state = state.spend(SKELLAM, times)
        report = state.epsilon()
        assert report.is_finite()
        assert Fraction(report.lower) > last
        last = Fraction(report.upper)


def test_pure_costs_are_reported_where_they_are_less() -> None:
    laplace = AdditiveNoise(DiscreteLaplace(10), 1)
    assert RenyiOdometer("1e-6").spend(laplace, 3).epsilon().contains(Fraction(3, 10))
    assert RenyiOdometer("1e-6").spend(laplace, 300).epsilon().upper < 15


def test_spending_in_parts_is_the_same() -> None:
    gaussian = AdditiveNoise(DiscreteGaussian(30), 1)
    start = RenyiOdometer("1e-6")
    together = start.spend(gaussian, 5).spend(SKELLAM, 2)
    assert together == start.spend(gaussian, 2).spend(SKELLAM, 2).spend(gaussian, 3)
    assert start == RenyiOdometer("1e-6")  # unchanged


def test_gaussian_reports_are_those_of_the_level_reached() -> None:
    noise = ContinuousNoise(Shape.GAUSSIAN, 64)
    start = GaussianOdometer("1e-5")
    assert start.epsilon() == Enclosure.exactly(0)
    reached = start.spend(noise, 3).spend(noise)  # (1/32)^2, to the last digit
    assert reached.spent() == Enclosure.exactly(Fraction(1, 1024))
    assert reached.epsilon() == divergence.epsilon(ContinuousNoise(Shape.GAUSSIAN, 32), "5e-6")
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
