"""Which outcomes of a law are listed: what is beyond weighs as little as asked, not far less."""

from __future__ import annotations

import pytest
from flint import arb

from exactdp.accounting.losses.of_pair import window, windowed
from exactdp.exact import working_precision
from exactdp.mechanisms import Binomial, DiscreteGaussian, DiscreteLaplace, Skellam
from exactdp.mechanisms.laws.law import Law
from exactdp.mechanisms.shift_pair import ShiftPair
from exactdp.mechanisms.spec import parse

POLYA = parse("polya-difference:shape=1/10,scale=10").mechanism.law  # type: ignore[attr-defined]
SUM = parse("discrete-gaussian-sum:count=10,sigma2=10").mechanism.law  # type: ignore[attr-defined]


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize("log_tail", [-30, -150])
@pytest.mark.parametrize(
    "law",
    [Skellam(100), Skellam(10**6), DiscreteGaussian(30), DiscreteLaplace(10), POLYA, SUM],
    ids=str,
)
def test_tails_are_as_light_as_asked(law: Law, log_tail: int) -> None:
    low, high = window(law, log_tail)
    with working_precision(512):
        most = arb(log_tail).exp()
        assert low == -high
        assert law.upper_tail(high + 1) < most
        assert law.upper_tail(high * 3 // 4) > most


def test_laws_that_end_somewhere_are_cut_too() -> None:
    low, high = window(Binomial(10**6, "1/2"), -50.0)
    assert 0 < low < 500_000 - 4000 and 500_000 + 4000 < high < 10**6


@pytest.mark.parametrize("log_tail", [-5, -30])
@pytest.mark.parametrize(
    "law", [DiscreteGaussian(30), DiscreteGaussian("0.3"), Skellam(9)], ids=str
)
def test_what_is_left_out_of_a_list_is_bounded(law: Law, log_tail: int) -> None:
    """By a geometric series: not less than the truth, nor much more; and losses are exact."""
    low, high = window(law, log_tail)
    with working_precision(192):
        found = windowed(ShiftPair(law, 2), log_tail)
        truth = law.lower_tail(low - 1) + law.upper_tail(high + 1)
        assert found.missing().upper() >= truth and found.missing() < 40 * truth
        for k in (0, 1, len(found.losses) - 1):
            expected = (law.ball(low + k) / law.ball(low + k - 2)).log()
            assert found.losses[k].overlaps(expected) and found.losses[k].rad() < 1e-40
