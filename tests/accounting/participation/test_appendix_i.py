"""Appendix I's noise, each end of each enclosure against brute force."""

from __future__ import annotations

from fractions import Fraction

import brute_force as truth
import mpmath
import oracles
import pytest
from mpmath import mpf

from exactdp import Enclosure, ParameterError
from exactdp.accounting import compose
from exactdp.accounting.participation import appendix_i
from exactdp.accounting.participation.appendix_i import (
    Noise,
    advanced_share,
    discrete_gaussian,
    noise_per_batch,
    optimal_share,
    skellam,
)

WIDTH = Fraction(1, 10**4)
DELTA = Fraction(1, 1000)


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


def lemma_10(sigma2: Fraction, count: int) -> mpf:
    """The infimum over orders for `count` discrete Gaussians, on a fine grid of orders."""

    def bound(k: int) -> mpf:
        a = 1 + mpmath.exp(mpf(k) / 400)
        return (
            count * a / (2 * oracles.real(sigma2))
            - mpmath.log(a * oracles.real(DELTA)) / (a - 1)
            + mpmath.log(1 - 1 / a)
        )

    return min(bound(k) for k in range(2000))


def composed_delta(sigma2: Fraction, count: int, level: Fraction) -> mpf:
    """The loss of `count` discrete Gaussians at distance 1 is linear in the sum of the outputs."""
    reach = 14 + int(12 * float(sigma2) ** 0.5)
    sums = oracles.convolution(oracles.discrete_gaussian(sigma2), count, reach)
    goal = oracles.real(level)
    losses = ((p, (count + 2 * s) / (2 * oracles.real(sigma2))) for s, p in sums.items())
    return mpmath.fsum(p * (1 - mpmath.exp(goal - loss)) for p, loss in losses if loss > goal)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_every_end_for_discrete_gaussian_noise(count: int) -> None:
    level = Fraction(2)
    (row,) = noise_per_batch(level, DELTA, discrete_gaussian(), [count], WIDTH)
    assert row.batches == count
    for found in (row.advanced, row.optimal, row.renyi, row.exact):
        assert found.is_within(WIDTH)
    with mpmath.workdps(30):
        share = mpf(2) / (2 * mpmath.sqrt(2 * count * mpmath.log(2000)))
        for end, met in ((row.advanced.lower, False), (row.advanced.upper, True)):
            sigma2 = Fraction(end)
            reach = 14 + int(14 * float(sigma2) ** 0.5)
            pair = truth.shifted(oracles.discrete_gaussian(sigma2), 1, reach)
            assert (truth.delta(pair, share) <= oracles.real(DELTA / (2 * count))) is met
        for end, met in ((row.exact.lower, False), (row.exact.upper, True)):
            assert (composed_delta(Fraction(end), count, level) <= oracles.real(DELTA)) is met
        # a grid of orders is above the infimum by less than 1e-5 of it; the curve is below its line
        # a/(2 sigma2) by theta functions only, which at sigma2 > 1 is less than 1e-7
        assert lemma_10(Fraction(row.renyi.upper), count) <= 2 * (1 + mpf("2e-5"))
        assert lemma_10(Fraction(row.renyi.lower), count) >= 2 * (1 - mpf("2e-5"))


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


@pytest.mark.slow_cases("<lambda>0")
@pytest.mark.parametrize(
    "noise", [discrete_gaussian(2), pytest.param(skellam(2), marks=pytest.mark.slow)]
)
def test_the_order_of_the_routes(noise: Noise) -> None:
    rows = noise_per_batch("0.9", "1e-5", noise, [1, 4], WIDTH)
    for row in rows:
        assert row.exact.upper < row.renyi.lower < row.advanced.lower
        assert row.exact.upper < row.optimal.lower < row.advanced.lower
        for ratio, (above, below) in {
            row.advanced_over_renyi: (row.advanced, row.renyi),
            row.advanced_over_optimal: (row.advanced, row.optimal),
            row.optimal_over_renyi: (row.optimal, row.renyi),
            row.renyi_over_exact: (row.renyi, row.exact),
        }.items():
            assert ratio.contains(Fraction(above.upper) / Fraction(below.upper))
            assert ratio.is_within(3 * WIDTH)
    for name in ("advanced", "optimal", "renyi", "exact"):
        assert getattr(rows[0], name).upper < getattr(rows[1], name).lower


@pytest.mark.slow
def test_skellam_noise_of_one_batch() -> None:
    (row,) = noise_per_batch(2, DELTA, skellam(), [1], WIDTH)
    for end, met in ((row.exact.lower, False), (row.exact.upper, True)):
        pair = truth.shifted(oracles.skellam(Fraction(end)), 1, 80)
        assert (truth.delta(pair, mpf(2)) <= oracles.real(DELTA)) is met
    for end, met in ((row.renyi.lower, False), (row.renyi.upper, True)):
        pair = truth.shifted(oracles.skellam(Fraction(end)), 1, 80)
        orders = [Fraction(f"{1 + 1.02**k:.6g}") for k in range(120)]
        best = min(
            truth.renyi(pair, a)
            - mpmath.log(oracles.real(a * DELTA)) / oracles.real(a - 1)
            + mpmath.log(1 - 1 / oracles.real(a))
            for a in orders
        )
        assert abs(best / 2 - 1) < mpf("1e-3")
        assert met or best > 2


def test_bad_input_is_named() -> None:
    with pytest.raises(ParameterError, match="delta must be"):
        noise_per_batch(1, 0, skellam())
    with pytest.raises(ParameterError, match="epsilon must be"):
        noise_per_batch(0, "0.1", skellam())
    with pytest.raises(ParameterError, match="batches must be"):
        noise_per_batch(1, "0.1", skellam(), [0])


def test_a_share_that_is_known_between_two_ends_costs_what_lies_between(monkeypatch):
    share = Enclosure(Fraction(1, 10), Fraction(1, 5))
    for name in ("advanced_share", "optimal_share"):
        monkeypatch.setattr(appendix_i, name, lambda *given: share)
    monkeypatch.setattr(appendix_i, "least_noise", lambda cost, *given: cost(Fraction(400)))
    noise = appendix_i.discrete_gaussian()
    [row] = appendix_i.noise_per_batch(1, "1e-5", noise, (1,))
    for end in (share.lower, share.upper):
        cost = compose(noise(Fraction(400))).delta(Fraction(end))
        assert row.advanced.lower <= cost.upper and cost.lower <= row.advanced.upper
        assert row.optimal.lower <= cost.upper and cost.lower <= row.optimal.upper
