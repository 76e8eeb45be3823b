from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp import ParameterError
from exactdp.exact.precision import enclose
from exactdp.mechanisms.laws.finite import FiniteLaw

weights = st.dictionaries(st.integers(-8, 8), st.integers(0, 9), min_size=1).filter(
    lambda chosen: any(chosen.values())
)


def law_of(chosen: dict[int, int]) -> FiniteLaw:
    total = sum(chosen.values())
    return FiniteLaw({x: Fraction(weight, total) for x, weight in chosen.items()})


@given(weights)
def test_everything_is_the_exact_sum(chosen: dict[int, int]) -> None:
    law, total = law_of(chosen), sum(chosen.values())
    p = {x: Fraction(chosen.get(x, 0), total) for x in range(-10, 11)}
    for x in range(-9, 10):
        assert law.probability(x).lower == law.probability(x).upper == p[x]
        assert law.cdf(x).lower == law.cdf(x).upper == sum(p[y] for y in p if y <= x)
        assert law.sf(x).lower == sum(p[y] for y in p if y > x)
        assert enclose(law.ball(x)).contains(p[x])
        assert enclose(law.upper_tail(x)).contains(sum(p[y] for y in p if y >= x))
        assert enclose(law.lower_tail(x)).contains(sum(p[y] for y in p if y <= x))
        assert float(law.pmf(x)) == float(p[x])
        if x >= 0:
            assert law.two_sided_tail(x).upper == sum(p[y] for y in p if abs(y) > x)
    mean = sum(x * p[x] for x in p)
    assert law.moments().mean.lower == mean
    assert law.moments().variance.lower == sum(x * x * p[x] for x in p) - mean**2
    assert law.support == (min(x for x in p if p[x]), max(x for x in p if p[x]))
    assert law.symmetric == all(p[x] == p[-x] for x in p)
    assert law.mirrored().mirrored() == law and law.mirrored().mass(3) == p[-3]
    inside = range(law.support[0], law.support[1] + 1)
    concave = all(p[x] ** 2 >= p[x - 1] * p[x + 1] for x in inside) and all(p[x] for x in inside)
    assert (law.log_concave is not None) == concave


@given(weights, st.integers(1, 4))
def test_sums_are_exact_convolutions(chosen: dict[int, int], count: int) -> None:
    law = law_of(chosen)
    total = {0: Fraction(1)}
    for _ in range(count):
        fresh: dict[int, Fraction] = {}
        for x, p in total.items():
            for y in range(-8, 9):
                fresh[x + y] = fresh.get(x + y, Fraction(0)) + p * law.mass(y)
        total = fresh
    summed = law.sum_of(count)
    assert all(summed.mass(x) == p for x, p in total.items())


def test_a_fair_coin_becomes_a_binomial() -> None:
    law = FiniteLaw({10**12: "1/2", 0: "0.5"}).sum_of(100)  # far apart, but on a lattice
    assert law.mass(37 * 10**12) == Fraction(comb(100, 37), 2**100)
    assert law.log_concave is None  # gaps
    assert FiniteLaw({0: "1/2", 1: "1/2"}).sum_of(100).log_concave is not None


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="sum to exactly 1"):
        FiniteLaw({0: "0.3", 1: "0.6999999999999999"})
    with pytest.raises(ParameterError, match="sum to exactly 1"):
        FiniteLaw({})
    with pytest.raises(ParameterError, match="probability of 1"):
        FiniteLaw({1: "1.5", 2: "-0.5"})
    with pytest.raises(ParameterError, match="outcome"):
        FiniteLaw({"0.5": 1})  # type: ignore[dict-item]
    with pytest.raises(ParameterError, match="count"):
        FiniteLaw({0: 1}).sum_of(0)
