"""What little time tells holds what much time tells, and is never nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

import exactdp
from exactdp import time_limit
from exactdp.accounting.composition import first_bounds as bounds
from exactdp.accounting.composition.first_bounds import first_bounds, first_curve
from exactdp.accounting.figure import Figure
from exactdp.accounting.grid.orders import renyi_by_cells
from exactdp.accounting.scenario import Use
from exactdp.mechanisms import AdditiveNoise, DiscreteGaussian, FinitePair
from exactdp.mechanisms.mechanism import OnePair

_SHORT = [
    "skellam:variance=100*20",
    "discrete-laplace:scale=10,sensitivity=3*5",
    "discrete-gaussian:sigma2=30,sensitivity=2,modulus=64*7",
    "discrete-gaussian-sum:count=2,sigma2=1.358,sensitivity=8*5",
    "polya-difference:shape=1/3,scale=20,sensitivity=3*5",
    "binomial:trials=1000,probability=1/3,sensitivity=5*3",
    "randomized-response:epsilon=1*10",
    "randomized-response:epsilon=1,neighbours=add-remove,poisson=0.2*10",
    "skellam:variance=900,sensitivity=5,neighbours=add-remove,poisson=0.1*4",
    "gaussian:sigma=2,neighbours=add-remove,poisson=0.1*10",
    "laplace:scale=3*8",
    "discrete-laplace:scale=5,fixed-size=1/10*10",
    "gaussian:sigma=1,neighbours=add-remove,allocation=1/10*3",
]
# of which cells are all that is known
_SINGLE = [spec.split("*")[0] for spec in _SHORT[:5] + _SHORT[6:11]]
_WIDE = [
    "skellam:variance=2.4e+10,sensitivity=267524*20",
    "discrete-gaussian-sum:count=1000,sigma2=455,sensitivity=56,modulus=67108864*3",
    "polya-difference:shape=3/2,scale=5.867,sensitivity=1,modulus=1024*500",
    "laplace:scale=1.143*500",
]


@pytest.mark.slow
@pytest.mark.parametrize("spec", _SHORT)
def test_first_bounds_hold_the_figure(spec: str) -> None:
    uses = exactdp.compose(spec).uses
    whole = exactdp.compose(spec)
    orders = [Fraction(text) for text in ("1.5", "2", "8", "20")]
    with time_limit(20):
        truth = whole.renyi_curve(orders, "1e-6")
        for known, found in zip(truth, first_curve(uses, orders), strict=True):
            known.intersection(found)
        for quantity in ("zcdp", "gdp"):
            getattr(whole, quantity)("1e-6").intersection(first_bounds(uses, Figure(quantity)))


@pytest.mark.parametrize("order", ["3/2", "2", "10"])
@pytest.mark.parametrize("spec", _SINGLE)
def test_cells_hold_divergences(spec: str, order: str) -> None:
    (use,) = exactdp.mechanism(spec).uses
    truth = exactdp.compose(spec).renyi(order, "1e-9")
    if use.mechanism.reversed() == use.mechanism:
        found = renyi_by_cells(Use(use.mechanism, 1), Fraction(order))
        truth.intersection(found)
        assert float(found.lower) > 0.98 * float(truth.lower)


@pytest.mark.parametrize("spec", _SHORT[:3])
def test_orders_may_come_in_any_order(spec: str) -> None:
    """Those of conversions fall: what a larger order has says nothing of a smaller one."""
    whole = exactdp.compose(spec)
    orders = [Fraction(text) for text in ("40", "9", "3", "2", "3/2", "1.01", "30")]
    for order, found in zip(orders, first_curve(whole.uses, orders), strict=True):
        whole.renyi(order, "1e-6").intersection(found)


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("spec", _SHORT + _WIDE)
def test_no_figure_is_nothing_where_time_is_over(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_GRACE", 30)  # however busy the machine is
    whole = exactdp.compose(spec)
    for quantity, at in (("renyi", "8"), ("zcdp", None), ("gdp", None)):
        with time_limit(0.01):
            found = getattr(whole, quantity)(*([at] if at else []))
        assert found.is_finite() or "binomial" in spec  # whose divergences are infinite
        assert found.upper > 0
        if "allocation" not in spec:
            assert found.lower > 0


def test_one_way_round_says_nothing_of_randomized_response() -> None:
    """All that is certain under P is likely under Q: 0.7 one way round, 23 the other."""
    one_way = OnePair(FinitePair(("a", "b"), ("1", "0"), ("1/2", "1/2")))
    found = first_bounds((Use(one_way, 1),), Figure("gdp"))
    assert not found.is_finite()


def test_of_a_long_list_what_comes_late_is_not_asked(monkeypatch):
    asked = []

    def counted(use, order):
        asked.append(use)
        return renyi_by_cells(use, order)

    monkeypatch.setattr(bounds, "renyi_by_cells", counted)
    monkeypatch.setattr(bounds, "_LISTED", 0.0)
    monkeypatch.setattr(bounds, "_PART", 0.0)
    listed = [Use(AdditiveNoise(DiscreteGaussian(sigma2=100 + k), 1), 1) for k in range(40)]
    with time_limit(50):
        (found,) = first_curve(listed, [Fraction(2)])
    assert 1 <= len(asked) < len(listed)
    truth = sum(1 / Fraction(100 + k) for k in range(40))  # a/(2 sigma2) each, exactly
    assert 0 < found.lower <= truth
    assert truth * Fraction(999, 1000) <= found.upper <= truth * Fraction(1001, 1000)
