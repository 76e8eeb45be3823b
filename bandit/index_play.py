"""The core of index policies: the arm with the largest index has the next batch.

Every arm has its first batch, in order. Then the arm with the largest upper confidence bound (the
first one of several) is pulled by as many new users as its next batch has, what they gave is
released, and its bound is that of all its batches so far. A batch that the horizon cuts short is
not released, as in `play`.

Runs go in lock step, each with an arm and a batch of its own; in one environment, or each in its
own one. Those that are due for the same batch draw together, at every step for the batch that most
are due for, while the others wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .environments.apart import laws_of
from .environments.environment import Environment
from .played import Permit, Played, Record, Released
from .prepare import Phase, Prepared
from .radius.index import Index
from .results import RegretCurve
from .source import Source


def play_index(
    prepared: Prepared,
    index: Index,
    places: Sequence[Environment],
    runs: int,
    source: Source,
    record: Record | None = None,
    permit: Permit | None = None,
) -> Played:
    """Run the policy in this environment, or each run in its own; as `play`."""
    arms, horizon = prepared.setting.arms, prepared.setting.horizon
    phases = list(prepared.phases.values())  # every one is of a single arm
    bounds = np.full((runs, arms), np.inf)
    batches = np.zeros((runs, arms), dtype=np.int64)
    pulls = np.zeros((runs, arms), dtype=np.int64)
    totals = np.zeros((runs, arms), dtype=np.int64 if prepared.counts else np.float64)
    kept = np.ones((runs, arms), dtype=bool)
    means = np.broadcast_to([place.means for place in places], (runs, arms))
    curve = RegretCurve(np.array([place.gaps for place in places]), runs)
    sizes = np.array([phase.users for phase in phases] + [horizon])
    going, used = np.arange(runs), np.zeros(runs, dtype=np.int64)

    def pull(rows: NDArray[np.int64], arm: NDArray[np.int64], users: Any) -> None:
        pulls[rows, arm] += users
        used[rows] += users
        curve.add_one(rows, arm, users)

    while True:
        arm = bounds[going].argmax(axis=1)
        number = batches[going, arm]  # no batch follows the last one of the schedule
        fits = (number < len(phases)) & (used[going] + sizes[number] <= horizon)
        over = going[~fits]
        if len(over):  # the arm with the largest index has what is left
            pull(over, arm[~fits], horizon - used[over])
        going, arm, number = going[fits], arm[fits], number[fits]
        if not len(going):
            break
        due = int(np.bincount(number).argmax())
        rows, arm, phase = going[number == due], arm[number == due], phases[due]
        if permit is not None:
            for run, one in zip(rows.tolist(), arm.tolist(), strict=True):
                permit(run, phase, one, int(used[run]))
        batches[rows, arm] += 1
        pull(rows, arm, phase.users)
        values, sums = release_one_each(source, phase, places, rows, arm, totals.dtype)
        totals[rows, arm] += sums
        bounds[rows, arm] = index.of(batches[rows, arm], totals[rows, arm])
        kept[rows, arm] &= bounds[rows, arm] >= means[rows, arm]
        if record is not None:
            for place, (run, one) in enumerate(zip(rows.tolist(), arm.tolist(), strict=True)):
                total = totals[run, one : one + 1].copy()
                value = values[place : place + 1]
                bound = bounds[run, one : one + 1].copy()
                record(Released(run, phase, np.array([one]), value, total, None, bound))
    return Played(pulls, kept, batches.sum(axis=1), curve)


def release_one_each(
    source: Source,
    phase: Phase,
    places: Sequence[Environment],
    runs: NDArray[np.int64],
    arms: NDArray[np.int64],
    kind: np.dtype[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """What these runs release that have this batch of this arm each, and the noisy sums in it."""
    order = np.argsort(arms, kind="stable")
    values = np.zeros(len(arms), dtype=kind)
    values[order] = source.released(phase.release, *laws_of(places, runs[order], arms[order]))
    return values, phase.release.decoded(values)
