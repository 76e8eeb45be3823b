"""Vectors within reach, against all of them in a few dimensions."""

from itertools import product
from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp.mechanisms.additive.reach import Direction, Reach

_SIZES = st.none() | st.fractions(1, 5, max_denominator=4)


@st.composite
def reaches(draw: st.DrawFn) -> Reach:
    return Reach(draw(_SIZES), draw(_SIZES), draw(st.fractions(1, 4)), draw(st.integers(1, 4)))


def everything(reach: Reach) -> list[tuple[int, ...]]:
    """All vectors with coordinates that are not negative, by trying each."""
    assert reach.dimension is not None
    return [
        v
        for v in product(range(6), repeat=reach.dimension)
        if (reach.l2 is None or sum(x * x for x in v) <= reach.l2**2)
        and (reach.l1 is None or sum(v) <= reach.l1)
        and (reach.linf is None or max(v) <= reach.linf)
    ]


def coordinates(direction: Direction) -> list[int]:
    return [move for move, count in direction.items() for _ in range(count)]


@given(reaches())
def test_no_vector_is_longer(reach: Reach) -> None:
    tried = everything(reach)
    assert reach.farthest == max(map(max, tried))
    assert reach.largest_sum == max(map(sum, tried))
    assert reach.largest_square >= max(sum(x * x for x in v) for v in tried)


@given(reaches())
def test_directions_are_within_reach(reach: Reach) -> None:
    assert reach.dimension is not None
    tried = {tuple(sorted(v, reverse=True)) for v in everything(reach)}
    for direction in reach.directions():
        moved = sorted(coordinates(direction), reverse=True)
        assert tuple(moved + [0] * (reach.dimension - len(moved))) in tried


@given(reaches())
def test_the_dearest_vector_has_every_other_among_its_coordinates(reach: Reach) -> None:
    dearest = reach.dearest()
    if dearest is None:
        return
    moved = coordinates(dearest)
    assert set(moved) == {1}
    assert all(max(v) <= 1 and sum(v) <= len(moved) for v in everything(reach))


@pytest.mark.parametrize("dimension", [63, 64, 65, 100, 10**6, 10**15])
def test_no_direction_is_cut_short(dimension: int) -> None:
    flat = Reach(linf=1, dimension=dimension)
    assert flat.dearest() == {1: dimension} == flat.directions()[0]
    assert Reach(linf=3, dimension=dimension).directions() == [{3: dimension}, {1: dimension}]


@given(st.integers(1, 10**6), st.integers(1, 50), st.integers(1, 200))
def test_the_steepest_direction_takes_the_most_at_every_coordinate(
    square: int, linf: int, dimension: int
) -> None:
    reach = Reach.of_square(square, linf, dimension)
    left, taken = square, []
    for _ in range(dimension):
        move = min(isqrt(left), linf)
        left -= move**2
        taken.append(move)
    assert coordinates(reach.directions()[0]) == [move for move in taken if move]


def test_the_dimension_need_not_be_known() -> None:
    assert Reach(l2=4) == Reach(l2="4.0")
    for dimension in (16, 10**6, None):
        reach = Reach(l2=4, dimension=dimension)
        assert (reach.farthest, reach.largest_square, reach.largest_sum) == (4, 16, 16)
    assert Reach(l2=4, dimension=4).largest_sum == 8
    assert Reach(l2="4.5").directions() == [{4: 1, 2: 1}, {1: 20}]
    assert Reach(l1=3).largest_square == 9
