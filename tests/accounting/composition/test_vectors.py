"""Vectors, against sums over all outcomes in a few dimensions, for every vector within reach."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import exactdp
from exactdp import Enclosure, ParameterError, time_limit
from exactdp.accounting import compose
from exactdp.accounting.composition import vectors
from exactdp.accounting.methods.comparison import compare
from exactdp.accounting.participation.filters import ZcdpFilter
from exactdp.mechanisms import AdditiveNoise
from exactdp.mechanisms.laws import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    Law,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.reach import Reach
from exactdp.mechanisms.rounded import RoundedReach
from exactdp.mechanisms.spec import parse
from exactdp.mechanisms.vector import VectorNoise

_ERROR = 1e-9  # of the sums below, in floats
_EDGE = 26

LAWS = st.sampled_from(
    [
        DiscreteGaussian("1/2"),
        DiscreteGaussian(2),
        Skellam("3/2"),
        Skellam(3),
        DiscreteLaplace("1/2"),
        DiscreteLaplace(1),
        DiscreteGaussianSum(3, "1/4"),
        Binomial(12, "1/2"),
    ]
)


@st.composite
def reaches(draw: st.DrawFn) -> Reach:
    dimension = draw(st.integers(1, 2))
    norm = st.fractions(1, 3, max_denominator=4)
    return Reach(draw(norm), draw(st.none() | norm), draw(st.none() | norm), dimension)


def within(reach: Reach) -> list[tuple[int, ...]]:
    assert reach.dimension is not None and reach.l2 is not None
    return [
        v
        for v in product(range(5), repeat=reach.dimension)
        if any(v)
        and sum(x * x for x in v) <= reach.l2**2
        and (reach.l1 is None or sum(v) <= reach.l1)
        and (reach.linf is None or max(v) <= reach.linf)
    ]


@lru_cache
def masses_of(law: Law) -> NDArray:
    return np.array([float(law.pmf(x)) for x in range(-_EDGE, _EDGE + 1)])


def pair(law: Law, move: int, modulus: int | None) -> tuple[NDArray, NDArray]:
    """One coordinate's masses: moved, and not."""
    masses = masses_of(law)
    moved = np.concatenate([np.zeros(move), masses])
    still = np.concatenate([masses, np.zeros(move)])
    if modulus is None:
        return moved, still
    p, q = np.zeros(modulus), np.zeros(modulus)
    np.add.at(p, np.arange(len(moved)) % modulus, moved)
    np.add.at(q, np.arange(len(still)) % modulus, still)
    return p, q


def joint(law: Law, v: tuple[int, ...], modulus: int | None) -> tuple[NDArray, NDArray]:
    p = q = np.ones(1)
    for move in v:
        ahead, back = pair(law, move, modulus)
        p, q = np.multiply.outer(p, ahead).ravel(), np.multiply.outer(q, back).ravel()
    return p, q


def holds(found: Enclosure, truth: float, error: float = _ERROR) -> bool:
    return float(found.lower) <= truth + error and truth - error <= float(found.upper)


@pytest.mark.slow
@settings(max_examples=6)
@given(
    LAWS,
    reaches(),
    st.none() | st.integers(2, 9),
    st.sampled_from([Fraction(1), Fraction(1, 3)]),
    st.sampled_from(["0", "0.3", "1", "2.5"]),
)
def test_every_vector_within_reach(
    law: Law, reach: Reach, modulus: int | None, rate: Fraction, epsilon: str
) -> None:
    mechanism = VectorNoise(law, reach, modulus, "add-remove", rate)
    odds, truth, renyi = math.exp(float(epsilon)), 0.0, 0.0
    for v in within(reach):
        p, q = joint(law, v, modulus)
        mixed = float(rate) * p + (1 - float(rate)) * q
        truth = max(truth, np.maximum(mixed - odds * q, 0).sum())
        truth = max(truth, np.maximum(q - odds * mixed, 0).sum())
        seen = q > 0
        renyi = max(renyi, math.log((mixed[seen] ** 2 / q[seen]).sum()))
    found = compose(mechanism).delta(epsilon)
    assert holds(found, truth)
    assert float(compose(mechanism).renyi(2).upper) >= renyi - 1e-6
    if mechanism.is_one_number:
        assert found.is_within(Fraction(1, 10**9))


