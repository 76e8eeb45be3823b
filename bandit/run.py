"""Runs of an algorithm: the same numbers whatever the number of workers.

Runs are done in shares of fixed size. The randomness of a share (and of the instance of a run)
depends on the seed and its place only, so that neither the number of workers nor the order in
which shares finish changes anything, and a finished share can be kept on disk (`resume`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact.number import ExactInput, whole
from ..exact.parallel import each
from .accounts import Accounts, Permit
from .algorithms import Algorithm
from .environments.environment import Environment
from .evidence import Proof, evidence
from .instances import Instances
from .play import Aggregator, Faithful, Released, Simulated, Source, play
from .prepare import Prepared, Radius, prepare
from .results import VERSION, Results, RunCache, Share, checkpoints
from .setting import Setting
from .transcript import batch_lines, end_line

_TOGETHER = 32  # runs of the same instance that go in lock step
_APART = 5  # runs of an instance each that make a share
_INSTANCE, _RUN = 0, 1  # what a seed is for


@dataclass(frozen=True)
class Config:
    """What is run: an algorithm with its numbers, and where.

    faithful: None for the simulation of aggregates; otherwise every user takes part, and this is
    how their messages are summed.
    """

    algorithm: Algorithm
    setting: Setting
    instances: Instances
    radius: Radius = Radius.PAPER
    faithful: Aggregator | None = None

    def prepared(self, prove: Proof = evidence) -> Prepared:
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


def run(
    config: Config,
    runs: ExactInput = 20,
    seed: ExactInput = 0,
    workers: ExactInput = 1,
    *,
    prepared: Prepared | None = None,
    rounds: NDArray[np.int64] | None = None,
    resume: Path | None = None,
    transcript: bool = False,
    cluster: str | None = None,
    accounts: Accounts | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Results:
    """Run it so many times, independently.

    prepared: what `config.prepared()` gave, if at hand. rounds: the checkpoints. resume: a folder
    in which finished shares are kept, and looked for. transcript: keep every release. cluster: a
    dask scheduler's address, or "local". accounts: users who return, charged in a ledger before
    anything of theirs is drawn; raises its RefusedError where it does not fit. progress: is told
    how many more runs are done.
    """
    count = whole(runs, "runs", at_least=1, at_most=10**7)
    start = whole(seed, "seed", at_least=0)
    crew = whole(workers, "workers", at_least=1, at_most=1024)
    ready = config.prepared() if prepared is None else prepared
    marks = checkpoints(config.setting.horizon) if rounds is None else rounds
    task = partial(_share, config, ready, start, marks, transcript, accounts)
    size = _APART if config.instances.own else _TOGETHER
    parts = [(first, min(size, count - first)) for first in range(0, count, size)]
    identity = config.identity(start, marks.tolist())
    if accounts is not None:
        accounts.admit(ready)
        with accounts.opened() as ledger:
            identity["accounts"] = accounts.identity(ledger)
    cache = RunCache(resume, identity | {"transcript": transcript})
    done = [
        kept
        for part in parts
        if (kept := cache.find(*part)) is not None and kept.fits(len(marks), config.setting.arms)
    ]
    for kept in done:
        progress(len(kept.regret))
    missing = [part for part in parts if part[0] not in {kept.first for kept in done}]
    for share in each(task, missing, crew, cluster):
        cache.keep(share)
        done.append(share)
        progress(len(share.regret))
    return Results.joined(ready, marks, done)


def environments(config: Config, runs: int, seed: int) -> Iterator[Environment]:
    """The instance of all runs, or those of each in order."""
    count = runs if config.instances.own else 1
    for number in range(count):
        yield config.instances.environment(_seed(seed, _INSTANCE, number), number)


def _share(
    config: Config,
    prepared: Prepared,
    seed: int,
    rounds: NDArray[np.int64],
    transcript: bool,
    accounts: Accounts | None,
    part: tuple[int, int],
) -> Share:
    """Runs first, ..., first + count - 1."""
    first, count = part
    ledger = None if accounts is None else accounts.opened()
    together = not config.instances.own
    lines: list[dict[str, Any]] = []

    def note(start: int) -> Callable[[Released], None] | None:
        return (lambda seen: lines.extend(batch_lines(start, seen))) if transcript else None

    def permit(start: int, size: int) -> Permit | None:
        if accounts is None or ledger is None:
            return None
        about = config.identity(seed, ()) | {"version": VERSION, "together": [start, size]}
        charge = accounts.permit(ledger, prepared, about)
        return lambda run, *release: charge(start + run, *release)

    regret: list[list[float]] = []
    pulls: list[list[int]] = []
    gone: list[bool] = []
    batches: list[int] = []
    for start, size in [part] if together else [(at, 1) for at in range(first, first + count)]:
        environment, source = place_of(config, seed, start)
        played = play(prepared, environment, size, source, note(start), permit(start, size))
        regret += played.curve.at(rounds).tolist()
        pulls += played.pulls.tolist()
        gone += np.logical_not(played.active[:, list(environment.best)].any(axis=1)).tolist()
        batches += played.batches.tolist()
        if transcript:
            lines += [end_line(start + row, played.pulls[row]) for row in range(size)]
    if ledger is not None:
        ledger.close()
    lines.sort(key=lambda line: line["run"])  # runs that went in lock step, one after another
    return Share(first, regret, pulls, gone, batches, lines)


def place_of(config: Config, seed: int, start: int) -> tuple[Environment, Source]:
    """Where the runs from this one on take place, and what they release."""
    rng = np.random.default_rng(_seed(seed, _RUN, start))
    users = config.faithful
    source = Simulated(rng) if users is None else Faithful.seeded(rng, users)
    return config.instances.environment(_seed(seed, _INSTANCE, start), start), source


def _seed(seed: int, purpose: int, place: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(purpose, place))
