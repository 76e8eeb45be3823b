"""Losses moved onto a grid: the profile of the grid's law is above the true one, and near."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import composed_truth as truth
import mpmath
import oracles
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mpf

from exactdp.accounting.composition import divergence
from exactdp.accounting.composition.grid_laws import dominating_laws
from exactdp.accounting.composition.loss_grid import Grid, GridLaw
from exactdp.exact import ball, working_precision
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteGaussian,
    DiscreteLaplace,
    FinitePair,
    Law,
    Mechanism,
    PolyaDifference,
    RandomizedResponse,
    Skellam,
)

STEPS = [Fraction(1, 64), Fraction(1e-2)]
TINY = Fraction(1, 10**25)
ONE = [(mpf(1), mpf(1))]
LEVELS = [Fraction(0), Fraction(1, 100), Fraction(1, 3), Fraction(0.7), Fraction(2)]


def moved(mechanism: Mechanism, step: Fraction, tail: Fraction = TINY) -> list[truth.Atoms]:
    """The outcomes of the grid's laws, with their upper masses."""
    with working_precision(256):
        grid = Grid(step, Fraction(1, 2**52))
        return [atoms_of(grid, law) for law in dominating_laws(mechanism, grid, tail)]


def atoms_of(grid: Grid, law: GridLaw) -> truth.Atoms:
    with mpmath.workdps(truth.DIGITS):
        found = [(number(law.infinite), mpf(0))]
        for k in law.points():
            loss = grid.step * (k - abs(k) * grid.shrink)
            mass = number(law.masses[k])
            assert mass >= 0
            found.append((mass, mass * mpmath.exp(-truth.real(loss))))
        return [each for each in found if each[0]]


def number(value: arb) -> mpf:
    with mpmath.workdps(truth.DIGITS):
        return mpf(value.upper().str(80, radius=False))


def above(
    found: truth.Atoms, atoms: truth.Atoms, times: int = 1, near: Fraction | None = None
) -> None:
    """The found profile is at least the true one; and at most that of losses this much larger."""
    with mpmath.workdps(truth.DIGITS):
        tiny = mpf(10) ** -20
        rest = [truth.product(*[each] * (times - 1)) for each in (found, atoms)]
        for level in LEVELS:
            value = truth.outcomes_delta(atoms, rest[1], level)
            upper = truth.outcomes_delta(found, rest[0], level)
            assert upper >= value * (1 - tiny * tiny), level
            if near is not None:
                assert upper <= truth.outcomes_delta(atoms, rest[1], level - times * near) + tiny
        assert abs(mpmath.fsum(p for p, _ in found) - 1) < mpf(10) ** -12


@cache
def single_pairs() -> list[tuple[Mechanism, truth.Atoms]]:
    with mpmath.workdps(truth.DIGITS):
        half = oracles.polya_difference("0.5", 1)
        return [
            (RandomizedResponse("0.7"), truth.two_points(Fraction("0.7"))),
            (AdditiveNoise(Skellam(2), 2), truth.of_shift(oracles.skellam(2), 2, -40, 42)),
            (
                AdditiveNoise(DiscreteLaplace(2), 3),
                truth.of_shift(oracles.discrete_laplace(2), 3, -150, 153),
            ),
            (AdditiveNoise(PolyaDifference("0.5", 1), 1), truth.of_shift(half, 1, -70, 71)),
        ]


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("times", [1, 2])
def test_one_pair(step: Fraction, times: int) -> None:
    for mechanism, atoms in single_pairs():
        (found,) = moved(mechanism, step)
        above(found, atoms, times, near=2 * step)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("law", [DiscreteGaussian("1e10"), Binomial(10**11, "1/4")], ids=repr)
@pytest.mark.parametrize("step", [Fraction(1, 2**13), Fraction(1, 10**7)], ids=str)
def test_of_too_many_outcomes_to_list_them(law: Law, step: Fraction) -> None:
    """A law by blocks, finer than the grid or than what is lost: between delta there and nearby."""
    mechanism = AdditiveNoise(law, 20)
    with working_precision(192):
        grid = Grid(step)
        (found,) = dominating_laws(mechanism, grid, TINY)
        for level in (Fraction(0), Fraction(1, 10**5), Fraction(1, 10**4)):
            odds = ball(level).exp()
            value = found.infinite + sum(
                (found.masses[k] * (1 - odds / grid.odds(k)).max(arb(0)) for k in found.points()),
                arb(0),
            )
            truth = divergence.delta(mechanism, level)
            assert value.upper() >= ball(Fraction(truth.lower))
            near = divergence.delta(mechanism, max(level - 2 * step, Fraction(0)))
            assert value < ball(Fraction(near.upper)) + ball(2 * step)


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["1e-3", "0.2"])
def test_what_is_cut_off_counts_as_the_worst(tail: str) -> None:
    with mpmath.workdps(truth.DIGITS):
        cases = [
            (Skellam(3), oracles.skellam(3), 50),
            (PolyaDifference("0.5", 1), oracles.polya_difference("0.5", 1), 50),
            (PolyaDifference("1.5", 1), oracles.polya_difference("1.5", 1), 50),
        ]
        for law, pmf, reach in cases:
            (found,) = moved(AdditiveNoise(law, 1), Fraction(1, 100), Fraction(tail))
            atoms = truth.of_shift(pmf, 1, -reach, reach + 1)
            for level in LEVELS:
                value = truth.outcomes_delta(ONE, atoms, level)
                assert truth.outcomes_delta(ONE, found, level) >= value * (1 - mpf("1e-15"))


