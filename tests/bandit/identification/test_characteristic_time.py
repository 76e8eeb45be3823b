"""The lower bound of the stopping time, against its definition and what is known of two arms."""

import math

import numpy as np
import pytest
from small_bandits import coins

from exactdp.bandit.identification.characteristic_time import least_time
from exactdp.bandit.lower_bound import Barrier


def kl(x, y):
    return sum(a * math.log(a / b) for a, b in ((x, y), (1 - x, 1 - y)) if a > 0)


def divergence(x, y, epsilon):
    """d(x, y) by looking at many z between."""
    z = np.linspace(x, y, 2001)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(a > 0, a * np.log(a / b), 0) for a, b in ((z, y), (1 - z, 1 - y))]
    return float((epsilon * np.abs(z - x) + sum(parts)).min())


@pytest.mark.parametrize(("high", "low"), [(0.6, 0.5), (0.9, 0.2), (0.52, 0.5), (1.0, 0.7)])
def test_two_arms_without_privacy_take_what_is_known(high, low):
    """1/v is at the l with kl(mu_1, l) = kl(mu_2, l) (Garivier and Kaufmann, COLT 2016)."""
    below, above = low, high
    for _ in range(100):
        middle = (below + above) / 2
        below, above = (middle, above) if kl(high, middle) > kl(low, middle) else (below, middle)
    truth = kl(0.01, 0.99) / kl(low, below)
    found = float(least_time(coins(low, high), 1, "0.01", Barrier.NONE))
    assert 0.999 * truth <= found <= truth * (1 + 1e-9)


@pytest.mark.parametrize("means", [(0.75, 0.7, 0.7, 0.7), (0.9, 0.5, 0.3), (0.3, 0.31, 0.1, 0.29)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_no_allocation_takes_less_and_some_takes_little_more(means, epsilon):
    """For any w the least of w_* d + w_j d is at most v: kl/v is at most kl over it."""
    found = float(least_time(coins(*means), str(epsilon), "0.1"))
    best = max(means)
    others = [mean for mean in means if mean < best]
    grid = [np.linspace(mean, best, 60) for mean in others]
    down = [np.array([divergence(best, place, epsilon) for place in places]) for places in grid]
    up = [
        np.array([divergence(mean, place, epsilon) for place in places])
        for mean, places in zip(others, grid, strict=True)
    ]
    rng, reached, weights, spread = np.random.default_rng(1), 0.0, np.ones(len(means)), 1.0
    for _ in range(3000):
        tried = weights * np.exp(spread * rng.normal(size=len(means)))
        tried /= tried.sum()
        value = min(
            (tried[0] * a + w * b).min() for a, b, w in zip(down, up, tried[1:], strict=True)
        )
        if value > reached:
            reached, weights = value, tried
        else:
            spread = max(0.01, spread * 0.998)
    assert found <= 1.01 * kl(0.1, 0.9) / reached  # their grid of l is coarse
    assert found >= 0.97 * kl(0.1, 0.9) / reached
