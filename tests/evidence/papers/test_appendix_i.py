"""Appendix I's noise, each end of each enclosure against brute force."""

from fractions import Fraction

import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import Enclosure, ParameterError
from exactdp.accounting import compose
from exactdp.evidence.papers import appendix_i
from exactdp.evidence.papers.appendix_i import (
    advanced_share,
    discrete_gaussian,
    noise_per_batch,
    optimal_share,
)


def point_delta(epsilon: Fraction, delta: Fraction, count: int, level: Fraction) -> mpf:
    """Kairouz, Oh, Viswanath, Theorem 3.3, for epsilon_i = epsilon: the delta at this level."""
    e, odds = oracles.real(epsilon), mpmath.exp(oracles.real(level))
    total = (
        mpmath.fsum(
            mpmath.binomial(count, j)
            * max(mpmath.exp((count - j) * e) - odds * mpmath.exp(j * e), 0)
            for j in range(count + 1)
        )
        / (1 + mpmath.exp(e)) ** count
    )
    return 1 - (1 - oracles.real(delta)) ** count * (1 - total)


@pytest.mark.parametrize("count", [1, 2, 4, 16, 100])
def test_the_optimal_share(count: int) -> None:
    found = optimal_share(Fraction(1), Fraction("1e-6"), count)
    low, high = Fraction(found.lower), Fraction(found.upper)
    each = Fraction("1e-6") / (2 * count)
    assert point_delta(low, each, count, Fraction(1)) <= mpf("1e-6") * (1 + mpf(10) ** -30)
    assert point_delta(high, each, count, Fraction(1)) > mpf("1e-6")
    assert found.is_within(Fraction(1, 10**5))


def test_the_share_of_theorem_7_and_its_condition() -> None:
    with mpmath.workdps(40):
        value = mpf("0.5") / (2 * mpmath.sqrt(2 * 16 * mpmath.log(mpf("2e6"))))
        oracles.assert_holds(advanced_share(Fraction("0.5"), Fraction("1e-6"), 16), value)
    with pytest.raises(ParameterError, match="epsilon must be smaller for Theorem 7"):
        advanced_share(Fraction(40), Fraction("1e-6"), 16)


def test_bad_input_is_named() -> None:
    with pytest.raises(ParameterError, match="delta must be"):
        noise_per_batch(1, 0, discrete_gaussian)
    with pytest.raises(ParameterError, match="epsilon must be"):
        noise_per_batch(0, "0.1", discrete_gaussian)
    with pytest.raises(ParameterError, match="batches must be"):
        noise_per_batch(1, "0.1", discrete_gaussian, [0])


def test_a_share_that_is_known_between_two_ends_costs_what_lies_between(monkeypatch):
    share = Enclosure(Fraction(1, 10), Fraction(1, 5))
    for name in ("advanced_share", "optimal_share"):
        monkeypatch.setattr(appendix_i, name, lambda *given: share)
    monkeypatch.setattr(appendix_i, "least_noise", lambda cost, *given: cost(Fraction(400)))
    [row] = appendix_i.noise_per_batch(1, "1e-5", discrete_gaussian, (1,))
    for end in (share.lower, share.upper):
        cost = compose(discrete_gaussian(Fraction(400))).delta(Fraction(end))
        assert row.advanced.lower <= cost.upper and cost.lower <= row.advanced.upper
        assert row.optimal.lower <= cost.upper and cost.lower <= row.optimal.upper
