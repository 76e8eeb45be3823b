"""A trusted server that sees every real reward: continuous noise of its own, or none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..lower_bound import Barrier
from ..radius.paper import NO_NOISE, paper_radius, sajed_sheffet_epoch
from ..radius.plan import Plan
from ..release import LaplaceRelease, OpenRelease, Release
from ..setting import Setting
from .algorithm import Algorithm, growing


def _epoch(setting: Setting, batch: int, active: int) -> tuple[int, float]:
    return sajed_sheffet_epoch(batch, active, setting.confidence, setting.epsilon)


def _radius(setting: Setting, plan: Plan, _: Sequence[Release]) -> NDArray[np.float64]:
    table = np.full((len(plan.batches), plan.arms + 1), np.inf)
    for index, active in np.ndindex(len(plan.batches), plan.arms):
        table[index, active + 1] = _epoch(setting, index + 1, active + 1)[1]
    return table


DP_SE = Algorithm(
    "dp-se",
    "DP-SE of Sajed and Sheffet, An Optimal Private Stochastic-MAB Algorithm (ICML 2019)",
    lambda setting, batch, active: _epoch(setting, batch, active)[0],
    lambda setting, users: LaplaceRelease(users, setting.epsilon),
    _radius,
    None,
    adapts=True,
    barrier=Barrier.GLOBAL,
)
SE = Algorithm(
    "se",
    "batched successive elimination, without privacy",
    growing,
    lambda setting, users: OpenRelease(users),
    lambda setting, plan, _: paper_radius(plan, [NO_NOISE] * len(plan.batches)),
    None,
)
