"""DP-IMED: the arm of the least index has the next batch, and no level of confidence is needed.

Azize, Wu, Honda, Orabona, Ito and Basu, "Optimal Regret of Bernoulli Bandits under Global
Differential Privacy" (arXiv 2505.05613), put the d of `lower_bound` in the place of kl in IMED
(Honda and Takemura, "Non-asymptotic analysis of a new bandit algorithm for semi-bounded rewards",
JMLR 2015): with N users and the noisy mean m, clipped to [0, 1], of each arm, m* the largest,

    I = N d(m, m*) + log N.

Here noise is discrete and comes from the users' shares, and batches are those of `indexed`; the
authors' bound of regret is of their batches and noise, and no bound is proved here.
"""

from __future__ import annotations

import numpy as np

from ..policy import Floats, Largest, State
from .indexed import DIST_DP_KLUCB


def _urgency(state: State) -> Floats:
    """-I."""
    means = np.clip(state.means, 0.0, 1.0)
    best = np.where(state.users > 0, means, 0.0).max(axis=1, keepdims=True)
    apart = divergence(means, best, float(state.setting.epsilon))
    return -(state.users * apart + np.log(np.maximum(state.users, 1)))


def divergence(low: Floats, high: Floats, epsilon: float) -> Floats:
    """d(low, high) for epsilon-global DP, in floats; 0 where low is not below high."""
    with np.errstate(divide="ignore", invalid="ignore"):
        meets = high / (high + (1 - high) * np.exp(min(epsilon, 500.0)))
        z = np.clip(np.where(high > 0, meets, 0.0), low, np.maximum(low, high))
        one = np.where(z > 0, z * np.log(z / high), 0.0)
        other = np.where(z < 1, (1 - z) * np.log((1 - z) / (1 - high)), 0.0)
    return np.where(low < high, epsilon * (z - low) + one + other, 0.0)


DIST_DP_IMED = DIST_DP_KLUCB.deciding(
    "dist-dp-imed",
    "IMED on noisy sums, after DP-IMED (arXiv 2505.05613)",
    lambda setting, runs: Largest(_urgency),
)
