"""The core of identification: LUCB in lock step, until an arm is proved the best.

Every arm has its first batch, in order. Then the leader is the arm of the largest estimate. Where
every other arm is far enough apart from it (`eprocess`) it is chosen. Otherwise the challenger is,
of those that are not, the arm of the largest upper confidence bound (`radius.index`), and that of
the two has its next batch which has had fewer users, the leader of two with equally many; of arms
that are equal in any of this the first. A run whose next batch would go beyond the horizon ends
undecided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..environments.environment import Environment
from ..index_play import release_one_each
from ..prepare import Prepared
from ..source import Source
from .eprocess import EProcess


@dataclass(frozen=True)
class Found:
    """How runs ended, one row each.

    leader   the arm of the largest estimate
    decided  whether it is proved to be the best
    pulls    users of each arm
    batches  how many were released, of each arm
    """

    leader: NDArray[np.int64]
    decided: NDArray[np.bool_]
    pulls: NDArray[np.int64]
    batches: NDArray[np.int64]


def play_until_sure(
    prepared: Prepared, process: EProcess, environment: Environment, runs: int, source: Source
) -> Found:
    """Run it in this environment, `runs` times independently."""
    phases, horizon = list(prepared.phases.values()), prepared.setting.horizon
    arms, index = len(environment.arms), prepared.index
    assert index is not None
    users = np.concatenate([[0], process.users])
    batches = np.zeros((runs, arms), dtype=np.int64)
    totals = np.zeros((runs, arms), dtype=np.int64 if prepared.counts else np.float64)
    bounds = np.ones((runs, arms))
    apart = np.full((runs, arms), np.nan)  # each arm from the leader; nan: to be found
    leader = np.zeros(runs, dtype=np.int64)
    decided = np.zeros(runs, dtype=bool)
    going = np.arange(runs)

    def release(rows: NDArray[np.int64], arm: NDArray[np.int64]) -> None:
        batches[rows, arm] += 1
        number = batches[rows, arm]
        _, sums = release_one_each(source, phases, environment, arm, number, totals.dtype)
        totals[rows, arm] += sums
        bounds[rows, arm] = index.of(number, totals[rows, arm].astype(float))
        apart[rows, arm] = np.nan

    for arm in range(arms):
        release(going, np.full(runs, arm))
    while len(going):
        first = (totals[going] / users[batches[going]]).argmax(axis=1)
        moved = going[(first != leader[going]) | np.isnan(apart[going, leader[going]])]
        leader[going] = first
        apart[moved] = np.nan
        apart[going, first] = np.inf
        row, other = np.nonzero(np.isnan(apart[going]))
        row = going[row]
        own = leader[row]
        apart[row, other] = process.apart(
            batches[row, own],
            totals[row, own].astype(float),
            batches[row, other],
            totals[row, other].astype(float),
        )
        told = apart[going] >= process.threshold
        decided[going] = told.all(axis=1)
        challenger = np.where(told, -1, bounds[going]).argmax(axis=1)
        fewer = users[batches[going, challenger]] < users[batches[going, first]]
        arm_ = np.where(fewer, challenger, first)
        number = batches[going, arm_]
        more = number < len(phases)
        next_ = np.minimum(number + 1, len(phases))
        after = users[batches[going]].sum(axis=1) + users[next_] - users[number]
        goes_on = ~decided[going] & more & (after <= horizon)
        going, arm_ = going[goes_on], arm_[goes_on]
        if len(going):
            release(going, arm_)
    return Found(leader, decided, users[batches], batches)
