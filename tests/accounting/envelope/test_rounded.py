"""Rounded vectors against direct sums over outcomes, and the claims of the proof one by one."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb
from scipy.special import gammaln, ive, logsumexp

from exactdp import ParameterError
from exactdp.accounting.envelope import (
    NoEnvelopeError,
    rounded_factor,
    rounded_renyi,
    unit_parameter,
)
from exactdp.accounting.envelope.rounded import _Moments
from exactdp.exact import ball
from exactdp.mechanisms.laws import Binomial, DiscreteGaussian, DiscreteLaplace, Law, Skellam

ROUNDING = 1 + 1e-9  # all sums have positive terms only
SEED = 20240

LAWS = [
    Skellam(1),
    Skellam(25),
    Skellam(100),
    DiscreteGaussian(1),
    DiscreteGaussian("9.5"),
    DiscreteGaussian(100),
]


def log_table(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Outcomes and log probabilities, by the definition, as far as floats have them."""
    spread = float(law.variance) if isinstance(law, Skellam) else float(law.sigma2)
    outcomes = np.arange(-int(25 * spread**0.5) - 8, int(25 * spread**0.5) + 9)
    if isinstance(law, Skellam):
        logs = np.log(ive(np.abs(outcomes), spread))
    else:
        logs = -(outcomes.astype(float) ** 2) / (2 * spread)
    return outcomes, logs - logsumexp(logs)


def log_ratio(law: Law, y: float) -> tuple[np.ndarray, np.ndarray]:
    """log P/Q and log Q where the table has both, P of the rounded y >= 0."""
    outcomes, logs = log_table(law)
    m, f = math.floor(y), y - math.floor(y)
    inside = slice(m + 1, len(outcomes))
    near, far = logs[1 : len(logs) - m], logs[: len(logs) - m - 1]
    mixed = np.logaddexp(math.log1p(-f) + near, (math.log(f) if f else -math.inf) + far)
    return mixed - logs[inside], logs[inside]


def divergences(ratio: np.ndarray, logs: np.ndarray, order: float) -> tuple[float, float]:
    """Of P from Q and of Q from P; outcomes left out only lower them."""
    return tuple(
        float(logsumexp(power * ratio + logs)) / (order - 1) for power in (order, 1 - order)
    )


def sampled(ratio: np.ndarray, rate: float) -> np.ndarray:
    return ratio if rate == 1 else np.logaddexp(math.log1p(-rate), math.log(rate) + ratio)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_no_vector_costs_more_either_way_round(law: Law) -> None:
    rng = np.random.default_rng(SEED)
    for size, order in itertools.product((1, 2, 3), (1.25, 2, 2.5, 4, 7)):
        y = rng.exponential(rng.choice([0.01, 0.3, 1, 2]), size)
        each = [divergences(*log_ratio(law, float(v)), order) for v in y]
        square = Fraction(float(y @ y))
        norm = Fraction(math.isqrt(math.ceil(square * 10**24)) + 1, 10**12)
        bound = rounded_renyi(law, norm, size, Fraction(order))
        free = rounded_renyi(law, norm, None, Fraction(order))
        assert bound is not None and free is not None and bound <= free
        for way in zip(*each, strict=True):
            assert sum(way) <= float(bound) * ROUNDING


@pytest.mark.parametrize("law", [Skellam(4), DiscreteGaussian(9)], ids=str)
@pytest.mark.parametrize("rate", [Fraction(1, 100), Fraction(3, 10)], ids=str)
def test_no_sampled_vector_costs_more_either_way_round(law: Law, rate: Fraction) -> None:
    rng = np.random.default_rng(SEED)
    for order in (1.5, 2, 3.7, 5):
        y = rng.exponential(rng.choice([0.2, 1.0]), 2)
        (one, log_one), (other, log_other) = (log_ratio(law, float(v)) for v in y)
        ratio = np.add.outer(one, other).ravel()
        logs = np.add.outer(log_one, log_other).ravel()
        norm = Fraction(math.hypot(*y)) + Fraction(1, 10**12)
        bound = rounded_renyi(law, norm, None, Fraction(order), rate)
        assert bound is not None
        found = divergences(sampled(ratio, float(rate)), logs, order)
        assert max(found) <= float(bound) * ROUNDING


