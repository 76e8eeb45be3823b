"""Composed grid laws dominate the product of the laws, however coarse the points become."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from exactdp.accounting.composition.grid_composition import composed
from exactdp.accounting.composition.loss_grid import Grid, GridLaw
from exactdp.exact import working_precision

TAIL = Fraction(1, 10**20)


def law(grid: Grid, masses: dict[int, str], infinite: str = "0") -> GridLaw:
    return GridLaw(grid, {k: arb(mass) for k, mass in masses.items()}, arb(infinite))


def plain(parts: list[tuple[GridLaw, int]]) -> tuple[dict[int, arb], arb]:
    """By hand: every sum of losses."""
    masses, stay = {0: arb(1)}, arb(1)
    for one, times in parts:
        for _ in range(times):
            following: dict[int, arb] = {}
            for k, mass in masses.items():
                for j, more in one.masses.items():
                    following[k + j] = following.get(k + j, arb(0)) + mass * more
            masses, stay = following, stay * (1 - one.infinite)
    return masses, 1 - stay


def delta(grid: Grid, masses: dict[int, arb], infinite: arb, level: Fraction) -> arb:
    odds = arb(level.numerator) / level.denominator
    total = infinite
    for k, mass in masses.items():
        if k * grid.step > level:
            total += mass * (1 - odds.exp() / grid.odds(k))
    return total


PARTS = [
    [({-3: "0.25", 3: "0.75"}, "0", 7)],
    [({-64: "0.25", 1: "0.25", 640: "0.5"}, "0", 5)],
    [({0: "0.5", 7: "0.25"}, "0.25", 3), ({-20: "0.375", 20: "0.625"}, "0", 4)],
    [({5: "1"}, "0", 9)],
    [({}, "1", 12), ({1: "1"}, "0", 2)],
]


@pytest.mark.parametrize("shrink", [Fraction(0), Fraction(1, 2**20)])
@pytest.mark.parametrize("most", [1 << 16, 300, 40, 12])
@pytest.mark.parametrize("case", range(len(PARTS)))
def test_dominates_and_is_near(case: int, most: int, shrink: Fraction) -> None:
    with working_precision(256):
        grid = Grid(Fraction(1, 1024), shrink)
        parts = [(law(grid, masses, infinite), times) for masses, infinite, times in PARTS[case]]
        found = composed(parts, TAIL, most)
        masses, infinite = plain(parts)
        for j in range(-40, 200):
            level = Fraction(j * 17, 1024)
            upper = delta(grid, found.masses, found.infinite, level)
            lower = delta(grid, masses, infinite, level)
            assert not upper < lower
            if most == 1 << 16 and not shrink:
                assert not upper > lower + arb(10) ** -18


def test_what_is_cut_off_is_at_most_the_tail() -> None:
    with working_precision(256):
        grid = Grid(Fraction(1, 64))
        one = law(grid, {-1: "0.375", 0: "0.25", 1: "0.375"})
        for tail in (Fraction(1, 10**3), Fraction(1, 10**12)):
            found = composed([(one, 1000)], tail)
            assert found.infinite > 0
            assert found.infinite < arb(1) * tail.numerator / tail.denominator
            total = sum(found.masses.values(), found.infinite)
            assert total >= 1
            assert total < 1 + arb(10) ** -15


def test_one_use_is_the_law_itself() -> None:
    one = law(Grid(Fraction(1, 8)), {0: "0.5", 3: "0.5"})
    assert composed([(one, 1)], TAIL) is one
