"""Which arm is best, with an error that is proved: LUCB until an e-process decides, and halving.

Of LUCB every arm has its first batch, in order. Then the leader is the arm of the largest estimate.
Where every other arm is far enough apart from it (`eprocess`) it is chosen. Otherwise the
challenger is, of those that are not, the arm of the largest upper confidence bound
(`radius.index`), and that of the two has its next batch which has had fewer users, the leader of
two with equally many; of arms that are equal in any of this the first. A run whose next batch would
go beyond the horizon ends undecided. Of a fixed budget `policies.Halving` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ParameterError, whole
from ...verify.blackbox.bounds import lower_limit, upper_limit
from ..algorithms.algorithm import OwnPolicy
from ..environments.environment import Environment
from ..evidence import Proof, evidence
from ..lower_bound import Barrier
from ..plan import Plan
from ..policies import remaining
from ..policy import Decision, Policy, ReleasedSums, State, Whole
from ..results import Mean, Results
from ..run import Config, environments, run
from ..simulation import policy_of
from .characteristic_time import least_time
from .eprocess import EProcess, e_process
from .halving_error import HalvingError, halving_error
from .time_bound import time_bound

_TOGETHER = 64  # runs of the same instance that go in lock step
_AT_ONCE = 2048  # pairs of arms
_MORE = 8  # times as many arms are looked at next, if none of these is the challenger


@frozen
class Ready:
    """What all runs of a configuration share: its batches with their evidence, and its tests.

    process is that of a fixed confidence, error that of a fixed budget: one of them is None.
    """

    plan: Plan
    process: EProcess | None
    error: HalvingError | None = None

    def policy(self, plan: Plan, runs: int) -> Policy:
        """What decides so many runs."""
        return (
            policy_of(plan, runs) if self.process is None else UntilSure(plan, self.process, runs)
        )


@frozen
class Identified:
    """All runs of a configuration: what `identify` gives.

    ready    what they share: batches with their evidence, and tests
    results  the runs; their answers are the arms that were proved to be the best, -1 where none was
             up to the horizon
    right    by run: was one chosen that is
    least    encloses a lower bound of the mean stopping time, its mean over runs where each has
             an instance of its own; None where none is known (`characteristic_time`)
    most     a bound of the stopping time of the only instance, but with probability 3p
             (`time_bound`); None where there is none
    error    from 0 to a bound of the probability of a wrong answer of a fixed budget, its mean over
             runs as above (`halving_error`); None of a fixed confidence, where it is p

    >>> from exactdp.bandit.algorithms import LUCB
    >>> from exactdp.bandit.instances import easy
    >>> from exactdp.bandit.setting import Setting
    >>> found = identify(Config(LUCB, Setting(4, "1e6"), easy(4)), runs=2)
    >>> found.runs, found.undecided, found.results.pulls.shape
    (2, 0, (2, 4))
    """

    ready: Ready
    results: Results
    right: NDArray[np.bool_]
    least: Enclosure | None
    most: int | None = None
    error: Enclosure | None = None

    @property
    def chosen(self) -> Whole:
        """By run."""
        return np.array(self.results.answers)

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.results.runs

    @property
    def undecided(self) -> int:
        """How many of them have reached the horizon."""
        return int((self.chosen < 0).sum())

    @property
    def wrong(self) -> int:
        """How many have chosen an arm that is not best: at most p of them in the mean."""
        return int(((self.chosen >= 0) & ~self.right).sum())

    def error_interval(self, level: float = 0.99) -> tuple[float, float]:
        """Clopper and Pearson's, of the probability of a wrong answer: it is inside at this level.

        Exact for any number of runs, up to the floats of scipy (`verify.blackbox.bounds`).
        """
        aside = (1 - level) / 2
        found = (limit(self.wrong, self.runs, aside) for limit in (lower_limit, upper_limit))
        return next(found), next(found)

    def time(self) -> Mean:
        """Users until a run stopped, decided or not."""
        return Mean.of(self.results.pulls.sum(axis=1).astype(float))

    def ratio(self) -> Mean | None:
        """The stopping time by its lower bound; None where a run has not decided."""
        if self.least is None or self.undecided:
            return None
        time, by = self.time(), float(self.least)
        return Mean(time.mean / by, time.standard_error / by)


def ready(config: Config, prove: Proof = evidence) -> Ready:
    """Batches, evidence and tests. prove, and what is raised: as `prepare`.

    The horizon of the setting is where a run gives up; its confidence, p < 1/2, bounds the error.
    """
    setting, algorithm = config.setting, config.algorithm
    fixed = isinstance(algorithm.rule, OwnPolicy)
    if 2 * setting.confidence >= 1:
        raise ParameterError(f"confidence must be below 1/2, got {float(setting.confidence):g}")
    first = len(remaining(setting.arms)) - 1 if fixed else algorithm.schedule(setting, 1, 1)
    least = setting.arms * first
    if setting.horizon < least:
        each_arm = "one user of each arm in every batch" if fixed else "one batch of each arm"
        raise ParameterError(
            f"most must be at least {least}, for {each_arm}, got {setting.horizon}"
        )
    plan = config.plan(prove)
    if plan.local is not None:
        plan.local.verified()
    if fixed:
        return Ready(plan, None, halving_error(plan))
    return Ready(plan, e_process(plan))


def identify(
    config: Config,
    runs: ExactInput = 20,
    seed: ExactInput = 0,
    workers: ExactInput = 1,
    *,
    ready_made: Ready | None = None,
    cluster: str | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Identified:
    """Identify the best arm so many times, independently.

    ready_made: what `ready` gave, if at hand. cluster, progress: as in `bandit.run.run`. Raises
    ParameterError for p >= 1/2 and for horizons that are too short, and what `prepare` raises.

    config: what is run. runs, seed, workers: how many, from which, in how many processes.

    >>> from exactdp.bandit.algorithms import LUCB
    >>> from exactdp.bandit.instances import easy
    >>> from exactdp.bandit.setting import Setting
    >>> found = identify(Config(LUCB, Setting(4, "1e6"), easy(4)), runs=2)
    >>> found.wrong
    0
    """
    shared = ready(config) if ready_made is None else ready_made
    results = run(
        config,
        runs,
        seed,
        workers,
        plan=shared.plan,
        policy=shared.policy,
        together=_TOGETHER,
        cluster=cluster,
        progress=progress,
    )
    count, start = results.runs, int(whole(seed, "seed"))
    gaps = [each.gaps for each in environments(config, count, start)]
    chosen = np.array(results.answers)
    best = np.broadcast_to(gaps, results.pulls.shape)[np.arange(count), chosen] == 0
    return Identified(
        shared,
        results,
        (chosen >= 0) & best,
        None if shared.process is None else _least(config, shared, count, start),
        _most(config, shared, start),
        None if shared.error is None else _error(config, shared, shared.error, count, start),
    )


def _seen(config: Config, shared: Ready, runs: int, seed: int, widen: int) -> Iterator[Environment]:
    """Of what sums are, of rewards or of reports: the instance of all runs, or those of each."""
    local = shared.plan.local
    for given in environments(config, runs, seed):
        yield given if local is None else local.reports(given, widen)


def _most(config: Config, shared: Ready, seed: int) -> int | None:
    if shared.process is None or config.instances.own:
        return None
    place = next(_seen(config, shared, 1, seed, -1))
    return time_bound(shared.plan, shared.process, place)


def _error(config: Config, shared: Ready, error: HalvingError, runs: int, seed: int) -> Enclosure:
    found = [error.of(place) for place in _seen(config, shared, runs, seed, -1)]
    return Enclosure.total(found).times(Fraction(1, len(found)))


def _least(config: Config, shared: Ready, runs: int, seed: int) -> Enclosure | None:
    """Of every algorithm that sees such reports where users randomise them."""
    setting, barrier = config.setting, config.algorithm.barrier
    barrier = Barrier.NONE if barrier is Barrier.LOCAL else barrier
    found = []
    for place in _seen(config, shared, runs, seed, 1):
        bound = least_time(place, setting.epsilon, setting.confidence, barrier)
        if bound is None:
            return None
        found.append(bound)
    return Enclosure.total(found).over(Enclosure.exactly(len(found)))


class UntilSure:
    """Batches, sums, bounds and the leader of all runs, one row each.

    means  the arms' estimates
    log_values  of the e-process of the leader against each arm; nan: to be found
    open   the bounds of those that are not known to be told from it; -1 of the others

    What a batch changes is changed here and there; a step costs two maxima over the arms.
    """

    waits = False

    def __init__(self, plan: Plan, process: EProcess, runs: int) -> None:
        shape = runs, plan.setting.arms
        assert plan.index is not None
        self.index, self.process = plan.index, process
        self.last, self.horizon = len(plan.batches), plan.setting.horizon
        self.users = np.concatenate([[0], process.users])
        self.batches = np.zeros(shape, dtype=np.int64)
        self.totals = np.zeros(shape, dtype=np.int64 if plan.counts else np.float64)
        self.bounds = np.ones(shape)
        self.means = np.zeros(shape)
        self.log_values = np.full(shape, np.nan)
        self.open = np.ones(shape)
        self.begun = np.zeros(runs, dtype=np.int64)  # how many arms had their first batch
        self.leader = np.zeros(runs, dtype=np.int64)
        self.decided = np.zeros(runs, dtype=bool)

    def answers(self) -> Whole:
        """By run: the arm that is proved to be the best; -1 where none is."""
        return np.where(self.decided, self.leader, -1)

    def observe(self, state: State, released: ReleasedSums) -> Decision:
        """Bound the arms' means anew."""
        rows, arm, number = state.runs, released.arms, released.batch.number
        self.begun[rows] += number == 1
        self.batches[rows, arm] = number
        self.totals[rows, arm] = released.totals
        self.means[rows, arm] = released.totals / self.users[number]
        bounds = self.index.of(np.full(len(rows), number), released.totals.astype(float))
        self.bounds[rows, arm] = self.open[rows, arm] = bounds
        self.log_values[rows, arm] = np.nan
        return Decision(index=bounds)

    def next_batch(self, state: State) -> NDArray[Any]:
        """Leader or challenger; nobody once the leader is sure, or where the horizon ends."""
        going, batches, users = state.runs, self.batches, self.users
        if (self.begun[going] < batches.shape[1]).any():  # every arm has its first, in order
            return self.begun[going]
        first = _rows(self.means, going).argmax(axis=1)
        changed = (first != self.leader[going]) | np.isnan(
            self.log_values[going, self.leader[going]]
        )
        self.leader[going] = first
        anew = going[changed]
        self.log_values[anew], self.open[anew] = np.nan, self.bounds[anew]
        self.log_values[going, first], self.open[going, first] = np.inf, -1.0
        challenger = self._challengers(going)
        self.decided[going] = challenger < 0
        fewer = users[batches[going, challenger]] < users[batches[going, first]]
        arm = np.where(fewer, challenger, first)
        number = batches[going, arm]
        next_ = np.minimum(number + 1, self.last)
        after = state.rounds + users[next_] - users[number]
        goes_on = ~self.decided[going] & (number < self.last) & (after <= self.horizon)
        return np.where(goes_on, arm, -1)

    def _challengers(self, runs: Whole) -> Whole:
        """The arm of the largest bound that is not told from the leader; -1 where all are.

        Arms are compared to the leader in the order of their bounds, and no more than needed.
        """
        found = np.full(len(runs), -1)
        rows, many = np.arange(len(runs)), 1
        while len(rows):
            open_ = _rows(self.open, runs[rows])
            arm = open_.argmax(axis=1)
            found[rows] = np.where(open_[np.arange(len(rows)), arm] < 0, -1, arm)
            rest = (found[rows] >= 0) & np.isnan(self.log_values[runs[rows], arm])
            rows, arm = rows[rest], arm[rest]
            largest = arm[:, None]
            if many > 1:
                largest = np.argpartition(-open_[rest], many - 1, axis=1)[:, :many]
                largest[:, 0] = arm  # of equal bounds the first
            row, place = np.nonzero(
                np.isnan(np.take_along_axis(self.log_values[runs[rows]], largest, 1))
            )
            which, other = runs[rows[row]], largest[row, place]
            for at in range(0, len(row), _AT_ONCE):
                self._tell(which[at : at + _AT_ONCE], other[at : at + _AT_ONCE])
            many = min(many * _MORE, self.open.shape[1])
        return found

    def _tell(self, row: Whole, other: Whole) -> None:
        """How far these arms are apart from their runs' leaders."""
        own = self.leader[row]
        found = self.process.log_e_values(
            self.batches[row, own],
            self.totals[row, own].astype(float),
            self.batches[row, other],
            self.totals[row, other].astype(float),
        )
        self.log_values[row, other] = found
        beaten = found >= self.process.threshold
        self.open[row[beaten], other[beaten]] = -1.0


def _rows(table: NDArray[np.float64], rows: Whole) -> NDArray[np.float64]:
    """These rows, which ascend; not copied where they are all."""
    return table if len(rows) == len(table) else table[rows]
