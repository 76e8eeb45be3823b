"""How the failure probability is shared out among the batches. A choice: no bound depends on it.

An arm of gap t is eliminated about when 2 beta(b) falls below t. If it stays for another batch,
that costs n_{b+1} users their gap: with gaps spread evenly, the regret that batch b leaves behind
is of the order of n_{b+1} t_b(L)², t_b = 2 beta(b) as a function of L = log(1/level), as long as t_b < 1;
batches with t_b > 1 eliminate nothing that could be. Setting the derivatives against the shares
equal gives level_b proportional to n_{b+1} t_b t_b'(L): much the same everywhere where rewards
dominate (t_b² ~ L/n), falling like 1/n_b where noise does (t_b ~ L/n).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .exceedance import Comparison
from .plan import Plan

__all__ = ["levels"]

_ROUNDS = 12
_LEAST = 2.0**-12  # of an equal share: what a batch gets that is too early to eliminate


def levels(
    plan: Plan, compared: list[Comparison], total: float, power: float = 1.0
) -> NDArray[np.float64]:
    """What each batch may fail with; the sum is `total`."""
    count = len(compared)
    if count == 0:
        return np.zeros(0)
    rivals = np.array([max(plan.most_active(b) - 1, 1) for b in range(1, count + 1)])
    if plan.cumulative:
        rivals = np.full(count, plan.arms - 1)
    follow = _following(plan, count)
    least = total * _LEAST / count
    shares = np.full(count, total / count)
    for _ in range(_ROUNDS):
        weights = np.empty(count)
        for index, one in enumerate(compared):
            level = np.log(shares[index] / rivals[index])
            near, far = one.least(np.array([level, level - 0.5])) / (one.users * one.precision)
            weights[index] = follow[index] * near**power * (far - near) if near < 1 else 0.0
        if not weights.sum() > 0:
            break
        fresh = np.maximum(weights / weights.sum() * total, least)
        shares = fresh / fresh.sum() * total
    return shares


def _following(plan: Plan, count: int) -> NDArray[np.float64]:
    """How many users an arm meets in the batch after each, or in what is left of the horizon."""
    sizes = np.array(plan.batches, dtype=np.float64)
    if plan.cumulative:
        sizes = np.diff(sizes, prepend=0.0)
    used = np.cumsum(sizes)[:count]
    left = np.maximum(plan.horizon / 2 - used, 1.0)
    following = np.append(sizes, sizes[-1])[1 : count + 1]
    return np.minimum(following, left)
