"""The one runner: asks a policy, plays what the plan's releases cover, and tells it what came.

A policy asks for an arm's next batch, or that of several arms; it cannot ask for more. Batch b of
an arm has the users and the release that were prepared for it, with their evidence, and every arm
has it once: that is what the account of privacy is of. What asks for anything else is refused.

A last batch that the horizon cuts short is not released: its guarantee would be for a full batch,
and nothing could be decided with it.

Runs that are due for the same batch draw together. Of policies whose `waits` is False, as those
that eliminate, all runs have a batch in each step; of others, where every run may be at an arm and
a batch of its own, those have one that are due for what most are due for, while the others wait.

Index policies of hundreds of arms are played many batches at a time. Of arms whose bounds are
I_1 >= I_2 >= ... they play the first, then the second unless the first one's new bound is above
I_2, and so on. So the next batches of the first arms are drawn together, and those are kept, up to
the first that is not next: batch j where every new bound of batches 1, ..., j - 1 is below I_j. The
others are thrown away, and drawn anew when their turn comes. Whether draw j is kept depends on the
draws before it and on what was released, not on itself. So, given all that was kept before,
whatever is kept has the law of rewards and noise of its batch, and the arm is the one that the
policy asks for: what is done batch by batch, from other random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count, takewhile
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..exact.number import ParameterError
from .algorithms.algorithm import Elimination, OwnPolicy
from .environments.environment import Environment, laws_of
from .plan import Plan
from .policies import LargestBound, SuccessiveElimination
from .policy import Decision, History, Policy, ReleasedSums, State, Whole
from .release import Batch
from .results import RegretCurve
from .source import Simulated, Source

MANY_ARMS = 256  # from here on indices are played many batches at a time
_AT_ONCE = 1 << 12  # batches that are drawn together, of all runs
_LEAST = 4  # of each run


@frozen
class Released:
    """What one batch of one run released, arm by arm, and what was decided: for transcripts."""

    run: int
    batch: Batch
    arms: Whole
    values: NDArray[Any]
    totals: NDArray[Any]  # what the estimates rest on, in units of the grid
    stays: NDArray[np.bool_] | None  # where arms are eliminated
    index: NDArray[np.float64] | None = None  # where it decides: after this batch


Record: TypeAlias = Callable[[Released], None]  # is called with every batch that is released
Permit: TypeAlias = Callable[[int, Batch, int, int], None]
"""Asked before anything of a batch is drawn: run, batch, arm, and the round its users begin in."""


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


class Rounds:
    """Some runs of a plan, decided by a policy: what they are due for, and what they were told.

    kind: of sums. seed, first: what a policy's own lots depend on, and the number of the first run.
    """

    def __init__(
        self,
        plan: Plan,
        policy: Policy,
        runs: int,
        kind: Any,
        seed: int = 0,
        first: int = 0,
    ) -> None:
        shape = runs, plan.setting.arms
        self.plan, self.policy = plan, policy
        self.totals = np.zeros(shape, dtype=kind)
        self.pulls = np.zeros(shape, dtype=np.int64)
        self.history = History(
            plan.setting,
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
        plan, setting = self.plan, self.plan.setting
        arms = np.asarray(self.policy.next_batch(State(runs, self.history)))
        self._check(arms, len(runs))
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
        for same in np.unique(keys).tolist():
            here, key = keys == same, divmod(same, setting.arms + 1)
            alone = arms.ndim == 2 and key[1] == 1  # the only one left: nothing is released
            batch = None if alone or not key[1] else plan.batch(*key)
            if batch is not None:
                users[here], fits[here] = batch.users, batch.users * key[1] <= room[here]
            if key[1] and not fits[here].all():
                cut = here & ~fits
                size = setting.horizon
                if not alone:
                    size = min(size, plan.algorithm.schedule(setting, *key))
                    if batch is None and (size * key[1] <= room[cut]).any():
                        raise self._refused(f"batch {key[0]} of {size} users")
                users[cut] = setting.horizon if key[1] == 1 else size
        return Due(runs, arms, active, number, keys, users, fits)

    def observe(
        self, runs: Whole, arms: NDArray[Any], batch: Batch, sums: NDArray[Any]
    ) -> tuple[ReleasedSums, Decision | None]:
        """Tell the policy the decoded sums of a batch of these arms (0 elsewhere in a mask)."""
        at: Any = (runs, arms) if arms.ndim == 1 else runs
        totals = self.totals[at] + sums if self.plan.algorithm.rule.cumulative else sums
        self.totals[at] = totals
        had: Any = 1 if arms.ndim == 1 else arms.astype(np.int64)
        rewards = (np.asarray(sums, dtype=np.float64) - float(batch.release.centre)) * had
        self.history.sums[at] += rewards / batch.release.precision
        self.history.variances[at] += batch.variance * had
        self.history.users[at] += batch.users * had
        self.history.batches[at] += had
        released = ReleasedSums(batch, arms, sums, totals)
        return released, self.policy.observe(State(runs, self.history), released)

    def pull(self, runs: Whole, arms: NDArray[Any], users: Any) -> None:
        """So many further users of each arm, one number or one a run (x arms)."""
        at: Any = (runs, arms) if arms.ndim == 1 else runs
        self.pulls[at] += users
        self.history.rounds[runs] += users if arms.ndim == 1 else users.sum(axis=1)

    def _check(self, arms: NDArray[Any], runs: int) -> None:
        """Raise ParameterError for what does not say which arms."""
        most = self.plan.setting.arms
        if arms.ndim == 2 and arms.dtype == np.bool_ and arms.shape == (runs, most):
            return
        if arms.ndim != 1 or arms.dtype.kind != "i" or len(arms) != runs:
            raise self._refused("what is neither an arm for each run nor a mask runs x arms")
        if len(arms) and not (arms.min() >= -1 and arms.max() < most):
            raise self._refused(f"arm {arms.max() if arms.max() >= most else arms.min()}")

    def _refused(self, what: str) -> ParameterError:
        return ParameterError(
            f"{self.plan.algorithm.name} asks for {what}, which its release does not cover"
        )


class Simulation(Rounds):
    """Rounds where things happen: users are drawn, batches released, regret counted.

    active    whether each arm was still active at the end; of an index policy, which eliminates
              none, whether its index was never below its mean
    released  by run: how many batches were
    curve     regret over time
    """

    def __init__(
        self,
        plan: Plan,
        policy: Policy,
        environment: Environment | Sequence[Environment],
        runs: int,
        source: Source,
        record: Record | None = None,
        permit: Permit | None = None,
        seed: int = 0,
        first: int = 0,
    ) -> None:
        super().__init__(plan, policy, runs, np.int64 if plan.counts else np.float64, seed, first)
        own = not isinstance(environment, Environment)
        self.environments = [environment] if isinstance(environment, Environment) else environment
        for each in self.environments:
            if len(each.arms) != plan.setting.arms:
                raise ParameterError(
                    f"arms must be those of the environment, {len(each.arms)}, got "
                    f"{plan.setting.arms}"
                )
        if own and len(self.environments) != runs:
            raise ParameterError(
                f"environments must be one a run, {runs}, got {len(self.environments)}"
            )
        if own and not isinstance(source, Simulated):
            raise ParameterError("environments must be one here, for all runs")
        self.source, self.record, self.permit = source, record, permit
        self.curve = RegretCurve(np.array([each.gaps for each in self.environments]), runs)
        self.active = np.ones(self.pulls.shape, dtype=bool)
        self.means = np.broadcast_to([each.means for each in self.environments], self.pulls.shape)
        self.released = np.zeros(runs, dtype=np.int64)
        self.pulled: NDArray[np.int64] | None = None  # in a step, where policies ask by masks

    def play(self) -> None:
        """Until no run goes on."""
        many = self.plan.setting.arms >= MANY_ARMS and isinstance(self.source, Simulated)
        if many and self.permit is None and isinstance(self.policy, LargestBound):
            self._play_many(self.policy)
            return
        waits = getattr(self.policy, "waits", True)
        going = np.arange(len(self.pulls))
        while len(going):
            due = self._end(going)
            fits = np.flatnonzero(due.fits)
            keys = due.keys[fits]
            chosen, counts = np.unique(keys, return_counts=True)
            for key in chosen[[counts.argmax()]] if waits and len(chosen) else chosen:
                self._release(due, fits[keys == key])
            if self.pulled is not None:
                every = np.broadcast_to(np.arange(self.pulled.shape[1]), self.pulled.shape)
                self.curve.add(np.arange(len(self.pulled)), every, self.pulled)
            going, self.pulled = going[fits], None

    def _play_many(self, policy: LargestBound) -> None:
        plan, history = self.plan, self.history
        runs, arms = self.pulls.shape
        listed = (plan.batch(number, 1) for number in count(1))
        batches = [each for each in takewhile(lambda it: it is not None, listed) if each]
        sizes = np.array([*(batch.users for batch in batches), plan.setting.horizon + 1])
        going, most = np.arange(runs), arms
        while len(going):
            order = policy.largest(going, max(1, min(most, _AT_ONCE // len(going))))
            rows = going[:, None]
            done = np.minimum(history.batches[rows, order], len(batches))
            users = sizes[done]
            room = plan.setting.horizon - history.rounds[going]
            keep = np.cumsum(users, axis=1) <= room[:, None]
            values, bounds = np.zeros(order.shape, dtype=self.totals.dtype), np.zeros(order.shape)
            for number in np.unique(done[keep]).tolist():
                at = np.nonzero(keep & (done == number))
                chosen, batch = (going[at[0]], order[at]), batches[number]
                values[at] = self._draw(batch, *chosen)
                totals = self.totals[chosen] + batch.release.decoded(values[at])
                bounds[at] = policy.index.of(np.full(len(totals), batch.number), totals)
            largest = np.maximum.accumulate(bounds, axis=1)[:, :-1]
            keep[:, 1:] &= largest < policy.bounds[rows, order[:, 1:]]
            keep = np.logical_and.accumulate(keep, axis=1)
            noted: list[tuple[int, int, Released]] = []
            for number in np.unique(done[keep]).tolist():
                at = np.nonzero(keep & (done == number))
                lines = self._tell(batches[number], going[at[0]], order[at], values[at])
                noted += [(*where, line) for *where, line in zip(*at, lines, strict=False)]
            for *_, line in sorted(noted, key=lambda each: each[:2]):
                assert self.record is not None
                self.record(line)
            kept = keep.sum(axis=1)
            width = max(1, int(kept.max()))
            order, users = order[:, :width], (users * keep)[:, :width]
            self.pulls[rows, order] += users
            history.rounds[going] += users.sum(axis=1)
            self.curve.add(going, order, users)
            self.released[going] += kept
            self._end(going[kept == 0])
            going, most = going[kept > 0], min(arms, max(_LEAST, 2 * width))

    def _end(self, runs: Whole) -> Due:
        """What these runs are due for. What the horizon leaves of it goes to the arms in order.

        A run that stops leaves it.
        """
        due = self.due(runs)
        over = np.flatnonzero(~due.fits & (due.active > 0))
        if not len(over):
            return due
        runs, arms = due.runs[over], due.arms[over]
        users = due.users[over]
        room = self.plan.setting.horizon - self.history.rounds[runs]
        if arms.ndim == 2:
            before = users[:, None] * (np.cumsum(arms, axis=1) - arms)
            self._pull(runs, arms, np.clip(room[:, None] - before, 0, users[:, None]) * arms)
        else:
            self._pull(runs, arms, np.minimum(room, users))
        return due

    def _pull(self, runs: Whole, arms: NDArray[Any], users: Any) -> None:
        self.pull(runs, arms, users)
        if arms.ndim == 2:
            self.pulled = np.zeros_like(self.pulls) if self.pulled is None else self.pulled
            self.pulled[runs] = users
        else:
            each = np.broadcast_to(users, runs.shape)
            self.curve.add(runs, arms[:, None], each[:, None])

    def _release(self, due: Due, rows: Whole) -> None:
        """Release the batch that these are due for, and tell the policy."""
        runs, arms = due.runs[rows], due.arms[rows]
        batch = self.plan.batch(int(due.number[rows[0]]), int(due.active[rows[0]]))
        assert batch is not None
        if self.permit is not None:
            for row, run in enumerate(runs.tolist()):
                begins = int(self.history.rounds[run])
                for turn, arm in enumerate(_listed(arms[row])):
                    self.permit(run, batch, arm, begins + turn * batch.users)
        values = self._draw(batch, runs, arms)
        self._pull(runs, arms, batch.users * (arms if arms.ndim == 2 else 1))
        self.released[runs] += 1
        for line in self._tell(batch, runs, arms, values):
            assert self.record is not None
            self.record(line)

    def _tell(
        self, batch: Batch, runs: Whole, arms: NDArray[Any], values: NDArray[Any]
    ) -> list[Released]:
        """Tell the policy what left the batch; what is to be recorded of it."""
        released, decision = self.observe(runs, arms, batch, batch.release.decoded(values))
        if decision is not None and decision.stays is not None:
            self.active[runs] = decision.stays
        if decision is not None and decision.index is not None:
            self.active[runs, arms] &= decision.index >= self.means[runs, arms]
        if self.record is None:
            return []
        numbered = enumerate(runs.tolist())
        return [as_released(released, decision, row, run, values) for row, run in numbered]

    def _draw(self, batch: Batch, runs: Whole, arms: NDArray[Any]) -> NDArray[Any]:
        """What leaves the batch: drawn arm by arm, of each the runs in order."""
        if arms.ndim == 2:
            on, where = np.nonzero(arms.T)
            laws = laws_of(self.environments, runs[where], on)
            drawn = self.source.released(batch.release, *laws)
            values = np.zeros(arms.shape, dtype=drawn.dtype)
            values[where, on] = drawn
            return values
        order = np.argsort(arms, kind="stable")
        values = np.zeros(len(arms), dtype=self.totals.dtype)
        laws = laws_of(self.environments, runs[order], arms[order])
        values[order] = self.source.released(batch.release, *laws)
        return values


def play(
    plan: Plan,
    environment: Environment | Sequence[Environment],
    runs: int,
    source: Source,
    record: Record | None = None,
    permit: Permit | None = None,
    *,
    policy: Policy | None = None,
    seed: int = 0,
    first: int = 0,
) -> Simulation:
    """Play the plan in this environment, `runs` times independently, or once in each of these.

    Environments of their own are for simulated sums. policy: in place of that of the plan's rule.
    seed, first: as for `Rounds`.
    """
    decides = policy_of(plan, runs) if policy is None else policy
    played = Simulation(plan, decides, environment, runs, source, record, permit, seed, first)
    played.play()
    return played


def policy_of(plan: Plan, runs: int) -> Policy:
    """What decides so many runs of it."""
    rule = plan.algorithm.rule
    if isinstance(rule, OwnPolicy):
        return rule.create(plan.setting, runs)
    return (SuccessiveElimination if isinstance(rule, Elimination) else LargestBound)(plan, runs)


def _listed(arms: Any) -> list[int]:
    """The arms of one run."""
    return np.flatnonzero(arms).tolist() if np.ndim(arms) else [int(arms)]


def as_released(
    released: ReleasedSums, decision: Decision | None, row: int, run: int, values: NDArray[Any]
) -> Released:
    """What this run's batch released and decided, arm by arm."""
    decided = decision or Decision()
    batch = released.batch
    if released.arms.ndim == 1:
        one = slice(row, row + 1)
        index = None if decided.index is None else decided.index[one].copy()
        stays = None if decided.stays is None else decided.stays[row, released.arms[one]]
        totals = released.totals[one].copy()
        return Released(run, batch, released.arms[one], values[one], totals, stays, index)
    on = np.flatnonzero(released.arms[row])
    stays = None if decided.stays is None else decided.stays[row, on]
    index = None if decided.index is None else np.full(len(on), decided.index[row])
    return Released(run, batch, on, values[row, on], released.totals[row, on], stays, index)