def test_sampling_at_rate_1_changes_nothing_and_less_costs_less() -> None:
    costs = [rounded_renyi(Skellam(9), 3, 10, 4, rate) for rate in ("0.001", "0.1", "0.9", 1)]
    assert all(a is not None and b is not None and a < b for a, b in itertools.pairwise(costs))
    assert costs[-1] == rounded_renyi(Skellam(9), 3, 10, 4)


# -- one coordinate of the Gaussian mixture -------------------------------------------------------


def log_moment(order: int, mu: float, y: float) -> mpmath.mpf:
    """log E R^order by its sum over who is rounded up, in 60 digits."""
    with mpmath.workdps(60):
        m, f, s = math.floor(y), mpmath.mpf(y) - math.floor(y), mpmath.mpf(mu) ** 2
        total = mpmath.fsum(
            mpmath.binomial(order, j)
            * f**j
            * (1 - f) ** (order - j)
            * mpmath.exp(s / 2 * ((order * m + j) ** 2 - order * m**2 - 2 * m * j - j))
            for j in range(order + 1)
        )
        return mpmath.log(total)


@pytest.mark.parametrize("mu", [Fraction(1, 10**4), Fraction(1, 100), Fraction(1, 5), Fraction(2)])
@pytest.mark.parametrize("order", [2, 3, 9, 32, 128])
def test_factor_is_above_every_quotient_and_close_to_the_largest(mu: Fraction, order: int) -> None:
    rng = np.random.default_rng(order)
    ys = [1e-9, 1e-4, 0.5, 1.0, 1.5, 2.5, 1e3 + 0.5, 1e6 + 0.5, *rng.exponential(3, 10)]
    quotients = [log_moment(order, float(mu), y) / mpmath.mpf(y) ** 2 / (order - 1) for y in ys]
    factor = rounded_factor(mu, order)
    assert factor is not None
    assert mpmath.mpf(factor.numerator) / factor.denominator >= max(quotients) * (1 - 1e-25)
    assert factor >= order * mu**2 / 2
    if order * mu**2 < Fraction(1, 50):
        assert factor <= (order * mu**2 / 2) * (1 + Fraction(1, 100))


@pytest.mark.slow_cases("40-mu0", "40-mu1", "40-mu2")
@pytest.mark.parametrize("mu", [Fraction(1, 100), Fraction(3, 10), Fraction(1)])
@pytest.mark.parametrize("order", [2, 5, 40])
def test_bounds_of_cells_and_of_the_tail_hold_inside_of_them(mu: Fraction, order: int) -> None:
    rng = np.random.default_rng(SEED)
    moments = _Moments(order, ball(mu) ** 2)

    def is_above(bound: arb, y: float) -> bool:
        return (
            float(log_moment(order, float(mu), y) / mpmath.mpf(y) ** 2) <= float(bound) * ROUNDING
        )

    for m, width in itertools.product((0, 1, 2, 7), (1, 2, 8, 64)):
        low = m + Fraction(int(rng.integers(width)), width)
        high = low + Fraction(1, width)
        bound = moments.bound(low, high)
        ys = [float(low) or 1e-6, *rng.uniform(float(low), float(high), 6), float(high)]
        assert all(is_above(bound, y) for y in ys)
    for start in (1, 2, 5, 40):
        tail = moments.tail(start)
        assert all(is_above(tail, start + y) for y in (0, 0.3, 0.5, 0.7, 1.5, 4.5, 10.5, 100.5))


def test_factor_divided_by_the_order_rises() -> None:
    found = [rounded_factor(Fraction(1, 10), order) for order in range(2, 40)]
    each = [value / order for order, value in enumerate(found, start=2) if value is not None]
    assert len(each) == 38
    assert all(b >= a * Fraction(9998, 10000) for a, b in itertools.pairwise(each))


