"""Lattices of outcomes that are known in part: both ends hold, whatever the masses are."""

import random
from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import iv

from exactdp.verify.checker.arithmetic import hull, interval, precision
from exactdp.verify.checker.cells import Range, off_lattice, on_lattice
from exactdp.verify.checker.divergences import Listed
from exactdp.verify.checker.grid import Grid

_LEVELS = ("0", "0.1", "0.7", "2", "6", "20")


def _drawn(seed: int, blur: Fraction) -> list[tuple[tuple[Fraction, Fraction], ...]]:
    """Ends of p and q for some outcomes; of q the lower one, or both, may be 0."""
    rng, found = random.Random(seed), []
    for _ in range(rng.randint(2, 6)):
        ends = []
        for side in range(2):
            mass = Fraction(rng.randint(1, 99), 1000)
            low = mass * (1 - blur)
            if side and rng.random() < 0.4:
                low, mass = Fraction(0), Fraction(rng.choice((0, 1)), 10 ** rng.choice((3, 12, 25)))
            ends.append((low, mass))
        found.append(tuple(ends))
    return found


def _extremes(ends, level: str) -> tuple[Fraction, Fraction]:
    g = mpmath.exp(oracles.real(Fraction(level)))
    least = sum(
        (max(oracles.real(p[0]) - g * oracles.real(q[1]), 0) for p, q in ends), mpmath.mpf(0)
    )
    most = sum(
        (max(oracles.real(p[1]) - g * oracles.real(q[0]), 0) for p, q in ends), mpmath.mpf(0)
    )
    return oracles.exactly(least), oracles.exactly(most)


def _bounds(points, grid: Grid, level: str) -> tuple[Fraction, Fraction]:
    zero, at = iv.mpf(0), Fraction(level)
    low = points.below(grid).at_least(at, grid, zero)
    return low, points.above(grid).at_most(at, zero, grid, zero)


def _listed(ends) -> Listed:
    sides = [
        [hull(interval(low), interval(high)) for low, high in each]
        for each in zip(*ends, strict=True)
    ]
    return Listed(*sides, iv.mpf(0), iv.mpf(0))


@pytest.mark.quick_cases(40)
@pytest.mark.parametrize("blur", ["0", "1/100", "1/2"])
@pytest.mark.parametrize("seed", range(30))
def test_no_masses_within_their_ends_are_outside(seed: int, blur: str) -> None:
    ends = _drawn(seed, Fraction(blur))
    tiny = Fraction(1, 10**25)
    with precision(124):
        grid = Grid.of(interval(Fraction(seed % 7 + 1, 20)), 100, 1, None)
        points = off_lattice([_listed(ends)], Range(-40.0, 40.0), grid)
        for level in _LEVELS:
            low, high = _bounds(points, grid, level)
            least, most = _extremes(ends, level)
            assert low <= least + tiny and most <= high + tiny


@pytest.mark.parametrize("seed", range(6))
def test_one_pair_above_several_is_as_high_as_the_highest(seed: int) -> None:
    """At every point of the lattice, wherever which of them is the highest changes."""
    several = [_drawn(31 * seed + index, Fraction(0)) for index in range(2 + 3 * seed)]
    tiny, step = Fraction(1, 10**24), Fraction(seed + 1, 40)
    with precision(124):
        grid, within = Grid.of(interval(step), 100, 1, None), Range(-40.0, 40.0)
        alone = [off_lattice([_listed(ends)], within, grid) for ends in several]
        points = off_lattice([_listed(ends) for ends in several], within, grid)
        for k in range(0, 200, 3):
            _, high = _bounds(points, grid, str(k * step))
            highest = max(_bounds(one, grid, str(k * step))[1] for one in alone)
            assert highest - tiny <= high <= highest + tiny
            assert high >= max(_extremes(ends, str(k * step))[1] for ends in several) - tiny


def test_masses_on_the_lattice_are_not_rounded() -> None:
    step = Fraction(1, 4)
    with precision(124):
        grid = Grid.of(interval(step), 100, 1, None)
        q = [hull(interval(Fraction(0)), interval(Fraction(1, 10**9))), interval(Fraction(1, 10))]
        p = [interval(Fraction(1, 5)), q[1] * mpmath.iv.exp(interval(step * 3))]
        points = on_lattice(Listed(p, q, iv.mpf(0), iv.mpf(0)), [2, 3], grid)
        assert points.infinite[0] == 0  # Q may have it
        for level in ("0", "0.5", "0.75", "1"):
            low, high = _bounds(points, grid, level)
            gain = (
                max(mpmath.exp(mpmath.mpf("0.75")) - mpmath.exp(oracles.real(level)), mpmath.mpf(0))
                / 10
            )
            assert low <= oracles.exactly(gain) + Fraction(1, 10**9)
            assert oracles.exactly(gain) + Fraction(1, 5) <= high + Fraction(1, 10**15)
            assert high - low <= Fraction(1, 5) + Fraction(1, 10**9)
