"""The one elimination core: batches, releases, radii; everything else is what it is given.

Batched successive elimination (Algorithm 1 of Chowdhury and Zhou, ICLR 2023). In every batch each
active arm is pulled by n new users, one arm after the other; what the n rewards sum up to is
released; and arms leave whose estimate is more than 2 beta below the best one. A last batch that
the horizon cuts short is not released: its guarantee would be for a full batch, and nothing could
be decided with it. Once one arm is left nothing is released either, for the same reason.

Runs go in lock step, as rows of arrays, in one environment or each in its own; those with equally
many active arms share a batch. Runs that are over drop out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .environments.apart import laws_of
from .environments.environment import Environment
from .played import Permit, Played, Record, Released
from .prepare import Phase, Prepared
from .results import RegretCurve
from .source import Source


class Elimination:
    """The state of all runs, one row each; in one environment for all of them, or one for each."""

    def __init__(
        self,
        prepared: Prepared,
        places: Sequence[Environment],
        runs: int,
        source: Source,
        record: Record | None,
        permit: Permit | None,
    ) -> None:
        arms = prepared.setting.arms
        self.prepared, self.places = prepared, places
        self.source, self.record, self.permit = source, record, permit
        self.active = np.ones((runs, arms), dtype=bool)
        self.pulls = np.zeros((runs, arms), dtype=np.int64)
        self.totals = np.zeros((runs, arms), dtype=np.int64 if prepared.counts else np.float64)
        self.batches = np.zeros(runs, dtype=np.int64)
        self.curve = RegretCurve(np.array([place.gaps for place in places]), runs)
        self.going = np.arange(runs)

    def played(self) -> Played:
        """Batch after batch, until no run goes on."""
        number = 1
        while len(self.going):
            self.batch(number)
            number += 1
        return Played(self.pulls, self.active, self.batches, self.curve)

    def batch(self, number: int) -> None:
        """One more batch for every run that goes on; pulls to the end for those that cannot."""
        pulled = np.zeros_like(self.pulls)
        left = self.active[self.going].sum(axis=1)
        room = self.prepared.setting.horizon - self.pulls[self.going].sum(axis=1)
        goes_on = np.zeros(len(self.going), dtype=bool)
        for active in map(int, np.unique(left)):
            here = left == active
            phase = self.prepared.phase(number, active) if active > 1 else None
            if phase is not None:
                fits = here & (room >= active * phase.users)
                rows = self.going[fits]
                if len(rows):
                    pulled[rows] = self.active[rows] * phase.users
                    self._release(rows, phase)
                goes_on |= fits
            over = here & ~goes_on
            pulled[self.going[over]] = self._cut(self.going[over], room[over], number, active)
        self.going = self.going[goes_on]
        self.pulls += pulled
        self.curve.add(pulled)

    def _cut(
        self, rows: NDArray[np.int64], room: NDArray[np.int64], number: int, active: int
    ) -> NDArray[np.int64]:
        """The pulls of a batch that the horizon cuts short; the only arm left is pulled on."""
        setting, algorithm = self.prepared.setting, self.prepared.algorithm
        users = setting.horizon if active == 1 else algorithm.schedule(setting, number, active)
        users = min(users, setting.horizon)
        playing = self.active[rows]
        before = users * (np.cumsum(playing, axis=1) - playing)
        cut: NDArray[np.int64] = np.clip(room[:, None] - before, 0, users) * playing
        return cut

    def _release(self, rows: NDArray[np.int64], phase: Phase) -> None:
        """Release a batch of these runs, and let arms leave."""
        active, release = self.active[rows], phase.release
        if self.permit is not None:
            for run in rows.tolist():
                first = int(self.pulls[run].sum())
                for turn, arm in enumerate(np.flatnonzero(self.active[run]).tolist()):
                    self.permit(run, phase, arm, first + turn * phase.users)
        arms, where = np.nonzero(active.T)
        values = self.source.released(release, *laws_of(self.places, rows[where], arms))
        released = np.zeros(active.shape, dtype=values.dtype)
        released[where, arms] = values
        sums = release.decoded(released)
        totals = sums if self.prepared.algorithm.forgets else self.totals[rows] + sums
        best = np.where(active, totals, totals[active].min()).max(axis=1, keepdims=True)
        stays = active & (best - np.where(active, totals, best) <= phase.threshold)
        self.totals[rows] = totals
        self.active[rows] = stays
        self.batches[rows] += 1
        if self.record is not None:
            for index, run in enumerate(rows):
                on = np.flatnonzero(active[index])
                own = (released[index, on], totals[index, on], stays[index, on])
                self.record(Released(int(run), phase, on, *own))
