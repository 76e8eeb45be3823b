"""Specs of random allocation, and what refuses them."""

from fractions import Fraction

import pytest

from exactdp import ParameterError
from exactdp.accounting.composition.composed import compose
from exactdp.mechanisms.allocation import Allocation
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.spec import parse

SPEC = "gaussian:sigma=2,sensitivity=3,neighbours=add-remove,allocation=2/100"


def test_a_spec_names_all_steps_of_one_epoch():
    assert parse(SPEC).mechanism == Allocation(2, 3, 2, 100)


def test_the_poisson_sampling_beside_it_has_the_same_rate_and_steps():
    noise, steps = Allocation(2, 3, 2, 100).poisson()
    assert (noise, steps) == (ContinuousNoise(Shape.GAUSSIAN, 2, 3, "add-remove", "0.02"), 100)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("gaussian:sigma=1,allocation=1/10", "add-remove"),
        ("gaussian:sigma=1,neighbours=add-remove,poisson=0.1,allocation=1/10", "no poisson"),
        ("gaussian:sigma=1,neighbours=add-remove,allocation=10", "K/STEPS"),
        ("gaussian:sigma=1,neighbours=add-remove,allocation=11/10", "at most all steps"),
        ("gaussian:sigma=1,neighbours=add-remove,allocation=0/10", "at least 1"),
        ("gaussian:sigma=1,neighbours=add-remove,allocation=1/2.5", "allocation"),
        ("laplace:scale=1,neighbours=add-remove,allocation=1/10", "not known"),
        ("skellam:variance=1,neighbours=add-remove,allocation=1/10", "not known"),
    ],
)
def test_what_is_no_allocation_is_refused_by_name(text, named):
    with pytest.raises(ParameterError, match=named):
        parse(text)


def test_lists_with_other_mechanisms_cost_more_than_either():
    other = ContinuousNoise(Shape.GAUSSIAN, 2, 1, "add-remove", "0.1")
    mixed = compose(Allocation(2, 1, 1, 10), other)
    assert mixed.renyi(2).upper > max(part.renyi(2).upper for part in map(compose, (other,)))
    parts, found = (Allocation(2, 1, 1, 10), other), mixed.epsilon("1e-5")
    assert max(compose(part).epsilon("1e-5").lower for part in parts) <= found.upper
    assert found.lower <= sum(compose(part).epsilon("5e-6").upper for part in parts)
    assert found.is_within(Fraction(1, 10))