def mixture(mu: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    """log R and the log weights of Q on a grid."""
    m, f = math.floor(y), y - math.floor(y)
    z = np.linspace(-40, 40, 4001)
    ratio = np.logaddexp(
        math.log1p(-f) + mu * m * z - (mu * m) ** 2 / 2,
        math.log(f) + mu * (m + 1) * z - (mu * (m + 1)) ** 2 / 2,
    )
    logs = -(z**2) / 2
    return ratio, logs - logsumexp(logs)


@pytest.mark.parametrize("mu", [0.05, 0.5, 1.5])
@pytest.mark.parametrize("rate", [1.0, 0.2])
def test_the_other_way_round_costs_no_more_and_quotients_rise(mu: float, rate: float) -> None:
    orders = (1.1, 1.7, 2.0, 3.3, 5.0)
    for y in (0.01, 0.4, 0.9, 1.3, 2.6):
        ratio, logs = mixture(mu, y)
        found = [divergences(sampled(ratio, rate), logs, order) for order in orders]
        assert all(other <= one * (1 + 1e-9) + 1e-13 for one, other in found)
        each = [one / order for (one, _), order in zip(found, orders, strict=True)]
        assert all(b >= a * (1 - 1e-9) - 1e-13 for a, b in itertools.pairwise(each))


def test_moments_rise_and_are_convex_between_whole_numbers() -> None:
    mu, order = 0.3, 6
    for m in range(4):
        values = [mpmath.exp(log_moment(order, mu, m + i / 16)) for i in range(17)]
        assert all(b > a for a, b in itertools.pairwise(values))
        assert all(a + c >= 2 * b for a, b, c in zip(values, values[1:], values[2:], strict=False))


def test_excess_near_0_is_a_polynomial_of_coefficients_that_are_not_negative() -> None:
    """The central moments of a lognormal variable, from their binomial sums."""
    for mu in (0.01, 0.5, 1.0):
        with mpmath.workdps(80):
            for j in range(2, 20):
                terms = (
                    (-1) ** (j - i)
                    * mpmath.binomial(j, i)
                    * mpmath.exp(mpmath.mpf(mu) ** 2 * i * (i - 1) / 2)
                    for i in range(j + 1)
                )
                assert mpmath.fsum(terms) >= 0


# -- what is refused ------------------------------------------------------------------------------


def test_worst_vector_bounds_what_the_mixture_does_not() -> None:
    assert rounded_renyi(Skellam(1), 1, None, 5000) is None
    mu = Fraction(unit_parameter(Skellam(1)).upper)
    found = rounded_renyi(Skellam(1), 1, 4, 5000)
    assert found is not None
    assert found >= 2500 * mu**2 * 9
    assert float(found) == pytest.approx(float(2500 * mu**2 * 9))


def test_nothing_costs_nothing() -> None:
    assert rounded_renyi(Skellam(1), 0, None, Fraction(5, 2)) == 0


def test_bad_input_is_named() -> None:
    with pytest.raises(ParameterError, match="order"):
        rounded_factor(Fraction(1), 1)
    with pytest.raises(ParameterError, match="rate"):
        rounded_renyi(Skellam(1), 1, 1, 2, rate=0)
    with pytest.raises(NoEnvelopeError):
        rounded_renyi(Binomial(10, "1/2"), 1, 1, 2)


def test_tails_like_laplace_serve_too() -> None:
    law = DiscreteLaplace(scale=3)
    outcomes = np.arange(-600, 601)
    logs = -np.abs(outcomes) / 3.0
    logs -= logsumexp(logs)
    mixed = np.logaddexp(math.log(0.7) + logs[1:], math.log(0.3) + logs[:-1])
    bound = rounded_renyi(law, "0.3", 1, 3)
    assert bound is not None
    assert max(divergences(mixed - logs[1:], logs[1:], 3)) <= float(bound)


def test_the_table_is_the_law() -> None:
    """The truth of the tests above, against the law's own series."""
    outcomes, logs = log_table(Skellam(1))
    k = 3
    series = sum(
        math.exp((2 * i + k) * math.log(0.5) - gammaln(i + 1) - gammaln(i + k + 1))
        for i in range(40)
    )
    assert logs[outcomes == k][0] == pytest.approx(math.log(series) - 1, abs=1e-12)
