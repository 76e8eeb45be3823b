"""Sampled users by brute force: the law of what is released is summed over all subsets of users.

No library code. A dataset is what each of its users adds to the query; every user takes part with
the same probability, independently.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product

import mpmath
from brute_force import DIGITS, Listed
from mpmath import mpf

Query = Callable[[tuple[int, ...]], int]  # of those who take part
Batches = Iterable[tuple[mpf, tuple[int, ...]]]  # each with its probability


def poisson(users: Sequence[int], rate: mpf) -> Batches:
    """All subsets, drawn by Poisson sampling."""
    for taken in product((False, True), repeat=len(users)):
        weight = mpmath.fprod(rate if here else 1 - rate for here in taken)
        yield weight, tuple(user for user, here in zip(users, taken, strict=True) if here)


def fixed_size(users: Sequence[int], size: int) -> Batches:
    """All subsets of this size, each as likely."""
    weight = mpf(1) / mpmath.binomial(len(users), size)
    for batch in combinations(users, size):
        yield weight, batch


def released(
    batches: Batches, query: Query, response: Callable[[int], dict[int, mpf]]
) -> dict[int, mpf]:
    """The law of what is released. response: its law where the query is this."""
    found: dict[int, mpf] = {}
    with mpmath.workdps(DIGITS):
        values: dict[int, mpf] = {}
        for weight, batch in batches:
            value = query(batch)
            values[value] = values.get(value, mpf(0)) + weight
        for value, weight in values.items():
            for outcome, mass in response(value).items():
                found[outcome] = found.get(outcome, mpf(0)) + weight * mass
    return found


def neighbours(one: dict[int, mpf], other: dict[int, mpf]) -> Listed:
    """Both laws, outcome by outcome."""
    zero = mpf(0)
    return [(one.get(x, zero), other.get(x, zero)) for x in sorted(one.keys() | other.keys())]


def together(one: Listed, other: Listed) -> Listed:
    """Two independent uses."""
    with mpmath.workdps(DIGITS):
        return [(p * s, q * t) for p, q in one for s, t in other]
