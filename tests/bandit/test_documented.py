"""Regret of the index policies as docs/bandit.md and docs/policies.md describe them.

Written from these pages, in floats, run by run: no code is shared with the package.
"""

import math

import numpy as np
import pytest

from exactdp.bandit.algorithms import DIST_DP_IMED, DIST_DP_KLUCB, DIST_DP_KLUCB_DOUBLING
from exactdp.bandit.environments.instance import instance
from exactdp.bandit.instances import Fixed
from exactdp.bandit.run import Config, run
from exactdp.bandit.setting import Setting

A, B = (0.75, 0.7, 0.7, 0.7, 0.7), (0.75, 0.625, 0.5, 0.375, 0.25)
RUNS = 600


def laplace_bound(horizon, epsilon, p, first):
    """I(X) after b batches of N users in all, X in units of rewards."""
    grid = math.ceil(epsilon * math.sqrt(horizon))
    a = math.exp(-epsilon / grid)
    odds = np.exp(np.arange(-12, 6, 0.08))
    t = epsilon * odds / (1 + odds)
    s = t / grid
    theta = np.array([0, *math.pi * 2.0 ** np.arange(-30, 0, 1 / 6), math.pi])
    single = (1 - a * np.exp(s)) * (1 - a * np.exp(-s))
    turned = s[:, None] + 1j * theta[:-1]
    modulus = np.abs(single[:, None] / ((1 - a * np.exp(turned)) * (1 - a * np.exp(-turned))))
    log_mgf = 2 * math.log1p(-a) - np.log(single)

    def bound(total, users, batches):
        level = p / 6 * 2.0 ** -max(0, math.ceil(math.log2(users / (16 * first))))
        most = np.minimum(single / (1 - a * a), modulus**batches @ np.diff(theta) / math.pi)
        spared = np.log(np.minimum(1, most / -np.expm1(-s)))
        exponent = math.log(level) - t * total - batches * log_mgf - spared
        return np.min(-np.expm1(exponent / users) / -np.expm1(-t))

    return bound


def divergence(x, y, epsilon):
    """inf over z in [x, y] of epsilon (z - x) + kl(z, y)."""
    if x >= y:
        return 0.0
    if y >= 1:
        return epsilon * (1 - x)
    z = max(x, min(y, y / (y + (1 - y) * math.exp(epsilon))))
    kl = sum(p * math.log(p / q) for p, q in ((z, y), (1 - z, 1 - y)) if p > 0)
    return epsilon * (z - x) + kl


def regret(means, horizon, epsilon, first, index, urgent, random):
    """Of one run: each arm's first batch, then the arm of the largest index, or the most urgent."""
    arms, grid = range(len(means)), math.ceil(epsilon * math.sqrt(horizon))
    a = math.exp(-epsilon / grid)
    users, batches, sums = [0] * len(means), [0] * len(means), [0.0] * len(means)
    bounds, rounds, total = [math.inf] * len(means), 0, 0.0
    while rounds < horizon:
        if 0 in batches:
            arm = batches.index(0)
        elif urgent:
            found = [min(1.0, max(0.0, sums[each] / users[each])) for each in arms]
            costs = [
                users[each] * divergence(found[each], max(found), epsilon) + math.log(users[each])
                for each in arms
            ]
            arm = costs.index(min(costs))
        else:
            arm = bounds.index(max(bounds))
        size = min(users[arm] or first, horizon - rounds)
        rounds += size
        total += size * (max(means) - means[arm])
        noise = (random.geometric(1 - a) - random.geometric(1 - a)) / grid
        sums[arm] += random.binomial(size, means[arm]) + noise
        users[arm] += size
        batches[arm] += 1
        if not urgent:
            bounds[arm] = index(sums[arm], users[arm], batches[arm])
    return total


@pytest.mark.slow
@pytest.mark.parametrize(
    "algorithm, means, epsilon, horizon",
    [
        (DIST_DP_KLUCB_DOUBLING, A, 0.5, 10**5),
        (DIST_DP_KLUCB, A, 0.5, 10**5),
        (DIST_DP_KLUCB, B, 0.1, 10**6),
        (DIST_DP_IMED, B, 1.0, 10**6),
    ],
)
def test_regret_is_that_of_what_the_pages_say(algorithm, means, epsilon, horizon):
    tight, urgent = algorithm is DIST_DP_KLUCB, algorithm is DIST_DP_IMED
    p = math.ceil(3 * math.log(horizon)) / horizon if tight else 1 / horizon
    first = math.ceil((2.5 if tight else 3) * math.log(1 / p) / epsilon)
    index = laplace_bound(horizon, epsilon, p, first)
    random = np.random.default_rng(7)
    mine = np.array(
        [regret(means, horizon, epsilon, first, index, urgent, random) for _ in range(RUNS)]
    )
    usual = algorithm.usual_confidence(horizon)
    setting = Setting(len(means), horizon, str(epsilon), confidence=usual)
    coins = instance("coins:" + ",".join(map(str, means)))
    theirs = run(Config(algorithm, setting, Fixed(coins)), runs=RUNS, seed=1).total_regret()
    error = math.hypot(mine.std() / math.sqrt(RUNS), theirs.standard_error)
    assert abs(mine.mean() - theirs.mean) <= 4 * error
