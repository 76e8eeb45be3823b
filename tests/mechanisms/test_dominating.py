"""A mechanism that is known by others is one file: the toys below stand for any of them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from attrs import frozen

from exactdp import ApproxDP, NotCertifiedError, PureDP, Verdict
from exactdp.accounting import compose
from exactdp.mechanisms import AdditiveNoise, DiscreteLaplace, FinitePair
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.dominating import Dominated, Dominating
from exactdp.mechanisms.mechanism import RandomizedResponse
from exactdp.verify import audit
from exactdp.verify.certificate import certificate_of

_BIT, _COUNT = RandomizedResponse(1), AdditiveNoise(DiscreteLaplace(scale=2), 1)


@frozen
class Either(Dominated):
    """Neighbours differ in three bits, or in three counts; the curator does not say which."""

    exactly: bool = False

    def dominating(self) -> Dominating:
        bits, counts = ((_BIT, 3),), ((_COUNT, 3),)
        worse = ((RandomizedResponse(2), 3),)
        return Dominating((bits, counts), (worse,), complete=self.exactly)

    def pairs(self):
        raise AssertionError("it is known by others")


@frozen
class Matrix(Dominated):
    """The same as Gaussian noise on one number, whatever is asked."""

    def dominating(self) -> Dominating:
        noise = ((ContinuousNoise(Shape.GAUSSIAN, Fraction(2)), 1),)
        return Dominating((noise,), (noise,), exact=noise)

    def pairs(self):
        raise AssertionError("it is known by others")


_FIGURES = [
    lambda of: of.delta("0.5"),
    lambda of: of.epsilon("1e-3"),
    lambda of: of.renyi(3),
    lambda of: of.zcdp(),
    lambda of: of.pure(),
]


@pytest.mark.parametrize("figure", _FIGURES)
def test_it_lies_between_the_lists(figure):
    found, low = figure(compose(Either())), figure(compose((_BIT, 3)))
    high = figure(compose((RandomizedResponse(2), 3)))
    assert low.lower <= found.lower <= found.upper <= high.upper
    assert found.upper >= low.upper


@pytest.mark.parametrize("figure", _FIGURES)
def test_a_single_use_costs_the_dearest_where_nothing_else_can_happen(figure):
    found = figure(compose(Either(exactly=True)))
    worst = max((figure(compose((one, 3))) for one in (_BIT, _COUNT)), key=lambda one: one.upper)
    assert (found.lower, found.upper) == (worst.lower, worst.upper)


def test_several_uses_may_mix_what_one_cannot():
    found = compose((Either(exactly=True), 2)).delta("0.5")
    apart = compose((_BIT, 3), (_COUNT, 3)).delta("0.5")
    assert apart.lower <= found.upper


@pytest.mark.parametrize("figure", _FIGURES[:4])
def test_what_is_the_same_as_another_costs_the_same(figure):
    noise = ContinuousNoise(Shape.GAUSSIAN, Fraction(2))
    one, other = figure(compose((Matrix(), 5))), figure(compose((noise, 5)))
    assert (one.lower, one.upper) == (other.lower, other.upper)


def test_it_is_audited_and_stands_beside_others_without_a_certificate():
    listed = compose((Matrix(), 4), (_COUNT, 2))
    assert audit(listed, ApproxDP("20", "1e-6")).verdict is Verdict.VERIFIED
    found = audit(Matrix(), ApproxDP("0.1", "1e-6"))
    assert found.verdict is Verdict.REFUTED
    assert found.witness is None and "attain" in found.note
    assert audit(Either(), PureDP("6")).verdict is Verdict.VERIFIED
    with pytest.raises(NotCertifiedError, match="Matrix"):
        certificate_of(found)


def test_the_two_datasets_keep_their_order_throughout():
    """With the user an event that is impossible without: one way round only."""
    pair = FinitePair(("seen", "not"), ("1/10", "9/10"), (0, 1))

    @frozen
    class Names(Dominated):
        def dominating(self) -> Dominating:
            return Dominating((((pair, 2),),), (((pair, 2),),), exact=((pair, 2),))

        def pairs(self):
            raise AssertionError

    found = compose((Names(), 3)).delta(0)
    truth = 1 - Fraction(9, 10) ** 6
    assert found.lower <= truth <= found.upper
    assert found.is_within(Fraction(1, 10**9))
