"""How the failure probability is shared out among the batches. A choice: no bound depends on it.

An arm of gap t is eliminated about when t_b = 2 beta(b) falls below t, t_b(L) as a function of
L = log(1/level). If it stays for another batch, that costs n_{b+1} users their gap. With gaps of
density t^-a, the regret that batch b leaves behind is of the order of n_{b+1} t_b^(2-a), as long
as t_b < 1; batches with t_b > 1 eliminate nothing that could be. Setting the derivatives by the
shares equal makes the level of b proportional to n_{b+1} t_b^(1-a) t_b'(L). a = 1/2 lies between
gaps spread evenly (best for easy instances) and gaps of every order of magnitude (best for hard
ones), and came within 5 % of the better of the two wherever it was simulated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .exceedance import Comparison
from .plan import RadiusPlan

_ROUNDS = 12
_LEAST = 2.0**-12  # of an equal share: what a batch gets that is too early to eliminate
_GROWTH = 1.15  # batches that grow more slowly than this are not all looked at
_POWER = 0.5  # 1 - a


def looks(plan: RadiusPlan) -> list[int]:
    """The batches, 1, 2, ..., that may eliminate: each by a factor larger than the last one."""
    found: list[int] = []
    for batch in range(1, len(plan.batches) + 1):
        if plan.most_active(batch) < 2:
            break
        if not found or plan.batches[batch - 1] >= _GROWTH * plan.batches[found[-1] - 1]:
            found.append(batch)
    return found


def levels(
    plan: RadiusPlan, numbers: list[int], compared: list[Comparison], total: float
) -> NDArray[np.float64]:
    """What each of these batches may fail with; the sum is `total`."""
    count = len(numbers)
    if count == 0:
        return np.zeros(0)
    rivals = np.array([max(plan.most_active(b) - 1, 1) for b in numbers], dtype=np.float64)
    if plan.cumulative:
        rivals[:] = plan.arms - 1
    follow = _following(plan, numbers)
    least = total * _LEAST / count
    shares = np.full(count, total / count)
    for _ in range(_ROUNDS):
        weights = np.zeros(count)
        for index, one in enumerate(compared):
            level = np.log(shares[index] / rivals[index])
            near, far = one.least(np.array([level, level - 0.5])) / (one.users * one.precision)
            if near < 1:
                weights[index] = follow[index] * near**_POWER * (far - near)
        if not weights.sum() > 0:
            break
        fresh = np.maximum(weights / weights.sum() * total, least)
        shares = fresh / fresh.sum() * total
    return shares


def _following(plan: RadiusPlan, numbers: list[int]) -> NDArray[np.float64]:
    """How many users an arm meets up to the next look, or to the end of the horizon."""
    sizes = np.array(plan.batches, dtype=np.float64)
    used = sizes if plan.cumulative else np.cumsum(sizes)
    ends = np.minimum(used[np.array(numbers) - 1], plan.horizon / 2)
    beyond = min(max(2 * ends[-1], 1.0), plan.horizon / 2)
    return np.maximum(np.diff(np.append(ends, beyond)), 1.0)
