"""The one runner: asks a policy, plays what the algorithm's releases cover, and tells it what came.

A policy asks for an arm's next batch, or that of several arms; it cannot ask for more. Batch b of
an arm has the users and the release that were prepared for it, with their evidence, and every arm
has it once: that is what the account of privacy is of. What asks for anything else is refused.

A last batch that the horizon cuts short is not released: its guarantee would be for a full batch,
and nothing could be decided with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..exact.number import ParameterError
from .phase import Phase
from .policy import Decision, History, Policy, ReleasedSums, State, Whole
from .prepare import Prepared


@frozen(eq=False)
class Due:
    """What some runs are due for, one row each.

    arms    one arm a run, or a mask, as the policy asked
    active  how many arms these are; 0: the run stops
    number  of their batch
    keys    ascend with number and active, and are the same for the same batch
    users   each of them gets, until the horizon ends
    fits    whether the batch is released
    """

    runs: Whole
    arms: NDArray[Any]
    active: Whole
    number: Whole
    keys: Whole
    users: Whole
    fits: NDArray[np.bool_]


class Runner:
    """Some runs of a prepared algorithm, decided by a policy.

    kind: of sums. seed, first: what a policy's own lots depend on, and the number of the first run.
    """

    def __init__(
        self,
        prepared: Prepared,
        policy: Policy,
        runs: int,
        kind: Any,
        seed: int = 0,
        first: int = 0,
    ) -> None:
        shape = runs, prepared.setting.arms
        self.prepared, self.policy = prepared, policy
        self.totals = np.zeros(shape, dtype=kind)
        self.pulls = np.zeros(shape, dtype=np.int64)
        self.history = History(
            prepared.setting,
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(runs, dtype=np.int64),
            seed,
            first,
        )

    def due(self, runs: Whole) -> Due:
        """What these runs are due for. Raises ParameterError for what no release covers."""
        prepared, setting = self.prepared, self.prepared.setting
        arms = np.asarray(self.policy.next_batch(State(runs, self.history)))
        self._look(arms, len(runs))
        batches = self.history.batches
        if arms.ndim == 1:
            active = (arms >= 0).astype(np.int64)
            number = batches[runs, arms] + 1
        else:
            active = arms.sum(axis=1)
            number = np.where(arms, batches[runs], -1).max(axis=1) + 1
            if (arms & (batches[runs] + 1 != number[:, None])).any():
                raise self._refused("batches of different numbers at once")
        keys = number * (setting.arms + 1) + active
        room = setting.horizon - self.history.rounds[runs]
        users = np.zeros(len(runs), dtype=np.int64)
        fits = np.zeros(len(runs), dtype=bool)
        for one in np.unique(keys).tolist():
            here, key = keys == one, divmod(one, setting.arms + 1)
            alone = arms.ndim == 2 and key[1] == 1  # the only one left: nothing is released
            phase = None if alone or not key[1] else prepared.phase(*key)
            if phase is not None:
                users[here], fits[here] = phase.users, phase.users * key[1] <= room[here]
            if key[1] and not fits[here].all():
                cut = here & ~fits
                size = setting.horizon
                if not alone:
                    size = min(size, prepared.algorithm.schedule(setting, *key))
                    if phase is None and (size * key[1] <= room[cut]).any():
                        raise self._refused(f"batch {key[0]} of {size} users")
                users[cut] = setting.horizon if key[1] == 1 else size
        return Due(runs, arms, active, number, keys, users, fits)

    def observe(
        self, runs: Whole, arms: NDArray[Any], phase: Phase, sums: NDArray[Any]
    ) -> tuple[ReleasedSums, Decision | None]:
        """Tell the policy the decoded sums of a batch of these arms (0 elsewhere in a mask)."""
        at: Any = (runs, arms) if arms.ndim == 1 else runs
        totals = sums if self.prepared.algorithm.forgets else self.totals[at] + sums
        self.totals[at] = totals
        had: Any = 1 if arms.ndim == 1 else arms.astype(np.int64)
        own = (np.asarray(sums, dtype=np.float64) - float(phase.release.centre)) * had
        self.history.sums[at] += own / phase.release.precision
        self.history.variances[at] += phase.variance * had
        self.history.users[at] += phase.users * had
        self.history.batches[at] += had
        seen = ReleasedSums(phase, arms, sums, totals)
        return seen, self.policy.observe(State(runs, self.history), seen)

    def pull(self, runs: Whole, arms: NDArray[Any], users: Any) -> None:
        """So many further users of each arm, one number or one a run (x arms)."""
        at: Any = (runs, arms) if arms.ndim == 1 else runs
        self.pulls[at] += users
        self.history.rounds[runs] += users if arms.ndim == 1 else users.sum(axis=1)

    def _look(self, arms: NDArray[Any], runs: int) -> None:
        """Raise ParameterError for what does not say which arms."""
        most = self.prepared.setting.arms
        if arms.ndim == 2 and arms.dtype == np.bool_ and arms.shape == (runs, most):
            return
        if arms.ndim != 1 or arms.dtype.kind != "i" or len(arms) != runs:
            raise self._refused("what is neither an arm for each run nor a mask runs x arms")
        if len(arms) and not (arms.min() >= -1 and arms.max() < most):
            raise self._refused(f"arm {arms.max() if arms.max() >= most else arms.min()}")

    def _refused(self, what: str) -> ParameterError:
        return ParameterError(
            f"{self.prepared.algorithm.name} asks for {what}, which its release does not cover"
        )
