"""Runs of an algorithm: the same numbers whatever the number of workers.

Runs are done in shares whose sizes are fixed by their number. The randomness of a share (and of the
instance of a run) depends on the seed and its number only, so that neither the number of workers
nor the order in which shares finish changes anything, and a finished share can be kept on disk
(`resume`). Where each run has an instance of its own, a share is played to its full size, whatever
is asked of it: its runs do not depend on how many there are. So that this wastes little, the first
shares are small, and each later one as large as all before it, up to a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..common.parallel import each
from ..exact.number import ExactInput, ParameterError, whole
from ..mechanisms.samplers.bits import SystemBits
from .accounts import Accounts
from .algorithms.algorithm import Algorithm
from .environments.environment import Environment
from .evidence import Proof, evidence
from .instances import Instances
from .plan import Plan, Radius, prepare
from .policy import Policy
from .results import Results, RunCache, Share, checkpoints
from .setting import Setting
from .simulation import Permit, Released, play, policy_of
from .source import Aggregator, Faithful, Simulated, Source
from .transcript import batch_lines, end_line

_TOGETHER = 32  # runs of the same instance that go in lock step
_APART, _MOST_APART = 5, 160  # of runs with an instance each, that go in lock step
_INSTANCE, _RUN = 0, 1  # what a seed is for


@frozen
class Config:
    """What is run: an algorithm with its numbers, and where.

    faithful: None for the simulation of aggregates; otherwise every user takes part, and this is
    how their messages are summed.

    algorithm, setting, instances, radius: what, with which numbers, where, and which radius.

    >>> from exactdp.bandit.algorithms import DP_KLUCB
    >>> from exactdp.bandit.instances import easy
    >>> Config(DP_KLUCB, Setting(arms=4, horizon=1000), easy(4)).setting.confidence
    Fraction(1, 1000)
    """

    algorithm: Algorithm
    setting: Setting
    instances: Instances
    radius: Radius = Radius.PAPER
    faithful: Aggregator | None = None

    def __attrs_post_init__(self) -> None:
        usual = self.algorithm.usual_confidence(self.setting.horizon)
        object.__setattr__(self, "setting", self.setting.with_usual(usual))

    def plan(self, prove: Proof = evidence) -> Plan:
        """Schedule, evidence and radii: what all runs share. prove: as for `prepare`."""
        return prepare(self.algorithm, self.setting, self.radius, prove)

    def identity(self, seed: int, rounds: Sequence[int]) -> dict[str, Any]:
        """All that the numbers of runs depend on."""
        return {
            "algorithm": self.algorithm.name,
            "setting": self.setting.to_json(),
            "instances": repr(self.instances),
            "radius": self.radius.value,
            "faithful": None if self.faithful is None else self.faithful.value,
            "seed": seed,
            "rounds": list(rounds),
        }

    @property
    def lock_step(self) -> bool:
        """Do runs that have an instance each go on together?"""
        return self.instances.own and self.faithful is None


def run(
    config: Config,
    runs: ExactInput = 20,
    seed: ExactInput = 0,
    workers: ExactInput = 1,
    *,
    plan: Plan | None = None,
    policy: Callable[[Plan, int], Policy] = policy_of,
    together: int = _TOGETHER,
    rounds: NDArray[np.int64] | None = None,
    resume: Path | None = None,
    transcript: bool = False,
    cluster: str | None = None,
    accounts: Accounts | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Results:
    """Run it so many times, independently.

    plan: what `config.plan()` gave, if at hand. policy: of so many runs, in place of that of the
    plan's rule. together: how many runs of the same instance go in lock step. rounds: the
    checkpoints. resume: a folder in which finished shares are kept, and looked for. transcript:
    keep every release. cluster: a dask scheduler's address, or "local". accounts: users who return,
    charged in a ledger before anything of theirs is drawn, from the operating system's bits: the
    seed is of instances and rewards only; raises its RefusedError where it does not fit. progress:
    is called with how many more runs are done.

    config: what is run. runs, seed, workers: how many, from which, in how many processes.

    >>> from exactdp.bandit.algorithms import SE
    >>> from exactdp.bandit.instances import easy
    >>> config = Config(SE, Setting(arms=4, horizon=1000), easy(4))
    >>> run(config, runs=2).total_regret().mean > 0
    True
    """
    count, start, crew = read_counts(runs, seed, workers)
    ready = config.plan() if plan is None else plan
    marks = checkpoints(config.setting.horizon) if rounds is None else rounds
    task = partial(_share, config, ready, policy, start, marks, transcript, accounts)
    shares = parts(count, config.instances.own, together)
    identity = config.identity(start, marks.tolist())
    if accounts is not None:
        accounts.admit(ready)
        if config.faithful is None:
            raise ParameterError("accounts are of releases: simulated aggregates charge nobody")
        with accounts.opened() as ledger:
            identity["accounts"] = accounts.identity(ledger)
    cache = RunCache(resume, identity | {"transcript": transcript})
    done = [
        share
        for part in shares
        if (share := cache.find(*part)) is not None and share.fits(len(marks), config.setting.arms)
    ]
    for share in done:
        progress(len(share.regret))
    due = [part for part in shares if part[0] not in {share.first for share in done}]
    for share in each(task, due, crew, cluster):
        cache.keep(share)
        done.append(share)
        progress(len(share.regret))
    return Results.joined(ready, marks, done)


def read_counts(runs: ExactInput, seed: ExactInput, workers: ExactInput) -> tuple[int, int, int]:
    """How many runs, the seed, how many processes. Raises ParameterError out of range."""
    return (
        whole(runs, "runs", at_least=1, at_most=10**7),
        whole(seed, "seed", at_least=0),
        whole(workers, "workers", at_least=1, at_most=1024),
    )


def environments(config: Config, runs: int, seed: int) -> Iterator[Environment]:
    """The instance of all runs, or those of each in order."""
    yield from _drawn(config, seed, range(runs if config.instances.own else 1))


def _drawn(config: Config, seed: int, numbers: Iterable[int]) -> Iterator[Environment]:
    """The instances of the runs of these numbers."""
    for number in numbers:
        yield config.instances.environment(_seed(seed, _INSTANCE, number), number)


def parts(count: int, own: bool, together: int = _TOGETHER) -> list[tuple[int, int]]:
    """The first run of each share, and how many runs are asked of it.

    together: of the same instance.
    """
    shares, first = [], 0
    while first < count:
        size = _share_size(first) if own else together
        shares.append((first, min(size, count - first)))
        first += size
    return shares


def _share_size(first: int) -> int:
    """Of the share that begins with this run, where each run has an instance of its own."""
    return min(max(_APART, first), _MOST_APART)


def _share(
    config: Config,
    plan: Plan,
    policy: Callable[[Plan, int], Policy],
    seed: int,
    rounds: NDArray[np.int64],
    transcript: bool,
    accounts: Accounts | None,
    part: tuple[int, int],
) -> Share:
    """Runs first, ..., first + count - 1: in lock step, or one after another."""
    first, count = part
    ledger = None if accounts is None else accounts.opened()
    alone = config.instances.own and not config.lock_step
    share = Share(first, [], [], [], [], [], [])
    for start, size in [(at, 1) for at in range(first, first + count)] if alone else [part]:
        numbers = range(start, start + (_share_size(start) if config.lock_step else size))
        instances = list(_drawn(config, seed, numbers if config.lock_step else [start]))

        def note(released: Released, start: int = start, size: int = size) -> None:
            if released.run < size:
                share.lines.extend(batch_lines(start, released))

        permit: Permit | None = None
        if accounts is not None and ledger is not None:
            permit = accounts.permit(ledger, plan, config.identity(seed, ()), start)
        decides = policy(plan, len(numbers))
        played = play(
            plan,
            instances if config.lock_step else instances[0],
            len(numbers),
            _source(config, seed, start, release=accounts is not None),
            note if transcript else None,
            permit,
            policy=decides,
            seed=seed,
            first=start,
        )
        best = np.array([each.gaps == 0 for each in instances])
        share.regret.extend(played.curve.at(rounds)[:size].tolist())
        share.pulls.extend(played.pulls[:size].tolist())
        gone = np.logical_not((played.active & best).any(axis=1))
        share.eliminated.extend(gone[:size].tolist())
        released = played.released
        if (answers := getattr(decides, "answers", None)) is not None:
            released = played.history.batches.sum(axis=1)  # of each arm
            share.answers.extend(answers()[:size].tolist())
        share.batches.extend(released[:size].tolist())
        if transcript:
            share.lines.extend(end_line(start + row, played.pulls[row]) for row in range(size))
    if ledger is not None:
        ledger.close()
    share.lines.sort(key=lambda line: line["run"])  # runs in lock step, one after another
    return share


def _source(config: Config, seed: int, start: int, release: bool = False) -> Source:
    """What the runs from this one on release. release: with noise that no seed determines."""
    rng = np.random.default_rng(_seed(seed, _RUN, start))
    if (users := config.faithful) is None:
        return Simulated(rng)
    return Faithful(rng, SystemBits(), users) if release else Faithful.seeded(rng, users)


def _seed(seed: int, purpose: int, number: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(purpose, number))
