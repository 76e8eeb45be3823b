"""DP-KLUCB as its authors index it: the d of private coins and log t, no level of confidence.

Azize, Wu, Honda, Orabona, Ito and Basu, "Optimal Regret of Bernoulli Bandits under Global
Differential Privacy" (arXiv 2505.05613), put the d of `lower_bound` in the place of kl in KL-UCB:
an arm of N users and the noisy mean m, clipped to [0, 1], has at round t the index

    max{q: d(m, q) <= log t/N}.

Their sums are never forgotten, each batch of an arm adds noise of its own, and an arm's users grow
by a factor above 1, as in `indexed`, whose releases and batches are taken: the first batch of n_1
users, the factor eta and discrete noise are ours. `dist-dp-klucb` has the same releases and an
index with a proof; the authors' bound of regret is of their batches and noise, and no bound is
proved here.
"""

from __future__ import annotations

import numpy as np

from ..policy import Floats, Largest, State
from .imed import divergence
from .indexed import DIST_DP_KLUCB
from .klucb_log import upper


def _bounds(state: State) -> Floats:
    epsilon = float(state.setting.epsilon)
    level = np.log(np.maximum(state.rounds, 1))[:, None] / np.maximum(state.users, 1)
    means = np.clip(state.means, 0.0, 1.0)
    return upper(means, level, lambda low, high: divergence(low, high, epsilon))


DIST_DP_KLUCB_LOG = DIST_DP_KLUCB.deciding(
    "dist-dp-klucb-log",
    "KL-UCB on noisy sums with log t and the d of private coins, as DP-KLUCB (arXiv 2505.05613)",
    lambda setting, runs: Largest(_bounds),
)