@settings(max_examples=20)
@given(LAWS, st.lists(st.integers(1, 3), min_size=1, max_size=2), st.floats(0, 4))
def test_one_coordinate_is_the_worst(law: Law, v: list[int], epsilon: float) -> None:
    odds = math.exp(epsilon)
    p, q = joint(law, tuple(v), None)
    alone, still = joint(law, (sum(v),), None)
    assert np.maximum(p - odds * q, 0).sum() <= np.maximum(alone - odds * still, 0).sum() + _ERROR


@pytest.mark.parametrize(
    ("variance", "width"), [(400, "0.001"), pytest.param(90000, "0.00001", marks=pytest.mark.slow)]
)
def test_many_uses_of_many_coordinates_narrowly(variance: int, width: str) -> None:
    spec = f"skellam:variance={variance},l2=4,neighbours=add-remove"
    found = compose((parse(spec).mechanism, 300)).epsilon("1e-6")
    assert found.is_within(Fraction(width))


@pytest.mark.slow_cases("rate0-0.2", "rate0-0.6", "rate0-0")
@pytest.mark.parametrize("epsilon", ["0", "0.2", "0.6"])
@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 10)])
def test_binomial_noise_is_that_of_a_law_with_an_envelope(epsilon: str, rate: Fraction) -> None:
    mechanism = VectorNoise(Binomial(400, "1/2"), Reach(l2="1.5"), None, "add-remove", rate)
    masses = np.array([float(mechanism.law.pmf(x)) for x in range(401)])
    ahead, back = np.append(0, masses), np.append(masses, 0)
    p, q = np.multiply.outer(ahead, ahead), np.multiply.outer(back, back)
    mixed, odds = float(rate) * p + float(1 - rate) * q, math.exp(float(epsilon))
    truth = max(np.maximum(mixed - odds * q, 0).sum(), np.maximum(q - odds * mixed, 0).sum())
    found = compose(mechanism).delta(epsilon)
    assert holds(found, truth, 1e-12)
    assert float(found.upper) <= 1.2 * truth + 1e-5  # all in one coordinate: 1.5 times and more
    if truth > 1e-9:
        back_again = compose(mechanism).epsilon(Fraction(truth))
        assert back_again.at_most(Fraction(epsilon) - Fraction(1, 10**6)) is not True
        assert back_again.at_most(Fraction(epsilon) + Fraction(1, 10)) is True


@pytest.mark.slow
@settings(max_examples=15)
@given(LAWS, st.integers(1, 3), st.none() | st.integers(2, 9), st.floats(0, 4))
def test_moves_by_1_cost_just_what_so_many_numbers_do(
    law: Law, coordinates: int, modulus: int | None, epsilon: float
) -> None:
    noise = VectorNoise(law, Reach(l1=coordinates, linf=1), modulus)
    p, q = joint(law, (1,) * coordinates, modulus)
    found = compose(noise).delta(epsilon)
    assert holds(found, np.maximum(p - math.exp(epsilon) * q, 0).sum())
    alone = compose((AdditiveNoise(law, 1, modulus), coordinates))
    assert found == alone.delta(epsilon)
    assert compose((noise, 2)).renyi(3) == compose((alone, 2)).renyi(3)


@pytest.mark.parametrize("dimension", [63, 64, 65, 100, 10**6])
def test_every_coordinate_that_moves_is_counted(dimension: int) -> None:
    flat = f"linf=1,dimension={dimension}"
    laplace = compose(parse(f"discrete-laplace:scale=10,{flat}").mechanism)
    assert laplace.pure() == Enclosure.exactly(Fraction(dimension, 10))
    gaussian = compose(parse(f"discrete-gaussian:sigma2=10,{flat}").mechanism)
    assert gaussian.zcdp() == Enclosure.exactly(Fraction(dimension, 20))
    # of the Skellam distribution D_2 = log(sum p(x)^2 / p(x-1)) is at least d^2 / v - O(1/v^2)
    skellam = compose(parse(f"skellam:variance=10000,{flat}").mechanism)
    assert skellam.renyi(2).lower >= Fraction(dimension, 10000) * Fraction(999, 1000)


