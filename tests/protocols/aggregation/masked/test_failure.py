"""Probabilities over the graph, against counting every set of places."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import pytest

from exactdp import Enclosure
from exactdp.protocols.aggregation.masked import graph_failure
from exactdp.protocols.aggregation.masked.graph import Circle

CASES = [(9, 2, 2, 2, 2), (9, 4, 3, 2, 3), (10, 4, 3, 4, 2), (11, 4, 4, 3, 3), (10, 6, 5, 3, 5)]


def parts(near, present):
    """How many connected parts these users form."""
    left, count = set(present), 0
    while left:
        count, edge = count + 1, [left.pop()]
        while edge:
            found = set(near[edge.pop()]) & left
            left -= found
            edge += found
    return count


def frequency(population, size, happens):
    sets = [set(chosen) for chosen in combinations(population, size)]
    return Fraction(sum(map(happens, sets)), len(sets))


@pytest.mark.parametrize(("n", "k", "t", "corrupt", "dropout"), CASES)
def test_against_every_set_of_places(n, k, t, corrupt, dropout):
    circle = Circle(tuple(range(n)), k)
    near, everyone = circle.near(), set(range(n))
    found = graph_failure(n, k, t, corrupt, dropout)

    def some_has(bad, needed, others):
        return any(len(bad & set(near[user])) >= needed for user in others)

    def runs(bad):
        half = k // 2
        rich = [at for at in range(n) if sum((at + j) % n in bad for j in range(half)) >= t - half]
        return any(half <= b - a <= n - half for a, b in combinations(rich, 2))

    exposed = frequency(everyone, corrupt, lambda bad: some_has(bad, t, everyone - bad))
    both = frequency(everyone, corrupt, lambda bad: some_has(bad, 2 * t - k, everyone - bad))
    aborted = frequency(everyone, dropout, lambda gone: some_has(gone, k - t + 1, everyone))
    apart = frequency(everyone, corrupt + dropout, lambda out: parts(near, everyone - out) > 1)
    assert found.exposed.contains(exposed)
    assert found.both_shares.contains(both)
    assert found.aborted.contains(aborted)
    assert found.isolated.contains(frequency(everyone, corrupt, runs))
    assert found.disconnected == Enclosure.exactly(apart)


def test_some_of_these_do_fall_apart():
    assert graph_failure(9, 2, 2, 2, 2).disconnected.greater_than(0)
    assert graph_failure(10, 4, 3, 4, 2).disconnected.greater_than(0)


@pytest.mark.parametrize(("n", "k", "t"), [(10, 4, 3), (9, 4, 4)])
def test_no_list_isolates_where_runs_have_few_corrupt(n, k, t):
    # What users accept: lists on which everyone has t neighbours. Every list, every two corrupt.
    near, half, refuted = Circle(tuple(range(n)), k).near(), k // 2, 0
    for size in range(t + 1, n + 1):
        for listed in map(set, combinations(range(n), size)):
            if min(len(listed & set(near[user])) for user in listed) < t:
                continue
            for bad in map(set, combinations(range(n), 2)):
                rich = [
                    at
                    for at in range(n)
                    if sum((at + j) % n in bad for j in range(half)) >= t - half
                ]
                if not any(half <= b - a <= n - half for a, b in combinations(rich, 2)):
                    assert parts(near, listed - bad) == 1
                refuted += parts(near, listed - bad) > 1
    assert bool(refuted) == (t == 3)  # one corrupt user in each of two runs is enough there


def two_lists(near, t, bad):
    """Can users with two lists unmask, and every honest user be opened by t of its neighbours?

    Any honest user confirms one list or the other (none would only be less); it unmasks if t of its
    neighbours confirm the same, where a corrupt one confirms anything; it opens the shares of all.
    """
    honest = [user for user in near if user not in bad]
    for labels in product((1, 2), repeat=len(honest)):
        label = dict(zip(honest, labels, strict=True))
        unmask = {
            user: label[user]
            for user in honest
            if sum(other in bad or label[other] == label[user] for other in near[user]) >= t
        }
        if len(set(unmask.values())) == 2 and all(
            sum(other in bad or other in unmask for other in near[user]) >= t for user in honest
        ):
            return True
    return False


@pytest.mark.slow_cases("12-6-5-4-True")
@pytest.mark.parametrize(
    ("n", "k", "t", "corrupt", "possible"),
    [
        *((8, 2, 2, 0, False), (8, 2, 2, 1, False), (8, 2, 2, 2, True), (9, 4, 3, 0, False)),
        *((9, 4, 4, 0, False), (9, 4, 4, 1, False), (10, 4, 4, 2, False), (10, 6, 4, 0, False)),
        *((9, 6, 5, 1, False), (11, 6, 5, 3, False), (8, 7, 5, 2, False)),
        *((13, 6, 4, 0, False), (14, 6, 4, 0, True), (10, 4, 3, 2, True), (12, 6, 5, 4, True)),
    ],
)
def test_two_lists_are_unmasked_only_where_the_corrupt_stand_for_it(n, k, t, corrupt, possible):
    near = Circle(tuple(range(n)), k).near()
    # by symmetry user 0 is corrupt, if any is
    sets = [{0, *rest} for rest in combinations(range(1, n), corrupt - 1)] if corrupt else [set()]
    bad = [bool(two_lists(near, t, each)) for each in sets]
    found = graph_failure(n, k, t, corrupt).split
    assert found.contains(Fraction(sum(bad), len(bad)))
    assert any(bad) == possible
    if n == k + 1:
        assert graph_failure(n, k, t, corrupt).both_shares == Enclosure.exactly(1) or not any(bad)


def test_a_complete_graph_stays_in_one_part():
    found = graph_failure(6, 5, 4, 2, 1)
    assert found.disconnected == found.isolated == Enclosure.exactly(0)
    assert found.exposed == Enclosure.exactly(0)  # two cannot open what takes four
    # each of four honest users has both corrupt ones among its neighbours, and 2t - k = 3
    assert found.both_shares == Enclosure.exactly(0)
    assert graph_failure(6, 5, 3, 1).both_shares == Enclosure.exactly(1)


def test_the_tails_are_hypergeometric():
    n, k, t, c = 1024, 32, 22, 51
    found = graph_failure(n, k, t, c, 51)
    each = Fraction(
        sum(comb(c, x) * comb(n - 1 - c, k - x) for x in range(12, k + 1)), comb(n - 1, k)
    )
    assert found.both_shares == Enclosure(each, (n - c) * each)
    assert found.exposed.less_than(Fraction(1, 10**12))
    assert found.honest_server.less_than(Fraction(1, 10**12))
    assert found.aborted.less_than(Fraction(1, 1000))
    assert found.lying_server.lower >= found.isolated.lower
