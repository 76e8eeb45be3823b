"""Which graph a round needs: neighbours and threshold, from a stated failure probability.

A graph is good enough if a server that lies, with the corrupt users that the terms allow for, can
learn more than one sum with at most that probability (`GraphFailure.lying_server`).
"""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache

from ....exact.number import ParameterError
from .failure import any_of, lies, too_few
from .graph import check_neighbours

__all__ = ["FAILURE", "check_graph", "least_graph", "least_threshold"]

FAILURE = Fraction(1, 10**9)  # by default: of a round, that the server can learn more than the sum
_NO_SUM = Fraction(1, 10**6)  # of a round with as many missing as there may be, that it has no sum


def check_graph(
    users: int, neighbours: int, threshold: int, corrupt: int, failure: Fraction
) -> None:
    """Raise ParameterError unless the graph is proved to fail with at most this probability."""
    bound = _risk(users, neighbours, threshold, corrupt)
    if bound > failure:
        raise ParameterError(
            f"failure is stated as at most {float(failure):.3g}, but with {neighbours} neighbours, "
            f"threshold {threshold} and {corrupt} of {users} users corrupt a server that lies may "
            f"learn more than the sum with probability up to {float(bound):.3g}"
        )


def least_threshold(users: int, neighbours: int, corrupt: int, failure: Fraction) -> int:
    """The least threshold with which a graph of this degree is good enough, by bisection.

    A larger one is better: all events are that at least so many are corrupt as grow with it.
    Raises ParameterError where none is.
    """
    check_neighbours(users, neighbours)
    choices = range(neighbours // 2 + 1, neighbours + 1)
    place = bisect_left(
        choices, True, key=lambda t: _risk(users, neighbours, t, corrupt) <= failure
    )
    if place == len(choices):
        check_graph(users, neighbours, neighbours, corrupt, failure)
    return choices[place]


@lru_cache(maxsize=256)
def least_graph(users: int, corrupt: int, dropout: int, failure: Fraction) -> tuple[int, int]:
    """The fewest neighbours that are found, and the least threshold with them.

    They are good enough, and if `dropout` users vanish that do not depend on the graph, each user
    keeps as many neighbours as the threshold except with probability 1e-6. Found by bisection; the
    graph may have all edges. Raises ParameterError where not even that one will do.
    """

    def threshold(neighbours: int) -> int | None:
        try:
            least = least_threshold(users, neighbours, corrupt, failure)
        except ParameterError:
            return None
        return least if too_few(users, neighbours, least, dropout).at_most(_NO_SUM) else None

    high = 2
    while high < users - 1 and threshold(high) is None:
        high *= 2
    if high < users - 1:
        evens = range(2, high + 1, 2)
        neighbours = evens[bisect_left(evens, True, key=lambda k: threshold(k) is not None)]
    else:
        evens = range(high // 2, users - 1, 2)
        place = bisect_left(evens, True, key=lambda k: threshold(k) is not None)
        neighbours = evens[place] if place < len(evens) else users - 1
    needed = threshold(neighbours)
    if needed is None:
        raise ParameterError(
            f"dropout = {dropout} and corrupt = {corrupt} are too many of {users} users: in no "
            f"graph are the neighbours that remain as many as are needed"
        )
    return neighbours, needed


def _risk(users: int, neighbours: int, threshold: int, corrupt: int) -> Fraction:
    return Fraction(any_of(*lies(users, neighbours, threshold, corrupt)).upper)