def test_the_dimension_makes_no_difference() -> None:
    spec = "discrete-gaussian:sigma2=400,l2=4"
    wide = compose((parse(f"{spec},dimension=1000000").mechanism, 300))
    assert wide.epsilon("1e-6") == compose((parse(spec).mechanism, 300)).epsilon("1e-6")


def test_pure_epsilon_is_the_sum_of_all_moves() -> None:
    found = compose(parse("discrete-laplace:scale=10,l2=3,dimension=4").mechanism).pure()
    assert found == Enclosure.exactly(Fraction(5, 10))  # by 2, 1, 1, 1; along 3 alone it is 3/10
    found = compose(parse("discrete-laplace:scale=10,l1=7,linf=2").mechanism).pure()
    assert found == Enclosure.exactly(Fraction(7, 10))
    assert compose(parse("skellam:variance=4,l2=2").mechanism).pure() == Enclosure.infinite()


def test_rho_of_discrete_gaussians_is_exact_in_any_dimension() -> None:
    found = compose((parse("discrete-gaussian:sigma2=10,l2=4.5").mechanism, 3)).zcdp()
    assert found == Enclosure.exactly(Fraction(3 * 20, 20))


def test_wrapped_noise_has_a_pure_epsilon() -> None:
    spec = "discrete-gaussian:sigma2=4,l2=2,dimension=9,modulus=5"
    found = compose(parse(spec).mechanism).pure()
    one = compose(AdditiveNoise(DiscreteGaussian(4), 1, 5)).pure()
    assert found.is_finite() and found.at_least(4 * Fraction(one.lower)) is True


