"""Runs of an algorithm: the same numbers whatever the number of workers.

Runs are done in shares whose sizes are fixed by their place. The randomness of a share (and of the
instance of a run) depends on the seed and its place only, so that neither the number of workers nor
the order in which shares finish changes anything, and a finished share can be kept on disk
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
from .algorithms import Algorithm
from .environments.environment import Environment
from .evidence import Proof, evidence
from .instances import Instances
from .play import play
from .played import Permit, Released
from .prepare import Prepared, Radius, prepare
from .results import Results, RunCache, Share, checkpoints
from .setting import Setting
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

    >>> from exactdp.bandit.algorithms import KL_UCB
    >>> from exactdp.bandit.instances import easy
    >>> Config(KL_UCB, Setting(arms=4, horizon=1000), easy(4)).setting.confidence
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
    anything of theirs is drawn, from the operating system's bits: the seed is of instances and
    rewards only; raises its RefusedError where it does not fit. progress: is told
    how many more runs are done.

    config: what is run. runs, seed, workers: how many, from which, in how many processes.

    >>> from exactdp.bandit.algorithms import SE
    >>> from exactdp.bandit.instances import easy
    >>> config = Config(SE, Setting(arms=4, horizon=1000), easy(4))
    >>> run(config, runs=2).total_regret().mean > 0
    True
    """
    count, start, crew = read_counts(runs, seed, workers)
    ready = config.prepared() if prepared is None else prepared
    marks = checkpoints(config.setting.horizon) if rounds is None else rounds
    task = partial(_share, config, ready, start, marks, transcript, accounts)
    shares = parts(count, config.instances.own)
    identity = config.identity(start, marks.tolist())
    if accounts is not None:
        accounts.admit(ready)
        if config.faithful is None:
            raise ParameterError("accounts are of releases: simulated aggregates charge nobody")
        with accounts.opened() as ledger:
            identity["accounts"] = accounts.identity(ledger)
    cache = RunCache(resume, identity | {"transcript": transcript})
    done = [
        kept
        for part in shares
        if (kept := cache.find(*part)) is not None and kept.fits(len(marks), config.setting.arms)
    ]
    for kept in done:
        progress(len(kept.regret))
    missing = [part for part in shares if part[0] not in {kept.first for kept in done}]
    for share in each(task, missing, crew, cluster):
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
    yield from drawn(config, seed, range(runs if config.instances.own else 1))


def drawn(config: Config, seed: int, numbers: Iterable[int]) -> Iterator[Environment]:
    """The instances of the runs of these numbers."""
    for number in numbers:
        yield config.instances.environment(_seed(seed, _INSTANCE, number), number)


def parts(count: int, own: bool, together: int = _TOGETHER) -> list[tuple[int, int]]:
    """The first run of each share, and how many runs are asked of it.

    together: of the same instance.
    """
    found, first = [], 0
    while first < count:
        size = share_size(first) if own else together
        found.append((first, min(size, count - first)))
        first += size
    return found


def share_size(first: int) -> int:
    """Of the share that begins with this run, where each run has an instance of its own."""
    return min(max(_APART, first), _MOST_APART)


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
    own = config.instances.own
    together = own and config.faithful is None
    plays = [(at, 1) for at in range(first, first + count)] if own and not together else [part]
    lines: list[dict[str, Any]] = []

    def note(start: int, size: int) -> Callable[[Released], None] | None:
        def keep(seen: Released) -> None:
            if seen.run < size:
                lines.extend(batch_lines(start, seen))

        return keep if transcript else None

    def permit(start: int, size: int) -> Permit | None:
        if accounts is None or ledger is None:
            return None
        charge = accounts.permit(ledger, prepared, config.identity(seed, ()))
        return lambda run, *release: charge(start + run, *release)

    regret: list[list[float]] = []
    pulls: list[list[int]] = []
    gone: list[bool] = []
    batches: list[int] = []
    for start, size in plays:
        environment, source = place_of(config, seed, start, release=accounts is not None)
        places = [environment]
        if together:  # to its full size, whatever is asked of it
            places = list(drawn(config, seed, range(start, start + share_size(start))))
        played = play(
            prepared,
            places if together else environment,
            len(places) if together else size,
            source,
            note(start, size),
            permit(start, size),
            seed=seed,
            first=start,
        )
        best = np.array([place.gaps == 0 for place in places])
        regret += played.curve.at(rounds)[:size].tolist()
        pulls += played.pulls[:size].tolist()
        gone += np.logical_not((played.active & best).any(axis=1))[:size].tolist()
        batches += played.batches[:size].tolist()
        if transcript:
            lines += [end_line(start + row, played.pulls[row]) for row in range(size)]
    if ledger is not None:
        ledger.close()
    lines.sort(key=lambda line: line["run"])  # runs that went in lock step, one after another
    return Share(first, regret, pulls, gone, batches, lines)


def place_of(
    config: Config, seed: int, start: int, release: bool = False
) -> tuple[Environment, Source]:
    """Where the runs from this one on take place, and what they release.

    release: with noise that no seed determines.
    """
    rng = np.random.default_rng(_seed(seed, _RUN, start))
    source: Source = Simulated(rng)
    if (users := config.faithful) is not None:
        source = Faithful(rng, SystemBits(), users) if release else Faithful.seeded(rng, users)
    return config.instances.environment(_seed(seed, _INSTANCE, start), start), source


def _seed(seed: int, purpose: int, place: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(purpose, place))
