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
from numpy.typing import NDArray

from ..exact.number import ParameterError
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
    if len(environment.arms) != arms:
        raise ParameterError(
            f"arms must be those of the environment, {len(environment.arms)}, got {arms}"
        )
    bounds = np.full((runs, arms), np.inf)
    batches = np.zeros((runs, arms), dtype=np.int64)
    pulls = np.zeros((runs, arms), dtype=np.int64)
    totals = np.zeros((runs, arms), dtype=np.int64 if prepared.counts else np.float64)
    kept = np.ones((runs, arms), dtype=bool)
    curve = RegretCurve(environment.gaps, runs)
    sizes = np.array([phase.users for phase in prepared.phases.values()] + [horizon])
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
                phase = prepared.phase(int(batches[run, one]), 1)
                assert phase is not None
                permit(run, phase, one, start)
        values = _released(prepared, environment, source, batches[going, arm], arm, totals.dtype)
        for number in map(int, np.unique(batches[going, arm])):
            phase = prepared.phase(number, 1)
            assert phase is not None
            here = np.flatnonzero(batches[going, arm] == number)
            totals[going[here], arm[here]] += phase.release.decoded(values[here])
        if len(going):
            bounds[going, arm] = index.of(batches[going, arm], totals[going, arm])
            kept[going, arm] &= bounds[going, arm] >= environment.means[arm]
        if record is not None:
            for place, (run, one) in enumerate(zip(going.tolist(), arm.tolist(), strict=True)):
                phase = prepared.phase(int(batches[run, one]), 1)
                assert phase is not None
                shown = totals[run, one : one + 1].copy()
                value = values[place : place + 1]
                bound = bounds[run, one : one + 1].copy()
                record(Released(run, phase, np.array([one]), value, shown, None, bound))
    return Played(pulls, kept, batches.sum(axis=1), curve)


def _released(
    prepared: Prepared,
    environment: Environment,
    source: Source,
    batches: NDArray[np.int64],
    arms: NDArray[np.int64],
    kind: np.dtype[np.int64] | np.dtype[np.float64],
) -> NDArray[np.int64] | NDArray[np.float64]:
    """What a batch of each run releases: of this number, of this arm."""
    values = np.zeros(len(arms), dtype=kind)
    for number in map(int, np.unique(batches)):
        phase = prepared.phase(number, 1)
        assert phase is not None
        here = np.flatnonzero(batches == number)
        here = here[np.argsort(arms[here], kind="stable")]
        shown, counts = np.unique(arms[here], return_counts=True)
        laws = [environment.arms[arm] for arm in shown.tolist()]
        values[here] = source.released(phase.release, laws, counts.tolist())
    return values
