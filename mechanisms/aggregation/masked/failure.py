"""How likely the random graph of a round is a bad one, exactly or between two exact bounds.

The users stand on the circle in a uniformly random order. Which users are corrupt and which vanish
is assumed not to depend on it (Bell et al., CCS 2020, assume the same); then r of the n users
stand at a uniformly random set of r places.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from ....exact.enclosure import Enclosure
from ....exact.number import ExactInput, ParameterError, whole
from .graph import check_neighbours

__all__ = ["GraphFailure", "graph_failure"]


@dataclass(frozen=True)
class GraphFailure:
    """Probabilities over the graph; `corrupt` users collude with the server, `dropout` vanish.

    exposed       some honest user has at least t corrupt neighbours: they and the server know
                  both its secrets
    disconnected  the honest users that remain fall into several parts, each with a sum of its own
    both_shares   some honest user has so many corrupt neighbours, c >= 2t - k, that a server that
                  lies about who vanished may get both its secrets
    isolated      some run of k/2 users has at least t - k/2 corrupt ones: a server that lies may
                  find a list that isolates some honest users
    aborted       some user has fewer than t neighbours that remain: there may be no sum
    """

    exposed: Enclosure
    disconnected: Enclosure
    both_shares: Enclosure
    isolated: Enclosure
    aborted: Enclosure

    @property
    def honest_server(self) -> Enclosure:
        """That a server that follows the protocol can learn more than the sum."""
        return _any(self.exposed, self.disconnected)

    @property
    def lying_server(self) -> Enclosure:
        """That one that lies about who vanished can, with one list for all."""
        return _any(self.exposed, self.disconnected, self.both_shares, self.isolated)


def graph_failure(
    users: ExactInput,
    neighbours: ExactInput,
    threshold: ExactInput,
    corrupt: ExactInput = 0,
    dropout: ExactInput = 0,
) -> GraphFailure:
    """The probabilities that the graph of a round fails.

    Exact where the ends agree. Elsewhere the lower end is the probability for one user (or one
    run), the upper end so many times that as there are (the union bound, at most 1).
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
    half = k // 2
    complete = k == n - 1
    # The k neighbours of a user are a uniformly random set of the n - 1 others.
    return GraphFailure(
        _union(honest, _tail(n - 1, c, k, t)),
        Enclosure.exactly(0 if complete else _disconnected(n, n - c - d, half)),
        _union(honest, _tail(n - 1, c, k, 2 * t - k)),
        Enclosure.exactly(0) if complete else _union(n, _tail(n, c, half, t - half)),
        _union(n, _tail(n - 1, d, k, k - t + 1)),
    )


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
    ways = sum(
        comb(marked, x) * comb(population - marked, drawn - x)
        for x in range(max(at_least, 0), min(marked, drawn) + 1)
    )
    return Fraction(ways, comb(population, drawn))


def _union(count: int, each: Fraction) -> Enclosure:
    return Enclosure(each, min(Fraction(1), count * each))


def _any(*events: Enclosure) -> Enclosure:
    """At least the likeliest of them, at most their sum."""
    uppers = sum((Fraction(each.upper) for each in events), Fraction(0))
    return Enclosure(max(Fraction(each.lower) for each in events), min(Fraction(1), uppers))
