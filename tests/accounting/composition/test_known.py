"""What one figure tells of the others: it contains the truth, and no line contradicts another."""

import math
import time
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from scipy import stats

from exactdp import Enclosure, time_limit
from exactdp.accounting import compose
from exactdp.accounting.composition.curves import rising
from exactdp.accounting.composition.known import Known, _root, figure_of, quickly
from exactdp.accounting.figure import Figure, meeting
from exactdp.exact.deadline import finishing
from exactdp.exact.enclosure import ContradictionError
from exactdp.mechanisms.mechanism import RandomizedResponse
from exactdp.mechanisms.spec import parse

RHO = Figure("zcdp")
LEVELS = [Fraction(1, 10**k) for k in (1, 3, 6, 9)]
PLACES = [Fraction(k, 4) for k in range(9)]
FIGURES = [
    *(Figure("epsilon", level) for level in (Fraction(0), *LEVELS)),
    *(Figure("delta", place) for place in PLACES),
    *(Figure("renyi", Fraction(order)) for order in ("1.01", "2", "10", "1000")),
    RHO,
    Figure("gdp"),
]


def gaussian_delta(epsilon):
    """Of sensitivity 1 and deviation 1, in closed form (Balle and Wang 2018)."""
    cdf = stats.norm.cdf
    return cdf(0.5 - epsilon) - math.exp(epsilon) * cdf(-0.5 - epsilon)


def response_delta(epsilon, level):
    """Of randomized response: p - e^epsilon (1 - p)."""
    p = 1 / (1 + math.exp(-level))
    return max(p - math.exp(epsilon) * (1 - p), 0.0)


@pytest.mark.parametrize("learnt", [f for f in FIGURES if f.quantity != "delta"], ids=str)
def test_what_follows_of_a_gaussian_contains_the_truth(learnt):
    """One figure at a time is told; of all others, delta and rho are known in closed form."""
    of = compose(parse("gaussian:sigma=1").mechanism)
    known = Known()
    known.learn(learnt, figure_of(of, learnt, Fraction(1, 10**6)))
    assert known.of(RHO).contains(Fraction(1, 2)) and known.of(Figure("gdp")).contains(1)
    for place in PLACES:
        found, truth = known.of(Figure("delta", place)), gaussian_delta(float(place))
        assert float(found.lower) <= truth * (1 + 1e-9) and truth <= float(found.upper) * (1 + 1e-9)
    for order in (Fraction(11, 10), Fraction(2), Fraction(50)):
        assert known.of(Figure("renyi", order)).contains(order / 2)


@pytest.mark.parametrize("learnt", FIGURES, ids=str)
def test_what_follows_of_randomized_response_contains_the_truth(learnt):
    of = compose(RandomizedResponse(1))
    known = Known()
    known.learn(learnt, figure_of(of, learnt, Fraction(1, 10**6)))
    assert known.of(Figure("epsilon", Fraction(0))).contains(1)
    for place in PLACES:
        found, truth = known.of(Figure("delta", place)), response_delta(float(place), 1)
        assert float(found.lower) <= truth + 1e-12 and truth <= float(found.upper) + 1e-12
    rho = 1 * math.tanh(1 / 2)  # attained in the limit of order 1
    held = known.of(RHO)
    assert held.lower <= rho + 1e-9 and rho <= float(held.upper) + 1e-9


@pytest.mark.parametrize(
    "text", ["randomized-response:epsilon=0.3", "discrete-laplace:epsilon=0.5", "gaussian:sigma=2"]
)
def test_lines_that_are_wide_are_in_order_with_those_that_are_not(text):
    of = 5 * compose(parse(text).mechanism)
    known = quickly(of)
    known.learn(Figure("epsilon", LEVELS[2]), of.epsilon(LEVELS[2], Fraction(1, 10**4)))
    known.close(FIGURES)
    epsilons = [known.of(Figure("epsilon", level)) for level in (*LEVELS, Fraction(0))]
    deltas = [known.of(Figure("delta", place)) for place in reversed(PLACES)]
    for line in (epsilons, deltas):
        assert all(a.lower <= b.lower and a.upper <= b.upper for a, b in pairwise(line))
    assert all(each.is_finite() for each in epsilons[:-1])
    for level, found in zip(LEVELS, epsilons, strict=False):
        truth = of.epsilon(level, Fraction(1, 10**4))
        assert found.lower <= truth.upper and truth.lower <= found.upper
        for place, delta in zip(reversed(PLACES), deltas, strict=True):
            assert not (found.upper <= place and delta.upper > level)
            assert not (found.lower > place and delta.lower < level)


def test_two_enclosures_that_do_not_meet_are_no_answer():
    known = Known()
    known.learn(RHO, Enclosure(Fraction(1), Fraction(2)))
    with pytest.raises(ContradictionError, match="zcdp"):
        known.learn(RHO, Enclosure(Fraction(3), Decimal("inf")))
    known.learn(Figure("renyi", Fraction(2)), Enclosure(Fraction(5), Fraction(6)))
    with pytest.raises(ContradictionError):
        known.of(RHO)
    touching = Enclosure(Fraction(2), Fraction(4))
    assert meeting(RHO, Enclosure(Fraction(1), Fraction(2)), touching) == Enclosure.exactly(2)


def test_without_time_it_tells_what_it_has():
    of = compose(parse("skellam:variance=100").mechanism)  # its pure epsilon is infinite
    with time_limit(0, rings=False):
        known = quickly(of)
        assert known.of(Figure("epsilon", Fraction(0))).contains(Decimal("inf"))
        assert known.of(Figure("delta", Fraction(0))).contains(Fraction(4, 100))  # 0.0398
        known.learn(RHO, Enclosure(Fraction(0), Fraction(1)))
        assert known.of(RHO).upper == 1


class Late:
    """Answers as randomized response does, late: no figure raises for want of time."""

    def __init__(self):
        self.asked, self.one = 0, compose(RandomizedResponse(1))

    def pure(self, width):
        return self.one.pure(width)

    def renyi(self, order, width):
        self.asked += 1
        end = time.thread_time() + 0.2
        with finishing():
            while time.thread_time() < end:
                pass
        return self.one.renyi(order, width)


def test_no_more_is_asked_once_a_quick_answer_was_late():
    late = Late()
    known = quickly(late)
    assert late.asked == 1 and known.of(Figure("epsilon", Fraction(0))).at_most(1)


def test_what_rises_is_bounded_by_what_stands_beside_it():
    ends = [(1, 5), (0, 9), (3, 4), (2, 8)]
    found = rising([Enclosure(Fraction(low), Fraction(high)) for low, high in ends])
    assert found == [
        Enclosure(Fraction(low), Fraction(high)) for low, high in [(1, 4), (1, 4), (3, 4), (3, 8)]
    ]


@pytest.mark.parametrize("square", ["0", "2", "1/3", "9", "1e20", "1e-7"])
def test_roots_are_from_below_and_near(square):
    root = Fraction(_root(Fraction(square)))
    assert root**2 <= Fraction(square) < (root + Fraction(1, 10**6)) ** 2
    assert _root(Decimal("Infinity")) == Decimal("Infinity")
