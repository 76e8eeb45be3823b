"""The policy of identification: LUCB in lock step, until an arm is proved the best.

Every arm has its first batch, in order. Then the leader is the arm of the largest estimate. Where
every other arm is far enough apart from it (`eprocess`) it is chosen. Otherwise the challenger is,
of those that are not, the arm of the largest upper confidence bound (`radius.index`), and that of
the two has its next batch which has had fewer users, the leader of two with equally many; of arms
that are equal in any of this the first. A run whose next batch would go beyond the horizon ends
undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..environments.environment import Environment
from ..playing import Playing
from ..policy import Decision, ReleasedSums, State
from ..prepare import Prepared
from ..source import Source
from .eprocess import EProcess

_AT_ONCE = 2048  # pairs of arms
_MORE = 8  # times as many arms are looked at next, if none of these is the challenger


@frozen
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
    places = [environment] if isinstance(environment, Environment) else environment
    assert len(places) in (1, runs)
    policy = UntilSure(prepared, process, runs)
    Playing(prepared, policy, runs, places, source).play(waits=False)
    return Found(policy.leader, policy.decided, policy.users[policy.batches], policy.batches)


class UntilSure:
    """Batches, sums, bounds and the leader of all runs, one row each.

    means  the arms' estimates
    apart  each arm from the leader; nan: to be found
    open   the bounds of those that are not known to be told from it; -1 of the others

    What a batch changes is changed here and there; a step costs two maxima over the arms.
    """

    def __init__(self, prepared: Prepared, process: EProcess, runs: int) -> None:
        shape = runs, prepared.setting.arms
        assert prepared.index is not None
        self.index, self.process = prepared.index, process
        self.last, self.horizon = len(prepared.phases), prepared.setting.horizon
        self.users = np.concatenate([[0], process.users])
        self.batches = np.zeros(shape, dtype=np.int64)
        self.totals = np.zeros(shape, dtype=np.int64 if prepared.counts else np.float64)
        self.bounds = np.ones(shape)
        self.means = np.zeros(shape)
        self.apart = np.full(shape, np.nan)
        self.open = np.ones(shape)
        self.begun = np.zeros(runs, dtype=np.int64)  # how many arms had their first batch
        self.leader = np.zeros(runs, dtype=np.int64)
        self.decided = np.zeros(runs, dtype=bool)

    def observe(self, state: State, released: ReleasedSums) -> Decision:
        """Bound the arms' means anew."""
        rows, arm, number = state.runs, released.arms, released.phase.number
        self.begun[rows] += number == 1
        self.batches[rows, arm] = number
        self.totals[rows, arm] = released.totals
        self.means[rows, arm] = released.totals / self.users[number]
        bounds = self.index.of(np.full(len(rows), number), released.totals.astype(float))
        self.bounds[rows, arm] = self.open[rows, arm] = bounds
        self.apart[rows, arm] = np.nan
        return Decision(index=bounds)

    def next_batch(self, state: State) -> NDArray[Any]:
        """Leader or challenger; nobody once the leader is sure, or where the horizon ends."""
        going, batches, users = state.runs, self.batches, self.users
        if (self.begun[going] < batches.shape[1]).any():  # every arm has its first, in order
            return self.begun[going]
        first = _rows(self.means, going).argmax(axis=1)
        changed = (first != self.leader[going]) | np.isnan(self.apart[going, self.leader[going]])
        self.leader[going] = first
        anew = going[changed]
        self.apart[anew], self.open[anew] = np.nan, self.bounds[anew]
        self.apart[going, first], self.open[going, first] = np.inf, -1.0
        challenger = self._challengers(going)
        self.decided[going] = challenger < 0
        fewer = users[batches[going, challenger]] < users[batches[going, first]]
        arm = np.where(fewer, challenger, first)
        number = batches[going, arm]
        next_ = np.minimum(number + 1, self.last)
        after = state.rounds + users[next_] - users[number]
        goes_on = ~self.decided[going] & (number < self.last) & (after <= self.horizon)
        return np.where(goes_on, arm, -1)

    def _challengers(self, runs: NDArray[np.int64]) -> NDArray[np.int64]:
        """The arm of the largest bound that is not told from the leader; -1 where all are.

        Arms are compared to the leader in the order of their bounds, and no more than needed.
        """
        found = np.full(len(runs), -1)
        rows, many = np.arange(len(runs)), 1
        while len(rows):
            open_ = _rows(self.open, runs[rows])
            arm = open_.argmax(axis=1)
            found[rows] = np.where(open_[np.arange(len(rows)), arm] < 0, -1, arm)
            rest = (found[rows] >= 0) & np.isnan(self.apart[runs[rows], arm])
            rows, arm = rows[rest], arm[rest]
            largest = arm[:, None]
            if many > 1:
                largest = np.argpartition(-open_[rest], many - 1, axis=1)[:, :many]
                largest[:, 0] = arm  # of equal bounds the first
            row, place = np.nonzero(
                np.isnan(np.take_along_axis(self.apart[runs[rows]], largest, 1))
            )
            which, other = runs[rows[row]], largest[row, place]
            for at in range(0, len(row), _AT_ONCE):
                self._tell(which[at : at + _AT_ONCE], other[at : at + _AT_ONCE])
            many = min(many * _MORE, self.open.shape[1])
        return found

    def _tell(self, row: NDArray[np.int64], other: NDArray[np.int64]) -> None:
        """How far these arms are apart from their runs' leaders."""
        own = self.leader[row]
        found = self.process.apart(
            self.batches[row, own],
            self.totals[row, own].astype(float),
            self.batches[row, other],
            self.totals[row, other].astype(float),
        )
        self.apart[row, other] = found
        told = found >= self.process.threshold
        self.open[row[told], other[told]] = -1.0


def _rows(table: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """These rows, which ascend; not copied where they are all."""
    return table if len(rows) == len(table) else table[rows]
