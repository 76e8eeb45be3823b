"""Pure DP by discrete Laplace noise, for whomever the users trust (Theorems 1, 3, 5 and 6).

Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits" (ICLR 2023). Theorems
5 and 6 are stated for epsilon < 1; their protocols make sense for every epsilon > 0, and what is
certified of each batch says what it spends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.papers import theorem1, theorem3, theorem5, theorem6
from ...verify.guarantee import PureDP
from ..radius.paper import discrete_laplace_scale, local_scale, paper_radius
from ..radius.plan import Plan
from ..release import ModularRelease, Release
from ..setting import Setting
from .algorithm import Algorithm, Demand, growing

__all__ = ["CDP_SE", "DIST_DP_SE", "LDP_SE", "SHUFFLE_DP_SE"]


def _pure(setting: Setting) -> Demand:
    return Demand(PureDP(setting.epsilon))


def _distributed(setting: Setting, users: int) -> Release:
    return ModularRelease(theorem1(setting.epsilon, users, setting.horizon).protocol)


def _central(setting: Setting, users: int) -> Release:
    """Theorem 1's parameters; the analyzer alone adds the noise."""
    stated = theorem5(setting.epsilon, users, setting.horizon, stated=False)
    return ModularRelease(stated.protocol)


def _shuffled(setting: Setting, users: int) -> Release:
    """Its shares are corrected: see `theorem3`.

    Simulated with an aggregation that never fails; a relaxed one may, with probability 1/(2T).
    """
    return ModularRelease(theorem3(setting.epsilon, users, setting.horizon).protocol)


def _relaxed(setting: Setting) -> Demand:
    """Twice the relaxation epsilon/4 of the aggregation, and epsilon/2 for the sum mod m."""
    return Demand(PureDP(setting.epsilon), setting.epsilon / 4)


def _local(setting: Setting, users: int) -> Release:
    stated = theorem6(setting.epsilon, users, setting.horizon, stated=False)
    return ModularRelease(stated.protocol)


def _radius(setting: Setting, plan: Plan, _: Sequence[Release]) -> NDArray[np.float64]:
    return paper_radius(plan, discrete_laplace_scale(setting.epsilon))


def _relaxed_radius(setting: Setting, plan: Plan, _: Sequence[Release]) -> NDArray[np.float64]:
    return paper_radius(plan, discrete_laplace_scale(setting.epsilon / 2))


def _local_radius(setting: Setting, plan: Plan, _: Sequence[Release]) -> NDArray[np.float64]:
    return paper_radius(plan, [local_scale(setting.epsilon, users) for users in plan.batches])


DIST_DP_SE = Algorithm("dist-dp-se", "Theorem 1 (ICLR 2023)", growing, _distributed, _radius, _pure)
CDP_SE = Algorithm("cdp-se", "Theorem 5 (ICLR 2023)", growing, _central, _radius, _pure)
LDP_SE = Algorithm("ldp-se", "Theorem 6 (ICLR 2023)", growing, _local, _local_radius, _pure)
SHUFFLE_DP_SE = Algorithm(
    "shuffle-dp-se",
    "Theorem 3 (ICLR 2023), its shares corrected",
    growing,
    _shuffled,
    _relaxed_radius,
    _relaxed,
)
