"""A trusted server that sees every real reward: continuous noise of its own, or none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..radius.paper import NO_NOISE, paper_radius, sajed_sheffet_epoch
from ..radius.plan import Plan
from ..release import LaplaceRelease, OpenRelease, Release
from ..setting import Setting
from .algorithm import Algorithm, growing

__all__ = ["DP_SE", "SE"]


def _epoch(setting: Setting, batch: int, active: int) -> int:
    return sajed_sheffet_epoch(batch, active, setting.confidence, setting.epsilon).users


def _laplace(setting: Setting, users: int) -> Release:
    return LaplaceRelease(users, setting.epsilon)


def _epoch_radius(setting: Setting, plan: Plan, _: Sequence[Release]) -> NDArray[np.float64]:
    table = np.full((len(plan.batches), plan.arms + 1), np.inf)
    for batch in range(1, len(plan.batches) + 1):
        for active in range(1, plan.arms + 1):
            epoch = sajed_sheffet_epoch(batch, active, setting.confidence, setting.epsilon)
            table[batch - 1, active] = epoch.radius
    return table


def _open(setting: Setting, users: int) -> Release:
    return OpenRelease(users)


def _open_radius(setting: Setting, plan: Plan, _: Sequence[Release]) -> NDArray[np.float64]:
    return paper_radius(plan, NO_NOISE)


DP_SE = Algorithm(
    "dp-se",
    "DP-SE of Sajed and Sheffet, An Optimal Private Stochastic-MAB Algorithm (ICML 2019)",
    _epoch,
    _laplace,
    _epoch_radius,
    None,
    adapts=True,
)
SE = Algorithm(
    "se", "batched successive elimination, without privacy", growing, _open, _open_radius, None
)
