"""The graph: regular, mutual, without loops, for all to compute."""

import random

import numpy as np
import pytest

from exactdp import ParameterError
from exactdp.mechanisms.aggregation.masked.graph import Circle, check_neighbours

SHAPES = [(2, 1), (3, 2), (4, 2), (4, 3), (9, 4), (10, 4), (17, 16), (18, 16), (50, 32)]


@pytest.mark.parametrize(("users", "neighbours"), SHAPES)
def test_each_has_so_many_neighbours_and_is_theirs(users, neighbours):
    names = [7 * user + 3 for user in range(users)]
    near = Circle.drawn(names, neighbours, b"seed").near()
    assert near.keys() == set(names)
    for user, others in near.items():
        assert len(set(others)) == len(others) == neighbours
        assert user not in others
        assert all(user in near[other] for other in others)


@pytest.mark.parametrize(("users", "neighbours"), SHAPES)
def test_counting_those_present(users, neighbours):
    circle = Circle.drawn(range(users), neighbours, b"count")
    draw = random.Random(users)
    here = {user for user in range(users) if draw.random() < 0.6}
    counts = circle.neighbours_among(np.array([user in here for user in circle.order]))
    near = circle.near()
    expected = [sum(other in here for other in near[user]) for user in circle.order]
    assert counts.tolist() == expected


def test_the_seed_alone_determines_it():
    users = range(40)
    assert Circle.drawn(users, 6, b"1") == Circle.drawn(reversed(users), 6, b"1")
    assert Circle.drawn(users, 6, b"1") != Circle.drawn(users, 6, b"2")


@pytest.mark.parametrize(
    ("users", "neighbours"), [(2, 0), (2, 2), (5, 3), (5, 5), (5, 6), (10, 7), (10, -2), (1, 0)]
)
def test_degrees_that_no_circle_has(users, neighbours):
    with pytest.raises(ParameterError, match="neighbours must be"):
        check_neighbours(users, neighbours)
