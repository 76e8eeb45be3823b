"""epsilon and delta of rounded vectors against enumeration, and what few bits cost."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from exactdp import OutOfTimeError, ParameterError
from exactdp.accounting.composition import rounding
from exactdp.accounting.composition.rounding import rounded_delta, rounded_epsilon
from exactdp.accounting.composition.rounding_cost import RoundingCost, rounding_cost, table
from exactdp.accounting.divergences.conversion import zcdp_to_epsilon
from exactdp.accounting.divergences.gaussian_bounds import largest_mu
from exactdp.accounting.losses.continuous.composed import sampled_gaussian
from exactdp.accounting.losses.mixed import epsilon as composed_epsilon
from exactdp.mechanisms.laws import DiscreteGaussian, Skellam


def law_of(values: list[tuple[int, float]], masses: np.ndarray) -> np.ndarray:
    found = np.zeros(len(masses) + 8)
    for shift, weight in values:
        found[shift : shift + len(masses)] += weight * masses
    return found


def truth(variance: float, y: float, uses: int, rate: float, level: float) -> float:
    """delta(level) of so many uses of one coordinate by enumeration, the larger way round."""
    outcomes = np.arange(-40, 41)
    masses = np.exp(-(outcomes.astype(float) ** 2) / (2 * variance))
    masses /= masses.sum()
    m, f = math.floor(y), y - math.floor(y)
    q = law_of([(0, 1.0)], masses)
    p = (1 - rate) * q + rate * law_of([(m, 1 - f), (m + 1, f)], masses)
    many_p, many_q = np.ones(1), np.ones(1)
    for _ in range(uses):
        many_p, many_q = np.outer(many_p, p).ravel(), np.outer(many_q, q).ravel()
    ways = ((many_p, many_q), (many_q, many_p))
    return max(float(np.maximum(a - math.exp(level) * b, 0).sum()) for a, b in ways)


@pytest.mark.slow_cases("0.7-3-0.25")
@pytest.mark.parametrize(
    ("y", "uses", "rate"), [(0.3, 1, 1.0), (1.5, 2, 1.0), (2.0, 1, 1.0), (0.7, 3, 0.25)]
)
def test_upper_ends_are_above_the_truth(y: float, uses: int, rate: float) -> None:
    law, part = DiscreteGaussian(4), Fraction(rate)
    for level in (0.0, 0.4, 2.5) if rate == 1 else (0.4, 1.5):
        delta = truth(4, y, uses, rate, level)
        upper = rounded_delta(law, Fraction(y), Fraction(level), 1, uses, part)
        assert upper.lower == 0
        assert delta <= float(upper) * (1 + 1e-9)
        if delta > 1e-9 and level > 0:
            epsilon = rounded_epsilon(law, Fraction(y), Fraction(delta), 1, uses, part)
            assert level <= float(epsilon) * (1 + 1e-9)


BASE = {"l2": "10", "delta": "1e-5", "dimension": 4096, "times": 1, "rate": "1"}


@pytest.mark.slow_cases("l2-9-11", "times-1-2")
@pytest.mark.parametrize(
    ("name", "less", "more"),
    [
        ("l2", "9", "11"),
        ("delta", "1e-4", "1e-6"),
        ("dimension", 2, 2**20),
        ("times", 1, 2),
        ("rate", "1/2", "1"),
    ],
)
def test_cost_rises_with_length_dimension_uses_and_rate_and_falls_with_delta(name, less, more):
    costs = [rounded_epsilon(Skellam(100), **BASE | {name: value}) for value in (less, more)]
    base = rounded_epsilon(Skellam(100), **BASE)
    assert costs[0].upper <= base.upper <= costs[1].upper
    assert costs[0].upper < costs[1].upper or name == "dimension"


def test_at_large_scale_little_is_lost_against_gaussian_noise() -> None:
    c = 500
    found = rounded_epsilon(Skellam(c**2), c, "1e-5", 2**20)
    # the mu that Gaussian noise, unrounded, would need for as much
    assert Fraction(largest_mu(Fraction(found.upper), Fraction(1, 10**5))) <= Fraction(1015, 1000)


def test_sampled_users_cost_little_more_than_with_gaussian_noise() -> None:
    c, uses, rate = 300, 50, Fraction(1, 50)
    found = rounded_epsilon(Skellam(c**2), c, "1e-5", 2**20, uses, rate)
    unrounded = composed_epsilon([(sampled_gaussian(rate, 1, 1, "remove"), uses)], "1e-5")
    assert unrounded.lower <= found.upper <= Fraction(105, 100) * Fraction(unrounded.upper)


def test_unknown_dimension_is_bounded_and_bad_input_named() -> None:
    free = rounded_epsilon(Skellam(100), 10, "1e-5")
    assert float(rounded_epsilon(Skellam(100), 10, "1e-5", 10)) <= float(free) < 6
    with pytest.raises(ParameterError, match="times"):
        rounded_epsilon(Skellam(100), 10, "1e-5", times=0)
    with pytest.raises(ParameterError, match="delta"):
        rounded_epsilon(Skellam(100), 10, 0)
    with pytest.raises(ParameterError, match="epsilon"):
        rounded_delta(Skellam(100), 10, -1)


# -- what few bits cost ---------------------------------------------------------------------------


def norm_of(bits: int) -> Fraction:
    """100 clients, 2^20 coordinates, 4 standard deviations, noise multiplier 1."""
    return Fraction(round(64 * math.sqrt(4**bits - 1600) / (8 * math.sqrt(1e4 / 2**20 + 1))), 64)


@pytest.mark.parametrize(("bits", "published", "best"), [(12, 9.05, "0.9"), (16, 1.26, "0.88")])
def test_variance_that_suffices(bits: int, published: float, best: str) -> None:
    """Unrounded Gaussian noise needs norm^2 for the epsilon; that of the longest vector, more."""
    norm, delta = norm_of(bits), "1e-5"
    target = Fraction(zcdp_to_epsilon("1/2", delta).value.lower)
    assert (1 + 1024 / float(norm)) ** 2 > published
    free = rounded_epsilon(Skellam(Fraction(1001, 1000) * norm**2), norm, delta)
    assert free.upper <= target
    known = rounded_epsilon(Skellam(Fraction(best) * norm**2), norm, delta, 2**20)
    assert known.upper <= target


@pytest.mark.slow
@pytest.mark.parametrize("bits", [10, 12, 14])
def test_cost_of_rounding(bits: int) -> None:
    cost = rounding_cost(bits)
    assert cost.norm == norm_of(bits)
    assert cost.gaussian <= cost.best <= cost.renyi <= Fraction(1002, 1000)
    assert min(cost.conditional, cost.nearest) > float(cost.renyi)
    law = Skellam(cost.renyi * cost.norm**2)
    assert rounded_epsilon(law, cost.norm, "1e-5").upper <= cost.epsilon


def test_table_is_rounded_up() -> None:
    half = Fraction(10001, 10000)
    cost = RoundingCost(
        12, Fraction(510), Fraction(4), 9.0571, 2.01, 4.0, half, half, Fraction(7, 8)
    )
    lines = table([cost]).splitlines()
    assert lines[2] == "| 12 | 510 | 9.058 | 2.010 | 4.000 | 1.001 | 1.001 | 0.875 |"
    assert len({line.count("|") for line in lines}) == 1


def test_out_of_time_for_renyi_divergences_the_gaussian_of_the_mixture_is_known(monkeypatch):
    whole = rounded_epsilon(Skellam(1000000), 1000, "1e-6", 1024, 100, "0.01")

    def out_of_time(*_args, **_named):
        raise OutOfTimeError("the time allowed is over")

    monkeypatch.setattr(rounding, "renyi_to_epsilon", out_of_time)
    found = rounded_epsilon(Skellam(1000000), 1000, "1e-6", 1024, 100, "0.01")
    assert found.upper == whole.upper < 1
    with pytest.raises(OutOfTimeError):  # nothing else is known without the dimension
        rounded_epsilon(Skellam(1000000), 1000, "1e-6")
