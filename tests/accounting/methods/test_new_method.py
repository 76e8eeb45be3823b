"""A new method is one value: a toy, which adds epsilons up, beside the others."""

from fractions import Fraction

import exactdp
from exactdp.accounting import METHODS, DoesNotApplyError, compare
from exactdp.accounting.methods.comparison import Method


def _added(composition, delta, width):
    if delta:
        raise DoesNotApplyError("it knows of delta = 0 only")
    total = (use.times * exactdp.mechanism(use.mechanism).pure() for use in composition.uses)
    return sum(total, exactdp.Enclosure.exactly(0))


TOY = Method("added", "epsilons added up", "every use at its worst", _added)


def test_it_is_asked_beside_the_others_and_may_not_apply():
    total = 3 * exactdp.mechanism("discrete-laplace:epsilon=0.1")
    exact, toy = compare(total, 0, names=["exact", TOY])
    assert toy.method is TOY and toy.value == exact.value == Fraction(3, 10)
    assert toy.remark == "every use at its worst" and TOY.name not in METHODS
    (late,) = compare(total, "1e-6", names=[TOY])
    assert late.value is None and not late.open and late.remark == "it knows of delta = 0 only"
