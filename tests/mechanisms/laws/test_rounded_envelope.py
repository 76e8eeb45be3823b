"""Rounded vectors against direct sums over outcomes, and the claims of the proof one by one."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import ive, logsumexp

from exactdp import ParameterError
from exactdp.mechanisms.laws import Binomial, DiscreteGaussian, DiscreteLaplace, Law, Skellam
from exactdp.mechanisms.laws.gaussian_envelope import NoEnvelopeError
from exactdp.mechanisms.laws.rounded_envelope import rounded_factor, rounded_renyi

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


# -- what is refused ------------------------------------------------------------------------------


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
