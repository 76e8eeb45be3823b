"""Thompson sampling with noisy sums: the arm that a draw from what is known makes the best.

Thompson (Biometrika 1933), in the Gaussian form of Agrawal and Goyal ("Further Optimal Regret
Bounds for Thompson Sampling", AISTATS 2013), whose variance for N rewards in [0, 1] is widened by
that of the noise in their sum: an arm of noisy mean m, N users and noise of variance v is drawn
from N(m, 1/4N + v/N²). Which arm is drawn depends on released sums and on lots of its own only, so
that it is as private as these sums are. No bound of regret is proved here.
"""

from __future__ import annotations

import numpy as np

from ..policy import Floats, Largest, State
from .indexed import DIST_DP_KLUCB


def _drawn(state: State) -> Floats:
    users = np.maximum(state.users, 1)
    spread = np.sqrt(0.25 / users + state.variances / users**2)
    drawn: Floats = state.means + spread * state.normal(state.setting.arms)
    return drawn


DIST_DP_TS = DIST_DP_KLUCB.deciding(
    "dist-dp-ts",
    "Thompson sampling with noisy sums, their noise in its spread",
    lambda setting, runs: Largest(_drawn),
)
