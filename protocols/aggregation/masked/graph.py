"""Who masks with whom: a sparse random graph that everyone can compute; how likely it is a bad one.

Bell, Bonawitz, Gascón, Lepoint and Raykova, "Secure Single-Server Aggregation with
(Poly)Logarithmic Overhead" (CCS 2020), Section 3: the users stand on a circle in a random order,
and each has the k/2 next to it on either side as neighbours (the Harary graph on k and n). The
order comes from public randomness, so no one has to believe the server about it.

*Failure*, exactly or between two exact bounds. The users stand on the circle in a uniformly random
order. Which users are corrupt and which vanish is assumed not to depend on it (Bell et al. assume
the same); then r of the n users stand at a uniformly random set of r places. Why no server learns
more than one sum where none of `both_shares`, `isolated` and `split` happens is proved in the
package's documentation.

A graph is good enough if a server that lies, with the corrupt users that the terms allow for, can
learn more than one sum with at most the stated probability (`GraphFailure.lying_server`).
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ....exact.enclosure import Enclosure
from ....exact.number import ExactInput, ParameterError, whole

_UNIT = 1 << 256  # upper bounds that are added up are rounded up to multiples of 1/_UNIT
FAILURE = Fraction(1, 10**9)  # by default: of a round, that the server can learn more than the sum
_NO_SUM = Fraction(1, 10**6)  # of a round with as many missing as there may be, that it has no sum


def check_neighbours(users: int, neighbours: int) -> None:
    """Raise ParameterError unless the circle of `users` has a graph of this degree."""
    even = neighbours % 2 == 0 and 2 <= neighbours < users
    if not (even or neighbours == users - 1 >= 1):
        raise ParameterError(
            f"neighbours must be an even number between 2 and users - 1 = {users - 1}, or "
            f"{users - 1} itself, got {neighbours}"
        )


@frozen
class Circle:
    """The users in the order in which they stand on the circle, and how many neighbours each has.

    neighbours: even, or all others.
    """

    order: tuple[int, ...]
    neighbours: int

    @staticmethod
    def drawn(users: Sequence[int], neighbours: int, seed: bytes) -> Circle:
        """The circle that the public seed determines: the users sorted by SHA-256(seed, user)."""

        def place(user: int) -> bytes:
            return hashlib.sha256(seed + user.to_bytes(8, "little")).digest()

        return Circle(tuple(sorted(users, key=place)), neighbours)

    def near(self) -> dict[int, tuple[int, ...]]:
        """The neighbours of each user."""
        n, order = len(self.order), self.order
        half = self.neighbours // 2
        steps = range(1, n) if self._is_complete else (*range(-half, 0), *range(1, half + 1))
        return {
            user: tuple(order[(place + step) % n] for step in steps)
            for place, user in enumerate(order)
        }

    def neighbours_among(self, present: NDArray[np.bool_]) -> NDArray[np.int64]:
        """How many of each user's neighbours are present.

        present: booleans, in the order of the circle, as is the result.
        """
        counted = present.astype(np.int64)
        if self._is_complete:
            return int(counted.sum()) - counted
        half = self.neighbours // 2
        around = np.concatenate(([0], counted[-half:], counted, counted[:half])).cumsum()
        windows: NDArray[np.int64] = around[2 * half + 1 :] - around[: -2 * half - 1]
        return windows - counted

    @property
    def _is_complete(self) -> bool:
        return self.neighbours == len(self.order) - 1


@frozen
class GraphFailure:
    """Probabilities over the graph; `corrupt` users collude with the server, `dropout` vanish.

    exposed       some honest user has at least t corrupt neighbours: they and the server know
                  both its secrets
    disconnected  the honest users that remain fall into several parts, each with a sum of its own
    both_shares   some honest user has so many corrupt neighbours, c >= 2t - k, that a server that
                  lies about who vanished may get both its secrets
    isolated      two disjoint runs of k/2 users have at least t - k/2 corrupt ones each: a server
                  that lies may find lists that cut some honest users off
    split         a server that shows different lists may get more than one of them unmasked
    aborted       some user has fewer than t neighbours that remain: there may be no sum

    >>> found = graph_failure(users=1000, neighbours=240, threshold=180, corrupt=100)
    >>> found.honest_server <= "1e-9", found.lying_server <= "1e-4"
    (True, True)
    """

    exposed: Enclosure
    disconnected: Enclosure
    both_shares: Enclosure
    isolated: Enclosure
    split: Enclosure
    aborted: Enclosure

    @property
    def honest_server(self) -> Enclosure:
        """That a server that follows the protocol can learn more than the sum."""
        return any_of(self.exposed, self.disconnected)

    @property
    def lying_server(self) -> Enclosure:
        """That one that shows any lists to anybody can.

        It covers every list that users accept, so that `disconnected` need not be added; and who
        is exposed has both shares in reach, since t >= 2t - k.
        """
        return any_of(self.both_shares, self.isolated, self.split)


def graph_failure(
    users: ExactInput,
    neighbours: ExactInput,
    threshold: ExactInput,
    corrupt: ExactInput = 0,
    dropout: ExactInput = 0,
) -> GraphFailure:
    """The probabilities that the graph of a round fails.

    Exact where the ends agree. Elsewhere the lower end is the probability for one user (or 0), the
    upper end that times as many as there are (the union bound, at most 1).

    users: in the round. neighbours: k of each. threshold: t, how many must remain of them.
    corrupt: the most that collude with the server. dropout: the most that vanish.
    Raises ParameterError for numbers that make no graph.

    >>> graph_failure(users=1000, neighbours=240, threshold=180, corrupt=100).lying_server <= "1e-4"
    True
    >>> graph_failure(users=1000, neighbours=20, threshold=11, corrupt=100).lying_server <= "1e-4"
    False
    """
    n = whole(users, "users", at_least=2)
    k = whole(neighbours, "neighbours", at_least=1)
    check_neighbours(n, k)
    t = whole(threshold, "threshold", at_least=k // 2 + 1, at_most=k)
    c = whole(corrupt, "corrupt", at_least=0)
    d = whole(dropout, "dropout", at_least=0)
    honest = n - c
    if c + d >= n:
        raise ParameterError(f"corrupt and dropout together must be below users = {n}, got {c + d}")
    # The k neighbours of a user are a uniformly random set of the n - 1 others.
    return GraphFailure(
        _union(honest, _tail(n - 1, c, k, t)),
        Enclosure.exactly(0 if k == n - 1 else _disconnected(n, n - c - d, k // 2)),
        *lies(n, k, t, c),
        too_few(n, k, t, d),
    )


def lies(n: int, k: int, t: int, corrupt: int) -> tuple[Enclosure, Enclosure, Enclosure]:
    """What a server that lies needs: `both_shares`, `isolated` and `split`."""
    both = _union(n - corrupt, _tail(n - 1, corrupt, k, 2 * t - k))
    if k == n - 1:  # one part; and 2 (t + 1) users that confirm would be more than n + corrupt
        return both, Enclosure.exactly(0), Enclosure.exactly(0)
    return both, _isolated(n, corrupt, k // 2, t - k // 2), _split(n, corrupt, k, t)


def too_few(n: int, k: int, t: int, dropout: int) -> Enclosure:
    """`aborted`."""
    return _union(n, _tail(n - 1, dropout, k, k - t + 1))


def _isolated(n: int, corrupt: int, half: int, needed: int) -> Enclosure:
    """Two disjoint runs of `half` places, both with `needed` corrupt ones or more.

    Each of the n (n - 2 half + 1)/2 pairs has it with at most the square of the probability of one
    run: places drawn without replacement are negatively associated (Joag-Dev and Proschan,
    "Negative association of random variables", Annals of Statistics 11 (1983)).
    """
    one = _tail(n, corrupt, half, needed)
    pairs = max(0, n * (n - 2 * half + 1) // 2)
    return Enclosure(Fraction(0), min(Fraction(1), pairs * one * one))


def _split(n: int, corrupt: int, k: int, t: int) -> Enclosure:
    """The corrupt ones stand such that users with different lists may all be unmasked.

    Lists change at two or more places of the circle at least: from a to b, honest users that
    unmask by different lists, b d places after a and no honest user between them that unmasks.

    - t of the neighbours of a, and a, confirm its list, and so for b; an honest user confirms one.
      Of the k + 1 - d places near both, the honest ones number at most 2 (k - t): the corrupt ones
      at least 2t - k + 1 - d.
    - The shares of a are opened by at most k - (d - 1) neighbours, if d <= k/2 + 1, and the corrupt
      ones of the d - 1 places between: for t in all these must be at least t - k + d - 1. For
      larger d at least t - k/2 of the k/2 places after a are corrupt.

    For each d the rarer of the two. What lies between is disjoint for different changes, so for
    the latter kind there are two such runs (negative association as above).
    """
    half = k // 2
    near, between = 0, _up(_tail(n, corrupt, half, t - half))
    for d in range(1, half + 2):
        one = _up(_tail(n, corrupt, k + 1 - d, 2 * t - k + 1 - d))
        other = _up(_tail(n, corrupt, d - 1, t - k + d - 1))
        if one * _UNIT <= n * other * other:
            near += one
        else:
            between += other
    found = n * Fraction(near, _UNIT) + (n * Fraction(between, _UNIT)) ** 2 / 2
    return Enclosure(Fraction(0), min(Fraction(1), found))


def _disconnected(n: int, remaining: int, half: int) -> Fraction:
    """P(a uniformly random set of `remaining` places out of n on a circle is not connected).

    Places at most `half` apart are joined, so the set falls apart if and only if at least two of
    the gaps between its successive places hold `half` or more missing ones. Seen from one of the
    remaining places the gaps are a uniformly random composition of n - remaining into `remaining`
    parts >= 0 (each set has as many marked places as it has members). By inclusion and exclusion,
    with N_j the sum over j-subsets of gaps of the compositions in which all j are long, those with
    at least two long gaps number sum_{j >= 2} (-1)^j (j - 1) N_j.
    """
    missing = n - remaining

    def compositions(total: int) -> int:
        return comb(total + remaining - 1, remaining - 1)

    bad = sum(
        (-1) ** j * (j - 1) * comb(remaining, j) * compositions(missing - j * half)
        for j in range(2, min(remaining, missing // half) + 1)
    )
    return Fraction(bad, compositions(missing))


def _tail(population: int, marked: int, drawn: int, at_least: int) -> Fraction:
    """P(at least so many marked ones among `drawn` without replacement), hypergeometric."""
    if at_least > min(marked, drawn):
        return Fraction(0)
    ways = _ways(population, marked, drawn)
    return Fraction(ways[max(at_least, 0)], ways[0])


@lru_cache(maxsize=2048)
def _ways(population: int, marked: int, drawn: int) -> tuple[int, ...]:
    """How many sets of `drawn` have at least 0, 1, ... marked ones."""
    exactly = [
        comb(marked, x) * comb(population - marked, drawn - x)
        for x in range(min(marked, drawn) + 1)
    ]
    return tuple(accumulate(reversed(exactly)))[::-1]


def _up(chance: Fraction) -> int:
    """In units of 1/_UNIT, rounded up."""
    return -(-chance.numerator * _UNIT // chance.denominator)


def _union(count: int, each: Fraction) -> Enclosure:
    return Enclosure(each, min(Fraction(1), count * each))


def any_of(*events: Enclosure) -> Enclosure:
    """At least the likeliest of them, at most their sum."""
    uppers = sum((Fraction(each.upper) for each in events), Fraction(0))
    return Enclosure(max(Fraction(each.lower) for each in events), min(Fraction(1), uppers))


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
    evens = range(2, high + 1, 2) if high < users - 1 else range(high // 2, users - 1, 2)
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
