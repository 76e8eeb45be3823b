"""Equal shares: so many of them add up to the law that was divided, and nothing else is a share."""

import pytest

from exactdp import ParameterError
from exactdp.exact.number import Linear
from exactdp.mechanisms import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    Law,
    Polya,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.additive.papers import InvertedScale

SCALE = InvertedScale(10)
LAWS: list[Law] = [
    Binomial(60, "0.3"),
    Binomial(60, Linear(0, 1, SCALE)),
    DiscreteGaussianSum(60, "0.7"),
    DiscreteLaplace("5/2"),
    DiscreteLaplace(SCALE),
    Polya("1/3", 4),
    PolyaDifference("1/3", 4),
    PolyaDifference("1/3", SCALE),
    PolyaDifference(2, 4),
    Skellam(13),
]


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("users", [1, 2, 30, 60])
def test_shares_add_up_to_the_law(law: Law, users: int) -> None:
    share = law.share(users)
    assert share.sum_of(users) == law
    assert users == 1 or share != law


def test_sums_go_by_their_simplest_name() -> None:
    assert PolyaDifference("1/2", 3).sum_of(2) == DiscreteLaplace(3)
    assert PolyaDifference("1/2", 3).sum_of(3) == PolyaDifference("3/2", 3)
    assert PolyaDifference(1, 3).sum_of(1) == DiscreteLaplace(3) == DiscreteLaplace(3).sum_of(1)
    assert DiscreteLaplace(SCALE).sum_of(2) == PolyaDifference(2, SCALE)
    assert DiscreteGaussianSum(1, 3).sum_of(1) == DiscreteGaussian(3)


@pytest.mark.parametrize(
    ("law", "named"),
    [
        (DiscreteGaussian(2), "no exact shares; discrete-gaussian-sum"),
        (FiniteLaw({0: "1/2", 1: "1/2"}), "FiniteLaw noise has no exact equal shares"),
        (Binomial(10, "1/2"), "must divide trials = 10"),
        (DiscreteGaussianSum(10, 1), "must divide count = 10"),
    ],
)
def test_what_has_no_shares_is_refused(law: Law, named: str) -> None:
    assert law.share(1) == law
    with pytest.raises(ParameterError, match=named):
        law.share(4)
    for wrong in (0, -1, "1/2", True, float("nan")):
        with pytest.raises(ParameterError, match="users"):
            law.share(wrong)
