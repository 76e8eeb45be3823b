"""Accounts of returning users: no choice of batches costs more than a user is charged for."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

from relations.engine import AtMost, Statement

from exactdp.accounting import compose
from exactdp.bandit.algorithms import DIST_CDP_SE, DIST_DP_SE, DIST_RDP_SE, LDP_SE
from exactdp.bandit.algorithms.algorithm import Algorithm
from exactdp.bandit.prepare import Prepared, prepare
from exactdp.bandit.privacy import privacy
from exactdp.bandit.release import ModularRelease
from exactdp.bandit.setting import Setting
from exactdp.mechanisms import AdditiveNoise

_prepared = cache(prepare)


def _prepare(algorithm: Algorithm, *setting: object, **more: object) -> Prepared:
    return _prepared(algorithm, Setting(*setting, **more))  # type: ignore[arg-type]


def returning_user(rng: random.Random) -> Iterator[Statement]:
    """Explicit batches, of those that a run may have, before their reduction mod m."""
    algorithm = rng.choice((DIST_DP_SE, DIST_DP_SE, DIST_RDP_SE, DIST_CDP_SE, LDP_SE))
    arms, horizon = rng.choice((2, 10)), rng.choice((1000, 10**5))
    epsilon, growth = rng.choice(("0.1", "0.5", "2")), rng.choice((2, 4))
    delta = Fraction(rng.choice(("1e-6", "0.01", "0.05", "0.05", "0.1")))
    prepared = _prepare(algorithm, arms, horizon, epsilon, growth=growth)
    count = rng.choice((1, 2, 5))
    told = privacy(prepared, count, delta)
    if told.epsilon is None:
        return
    sizes = sorted({phase.users for phase in prepared.phases.values()})
    by_users = {release.users: release for release, _ in prepared.releases()}
    why = f"{algorithm.name}, K = {arms}, T = {horizon}, epsilon {epsilon}, growth {growth}, " \
          f"delta {float(delta)}, {count} batches"  # fmt: skip
    for users in (sizes[0], sizes[-1], rng.choice(sizes)):
        release = by_users[users]
        if not isinstance(release, ModularRelease) or count > arms:
            continue
        plain = release.protocol.released()
        chosen = compose((AdditiveNoise(plain.law, plain.sensitivity), count))
        yield AtMost(chosen.epsilon(delta, Fraction(1, 10**6), work=0.1), told.epsilon,
                     f"{why}: {count} batches of {users} users")  # fmt: skip


RELATIONS = (returning_user,)
