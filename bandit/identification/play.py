"""The core of identification: LUCB in lock step, until an arm is proved the best.

Every arm has its first batch, in order. Then the leader is the arm of the largest estimate. Where
every other arm is far enough apart from it (`eprocess`) it is chosen. Otherwise the challenger is,
of those that are not, the arm of the largest upper confidence bound (`radius.index`), and that of
the two has its next batch which has had fewer users, the leader of two with equally many; of arms
that are equal in any of this the first. A run whose next batch would go beyond the horizon ends
undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..environments.environment import Environment
from ..index_play import release_one_each
from ..prepare import Prepared
from ..source import Source
from .eprocess import EProcess

_AT_ONCE = 2048  # pairs of arms


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

    def first(self, count: int) -> Found:
        """Of the first so many runs."""
        return Found(
            self.leader[:count], self.decided[:count], self.pulls[:count], self.batches[:count]
        )


def play_until_sure(
    prepared: Prepared,
    process: EProcess,
    environment: Environment | Sequence[Environment],
    runs: int,
    source: Source,
) -> Found:
    """Run it in this environment, `runs` times independently, or once in each of these."""
    phases, horizon = list(prepared.phases.values()), prepared.setting.horizon
    places = [environment] if isinstance(environment, Environment) else environment
    arms, index = prepared.setting.arms, prepared.index
    assert index is not None and len(places) in (1, runs)
    users = np.concatenate([[0], process.users])
    batches = np.zeros((runs, arms), dtype=np.int64)
    totals = np.zeros((runs, arms), dtype=np.int64 if prepared.counts else np.float64)
    bounds = np.ones((runs, arms))
    apart = np.full((runs, arms), np.nan)  # each arm from the leader; nan: to be found
    leader = np.zeros(runs, dtype=np.int64)
    decided = np.zeros(runs, dtype=bool)
    going = np.arange(runs)

    def release(rows: NDArray[np.int64], arm: NDArray[np.int64]) -> None:
        due = batches[rows, arm]
        for number in np.unique(due).tolist():  # these draw together
            run, one = rows[due == number], arm[due == number]
            _, sums = release_one_each(source, phases[number], places, run, one, totals.dtype)
            totals[run, one] += sums
        batches[rows, arm] += 1
        bounds[rows, arm] = index.of(due + 1, totals[rows, arm].astype(float))
        apart[rows, arm] = np.nan

    def tell(row: NDArray[np.int64], other: NDArray[np.int64]) -> None:
        """How far these arms are apart from their runs' leaders."""
        own = leader[row]
        apart[row, other] = process.apart(
            batches[row, own],
            totals[row, own].astype(float),
            batches[row, other],
            totals[row, other].astype(float),
        )

    for arm in range(arms):
        release(going, np.full(runs, arm))
    while len(going):
        first = (totals[going] / users[batches[going]]).argmax(axis=1)
        moved = going[(first != leader[going]) | np.isnan(apart[going, leader[going]])]
        leader[going] = first
        apart[moved] = np.nan
        apart[going, first] = np.inf
        row, other = np.nonzero(np.isnan(apart[going]))
        for at in range(0, len(row), _AT_ONCE):
            part = slice(at, at + _AT_ONCE)
            tell(going[row[part]], other[part])
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
