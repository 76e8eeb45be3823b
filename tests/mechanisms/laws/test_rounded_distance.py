"""The Gaussian that dominates rounded vectors but for a little mass, against enumeration."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import log_ndtr

from exactdp import ParameterError
from exactdp.mechanisms.laws import DiscreteGaussian, Law, Skellam
from exactdp.mechanisms.laws.gaussian_envelope import unit_parameter
from exactdp.mechanisms.laws.rounded_envelope import rounded_distance

LEVELS = np.linspace(0, 8, 33)


def gaussian_delta(mu: float, level: float) -> float:
    near, far = log_ndtr(mu / 2 - level / mu), level + log_ndtr(-mu / 2 - level / mu)
    return float(-np.exp(near) * np.expm1(far - near))


def pair(law: Law, y: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """All outcomes' probabilities under P and Q."""
    p, q = np.ones(1), np.ones(1)
    masses = np.array([float(ball.mid()) for ball in law.balls(0, 61)])
    table = np.concatenate([masses[:0:-1], masses])
    for v in y:
        m, f = math.floor(v), v - math.floor(v)
        moved = np.zeros((2, len(table) + m + 1))
        moved[0, m : m + len(table)] += (1 - f) * table
        moved[0, m + 1 :] += f * table
        moved[1, : len(table)] = table
        p, q = np.outer(p, moved[0]).ravel(), np.outer(q, moved[1]).ravel()
    return p, q


def hockey(p: np.ndarray, q: np.ndarray, level: float) -> float:
    return float(np.maximum(p - math.exp(level) * q, 0).sum())


CASES = [
    (Skellam(16), [0.02]),
    (Skellam(16), [0.5]),
    (Skellam(16), [1.3, 0.4]),
    (DiscreteGaussian(25), [0.01, 0.01]),
    (DiscreteGaussian(25), [2.7]),
    (DiscreteGaussian(4), [0.9, 1.9]),
]


@pytest.mark.parametrize(("law", "y"), CASES, ids=str)
@pytest.mark.parametrize("missed", [1e-2, 1e-4, 1e-8])
def test_profile_is_below_both_ways_round(law: Law, y: list[float], missed: float) -> None:
    norm = Fraction(math.hypot(*y)) + Fraction(1, 10**12)
    mu = float(rounded_distance(law, norm, len(y), Fraction(missed)))
    p, q = pair(law, y)
    for level in LEVELS:
        slack = 1e-13 * math.exp(level)  # floats
        assert hockey(p, q, level) <= gaussian_delta(mu, level) + missed + slack
        left = level + math.log1p(-missed)
        if left >= 0:
            assert hockey(q, p, level) <= gaussian_delta(mu, left) + slack


def test_something_has_to_be_missed() -> None:
    """No multiple of |y| near mu will do for short vectors: the proof's nu is needed."""
    law = DiscreteGaussian(25)
    p, q = pair(law, [0.01])
    short = 1.1 * float(unit_parameter(law)) * 0.01
    assert any(hockey(p, q, level) > 2 * gaussian_delta(short, level) for level in (0.01, 0.02))


def test_it_falls_as_more_is_missed_and_is_never_below_the_vector() -> None:
    law, mu = Skellam(10000), Fraction(unit_parameter(Skellam(10000)).upper)
    found = [rounded_distance(law, 100, 2**20, Fraction(1, 10**n)) for n in (20, 10, 5, 2)]
    assert found == sorted(found, reverse=True)
    assert all(100 * mu < each < 107 * mu for each in found)


def test_it_is_never_above_the_longest_vector() -> None:
    law = Skellam(1)
    longest = float(unit_parameter(law)) * 2
    assert float(rounded_distance(law, 1, 1, "1e-30")) <= longest * (1 + 1e-12)


def test_nothing_needs_no_distance_and_bad_input_is_named() -> None:
    assert rounded_distance(Skellam(1), 0, 5, "0.1") == 0
    with pytest.raises(ParameterError, match="missed"):
        rounded_distance(Skellam(1), 1, 5, 0)
    with pytest.raises(ParameterError, match="dimension"):
        rounded_distance(Skellam(1), 1, 0, "0.1")