@pytest.mark.parametrize("modulus", [None, 9])
def test_several_pairs_are_below_their_envelope(modulus: int | None) -> None:
    with mpmath.workdps(truth.DIGITS):
        pmf = oracles.binomial(20, "0.3")
        if modulus:
            pairs = [truth.wrapped(pmf, d, modulus, 20) for d in (-2, -1, 1, 2)]
        else:
            mass = {x: pmf(x) for x in range(-2, 23)}
            pairs = [[(mass[x], mass[x - d]) for x in range(21)] for d in (-2, -1, 1, 2)]
    mechanism = AdditiveNoise(Binomial(20, "0.3"), 2, modulus)
    for step in STEPS:
        (found,) = moved(mechanism, step)
        above(found, truth.envelope(pairs), 2, near=3 * step)
        for atoms in pairs:
            above(found, atoms)


weights = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(any), min_size=1, max_size=4
).filter(lambda each: all(any(side) for side in zip(*each, strict=True)))


@given(weights=weights, step=st.sampled_from(STEPS), times=st.integers(1, 2))
def test_random_pairs(weights: list[tuple[int, int]], step: Fraction, times: int) -> None:
    totals = [sum(side) for side in zip(*weights, strict=True)]
    p, q = (tuple(Fraction(each[i], totals[i]) for each in weights) for i in (0, 1))
    there = [(truth.real(a), truth.real(b)) for a, b in zip(p, q, strict=True)]
    names = tuple(map(str, range(len(p))))
    found = moved(FinitePair(names, p, q), step)
    above(found[0], [each for each in there if each[0]], times, near=2 * step)
    above(found[-1], [(b, a) for a, b in there if b], times, near=2 * step)


@given(
    weights=weights.filter(lambda each: len(each) > 1),
    slack=st.sampled_from(["1e-6", "1e-2", "0.3"]),
    moves=st.tuples(*[st.integers(0, 3)] * 4),
    times=st.integers(1, 2),
)
def test_slack(
    weights: list[tuple[int, int]], slack: str, moves: tuple[int, ...], times: int
) -> None:
    """Whatever mass within the slack has been misplaced, the law dominates."""
    totals = [sum(side) for side in zip(*weights, strict=True)]
    names = tuple(map(str, range(len(weights))))
    p, q = (tuple(Fraction(each[i], totals[i]) for each in weights) for i in (0, 1))
    found = moved(FinitePair(names, p, q, slack), STEPS[0])
    truly = [list(p), list(q)]
    for column, (start, end) in zip(truly, (moves[:2], moves[2:]), strict=True):
        first, last = start % len(weights), end % len(weights)
        taken = min(column[first], Fraction(slack))
        column[first] -= taken
        column[last] += taken
    there = [(truth.real(a), truth.real(b)) for a, b in zip(*truly, strict=True)]
    for side, atoms in ((found[0], there), (found[-1], [(b, a) for a, b in there])):
        atoms = [each for each in atoms if each[0]]
        rest = [truth.product(*[each] * (times - 1)) for each in (side, atoms)]
        for level in (Fraction(-2), Fraction(0), Fraction(1, 3), Fraction(3)):
            value = truth.outcomes_delta(atoms, rest[1], level)
            with mpmath.workdps(truth.DIGITS):
                upper = truth.outcomes_delta(side, rest[0], level)
                assert upper >= value * (1 - mpf(10) ** -40)


def test_points_around_a_loss() -> None:
    with working_precision(128):
        for shrink in (Fraction(0), Fraction(1, 2**52)):
            grid = Grid(Fraction(1, 8), shrink)
            for loss in (
                Fraction(0),
                Fraction(1, 8),
                Fraction(-1, 8),
                Fraction(5, 7),
                Fraction(-9),
            ):
                for value in (loss, arb(loss.numerator) / loss.denominator):
                    low, high = grid.below(value), grid.above(value)
                    assert grid.step * (low - abs(low) * shrink) <= loss
                    assert loss <= grid.step * (high - abs(high) * shrink)
                    assert high - low <= 2
