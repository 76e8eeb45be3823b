"""Runs where things happen: users are drawn, batches released, regret counted, batch by batch.

Runs that are due for the same batch draw together. Of eliminating algorithms all runs have a batch
in each step; of others, where every run may be at an arm and a batch of its own, those have one
that are due for what most are due for, while the others wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .environments.apart import laws_of
from .environments.environment import Environment
from .phase import Phase
from .played import Permit, Record, Released
from .policy import Decision, Policy, ReleasedSums, Whole
from .prepare import Prepared
from .results import RegretCurve
from .runner import Due, Runner
from .source import Source


class Playing(Runner):
    """A runner where things happen: users are drawn, batches released, regret counted.

    kept      as `Played.active`
    released  by run: how many batches were
    curve     None: nobody asks for regret
    """

    def __init__(
        self,
        prepared: Prepared,
        policy: Policy,
        runs: int,
        places: Sequence[Environment],
        source: Source,
        record: Record | None = None,
        permit: Permit | None = None,
        seed: int = 0,
        first: int = 0,
        curve: RegretCurve | None = None,
    ) -> None:
        kind = np.int64 if prepared.counts else np.float64
        super().__init__(prepared, policy, runs, kind, seed, first)
        self.places, self.source, self.record, self.permit = places, source, record, permit
        self.curve = curve
        self.kept = np.ones(self.pulls.shape, dtype=bool)
        self.means = np.broadcast_to([place.means for place in places], self.pulls.shape)
        self.released = np.zeros(runs, dtype=np.int64)
        self.pulled: NDArray[np.int64] | None = None  # in a step, where policies ask by masks

    def play(self, waits: bool) -> None:
        """Until no run goes on. waits: for what most runs are due for, in each step."""
        going = np.arange(len(self.pulls))
        while len(going):
            due = self.end(going)
            fits = np.flatnonzero(due.fits)
            keys = due.keys[fits]
            chosen, counts = np.unique(keys, return_counts=True)
            for key in chosen[[counts.argmax()]] if waits and len(chosen) else chosen:
                self._release(due, fits[keys == key])
            if self.curve is not None and self.pulled is not None:
                self.curve.add(self.pulled)
            going, self.pulled = going[fits], None

    def end(self, runs: Whole) -> Due:
        """What these runs are due for. What the horizon leaves of it goes to the arms in order.

        A run that stops leaves it.
        """
        due = self.due(runs)
        over = np.flatnonzero(~due.fits & (due.active > 0))
        if not len(over):
            return due
        runs, arms = due.runs[over], due.arms[over]
        users = due.users[over]
        room = self.prepared.setting.horizon - self.history.rounds[runs]
        if arms.ndim == 2:
            before = users[:, None] * (np.cumsum(arms, axis=1) - arms)
            self._pull(runs, arms, np.clip(room[:, None] - before, 0, users[:, None]) * arms)
        else:
            self._pull(runs, arms, np.minimum(room, users))
        return due

    def pull_each(self, runs: Whole, arms: Whole, users: Whole) -> None:
        """So many further users of each of these arms (runs x arms), in order."""
        self.pulls[runs[:, None], arms] += users
        self.history.rounds[runs] += users.sum(axis=1)
        if self.curve is not None:
            self.curve.add_each(runs, arms, users)

    def _pull(self, runs: Whole, arms: NDArray[Any], users: Any) -> None:
        self.pull(runs, arms, users)
        if arms.ndim == 2:
            self.pulled = np.zeros_like(self.pulls) if self.pulled is None else self.pulled
            self.pulled[runs] = users
        elif self.curve is not None:
            self.curve.add_one(runs, arms, users)

    def _release(self, due: Due, rows: Whole) -> None:
        """Release the batch that these are due for, and tell the policy."""
        runs, arms = due.runs[rows], due.arms[rows]
        phase = self.prepared.phase(int(due.number[rows[0]]), int(due.active[rows[0]]))
        assert phase is not None
        if self.permit is not None:
            for row, run in enumerate(runs.tolist()):
                begins = int(self.history.rounds[run])
                for turn, arm in enumerate(_listed(arms[row])):
                    self.permit(run, phase, arm, begins + turn * phase.users)
        values = self.draw(phase, runs, arms)
        self._pull(runs, arms, phase.users * (arms if arms.ndim == 2 else 1))
        self.released[runs] += 1
        for one in self.tell(phase, runs, arms, values):
            assert self.record is not None
            self.record(one)

    def tell(
        self, phase: Phase, runs: Whole, arms: NDArray[Any], values: NDArray[Any]
    ) -> list[Released]:
        """Tell the policy what left the batch; what is to be recorded of it."""
        seen, decision = self.observe(runs, arms, phase, phase.release.decoded(values))
        self._keep(runs, arms, decision or Decision())
        if self.record is None:
            return []
        numbered = enumerate(runs.tolist())
        return [as_released(seen, decision, row, run, values) for row, run in numbered]

    def draw(self, phase: Phase, runs: Whole, arms: NDArray[Any]) -> NDArray[Any]:
        """What leaves the batch: drawn arm by arm, of each the runs in order."""
        if arms.ndim == 2:
            on, where = np.nonzero(arms.T)
            drawn = self.source.released(phase.release, *laws_of(self.places, runs[where], on))
            values = np.zeros(arms.shape, dtype=drawn.dtype)
            values[where, on] = drawn
            return values
        order = np.argsort(arms, kind="stable")
        values = np.zeros(len(arms), dtype=self.totals.dtype)
        laws = laws_of(self.places, runs[order], arms[order])
        values[order] = self.source.released(phase.release, *laws)
        return values

    def _keep(self, runs: Whole, arms: NDArray[Any], decision: Decision) -> None:
        if decision.stays is not None:
            self.kept[runs] = decision.stays
        if decision.index is not None:
            self.kept[runs, arms] &= decision.index >= self.means[runs, arms]


def _listed(arms: Any) -> list[int]:
    """The arms of one run."""
    return np.flatnonzero(arms).tolist() if np.ndim(arms) else [int(arms)]


def as_released(
    seen: ReleasedSums, decision: Decision | None, row: int, run: int, values: NDArray[Any]
) -> Released:
    """What this run's batch released and decided, arm by arm."""
    decided = decision or Decision()
    if seen.arms.ndim == 1:
        one = slice(row, row + 1)
        index = None if decided.index is None else decided.index[one].copy()
        stays = None if decided.stays is None else decided.stays[row, seen.arms[one]]
        return Released(
            run, seen.phase, seen.arms[one], values[one], seen.totals[one].copy(), stays, index
        )
    on = np.flatnonzero(seen.arms[row])
    stays = None if decided.stays is None else decided.stays[row, on]
    index = None if decided.index is None else np.full(len(on), decided.index[row])
    return Released(run, seen.phase, on, values[row, on], seen.totals[row, on], stays, index)
