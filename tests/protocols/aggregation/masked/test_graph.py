"""The graph: regular, mutual, without loops, for all to compute."""

import pytest

from exactdp.protocols.aggregation.masked.graph import Circle

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


def test_the_seed_alone_determines_it():
    users = range(40)
    assert Circle.drawn(users, 6, b"1") == Circle.drawn(reversed(users), 6, b"1")
    assert Circle.drawn(users, 6, b"1") != Circle.drawn(users, 6, b"2")
