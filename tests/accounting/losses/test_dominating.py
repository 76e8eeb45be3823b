"""A pair that dominates several: never below any of them, and equal where one is the worst."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from exactdp.accounting.divergences.privacy_profile import value_at
from exactdp.accounting.losses.dominating import dominating
from exactdp.accounting.losses.listed import ListedLoss, count_values
from exactdp.accounting.losses.of_pair import listed_law
from exactdp.exact import working_precision
from exactdp.mechanisms.pair import FinitePair

WEIGHTS = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(lambda ws: sum(ws) > 0)


def pair_of(ps, qs):
    return FinitePair(
        tuple(map(str, range(len(ps)))),
        tuple(Fraction(p, sum(ps)) for p in ps),
        tuple(Fraction(q, sum(qs)) for q in qs),
    )


def delta(law, level):
    return value_at(level, ListedLoss([(law, 1)]).exceeding(level)) + law.escaping()


@given(WEIGHTS, WEIGHTS, WEIGHTS, WEIGHTS, st.fractions(-3, 3, max_denominator=9))
def test_it_is_never_below_any_of_them(p1, q1, p2, q2, level):
    with working_precision(128):
        laws = [listed_law(pair_of(p, q), -60.0) for p, q in ((p1, q1), (p2, q2))]
        both = dominating(laws)
        here = arb(level.numerator) / level.denominator
        for law in laws:
            assert not delta(both, here) < delta(law, here)


@given(WEIGHTS, WEIGHTS)
def test_one_pair_dominates_itself_exactly(ps, qs):
    with working_precision(128):
        law = listed_law(pair_of(ps, qs), -60.0)
        same = dominating([law, law])
        for level in (arb(0), arb("0.3"), arb(-1), arb(2)):
            assert abs(delta(same, level) - delta(law, level)).upper() < arb(2) ** -60


@pytest.mark.parametrize(("outcomes", "times", "values"), [(3, 5, 21), (2, 100, 101), (1, 9, 1)])
def test_multisets_are_counted(outcomes, times, values):
    with working_precision(96):
        ps = list(range(1, outcomes + 1))
        law = listed_law(pair_of(ps, [p * p + 1 for p in ps]), -60.0)
        parts = [(law, times)]
        assert count_values(parts) == values
        assert len(ListedLoss(parts).masses) == values
        assert ListedLoss(parts).p[0].contains(1)
