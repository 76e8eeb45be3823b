"""A family of mechanisms that is one file: `Ternary` below stands for any of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import mpmath
import pytest

from exactdp import ApproxDP, Enclosure, PureDP, Verdict
from exactdp.accounting import compose
from exactdp.exact.number import ball
from exactdp.mechanisms.listed_pair import ListedPair, Masses, Steps
from exactdp.mechanisms.mechanism import RandomizedResponse
from exactdp.mechanisms.sampled import Sampled
from exactdp.verify import audit


@dataclass(frozen=True)
class Ternary(ListedPair):
    """One of three values, kept with e^epsilon times the probability of each other one."""

    epsilon: Fraction
    exactly: bool = True

    def masses(self) -> Masses:
        odds = ball(self.epsilon).exp()
        kept, other = odds / (odds + 2), 1 / (odds + 2)
        return (kept, other, other), (other, kept, other)

    def steps(self) -> Steps | None:
        return Steps(self.epsilon, (1, -1, 0)) if self.exactly else None

    def swapped(self) -> ListedPair:
        return self


@dataclass(frozen=True)
class Lopsided(ListedPair):
    """The first outcome is impossible under Q, the last under P."""

    def masses(self) -> Masses:
        tenth, p, q = ball(Fraction(1, 10)), (1, 6, 3, 0), (0, 3, 5, 2)
        return [k * tenth for k in p], [k * tenth for k in q]

    def name_of(self, outcome: int) -> str:
        return "abcd"[outcome]


def _delta(p, q, times, epsilon):
    """By enumeration, in 50 digits."""
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        for outcome in itertools.product(range(len(p)), repeat=times):
            first = mpmath.fprod(p[x] for x in outcome)
            second = mpmath.fprod(q[x] for x in outcome)
            total += max(first - mpmath.exp(epsilon) * second, mpmath.mpf(0))
        return total


def _holds(found: Enclosure, truth: mpmath.mpf) -> bool:
    with mpmath.workdps(50):
        slack = mpmath.mpf(10) ** -40
        low, high = (
            mpmath.mpf(str(end))
            if not isinstance(end, Fraction)
            else mpmath.mpf(end.numerator) / end.denominator
            for end in (found.lower, found.upper)
        )
        return low - slack <= truth <= high + slack


def _ternary(epsilon):
    with mpmath.workdps(50):
        odds = mpmath.exp(epsilon)
        kept, other = odds / (odds + 2), 1 / (odds + 2)
        return (kept, other, other), (other, kept, other)


@pytest.mark.parametrize("exactly", [True, False])
@pytest.mark.parametrize("times", [1, 2, 5])
def test_it_is_composed_as_enumerated(exactly, times):
    p, q = _ternary(1)
    found = compose((Ternary(Fraction(1), exactly), times))
    for level in (0, 1, 2):
        value = found.delta(level)
        assert value.is_within(Fraction(1, 10**6)) or value.upper < Fraction(1, 10**6)
        assert _holds(value, _delta(p, q, times, level))


def test_what_only_one_of_the_two_laws_has_counts_for_that_way_round():
    p, q = ((1, 6, 3, 0), (0, 3, 5, 2))
    for times in (1, 3):
        truth = max(
            _delta([mpmath.mpf(x) / 10 for x in one], [mpmath.mpf(x) / 10 for x in two], times, 0.5)
            for one, two in ((p, q), (q, p))
        )
        assert _holds(compose((Lopsided(), times)).delta("0.5"), truth)
    assert compose(Lopsided()).pure().lower == math.inf
    assert audit(Lopsided(), PureDP("3")).witness.where == "outcome a"


def test_its_largest_loss_is_exact_where_it_says_its_losses():
    one = Ternary(Fraction(1))
    assert audit(one, PureDP("1")).verdict is Verdict.VERIFIED
    assert audit(compose((one, 7)), PureDP("7")).verdict is Verdict.VERIFIED
    assert audit(one, PureDP("0.999999999999")).verdict is Verdict.REFUTED
    assert audit(Ternary(Fraction(1), exactly=False), PureDP("1")).verdict is not Verdict.REFUTED


def test_rho_mu_and_renyi_lie_below_those_of_the_pure_epsilon():
    one, dearer = compose(Ternary(Fraction(1))), compose(RandomizedResponse(1))
    for order in ("1.5", 2, 40):
        assert one.renyi(order).upper <= dearer.renyi(order).lower
    assert one.zcdp().upper <= dearer.zcdp().lower
    assert one.gdp().upper <= dearer.gdp().lower
    p, q = _ternary(1)
    with mpmath.workdps(50):
        assert _holds(
            one.renyi(3), mpmath.log(sum(a**3 / b**2 for a, b in zip(p, q, strict=True))) / 2
        )


@pytest.mark.parametrize("rate", ["1/3", 1])
def test_it_is_sampled_as_enumerated(rate):
    p, q = _ternary(2)
    share = mpmath.mpf(Fraction(rate).numerator) / Fraction(rate).denominator
    with mpmath.workdps(50):
        mixed = [(1 - share) * b + share * a for a, b in zip(p, q, strict=True)]
        truth = max(_delta(mixed, q, 3, 0.5), _delta(q, mixed, 3, 0.5))
    found = compose((Sampled(Ternary(Fraction(2)), rate), 3)).delta("0.5")
    assert found.is_within(Fraction(1, 10**5))
    assert _holds(found, truth)


def test_it_stands_beside_others_in_a_list():
    p, q = _ternary(1)
    with mpmath.workdps(50):
        odds = mpmath.exp(mpmath.mpf(1) / 2)
        keep, flip = odds / (1 + odds), 1 / (1 + odds)
        both = [
            [a * b for a in one for b in two] for one, two in ((p, (keep, flip)), (q, (flip, keep)))
        ]
    found = compose(Ternary(Fraction(1)), RandomizedResponse("0.5"))
    assert _holds(found.delta("0.25"), _delta(*both, 1, 0.25))
    assert audit(found, ApproxDP("1.5", 0)).verdict is Verdict.VERIFIED
