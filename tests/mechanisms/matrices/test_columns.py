"""How sensitive C x is, against all patterns and signs of small matrices."""

import itertools
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from conformance.truth import patterns
from flint import fmpz_mat

from exactdp import ParameterError
from exactdp.mechanisms.matrices.columns import Table, Tree, _Bounds, buffered, endless, prefix_root
from exactdp.mechanisms.matrices.participation import Participation
from exactdp.verify.checker.releases import Participation as Checked
from exactdp.verify.checker.releases import Tree as CheckedTree


def rows_of(steps, restart):
    """All intervals of a tree, as rows of 0 and 1."""
    for begin in range(0, steps, restart):
        size, width = min(restart, steps - begin), 1
        while width <= size:
            for i in range(size // width):
                inside = range(begin + i * width, begin + (i + 1) * width)
                yield [int(t in inside) for t in range(steps)]
            width *= 2


def largest(rows, who):
    """The largest square, over all patterns and signs."""
    return max(
        sum(sum(sign * row[t] for t, sign in zip(pattern, each, strict=True)) ** 2 for row in rows)
        for pattern in patterns(who.steps, who.times, who.separation, who.fixed)
        for each in itertools.product((1, -1), repeat=len(pattern))
    )


def drawn(seed, most, count):
    """Random participations in few steps."""
    choose = random.Random(seed)
    found = []
    while len(found) < count:
        steps, times, apart = (choose.randint(1, top) for top in (most, 3, 4))
        if (times - 1) * apart < steps:
            found.append((choose, Participation(steps, times, apart, choose.random() < 0.3)))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_steps_that_are_exactly_apart_are_gone_through(seed):
    """Of larger trees, against every pattern's cost, interval by interval; and in the checker."""
    choose = random.Random(seed)
    for _ in range(20):
        steps, apart = choose.randint(1, 60), choose.randint(1, 16)
        restart = choose.randint(1, steps)
        times = choose.randint(1, 1 + (steps - 1) // apart)
        who = Participation(steps, times, apart, True)
        rows = np.array(list(rows_of(steps, restart)))
        truth = max(
            int((rows[:, list(one)].sum(axis=1) ** 2).sum())
            for one in patterns(who.steps, who.times, who.separation, who.fixed)
        )
        found = Tree(steps, restart).sensitivity(who)
        assert found.square.lower == found.square.upper == truth
        checked = CheckedTree(steps, restart).square(Checked(times, apart, True), found.pattern)
        assert checked == (truth, truth)


def test_trees_are_as_sensitive_as_their_worst_pattern():
    for choose, who in drawn(1, 16, 80):
        restart = choose.choice([who.steps, choose.randint(1, who.steps)])
        found = Tree(who.steps, restart).sensitivity(who)
        truth = largest(list(rows_of(who.steps, restart)), who)
        assert found.square.lower == found.square.upper == truth
        assert sum(size**2 * count for size, count in found.shifts) == truth


@pytest.mark.parametrize("least", [0, -3])
def test_tables_are_as_sensitive_as_their_worst_pattern(least):
    for choose, who in drawn(2, 9, 80):
        entries = [
            [choose.randint(least, 5) if t <= i else 0 for t in range(who.steps)]
            for i in range(who.steps)
        ]
        found = Table(fmpz_mat(entries)).sensitivity(who).square
        truth = largest(entries, who)
        assert found.lower <= truth <= found.upper
        if least == 0:
            assert found.upper <= truth * (1 + Fraction(1, 10**9))


def test_the_root_of_prefix_sums():
    with mpmath.workdps(40):
        r = [mpmath.binomial(2 * j, j) / mpmath.mpf(4) ** j for j in range(2000)]
        v = [mpmath.fsum(r[t - 342 * i] for i in range(6) if t >= 342 * i) for t in range(2000)]
        truth = mpmath.sqrt(mpmath.fsum(x * x for x in v))
        found = prefix_root(2000).sensitivity(Participation(2000, 6, 342))
        low, high = (mpmath.mpf(x.numerator) / x.denominator for x in (found.lower, found.upper))
        assert low <= truth * (1 + mpmath.mpf(10) ** -36)
        assert truth <= high * (1 + mpmath.mpf(10) ** -36)
        assert abs(low - truth) < mpmath.mpf(10) ** -30
    assert f"{float(found.lower):.15f}" == "6.044434878396733"


@pytest.mark.parametrize(("times", "apart", "fixed"), [(1, 1, False), (3, 2, False), (4, 3, True)])
def test_toeplitz_matrices_against_all_patterns(times, apart, fixed):
    who = Participation(12, times, apart, fixed)
    scales, decays = [Fraction(1, 3), Fraction(1, 4)], [Fraction(9, 10), Fraction(1, 2)]
    r = [Fraction(1)]
    r += [sum(s * d**j for s, d in zip(scales, decays, strict=True)) for j in range(11)]
    entries = [[r[i - t] if t <= i else 0 for t in range(12)] for i in range(12)]
    truth = max(
        sum(sum(row[t] for t in pattern) ** 2 for row in entries)
        for pattern in patterns(who.steps, who.times, who.separation, who.fixed)
    )
    found = buffered(12, scales, decays).sensitivity(who).square
    assert found.lower <= truth <= found.upper
    assert found.is_within(Fraction(1, 10**30))


@pytest.mark.parametrize(("times", "apart"), [(1, 1), (3, 2), (2, 7)])
def test_streams_of_any_length_are_the_limit_of_long_ones(times, apart):
    scales, decays = [Fraction(1, 3), Fraction(1, 4)], [Fraction(7, 10), Fraction(1, 2)]
    without = endless(scales, decays)
    limit = without.sensitivity(Participation(without.steps, times, apart)).square
    found = [
        buffered(steps, scales, decays).sensitivity(Participation(steps, times, apart)).square
        for steps in (20, 60, 400)
    ]
    assert found[0].upper < found[1].lower <= found[1].upper < found[2].upper
    assert limit.is_within(Fraction(1, 10**30))
    assert limit.lower >= found[1].lower
    assert abs(Fraction(limit.upper) - Fraction(found[2].upper)) < Fraction(1, 10**30)


def test_steps_that_wait_for_an_interval_cost_more():
    """The densest patterns cost 194 at most; 196 is what a recursion over all of them has."""
    found = Tree(1024, 1024).sensitivity(Participation(1024, 8, 100))
    assert found.square.lower == found.square.upper == 196
    rows = rows_of(1024, 1024)
    assert sum(sum(row[t] for t in found.pattern) ** 2 for row in rows) == 196


def every(steps, times, apart, first=0):
    """All patterns of up to so many steps."""
    yield ()
    for step in range(first, steps if times else 0):
        yield from ((step, *rest) for rest in every(steps, times - 1, apart, step + apart))


@pytest.mark.slow
def test_blocks_find_the_worst_of_all_patterns():
    """Whatever is known to be attained before; the checker's bound is no less, and hardly more."""
    for choose, who in drawn(3, 22, 60):
        steps, times, apart = who.steps, who.times, who.separation
        tree = Tree(steps, choose.choice([steps, choose.randint(1, steps)]))
        loose, patterns = Participation(steps, times, apart), every(steps, times, apart)
        truth = max(tree.cost(pattern) for pattern in patterns if pattern)
        bounds = _Bounds.of(tree, loose)
        assert bounds.best(truth) is None
        for least in (0, truth // 2, truth - 1):
            found = bounds.best(least)
            assert tree.cost(found) == truth and len(found) <= times
            assert all(b - a >= apart for a, b in itertools.pairwise(found))
            assert found[0] >= 0 and found[-1] < steps
        checked, who = CheckedTree(steps, tree.restart), Checked(times, apart, False)
        low, high = checked.square(who, found)
        assert low == truth <= high <= truth + 4 and high == checked.square(who, (0,))[1]


@pytest.mark.parametrize(
    ("steps", "times", "apart", "square"),
    [(2000, 6, 313, 79), (5000, 50, 90, 4562), (1 << 20, 30, 1000, 6656)],
)
def test_bounds_that_do_not_meet_are_closed(steps, times, apart, square):
    tree, who = Tree(steps, steps), Participation(steps, times, apart)
    assert _Bounds.of(tree, who).most > square
    found = tree.sensitivity(who)
    assert found.square.lower == found.square.upper == tree.cost(found.pattern) == square
    assert all(b - a >= apart for a, b in itertools.pairwise(found.pattern))


def test_what_was_rounded_away_is_accounted_for():
    entries = [[3, 0], [1, 2]]
    plain = Table(fmpz_mat(entries), Fraction(1, 1000)).sensitivity(Participation(2, 2))
    rough = Table(fmpz_mat(entries), Fraction(1, 1000), True).sensitivity(Participation(2, 2))
    assert rough.lower < plain.lower == plain.upper or rough.upper > plain.upper
    moved = fmpz_mat([[4, 0], [2, 3]])  # any matrix within a unit of it
    other = Table(moved, Fraction(1, 1000)).sensitivity(Participation(2, 2))
    assert rough.lower <= other.lower <= other.upper <= rough.upper


def test_streams_of_any_length_need_buffers_that_forget():
    with pytest.raises(ParameterError, match="below 1"):
        endless([Fraction(1, 2)], [Fraction(1)])
    assert endless([Fraction(0)], [Fraction(1)]).terms == ()


@pytest.mark.parametrize("fixed", [False, True])
def test_a_step_after_which_no_more_fit_counts(fixed):
    """A user may take part fewer times: the middle column costs more than both others."""
    found = Table(fmpz_mat([[1, 0, 0], [0, 10, 0], [0, 0, 1]]))
    assert found.sensitivity(Participation(3, 2, 2, fixed)).square.lower == 100
    assert found.sensitivity(Participation(3, 2, 2, fixed)).pattern == (1,)
    rows = [[-1, 0, 0, 0], [1, -1, 0, 0], [1, 2, 1, 0], [0, 1, -1, 1]]
    square = Table(fmpz_mat(rows)).sensitivity(Participation(4, 2, 3, fixed)).square
    assert square.lower <= 6 <= square.upper
