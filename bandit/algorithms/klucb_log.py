"""What can be had without privacy: KL-UCB with log t, updated nearly every round.

Garivier and Cappé, "The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond" (COLT 2011),
as they run it: an arm of mean m and N users has the index max{q >= m: N kl(m, q) <= log t}, t the
rounds so far. `kl-ucb` is held to a confidence and to the batches of its private twins, so that
privacy looks free beside it; here an arm's batches grow by a twentieth, and are of one user until
it has had forty. `kl-ucb-log-batched` has the batches of `kl-ucb` instead. No bound of
regret is proved here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from attrs import evolve

from ..policy import Floats, Largest, State
from .indexed import KL_UCB

_GROWTH = 20  # an arm's batch has its users so far over this, at least one
_HALVINGS = 40


def _bounds(state: State) -> Floats:
    level = np.log(np.maximum(state.rounds, 1))[:, None] / np.maximum(state.users, 1)
    return upper(np.clip(state.means, 0.0, 1.0), level)


def kl(low: Floats, high: Floats) -> Floats:
    """The divergence of coins of these means, in floats; infinite where high alone is 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(low > 0, low * np.log(low / high), 0.0)
        other = np.where(low < 1, (1 - low) * np.log((1 - low) / (1 - high)), 0.0)
    return one + other


def upper(means: Floats, level: Floats, apart: Callable[[Floats, Floats], Floats] = kl) -> Floats:
    """The largest q in [mean, 1] with apart(mean, q) <= level, in floats."""
    low, high = means, np.ones_like(means)
    whole = apart(means, high) <= level
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fits = apart(means, middle) <= level
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return np.where(whole, 1.0, low)


def _users(batch: int) -> int:
    """Of an arm's b-th batch: those of all before it, over 20, rounded down, at least 1."""
    had, size = 0, 1
    for _ in range(batch):
        size = max(1, had // _GROWTH)
        had += size
    return size


KL_UCB_LOG_BATCHED = KL_UCB.deciding(
    "kl-ucb-log-batched",
    "KL-UCB with log t, in batches (Garivier and Cappé, COLT 2011), without privacy",
    lambda setting, runs: Largest(_bounds),
)
KL_UCB_LOG = evolve(
    KL_UCB_LOG_BATCHED,
    name="kl-ucb-log",
    source="KL-UCB with log t, nearly every round (Garivier and Cappé, COLT 2011), without privacy",
    schedule=lambda setting, batch, _: _users(batch),
)