@pytest.mark.parametrize("law", [PolyaDifference("0.9", 10), Binomial(64, "1/3")])
def test_other_shapes_are_refused(law: Law) -> None:
    with pytest.raises(ParameterError, match="symmetric and log-concave"):
        VectorNoise(law, Reach(l2=4))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("skellam:variance=4,l2=0.5", "l2 must be an exact number at least 1"),
        ("skellam:variance=4,l2=2,sensitivity=2", "sensitivity is of single numbers"),
        ("skellam:variance=4,dimension=2", "a vector needs l2, l1, or linf with its dimension"),
        ("skellam:variance=4,l2=2,poisson=0.5", "poisson needs neighbours=add-remove"),
    ],
)
def test_what_is_no_vector_is_refused(spec: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse(spec)


@pytest.mark.slow
def test_mu_of_vectors_is_met_by_a_unit_vector() -> None:
    mechanism = parse("skellam:variance=9,l2=1.5,dimension=7").mechanism
    alone = compose(AdditiveNoise(Skellam(9))).gdp()
    found = compose(mechanism).gdp()
    assert found.at_least(Fraction(alone.lower)) is True
    assert found.upper <= Fraction(alone.upper) * Fraction(1415, 1000)  # |v|_2^2 <= 2


@pytest.mark.slow
def test_filters_and_methods_take_vectors() -> None:
    mechanism = parse("discrete-gaussian:sigma2=100,l2=3").mechanism
    filled = ZcdpFilter("0.1").spend(mechanism, 2)
    assert filled.left() == Enclosure.exactly(Fraction(1, 100))
    found = {each.method.name: each.value for each in compare(compose((mechanism, 3)), "1e-6")}
    exact = found["exact"]
    assert exact is not None
    for name in ("kov", "rdp", "zcdp"):
        value = found[name]
        assert value is not None and exact.lower <= value.upper


@pytest.mark.slow
@settings(max_examples=12)
@given(
    LAWS,
    st.lists(st.fractions(0, 2, max_denominator=3), min_size=1, max_size=2),
    st.sampled_from([Fraction(1), Fraction(1, 3)]),
    st.sampled_from(["0", "0.3", "1"]),
)
def test_rounding_at_random(law: Law, y: list[Fraction], rate: Fraction, epsilon: str) -> None:
    square = sum(x * x for x in y)
    if not square:
        return
    norm = Fraction(math.isqrt(math.floor(square * 10**12)) + 1, 10**6)
    reach = RoundedReach(norm, len(y), "stochastic")
    p = q = np.ones(1)
    for x in y:
        floor, part = math.floor(x), float(x - math.floor(x))
        far, still = pair(law, floor + 1, None)
        near = np.append(pair(law, floor, None)[0], 0.0)
        p = np.multiply.outer(p, part * far + (1 - part) * near).ravel()
        q = np.multiply.outer(q, still).ravel()
    p = float(rate) * p + (1 - float(rate)) * q
    odds = math.exp(float(epsilon))
    truth = max(np.maximum(p - odds * q, 0).sum(), np.maximum(q - odds * p, 0).sum())
    composition = compose(VectorNoise(law, reach, None, "add-remove", rate))
    assert truth <= float(composition.delta(epsilon).upper) + _ERROR
    seen = q > 1e-60  # which leaves out terms that are positive
    renyi = math.log((p[seen] ** 3 / q[seen] ** 2).sum()) / 2
    assert renyi <= float(composition.renyi(3).upper) + 1e-6


@pytest.mark.slow
def test_rounding_at_random_costs_hardly_anything() -> None:
    spec = "skellam:variance=10000,l2=100,dimension=1048576,neighbours=add-remove"
    real = compose(parse(f"{spec},rounding=stochastic").mechanism)
    whole = compose(parse(spec).mechanism).epsilon("1e-5")
    found = real.epsilon("1e-5")
    assert whole.lower <= found.upper <= Fraction(whole.upper) * Fraction(105, 100)
    assert found.lower <= whole.upper


@pytest.mark.quick_cases(1)
@pytest.mark.contract
@pytest.mark.parametrize(
    "parts",
    [
        ("skellam:variance=100*3", "guarantee:zcdp:0.1*500"),
        ("exponential:epsilon=1*3", "guarantee:zcdp:0.1"),
        ("skellam:variance=1000,l1=20,l2=7*10", "sparse-vector:epsilon=1"),
    ],
)
def test_lists_have_both_ends_however_little_time_there_is(parts):
    for figure, at in (("renyi", ["2"]), ("zcdp", []), ("epsilon", ["1e-6"]), ("delta", ["1"])):
        ask = getattr(exactdp.compose(*parts), figure)
        with time_limit("0.01"):
            found = ask(*at)
        assert 0 < found.lower <= found.upper < math.inf


@pytest.mark.quick_cases(3)
@pytest.mark.contract
@pytest.mark.parametrize("seconds", ["0", "0.0005", "0.001", "0.002"])
@pytest.mark.parametrize(
    "parts",
    [
        ("federated:clip=1,scale=64,clients=100,local-stddev=2,dimension=1000,bits=16",),
        ("guarantee:zcdp:0.1", "skellam:variance=100"),
    ],
)
def test_divergences_are_bounded_whatever_time_is_left(parts, seconds):
    found = exactdp.compose(*parts)
    with time_limit(seconds):
        known = found.renyi("2")
    assert known.is_finite()
    known.intersection(found.renyi("2", Fraction(1, 10**4)))  # which meets it


@pytest.mark.contract
def test_what_is_found_in_too_little_time_is_not_kept():
    alone = exactdp.mechanism("guarantee:zcdp:0.13")
    for seconds in ("1e-9", "0.001", "0.003", "0.01", "0.03", "0.1"):
        with time_limit(seconds):
            alone.epsilon("1e-6")
    assert alone.epsilon("1e-6").is_within(Fraction(1, 10**3))


def test_vectors_are_enveloped_however_long_the_best_takes(monkeypatch):
    """Where finding mu_1 takes all the time that there is, what bounds it stands for it."""
    one = exactdp.mechanism("discrete-gaussian:sigma2=100,l2=10,dimension=100")

    def endless(*_):
        while True:
            pass

    truth = one.renyi("2", Fraction(1, 10**6))
    monkeypatch.setattr(vectors, "_distance", endless)
    with time_limit("0.01"):
        found = one.renyi("2", Fraction(1, 10**6))
    assert truth.upper <= found.upper <= 2 * Fraction(truth.upper)
