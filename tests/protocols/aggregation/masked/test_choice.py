"""The graph of a round follows from the failure probability that is stated."""

from fractions import Fraction

import pytest
from attrs import evolve

from exactdp import ParameterError
from exactdp.mechanisms.samplers.bits import SeededBits
from exactdp.protocols.aggregation.masked import FAILURE, Terms, graph_failure, least_graph
from exactdp.protocols.aggregation.masked.graph import least_threshold


def fails(users, neighbours, threshold, corrupt):
    return Fraction(graph_failure(users, neighbours, threshold, corrupt).lying_server.upper)


@pytest.mark.parametrize(
    ("users", "corrupt", "dropout"),
    [(2, 0, 0), (3, 1, 0), (10, 1, 2), (40, 4, 2), (60, 6, 20), (200, 20, 10), (1000, 100, 50)],
)
def test_the_default_keeps_to_it_and_hardly_ever_aborts(users, corrupt, dropout):
    neighbours, threshold = least_graph(users, corrupt, dropout, FAILURE)
    assert fails(users, neighbours, threshold, corrupt) <= FAILURE
    least = neighbours // 2 + 1
    assert threshold == least or fails(users, neighbours, threshold - 1, corrupt) > FAILURE
    aborted = graph_failure(users, neighbours, threshold, 0, dropout).aborted
    assert aborted.at_most(Fraction(1, 10**6))
    terms = Terms.drawn(5, range(users), SeededBits(1), dropout=dropout, corrupt=corrupt)
    assert (terms.neighbours, terms.threshold) == (neighbours, threshold)


def test_no_threshold_is_enough():
    with pytest.raises(ParameterError, match="8 neighbours, threshold 8 and 20 of 200"):
        least_threshold(200, 8, 20, FAILURE)


@pytest.mark.parametrize("beacon", [b"", bytes(31), "0" * 32])
def test_beacons_are_checked(beacon):
    with pytest.raises(ParameterError, match="beacon must be 32 bytes"):
        Terms.drawn(5, range(9), SeededBits(1), beacon=beacon)


def test_the_graph_is_the_beacons():
    drawn = [Terms.drawn(5, range(9), SeededBits(s), beacon=bytes(32), neighbours=4, failure=1)
             for s in (1, 2)]  # fmt: skip
    assert drawn[0].circle == drawn[1].circle
    assert drawn[0].digest != drawn[1].digest


ODD_USERS = [(0, "1", 3), (0, 1.0, 2), (0, None, 1), (0, True, 2), ((0,), 1, 2), "abc", 5]


@pytest.mark.parametrize("users", [*ODD_USERS, (0, 1, 1), (0,), ()])
def test_users_that_are_no_distinct_integers_are_refused(users):
    with pytest.raises(ParameterError, match="users must be"):
        Terms.drawn(16, users, SeededBits(1))


@pytest.mark.parametrize("users", [*ODD_USERS, [0, 1, 2], (1, 0, 2), (0, 1, 1, 2), (-1, 0, 1)])
def test_terms_of_such_users_are_refused(users):
    terms = Terms.drawn(16, range(3), SeededBits(1))
    with pytest.raises(ParameterError, match="users must be"):
        evolve(terms, users=users)
