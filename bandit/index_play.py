"""The core of index policies: the arm with the largest index has the next batch.

Every arm has its first batch, in order. Then the arm with the largest upper confidence bound (the
first one of several) is pulled by as many new users as its next batch has, what they gave is
released, and its bound is that of all its batches so far. A batch that the horizon cuts short is
not released, as in `play`.

Runs of one environment go in lock step, each with an arm and a batch of its own; those with the
same batch draw together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .environments.environment import Environment
from .played import Permit, Played, Record, Released
from .prepare import Phase, Prepared
from .radius.index import Index
from .results import RegretCurve
from .source import Source


def play_index(
    prepared: Prepared,
    index: Index,
    environment: Environment,
    runs: int,
    source: Source,
    record: Record | None = None,
    permit: Permit | None = None,
) -> Played:
    """Run the policy in this environment, `runs` times independently; as `play`."""
    arms, horizon = prepared.setting.arms, prepared.setting.horizon
    phases = list(prepared.phases.values())  # every one is of a single arm
    bounds = np.full((runs, arms), np.inf)
    batches = np.zeros((runs, arms), dtype=np.int64)
    pulls = np.zeros((runs, arms), dtype=np.int64)
    totals = np.zeros((runs, arms), dtype=np.int64 if prepared.counts else np.float64)
    kept = np.ones((runs, arms), dtype=bool)
    curve = RegretCurve(environment.gaps, runs)
    sizes = np.array([phase.users for phase in phases] + [horizon])
    going = np.arange(runs)
    while len(going):
        arm = bounds[going].argmax(axis=1)
        users = sizes[batches[going, arm]]  # no batch follows the last one of the schedule
        room = horizon - pulls[going].sum(axis=1)
        fits = (users <= room) & (batches[going, arm] < len(sizes) - 1)
        pulled = np.where(fits, users, room)  # the arm with the largest index has what is left
        pulls[going, arm] += pulled
        curve.add_one(going, arm, pulled)
        going, arm, first = going[fits], arm[fits], (horizon - room)[fits]
        batches[going, arm] += 1
        if permit is not None:
            for run, one, start in zip(going.tolist(), arm.tolist(), first.tolist(), strict=True):
                permit(run, phases[batches[run, one] - 1], one, start)
        now = batches[going, arm]
        values, sums = release_one_each(source, phases, environment, arm, now, totals.dtype)
        totals[going, arm] += sums
        if len(going):
            bounds[going, arm] = index.of(now, totals[going, arm])
            kept[going, arm] &= bounds[going, arm] >= environment.means[arm]
        if record is not None:
            for place, (run, one) in enumerate(zip(going.tolist(), arm.tolist(), strict=True)):
                phase = phases[batches[run, one] - 1]
                total = totals[run, one : one + 1].copy()
                value = values[place : place + 1]
                bound = bounds[run, one : one + 1].copy()
                record(Released(run, phase, np.array([one]), value, total, None, bound))
    return Played(pulls, kept, batches.sum(axis=1), curve)


def release_one_each(
    source: Source,
    phases: Sequence[Phase],
    environment: Environment,
    arm: NDArray[np.int64],
    number: NDArray[np.int64],
    kind: np.dtype[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """What runs release that are at this batch of this arm each, and the noisy sums in it."""
    values, sums = np.zeros((2, len(arm)), dtype=kind)
    for batch in sorted(set(number.tolist())):
        release = phases[batch - 1].release
        here = np.flatnonzero(number == batch)
        here = here[np.argsort(arm[here], kind="stable")]
        counts = np.bincount(arm[here], minlength=len(environment.arms))
        shown = np.flatnonzero(counts)
        laws = [environment.arms[one] for one in shown.tolist()]
        values[here] = source.released(release, laws, counts[shown].tolist())
        sums[here] = release.decoded(values[here])
    return values, sums
