"""Real vectors that are rounded: what is refused, and what is known in little time."""

from fractions import Fraction

import pytest

import exactdp
from exactdp import ParameterError, time_limit

pytestmark = pytest.mark.contract


def test_one_unit_at_random_is_a_sampled_user() -> None:
    vector, sampled = (
        exactdp.mechanism(f"skellam:variance=4,neighbours=add-remove,{keys}").renyi(2)
        for keys in ("l2=1/2,dimension=1,rounding=stochastic", "sensitivity=1,poisson=1/2")
    )
    assert vector.lower == sampled.lower > 0


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("l2=4,dimension=8,rounding=stochastic", "rounding needs neighbours=add-remove"),
        ("l2=4,rounding=stochastic,neighbours=add-remove", "dimension is missing"),
        ("dimension=4,rounding=nearest,neighbours=add-remove", "l2 is missing"),
        ("l2=4,l1=9,dimension=8,rounding=nearest,neighbours=add-remove", "l1 must not be given"),
        ("l2=4,dimension=8,rounding=up,neighbours=add-remove", "rounding must be stochastic"),
        (
            "l2=0,dimension=8,rounding=nearest,neighbours=add-remove",
            "l2 must be an exact number",
        ),
        ("l2=2/5,dimension=8,rounding=nearest,neighbours=add-remove", "not every vector is round"),
        ("sensitivity=2,rounding=nearest,neighbours=add-remove", "sensitivity is of single"),
    ],
)
def test_what_is_refused(keys: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        exactdp.mechanism(f"skellam:variance=4,{keys}")


def test_both_ends_are_known_however_little_time_there_is() -> None:
    spec = "federated:mechanism=skellam,clip=1,scale=100,clients=1000,local-stddev=10,"
    one = exactdp.mechanism(spec + "dimension=100,bits=16,rounding=stochastic,poisson=0.01")
    with time_limit("0.1"):
        found = (100 * one).epsilon("1e-6")
    # the sum's noise has 1000 * 10^2 of variance: at least what a shift of 100 costs, at most
    # what one of 100 and a unit at random in every of 128 coordinates does
    assert Fraction("0.1") < found.lower < found.upper < Fraction("0.2")
