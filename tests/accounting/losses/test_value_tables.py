"""Tables on grids so coarse and short that nothing but their direction can be right."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from exactdp.accounting.losses.of_pair import listed_law
from exactdp.accounting.losses.value_tables import Chords, Grid, Policies
from exactdp.exact import working_precision
from exactdp.exact.number import ball
from exactdp.mechanisms.pair import FinitePair

F = Fraction
weights = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=4)


def masses(drawn):
    """(P, Q) of every outcome, adding up to 1."""
    drawn = [*drawn, (1, 1)]
    p, q = (sum(pair[side] for pair in drawn) for side in (0, 1))
    return [(F(a, p), F(b, q)) for a, b in drawn if a or b]


def law(outcomes):
    p, q = zip(*outcomes, strict=True)
    return listed_law(FinitePair(tuple(map(str, range(len(p)))), p, q), -150.0)


def truth(menu, uses, x):
    if not uses:
        return max(1 - x, F(0))
    return max(
        sum(p * truth(menu, uses - 1, x * q / p) for p, q in outcomes if p) for outcomes in menu
    )


@given(
    st.lists(weights, min_size=1, max_size=2),
    st.integers(1, 3),
    st.sampled_from([F(11, 10), F(4, 3), F(3), F(100)]),
    st.sampled_from([F(1), F(21, 20), F(10, 11)]),
    st.integers(-12, 0),
    st.integers(3, 25),
    st.fractions(F(1, 9), 20, max_denominator=9),
)
@example([[(5, 0), (20, 30)]], 3, F(3), F(1), -3, 4, F(20))  # constant beyond the last point
@example([[(5, 0), (20, 30)], [(0, 9), (9, 9)]], 3, F(3), F(1), 0, 4, F(1, 9))  # below the first
def test_both_sides_hold_everywhere(drawn, uses, ratio, offset, first, count, x):
    menu = [masses(one) for one in drawn]
    exact = truth(menu, uses, x)
    with working_precision(128):
        laws = [law(outcomes) for outcomes in menu]
        # e^(u_j) = offset ratio^(first + j)
        grid = Grid(ball(offset).log(), ball(ratio).log(), first, count)
        chords, policies = Chords(grid, laws), Policies(grid, laws)
        above, below = chords.terminal(), policies.terminal()
        every = list(range(len(laws)))
        for _ in range(uses - 1):
            above = chords.best([(above, every)])
            below = policies.best([(below, every)])
        level = ball(x).log()
        upper = max(chords.at(level, above, number) for number in every)
        lower = max(policies.at(level, below, number) for number in every)
        assert not upper < ball(exact)
        assert not lower > ball(exact)
    # the tables themselves, at their own points
    for index in range(count):
        own = offset * ratio ** (first + index)
        if uses > 1:
            value = truth(menu, uses - 1, own)
            assert F(float(above[index])) >= value
            assert F(float(below.a[index])) - F(float(below.beta[index])) <= value


def test_what_lies_on_the_grid_is_exact():
    """Losses of whole steps: both sides meet, but for rounding."""
    menu = [[(F(2, 3), F(1, 3)), (F(1, 3), F(2, 3))], [(F(4, 7), F(1, 7)), (F(3, 7), F(6, 7))]]
    with working_precision(128):
        laws = [law(outcomes) for outcomes in menu]
        grid = Grid(arb(0), arb(2).log(), -10, 21)
        chords, policies = Chords(grid, laws), Policies(grid, laws)
        above, below = chords.terminal(), policies.terminal()
        for uses in range(1, 4):
            above, below = chords.best([(above, [0, 1])]), policies.best([(below, [0, 1])])
            for index in range(21):
                value = float(truth(menu, uses, F(2) ** (index - 10)))
                assert above[index] == pytest.approx(value, abs=1e-13)
                assert below.a[index] - below.beta[index] == pytest.approx(value, abs=1e-13)
