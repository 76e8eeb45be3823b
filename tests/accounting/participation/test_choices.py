"""The account of so many batches against every explicit choice of them, one by one."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactdp import ParameterError
from exactdp.accounting import compose
from exactdp.accounting.participation.choices import Choices, Offer
from exactdp.mechanisms import (
    AdditiveNoise,
    Binomial,
    DiscreteLaplace,
    FinitePair,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape

WIDTH = Fraction(1, 10**5)
DELTAS = ["1e-9", "0.05"]


def laplace(sensitivity, epsilon="0.5"):
    return AdditiveNoise(DiscreteLaplace(sensitivity / Fraction(epsilon)), sensitivity)


MENUS = {
    "doubling": [(laplace(1), 2), (laplace(2), 2), (laplace(4), 2)],
    "worst one last": [(laplace(4), 3), (laplace(3), 1), (laplace(1), 1)],
    "crossing": [(laplace(2), 2), (laplace(3), 2), (laplace(5), 2)],
    "other limits": [(laplace(1, "0.4"), 2), (laplace(3, "0.5"), 2)],
    "binomial": [(AdditiveNoise(Binomial(40, "1/2"), 1), 2), (laplace(2, 1), 2)],
    "skellam": [(AdditiveNoise(Skellam(4), 1), 2), (AdditiveNoise(Skellam(16), 2), 2)],
    "revealing": [(RandomizedResponse("0.1", "0.01"), 1), (RandomizedResponse(1), 2)],
    "a user's pair": [
        (FinitePair(("a", "b"), ("0.9", "0.1"), ("0.5", "0.5")), 2),
        (RandomizedResponse(1), 2),
    ],
}

ALIKE = ["doubling", "worst one last", "crossing", "skellam"]  # profiles that hardly differ


def every_choice(offers, count):
    for often in product(*[range(times + 1) for _, times in offers]):
        if sum(often) == count:
            yield compose(
                *[(one, times) for (one, _), times in zip(offers, often, strict=True) if times]
            )


def menu(offers, count):
    return Choices([Offer(compose(one), times) for one, times in offers], count)


@pytest.mark.slow_cases("1-skellam")
@pytest.mark.parametrize("name", MENUS)
@pytest.mark.parametrize("count", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_epsilon_is_the_supremum_of_all_choices(name, count):
    offers = MENUS[name]
    for delta in DELTAS:
        account = menu(offers, count).epsilon(delta)
        each = [choice.epsilon(delta, WIDTH, work=0.5) for choice in every_choice(offers, count)]
        assert account.upper >= max(one.lower for one in each)
        assert account.lower <= max(one.upper for one in each)
        if name in ALIKE:
            upper, gap = Fraction(account.upper), Fraction(account.upper) - Fraction(account.lower)
            assert gap <= upper / 50


@given(
    gaps=st.lists(st.integers(1, 9), min_size=1, max_size=3, unique=True),
    epsilon=st.sampled_from(["0.01", "0.5", "3"]),
    times=st.integers(1, 3),
    count=st.integers(1, 3),
    delta=st.sampled_from(DELTAS),
)
@settings(deadline=None, max_examples=10)
def test_random_menus(gaps, epsilon, times, count, delta):
    offers = [(laplace(gap, epsilon), times) for gap in gaps]
    count = min(count, times * len(gaps))
    account = menu(offers, count).epsilon(delta)
    for choice in every_choice(offers, count):
        assert account.upper >= choice.epsilon(delta, WIDTH, work=0.5).lower
    if count > 1:
        assert menu(offers, count - 1).epsilon(delta).lower <= account.upper


def test_where_one_choice_is_dearest_the_account_is_as_narrow_as_its_composition():
    found = menu(MENUS["doubling"], 3).epsilon("0.05")
    dearest = compose((laplace(1), 2), laplace(2)).epsilon("0.05")
    assert found == dearest  # 2 divides 4: their profiles touch at 0
    assert found.is_within(Fraction(1, 10**12))


def test_what_adds_up_is_summed_for_each_order_by_itself():
    # at small orders Skellam noise costs more, at large ones the discrete Laplace
    one, other = AdditiveNoise(Skellam(2), 1), laplace(1, "0.9")
    offers = [(one, 2), (other, 2)]
    for order in ("1.5", "2", "30"):
        each = [choice.renyi(order) for choice in every_choice(offers, 3)]
        costs = [compose(use).renyi(order) for use, _ in offers]
        account = menu(offers, 3).largest_sum(costs)
        assert account.upper >= max(value.lower for value in each)
        assert account.lower <= max(value.upper for value in each)
    assert menu([(other, 2), (laplace(3, "0.8"), 5)], 4).pure().contains(Fraction("3.4"))
    rho = menu([(other, 2), (laplace(3, "0.8"), 5)], 2).zcdp()
    assert rho.upper >= compose((other, 2)).zcdp().lower


def test_more_than_is_on_offer_cannot_be_chosen():
    with pytest.raises(ParameterError, match="count must be at most what is on offer, 2"):
        menu([(laplace(1), 2)], 3)
    with pytest.raises(ParameterError, match="delta"):
        menu([(laplace(1), 2)], 1).epsilon(0)


def test_offers_of_different_neighbours_are_refused():
    ways = (ContinuousNoise(Shape.LAPLACE, 9, 1, way) for way in ("replace", "add-remove"))
    with pytest.raises(ParameterError, match="neighbours must be the same"):
        Choices([Offer(compose(one), 1) for one in ways], 1)
