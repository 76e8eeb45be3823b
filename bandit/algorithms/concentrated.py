"""Rényi and concentrated DP by Skellam and discrete Gaussian shares (Theorems 2 and 4).

Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits" (ICLR 2023). Both
encode finer than Theorem 1 does, s times: g = ceil(s epsilon sqrt(n)). Theorem 4 is stated for
epsilon < 1; its protocol makes sense for every epsilon > 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ...mechanisms.papers import theorem2, theorem2_curve, theorem4
from ...verify.guarantee import ZCDP, RenyiDP
from ..radius.paper import discrete_gaussian_scale, paper_radius, skellam_scale
from ..radius.plan import Plan
from ..release import ModularRelease, Release
from ..setting import Setting
from .algorithm import Algorithm, Demand, growing

__all__ = ["DIST_CDP_SE", "DIST_RDP_SE"]

_ORDER = 2  # at which Theorem 2's curve is certified


def _skellam(setting: Setting, users: int) -> Release:
    return ModularRelease(
        theorem2(setting.epsilon, users, setting.horizon, setting.scaling).protocol
    )


def _gaussian(setting: Setting, users: int) -> Release:
    stated = theorem4(setting.epsilon, users, setting.horizon, setting.scaling, stated=False)
    return ModularRelease(stated.protocol)


def _renyi(setting: Setting) -> Demand:
    curve = theorem2_curve(setting.epsilon, setting.scaling, _ORDER)
    return Demand(RenyiDP(_ORDER, curve))


def _zcdp(setting: Setting) -> Demand:
    """rho = epsilon²/2, and 1e-9 of it more: sums of discrete Gaussians need a little (Lemma 4)."""
    return Demand(ZCDP(setting.epsilon**2 / 2 * (1 + Fraction(1, 10**9))))


def _skellam_radius(setting: Setting, plan: Plan, _: Sequence[Release]) -> NDArray[np.float64]:
    return paper_radius(plan, skellam_scale(setting.epsilon, setting.scaling))


def _gaussian_radius(setting: Setting, plan: Plan, _: Sequence[Release]) -> NDArray[np.float64]:
    return paper_radius(plan, discrete_gaussian_scale(setting.epsilon, setting.scaling))


DIST_RDP_SE = Algorithm(
    "dist-rdp-se", "Theorem 2 (ICLR 2023)", growing, _skellam, _skellam_radius, _renyi
)
DIST_CDP_SE = Algorithm(
    "dist-cdp-se", "Theorem 4 (ICLR 2023)", growing, _gaussian, _gaussian_radius, _zcdp
)
