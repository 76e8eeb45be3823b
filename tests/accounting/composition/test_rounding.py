"""epsilon and delta of rounded vectors against enumeration."""

import math
from fractions import Fraction

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.accounting.composition.rounding import rounded
from exactdp.accounting.figure import Figure
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
        upper = rounded(Figure("delta", Fraction(level)), law, Fraction(y), 1, uses, part)
        assert upper.lower == 0
        assert delta <= float(upper) * (1 + 1e-9)
        if delta > 1e-9 and level > 0:
            epsilon = rounded(Figure("epsilon", Fraction(delta)), law, Fraction(y), 1, uses, part)
            assert level <= float(epsilon) * (1 + 1e-9)


def test_unknown_dimension_is_bounded_and_bad_input_named() -> None:
    at = Figure("epsilon", Fraction(1, 10**5))
    free = rounded(at, Skellam(100), 10)
    assert float(rounded(at, Skellam(100), 10, 10)) <= float(free) < 6
    with pytest.raises(ParameterError, match="times"):
        rounded(at, Skellam(100), 10, times=0)
    with pytest.raises(ParameterError, match="delta"):
        rounded(at._replace(at=Fraction(0)), Skellam(100), 10)
    with pytest.raises(ParameterError, match="epsilon"):
        rounded(Figure("delta", Fraction(-1)), Skellam(100), 10)
