"""The core of index policies: the arm with the largest index has the next batch.

Every arm has its first batch, in order. Then the arm with the largest upper confidence bound (the
first one of several) is pulled by as many new users as its next batch has, what they gave is
released, and its bound is that of all its batches so far. A batch that the horizon cuts short is
not released, as in `play`.

Runs of one environment go in lock step, each with an arm and a batch of its own; those with the
same batch draw together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .environments.environment import Environment
from .play import Played, Released, Source
from .prepare import Phase, Prepared
from .radius.index import Index
from .results import RegretCurve


def play_index(
    prepared: Prepared,
    index: Index,
    environment: Environment,
    runs: int,
    source: Source,
    record: Callable[[Released], None] | None = None,
    permit: Callable[[int, Phase, int, int], None] | None = None,
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
        values = np.zeros(len(going), dtype=totals.dtype)
        for number in sorted(set(now.tolist())):
            phase = phases[number - 1]
            here = np.flatnonzero(now == number)
            here = here[np.argsort(arm[here], kind="stable")]
            counts = np.bincount(arm[here], minlength=arms)
            shown = np.flatnonzero(counts)
            laws = [environment.arms[one] for one in shown.tolist()]
            values[here] = source.released(phase.release, laws, counts[shown].tolist())
            totals[going[here], arm[here]] += phase.release.decoded(values[here])
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
