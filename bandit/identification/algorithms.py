"""LUCB in batches, for whomever the users trust: protocols and noise are those of the indices.

The arm of the largest estimate, and of those not told from it that of the largest upper confidence
bound: of these two the one with fewer users has the next batch (`play`), until an e-process tells
the first from all others (`eprocess`). Fixed-confidence identification under global DP is that of
Azize, Jourdan, Al Marjani and Basu (arXiv 2309.02202) and of Jourdan and Azize (arXiv 2510.17348),
who sample by top two, in batches that grow by arm; the noise here is discrete.

After b batches a private arm has had ceil(n_1 eta^(b-1)) users. Sums of less than log(1/p)/epsilon
users can tell no two arms apart, even of means 0 and 1; n_1 = ceil(4 log(1/p)/epsilon) takes little
longer there, and elsewhere saves the noise of two batches. Noise with the tails of a Gaussian has
the n_1 of its index policy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import evolve

from ...exact.number import ball
from ...mechanisms.additive.protocol import Trust
from ...mechanisms.laws.search import certain_ceiling
from ..algorithms.algorithm import Algorithm
from ..algorithms.indexed import DIST_DP_KLUCB, DP_KLUCB, KL_UCB, from_first, laplace_release
from ..algorithms.indexed_gaussian import (
    DIST_CDP_KLUCB,
    DIST_GAUSS_KLUCB,
    DIST_RDP_KLUCB,
    approx_first,
    approx_release,
    gaussian_release,
    skellam_release,
    stated_first,
)
from ..local_release import LocalRelease
from ..lower_bound import Barrier
from ..release import Release
from ..setting import Setting

_USUAL = Fraction(1, 100)  # p where none is given
_SOURCE = "LUCB in batches that grow by arm, until an e-process decides"


def _laplace_first(setting: Setting) -> int:
    return certain_ceiling(
        lambda: -4 * ball(setting.confidence).log() / ball(setting.epsilon), "n_1"
    )


def _private(
    like: Algorithm,
    name: str,
    release: Callable[[Setting, int, int], Release],
    first: Callable[[Setting], int] = _laplace_first,
) -> Algorithm:
    return evolve(
        like,
        name=name,
        source=_SOURCE,
        plain=True,
        usual=_USUAL,
        schedule=lambda setting, batch, _: from_first(setting, batch, first(setting)),
        release=lambda setting, users: release(setting, users, _accuracy(setting)),
    )


def _accuracy(setting: Setting) -> int:
    """A sum is read wrongly with probability at most p/(1024 K), whatever the horizon."""
    return math.ceil(1024 * setting.arms / setting.confidence)


DIST_DP_LUCB = _private(
    DIST_DP_KLUCB,
    "dist-dp-lucb",
    lambda setting, users, tau: laplace_release(setting, users, Trust.DISTRIBUTED, tau),
)
DP_LUCB = _private(
    DP_KLUCB,
    "dp-lucb",
    lambda setting, users, tau: laplace_release(setting, users, Trust.CENTRAL, tau),
)
DIST_RDP_LUCB = _private(DIST_RDP_KLUCB, "dist-rdp-lucb", skellam_release, stated_first)
DIST_CDP_LUCB = _private(DIST_CDP_KLUCB, "dist-cdp-lucb", gaussian_release, stated_first)
DIST_GAUSS_LUCB = _private(DIST_GAUSS_KLUCB, "dist-gauss-lucb", approx_release, approx_first)
LUCB = evolve(KL_UCB, name="lucb", source=f"{_SOURCE}, without privacy", usual=_USUAL)
LOCAL_LUCB = evolve(
    LUCB,
    name="local-lucb",
    source=f"{_SOURCE}, on reports that users randomise",
    release=lambda setting, users: LocalRelease(users, setting.epsilon),
    barrier=Barrier.LOCAL,
)

IDENTIFIERS: tuple[Algorithm, ...] = (
    DIST_DP_LUCB,
    DP_LUCB,
    DIST_RDP_LUCB,
    DIST_CDP_LUCB,
    DIST_GAUSS_LUCB,
    LOCAL_LUCB,
    LUCB,
)


def named(name: str) -> Algorithm | None:
    """The algorithm of this name; None where there is none."""
    return next((each for each in IDENTIFIERS if each.name == name), None)
