"""Top two in batches, for whomever the users trust: protocols and noise are those of the indices.

The arm of the largest estimate and the one that is hardest to tell from it: of these the one with
fewer users has the next batch (`play`). Top-two sampling under global DP is that of Azize, Jourdan,
Al Marjani and Basu (arXiv 2309.02202) and of Jourdan and Azize (arXiv 2510.17348); the stopping
rule here is `eprocess`, and the noise is discrete.

After b batches a private arm has had ceil(n_1 eta^(b-1)) users. Sums of less than log(1/p)/epsilon
users can tell no two arms apart, even of means 0 and 1; n_1 = ceil(4 log(1/p)/epsilon) takes little
longer there, and elsewhere saves the noise of two batches.
"""

from __future__ import annotations

from attrs import evolve

from ...exact.number import ball
from ...mechanisms.certain import certain_ceiling
from ..algorithms.algorithm import Algorithm
from ..algorithms.indexed import DIST_DP_KLUCB, DP_KLUCB, KL_UCB, from_first
from ..setting import Setting

_SOURCE = "top two in batches, after arXiv 2309.02202 and 2510.17348, until an e-process decides"


def _schedule(setting: Setting, batch: int, _: int) -> int:
    first = certain_ceiling(
        lambda: -4 * ball(setting.confidence).log() / ball(setting.epsilon), "n_1"
    )
    return from_first(setting, batch, first)


DIST_DP_TT = evolve(DIST_DP_KLUCB, name="dist-dp-tt", source=_SOURCE, schedule=_schedule)
DP_TT = evolve(DP_KLUCB, name="dp-tt", source=_SOURCE, schedule=_schedule)
TT = evolve(KL_UCB, name="tt", source=f"{_SOURCE}, without privacy")

IDENTIFIERS: tuple[Algorithm, ...] = (DIST_DP_TT, DP_TT, TT)


def named(name: str) -> Algorithm | None:
    """The algorithm of this name; None where there is none."""
    return next((each for each in IDENTIFIERS if each.name == name), None)
