"""A family is one class that says what neighbours attain and what dominates them: a toy, audited.

The toy tells a bit by one of two coins, and nobody knows by which: one that keeps it with odds of
e^low or one of e^high. With the better coin it is randomized response of `high`; that of `low` is
certainly attained.
"""

from fractions import Fraction
from itertools import product

import brute_force
import mpmath
import oracles
import pytest
from attrs import frozen
from mpmath import mpf

import exactdp
from exactdp import NotCertifiedError, Verdict
from exactdp.accounting.figure import MU, PURE, RHO, Figure
from exactdp.accounting.solve import Query, from_above, lists_of, solve
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace, RandomizedResponse, Skellam
from exactdp.mechanisms.additive.reach import Reach
from exactdp.mechanisms.additive.vector import VectorNoise
from exactdp.mechanisms.bracket import Bracket, Bracketed, bracket
from exactdp.mechanisms.mechanism import OneWay
from exactdp.verify import Family, PureDP, calibrate

DELTA = Fraction(1, 1000)
FIGURES = [PURE, Figure("epsilon", DELTA), Figure("delta", Fraction(1, 2)), Figure("renyi", 2), RHO]


@frozen
class Coins(Bracketed):
    low: Fraction
    high: Fraction

    def bracket(self) -> Bracket:
        lower, upper = (((RandomizedResponse(one), 1),) for one in (self.low, self.high))
        return Bracket([lower], [upper], reason="which coin it is is open")


ONE, SURE = Coins(Fraction(1, 2), Fraction(1)), Coins(Fraction(1), Fraction(1))


@pytest.mark.parametrize("figure", [*FIGURES, MU])
@pytest.mark.parametrize("times", [1, 3])
def test_every_figure_lies_between_those_of_both_lists(figure, times):
    low, found, high = (
        (times * exactdp.mechanism(one)).figure(figure)
        for one in (RandomizedResponse(ONE.low), ONE, RandomizedResponse(ONE.high))
    )
    assert low.lower <= found.lower <= low.upper and high.lower <= found.upper <= high.upper
    assert "which coin it is is open" in found.why


@pytest.mark.parametrize("figure", FIGURES)
def test_a_list_on_both_sides_costs_the_same_beside_anything(figure):
    noise = AdditiveNoise(DiscreteLaplace(3))
    found, same = (
        exactdp.compose((one, 2), noise).figure(figure) for one in (SURE, RandomizedResponse(1))
    )
    assert found == same and not found.why


def test_of_several_uses_the_first_lists_are_taken_together():
    vector = VectorNoise(Skellam(9), Reach(l2=2, dimension=4))
    uses = exactdp.compose((ONE, 2), vector).uses
    lists = lists_of(uses)
    assert lists is not None and lists.exact is None
    for some in (*lists.attained, *lists.dominating):
        odds = [use.mechanism.epsilon for use in some if hasattr(use.mechanism, "epsilon")]
        assert odds == ([ONE.low] if some in lists.attained else [ONE.high])
    query = Query(Figure("epsilon", DELTA))
    assert solve(uses, query).upper <= from_above(uses, query).upper


def test_the_two_datasets_stay_named_in_the_lists():
    fixed = bracket(OneWay(ONE))
    assert fixed is not None
    assert [one for one, _ in fixed.attained[0]] == [OneWay(RandomizedResponse(ONE.low))]
    assert bracket(RandomizedResponse(1)) is None
    with pytest.raises(AssertionError, match="dominates"):
        Bracket([()], [])


@pytest.mark.parametrize("spec", ["discrete-laplace:scale=3", "gaussian:sigma=1"])
def test_a_batch_costs_what_sampling_does_and_several_lie_below_no_sampling(spec):
    batch, plain = (exactdp.mechanism(f"{spec}{more}") for more in (",fixed-size=1/4", ""))
    sampled = exactdp.mechanism(f"{spec},neighbours=add-remove,poisson=1/4")
    for figure in (PURE, Figure("epsilon", DELTA), Figure("delta", Fraction(1, 5))):
        found = batch.figure(figure)
        assert found == sampled.figure(figure) and not found.why
        several, whole = ((4 * one).figure(figure) for one in (batch, plain))
        assert several.upper <= whole.upper
    listed = lists_of((4 * batch).uses)
    assert listed is not None and listed.exact is None and len(listed.dominating) == 2
    assert lists_of(exactdp.mechanism(f"{spec},fixed-size=4/4").uses).exact == plain.uses


def test_it_is_audited_calibrated_and_refused_a_certificate():
    verdicts = [exactdp.audit(ONE, claim).verdict for claim in ("pure:1", "pure:0.75", "pure:0.4")]
    assert verdicts == [Verdict.VERIFIED, Verdict.UNDECIDED, Verdict.REFUTED]
    family = Family("scale", lambda scale: Coins(1 / (2 * scale), 1 / scale), 1)
    (use,) = calibrate(family, PureDP("0.5")).verified.mechanism.uses
    assert use == (Coins(Fraction(1, 4), Fraction(1, 2)), 1)
    with pytest.raises(NotCertifiedError):
        exactdp.certify(ONE, "pure:1")


def test_three_uses_lie_between_what_is_enumerated():
    """One coin throughout, from below; the better one, from above."""
    found = (3 * exactdp.mechanism(ONE)).delta(1)
    least, most = (brute_force.delta(thrice(one), mpf(1)) for one in (ONE.low, ONE.high))
    assert oracles.exactly(least) >= found.lower and found.upper >= oracles.exactly(most)
    assert found.at_least(oracles.exactly(least) * (1 - Fraction(1, 10**9)))
    assert found.at_most(oracles.exactly(most) * (1 + Fraction(1, 10**9)))


def thrice(epsilon):
    """All outcomes of three answers of randomized response, P and Q of each."""
    odds = mpmath.exp(mpf(epsilon.numerator) / epsilon.denominator)
    keep = {True: odds / (1 + odds), False: 1 / (1 + odds)}
    lies = list(product((True, False), repeat=3))
    return [
        (mpmath.fprod(keep[one] for one in some), mpmath.fprod(keep[not one] for one in some))
        for some in lies
    ]
