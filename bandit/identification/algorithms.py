"""LUCB in batches, for whomever the users trust: protocols and noise are those of the indices.

The arm of the largest estimate, and of those not told from it that of the largest upper confidence
bound: of these two the one with fewer users has the next batch (`play`), until an e-process tells
the first from all others (`eprocess`). Fixed-confidence identification under global DP is that of
Azize, Jourdan, Al Marjani and Basu (arXiv 2309.02202) and of Jourdan and Azize (arXiv 2510.17348),
who sample by top two, in batches that grow by arm; the noise here is discrete.

After b batches a private arm has had ceil(n_1 eta^(b-1)) users. Sums of less than log(1/p)/epsilon
users can tell no two arms apart, even of means 0 and 1; n_1 = ceil(4 log(1/p)/epsilon) takes little
longer there, and elsewhere saves the noise of two batches.
"""

from __future__ import annotations

import math

from attrs import evolve

from ...exact.number import ball
from ...mechanisms.certain import certain_ceiling
from ...mechanisms.protocols.protocol import Trust
from ..algorithms.algorithm import Algorithm
from ..algorithms.indexed import DIST_DP_KLUCB, DP_KLUCB, KL_UCB, from_first, laplace_release
from ..setting import Setting

_SOURCE = "LUCB in batches that grow by arm, until an e-process decides"


def _schedule(setting: Setting, batch: int, _: int) -> int:
    first = certain_ceiling(
        lambda: -4 * ball(setting.confidence).log() / ball(setting.epsilon), "n_1"
    )
    return from_first(setting, batch, first)


def _private(like: Algorithm, name: str, trust: Trust) -> Algorithm:
    return evolve(
        like,
        name=name,
        source=_SOURCE,
        schedule=_schedule,
        plain=True,
        release=lambda setting, users: laplace_release(setting, users, trust, _accuracy(setting)),
    )


def _accuracy(setting: Setting) -> int:
    """A sum is read wrongly with probability at most p/(1024 K), whatever the horizon."""
    return math.ceil(1024 * setting.arms / setting.confidence)


DIST_DP_LUCB = _private(DIST_DP_KLUCB, "dist-dp-lucb", Trust.DISTRIBUTED)
DP_LUCB = _private(DP_KLUCB, "dp-lucb", Trust.CENTRAL)
LUCB = evolve(KL_UCB, name="lucb", source=f"{_SOURCE}, without privacy")

IDENTIFIERS: tuple[Algorithm, ...] = (DIST_DP_LUCB, DP_LUCB, LUCB)


def named(name: str) -> Algorithm | None:
    """The algorithm of this name; None where there is none."""
    return next((each for each in IDENTIFIERS if each.name == name), None)
