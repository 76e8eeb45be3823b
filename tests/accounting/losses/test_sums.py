"""Profiles of compositions on a lattice, and their inverses, against exact sums."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import composed_truth as truth
import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import Composition, Enclosure
from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    RandomizedResponse,
)

LITTLE = Fraction(1, 10**9)
GOALS = ["1e-1", "1e-6", "1e-12", "1e-30", "1e-300"]


def holds_delta(composition: Composition, level: Fraction, value: mpf) -> None:
    oracles.assert_holds(composition.delta(level), value)


def holds_epsilon(composition: Composition, goal: str, profile: truth.Profile) -> Enclosure:
    found = composition.epsilon(goal)
    ends = Fraction(found.lower), Fraction(found.upper)
    truth.assert_level_holds(ends, Fraction(goal), profile)
    assert ends[1] - ends[0] <= Fraction(1, 10**11) * ends[1], str(found)
    return found


def levels_below(pure: Fraction) -> list[Fraction]:
    few = [Fraction(0), pure * (1 - LITTLE)]
    return few if pure > 10**4 else [*few, pure / 10**9, pure / 3]


# -- two points: exact binomial sums --------------------------------------------------------------

FEW = [("1", 1), ("1", 2), ("5", 7), ("20", 3), ("0.1", 100)]
MANY = [("1", 4096), ("5", 4096), ("20", 4096), ("20", 64), ("0.01", 10**4), ("1e-6", 1000)]
MOST = [("1e-6", 10**6), ("0.01", 10**6), ("1", 10**5)]


@pytest.mark.slow_cases("1-4096", "20-4096", "5-4096")
@pytest.mark.parametrize(("size", "times"), FEW + MANY)
def test_two_points(size: str, times: int) -> None:
    each, pure = Fraction(size), Fraction(size) * times
    response, laplace = RandomizedResponse(size), AdditiveNoise(DiscreteLaplace(1 / each), 1)
    for mechanism in (response, laplace) if pure < 10**4 else (response,):
        composition = compose((mechanism, times))
        for level in levels_below(pure):
            holds_delta(composition, level, truth.two_point_delta(each, times, level))
        for level in (pure, pure + 1, pure * (1 + LITTLE)):
            assert composition.delta(level) == Enclosure.exactly(0)


@pytest.mark.slow_cases("0.01-10000", "1-4096", "20-4096", "5-4096")
@pytest.mark.parametrize(("size", "times"), FEW + MANY)
def test_two_points_inverted(size: str, times: int) -> None:
    composition = compose((RandomizedResponse(size), times))
    for goal in GOALS:
        value = truth.two_point_epsilon(Fraction(size), times, Fraction(goal))
        found = composition.epsilon(goal)
        oracles.assert_holds(found, value)
        exact = oracles.exactly(value)
        if exact:
            assert found.at_most(exact * (1 - LITTLE)) is False
            assert found.at_most(exact * (1 + LITTLE)) is True


@pytest.mark.slow
@pytest.mark.parametrize(("size", "times"), MOST)
def test_two_points_a_million_times(size: str, times: int) -> None:
    each, composition = Fraction(size), compose((RandomizedResponse(size), times))
    for level in (Fraction(0), each * times / 1000, 10 * each * int(times**0.5)):
        holds_delta(composition, level, truth.two_point_delta(each, times, level))
    for goal in GOALS:
        value = truth.two_point_epsilon(each, times, Fraction(goal))
        oracles.assert_holds(composition.epsilon(goal), value)


@pytest.mark.parametrize("share", ["1e-3", "1e-20"])
def test_what_is_revealed_now_and_then(share: str) -> None:
    # nothing is revealed with probability (1-share)^K; then it is plain randomized response
    times, each = 50, Fraction(1, 2)
    composition = compose((RandomizedResponse(each, share), times))

    def profile(level: Fraction) -> mpf:
        with mpmath.workdps(truth.DIGITS):
            kept = (1 - truth.real(share)) ** times
            return 1 - kept * (1 - truth.two_point_delta(each, times, level))

    for level in (Fraction(0), Fraction(7), Fraction(24), Fraction(25), Fraction(100)):
        holds_delta(composition, level, profile(level))
    holds_epsilon(composition, "0.3", profile)
    if share == "1e-20":
        holds_epsilon(composition, "1e-12", profile)
    assert composition.epsilon(Fraction(share)) == Enclosure.infinite()


def test_two_names_of_one_law() -> None:
    mixed = compose(
        (RandomizedResponse("1/2"), 3),
        (AdditiveNoise(DiscreteLaplace(2)), 4),
        (AdditiveNoise(DiscreteLaplace(4), 1), 1),
        (RandomizedResponse("1/4"), 1),
    )
    half, quarter = truth.laplace_losses(Fraction(2), 1), truth.laplace_losses(Fraction(4), 1)
    law = half.power(7).plus(quarter.power(2))
    for level in levels_below(Fraction(4)):
        holds_delta(mixed, level, law.delta(level))
    assert mixed.delta(4) == Enclosure.exactly(0)
    holds_epsilon(mixed, "1e-6", law.delta)


# -- lattices: powers of polynomials --------------------------------------------------------------


def laplace(scale: str, shift: int) -> tuple[AdditiveNoise, truth.LatticeLaw]:
    law = truth.laplace_losses(Fraction(scale), shift)
    return AdditiveNoise(DiscreteLaplace(scale), shift), law


def gaussian(sigma2: str, shift: int) -> tuple[AdditiveNoise, truth.LatticeLaw]:
    law = truth.gaussian_losses(Fraction(sigma2), shift)
    return AdditiveNoise(DiscreteGaussian(sigma2), shift), law


LATTICES: list[tuple[str, Sequence[tuple[tuple[AdditiveNoise, truth.LatticeLaw], int]]]] = [
    ("laplace-3", [(laplace("2", 3), 2)]),
    ("laplace-3-often", [(laplace("2", 3), 50)]),
    ("laplace-10", [(laplace("7/3", 10), 8)]),
    ("laplace-narrow", [(laplace("0.1", 2), 5)]),
    ("laplace-of-two-scales", [(laplace("2", 1), 6), (laplace("3", 2), 5)]),
    ("laplace-coarse", [(laplace("1", 4), 30), (laplace("5", 1), 1)]),
    ("gaussian", [(gaussian("1", 1), 2)]),
    ("gaussian-often", [(gaussian("3", 1), 20)]),
    ("gaussian-narrow", [(gaussian("0.1", 1), 3)]),
    ("gaussian-shifted-by-3", [(gaussian("2", 3), 4)]),
    ("gaussians-of-two-widths", [(gaussian("1", 1), 2), (gaussian("3/2", 2), 3)]),
    ("gaussian-and-laplace", [(gaussian("2", 1), 3), (laplace("3", 2), 4)]),
]


def test_lattice_of_two_scales_up_to_its_end() -> None:
    parts = [(laplace("26/7", 4), 1), (laplace("39/10", 1), 2)]
    composition = compose(*((mechanism, times) for (mechanism, _), times in parts))
    law = parts[0][0][1].plus(parts[1][0][1].power(2))
    assert composition.delta(20) == Enclosure.exactly(0)
    holds_epsilon(composition, "1e-50", law.delta)


@pytest.mark.slow_cases(
    "gaussian-and-laplace",
    "gaussian-often",
    "gaussian-shifted-by-3",
    "gaussians-of-two-widths",
    "laplace-10",
    "laplace-3-often",
    "laplace-coarse",
)
@pytest.mark.parametrize(
    "parts", [case for _, case in LATTICES], ids=[name for name, _ in LATTICES]
)
def test_lattice(parts: Sequence[tuple[tuple[AdditiveNoise, truth.LatticeLaw], int]]) -> None:
    composition = compose(*((mechanism, times) for (mechanism, _), times in parts))
    (_, first), times = parts[0]
    law = first.power(times)
    for (_, other), count in parts[1:]:
        law = law.plus(other.power(count))
    for level in (Fraction(0), LITTLE, Fraction(1, 3), Fraction(2), Fraction(10)):
        value = law.delta(level)
        if value > mpf(10) ** -320:
            holds_delta(composition, level, value)
    pure = composition.pure()
    if pure.is_finite():
        assert pure == Enclosure.exactly(Fraction(pure.upper))
        last = Fraction(pure.upper)
        holds_delta(composition, last * (1 - LITTLE), law.delta(last * (1 - LITTLE)))
        assert composition.delta(last) == composition.delta(last + 1) == Enclosure.exactly(0)
    for goal in GOALS:
        value = oracles.exactly(truth.real(goal))
        found = holds_epsilon(composition, goal, law.delta)
        if found.lower > 0:
            again = Fraction(found.lower)
            assert composition.delta(again * (1 - LITTLE)).at_most(value) is False
            assert composition.delta(again * (1 + LITTLE)).at_most(value) is True


@pytest.mark.slow
@pytest.mark.parametrize(("width", "shift", "times"), [("1/2", 1, 64), ("4", 2, 100)])
def test_lattice_often(width: str, shift: int, times: int) -> None:
    for mechanism, law in (gaussian(width, shift), laplace(width, shift)):
        composition, whole = compose((mechanism, times)), law.power(times)
        for goal in GOALS:
            holds_epsilon(composition, goal, whole.delta)
