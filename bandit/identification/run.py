"""Runs of an identification: the same numbers whatever the number of workers.

As `bandit.run`: runs are done in shares of fixed size, each with randomness of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...common.parallel import each
from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ParameterError
from ...verify.blackbox.bounds import lower_limit, upper_limit
from ..environments.environment import Environment
from ..evidence import Proof, evidence
from ..local_release import local_release
from ..lower_bound import Barrier
from ..prepare import Prepared
from ..results import Mean
from ..run import Config, drawn, environments, parts, place_of, read_counts, share_size
from .characteristic_time import least_time
from .eprocess import EProcess, e_process
from .halving import play_halving, remaining
from .halving_error import HalvingError, halving_error
from .play import Found, play_until_sure
from .time_bound import time_bound

_TOGETHER = 64  # runs of the same instance that go in lock step


@frozen
class Ready:
    """What all runs of a configuration share: its batches with their evidence, and its tests.

    process is that of a fixed confidence, error that of a fixed budget: one of them is None.
    """

    prepared: Prepared
    process: EProcess | None
    error: HalvingError | None = None


@frozen
class Identified:
    """All runs of a configuration: what `identify` gives.

    ready    what they share: batches with their evidence, and tests
    chosen   by run: the arm that was proved to be the best; -1 where none was, up to the horizon
    right    by run: was one chosen that is
    pulls    runs x arms
    batches  by run: how many were released
    least    encloses a lower bound of the mean stopping time, its mean over runs where each has
             an instance of its own; None where none is known (`characteristic_time`)
    most     a bound of the stopping time of the only instance, but with probability 3p
             (`time_bound`); None where there is none
    error    from 0 to a bound of the probability of a wrong answer of a fixed budget, its mean over
             runs as above (`halving_error`); None of a fixed confidence, where it is p

    >>> from exactdp.bandit.identification.algorithms import LUCB
    >>> from exactdp.bandit.instances import easy
    >>> from exactdp.bandit.setting import Setting
    >>> found = identify(Config(LUCB, Setting(4, "1e6"), easy(4)), runs=2)
    >>> found.runs, found.undecided, found.pulls.shape
    (2, 0, (2, 4))
    """

    ready: Ready
    chosen: NDArray[np.int64]
    right: NDArray[np.bool_]
    pulls: NDArray[np.int64]
    batches: NDArray[np.int64]
    least: Enclosure | None
    most: int | None = None
    error: Enclosure | None = None

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len(self.chosen)

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
        return Mean.of(self.pulls.sum(axis=1).astype(float))

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
    fixed = algorithm.policy is not None
    if 2 * setting.confidence >= 1:
        raise ParameterError(f"confidence must be below 1/2, got {float(setting.confidence):g}")
    first = len(remaining(setting.arms)) - 1 if fixed else algorithm.schedule(setting, 1, 1)
    least = setting.arms * first
    if setting.horizon < least:
        each_arm = "one user of each arm in every batch" if fixed else "one batch of each arm"
        raise ParameterError(
            f"most must be at least {least}, for {each_arm}, got {setting.horizon}"
        )
    prepared = config.prepared(prove)
    if (local := local_release(prepared)) is not None:
        local.verified()
    if fixed:
        return Ready(prepared, None, halving_error(prepared))
    return Ready(prepared, e_process(prepared))


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

    >>> from exactdp.bandit.identification.algorithms import LUCB
    >>> from exactdp.bandit.instances import easy
    >>> from exactdp.bandit.setting import Setting
    >>> found = identify(Config(LUCB, Setting(4, "1e6"), easy(4)), runs=2)
    >>> found.wrong
    0
    """
    count, start, crew = read_counts(runs, seed, workers)
    shared = ready(config) if ready_made is None else ready_made
    due = parts(count, _apart(config), 1 if config.instances.own else _TOGETHER)
    shares = {}
    for first, found, right in each(partial(_share, config, shared, start), due, crew, cluster):
        shares[first] = found, right
        progress(len(right))
    ordered = [shares[first] for first, _ in due]
    return Identified(
        shared,
        np.concatenate([np.where(found.decided, found.leader, -1) for found, _ in ordered]),
        np.concatenate([right for _, right in ordered]),
        np.concatenate([found.pulls for found, _ in ordered]),
        np.concatenate([found.batches.sum(axis=1) for found, _ in ordered]),
        None if shared.process is None else _least(config, shared, count, start),
        _most(config, shared, start),
        None if shared.error is None else _error(config, shared, shared.error, count, start),
    )


def _share(
    config: Config, shared: Ready, seed: int, part: tuple[int, int]
) -> tuple[int, Found, NDArray[np.bool_]]:
    first, count = part
    environment, source = place_of(config, seed, first)
    places, runs = [environment], count
    if _apart(config):  # to its full size, whatever is asked of it
        runs = share_size(first)
        places = list(drawn(config, seed, range(first, first + runs)))
    if shared.process is None:
        found = play_halving(shared.prepared, places, runs, source).first(count)
    else:
        found = play_until_sure(shared.prepared, shared.process, places, runs, source).first(count)
    gaps = np.broadcast_to([place.gaps for place in places], (runs, len(environment.arms)))
    return first, found, found.decided & (gaps[np.arange(count), found.leader] == 0)


def _apart(config: Config) -> bool:
    """Do runs go in lock step, each in an instance of its own?"""
    return config.instances.own and config.faithful is None


def _seen(config: Config, shared: Ready, runs: int, seed: int, apart: int) -> Iterator[Environment]:
    """Of what sums are, of rewards or of reports: the instance of all runs, or those of each."""
    local = local_release(shared.prepared)
    for place in environments(config, runs, seed):
        yield place if local is None else local.reports(place, apart)


def _most(config: Config, shared: Ready, seed: int) -> int | None:
    if shared.process is None or config.instances.own:
        return None
    place = next(_seen(config, shared, 1, seed, -1))
    return time_bound(shared.prepared, shared.process, place)


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
