"""Rounding errors against enumeration, and the worst case over data against many data."""

from fractions import Fraction
from itertools import combinations_with_replacement

import mpmath
import numpy as np
import pytest

from exactdp import Enclosure
from exactdp.exact import WIDTH, refine
from exactdp.mechanisms import Binomial
from exactdp.protocols.rounding import (
    RoundedUp,
    _by_data,
    _by_normal,
    normal_tail,
    worst_rounding_quantile,
)

GROUPS = ((Fraction(1, 7), 3), (Fraction(1, 2), 2), (Fraction(9, 10), 2))


def masses(fractions: list[Fraction]) -> list[Fraction]:
    found = [Fraction(1)]
    for f in fractions:
        stay = [(1 - f) * p for p in found] + [Fraction(0)]
        found = [p + f * q for p, q in zip(stay, [Fraction(0), *found], strict=True)]
    return found


def worst_rounding(n: int, t: int, width: Fraction = WIDTH) -> Enclosure:
    """sup over data of P(|R| > t): up to 32 users itself, beyond from one of the data to (1)."""
    if not 0 < t < n:  # at 0 a mean that is no integer is always missed
        return Enclosure.exactly(t < n)
    found = refine(lambda: _by_data(n, t), width=width)
    upper = found if n <= 32 else refine(lambda: _by_normal(n, t), width=width)
    return Enclosure(found.lower, upper.upper).intersection(Enclosure.probability())


def beyond(fractions: list[Fraction], t: int) -> Fraction:
    mean = sum(fractions)
    return sum((p for x, p in enumerate(masses(fractions)) if abs(x - mean) > t), Fraction(0))


def test_law_is_poisson_binomial() -> None:
    law = RoundedUp(GROUPS)
    truth = masses([f for f, count in GROUPS for _ in range(count)])
    balls = law.balls(-1, 8)
    for x, p in enumerate(truth):
        assert law.probability(x).contains(p)
        assert law.cdf(x).contains(sum(truth[: x + 1]))
        assert law.sf(x).contains(sum(truth[x + 1 :]))
        assert abs(float(law.pmf(x)) - float(p)) < 1e-15
        assert abs(float(balls[x + 1].mid()) - float(p)) < 1e-15
    assert balls[0] == 0 and balls[-1] == 0
    logs = law.log_pmf(np.arange(8))
    assert np.allclose(np.exp(logs), [float(p) for p in truth])
    assert law.mean == sum(x * p for x, p in enumerate(truth))
    assert law.variance == sum((x - law.mean) ** 2 * p for x, p in enumerate(truth))
    assert law.mirrored().probability(2).contains(truth[5])


@pytest.mark.slow_cases("4")
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_worst_case_is_above_all_data_and_approached(n: int) -> None:
    grid = [Fraction(k, 12) for k in range(12)]
    for t in range(n + 1):
        found = worst_rounding(n, t)
        worst = max(beyond(list(data), t) for data in combinations_with_replacement(grid, n))
        assert found.at_least(worst) is True
        # data just above the mean K: the supremum is approached
        tiny = Fraction(1, 10**9)
        near = max(beyond([Fraction(k, n) + tiny] * n, t) for k in range(n))
        assert found.at_most(near * (1 + Fraction(1, 10**6)) + Fraction(1, 10**7)) is not False


@pytest.mark.parametrize("n", [33, 100, 1000])
def test_bound_is_above_binomial_data_of_any_mean(n: int) -> None:
    for t in (1, int(n**0.5), int(2 * n**0.5)):
        found = worst_rounding(n, t, Fraction(1, 10**6))
        for k in {1, n // 10, n // 3, n // 2, n - 2}:
            law = Binomial(n, Fraction(k, n))
            low, high = law.cdf(k - t) if k >= t else Enclosure.exactly(0), law.sf(k + t)
            assert Fraction(low.lower) + Fraction(high.lower) <= Fraction(found.upper)
        assert Fraction(found.upper) <= 1
        assert n < 1000 or t == 1 or found.is_within(Fraction(1, 5))


def test_normal_bound_holds_for_binomial_tails() -> None:
    for n in (2, 5, 40):
        for numerator in range(1, 12):
            p = Fraction(numerator, 12)
            chances = masses([p] * n)
            for j in range(1, n + 1):
                u = j - n * p
                if u >= 1:
                    bound = float(normal_tail(n, u - 1))
                    assert float(sum(chances[j:])) <= bound * (1 + 1e-12)
    assert abs(float(normal_tail(16, 2)) - float(mpmath.ncdf(-1))) < 1e-15


def test_one_user_has_a_quantile_between_whole_steps() -> None:
    """The error of one reward is f or 1 - f: above t with probability max(f, 1 - f) <= p if f > p.

    Of f = u below 1/2 it is 1 - u with probability u, and u otherwise: sup over u of P(error > t)
    is 1 - t for t >= 1/2 (u < 1 - t), and the least t at which that is p < 1/2 is 1 - p.
    """
    for p in (Fraction(1, 10), Fraction(1, 3), Fraction(49, 100)):
        assert worst_rounding_quantile(1, p).contains(1 - p)
        for t in (1 - p - Fraction(1, 100), 1 - p):
            chances = [
                (f if 1 - f > t else 0) + (1 - f if f > t else 0)
                for f in (Fraction(k, 1000) for k in range(1, 1000))
            ]
            assert (max(chances) <= p) is (t == 1 - p)
