"""Runs of a linear bandit: the same numbers whatever the number of workers.

Each run has randomness of its own, from the seed and its number, and beside it runs one without
privacy: of the same users, in the same batches.

The runner of `bandit.runner` asks a policy for arms, whose users then have a batch of that arm with
a release of its own. Here every user of a batch takes an arm by contexts that nobody else may see,
and one release is of all arms: there is nothing that a policy could be asked for in between.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...common.parallel import each
from ...exact.number import ExactInput, ParameterError
from ..results import Mean
from ..run import read_counts
from .environments import LinearEnvironment
from .play import LinearRun, play_linear
from .published import Published
from .radius import Radius, radius
from .release import LinearRelease, certified_release
from .setting import LinearSetting


@frozen
class LinearReady:
    """What all runs share: the release with its certificate, the radii, and those without privacy.

    release: None where nothing is hidden; then `plain` is all there is.
    """

    setting: LinearSetting
    release: LinearRelease | None
    radius: Radius
    plain: Radius


@frozen
class LinearResults:
    """All runs, one row each; a column for each batch: what `run_linear` gives.

    ready      what they share: the release and the radii
    regret     pseudo-regret so far: of each user's best arm
    certified  what it is at most where the radius holds
    known      likewise, from what was released alone
    outside    by run: was any context's mean ever outside the radius? None where there is no truth
    plain      regret without privacy, of the same users

    >>> from exactdp.bandit.linear.environments import UnitBall
    >>> ready = linear_ready(LinearSetting(dimension=2, horizon=200, epsilon=None))
    >>> found = run_linear(UnitBall(2, 5), ready, runs=3)
    >>> found.runs, found.rounds[-1], found.total_regret().mean > 0
    (3, 200, True)
    """

    ready: LinearReady
    regret: NDArray[np.float64]
    certified: NDArray[np.float64]
    known: NDArray[np.float64]
    outside: NDArray[np.bool_] | None
    plain: NDArray[np.float64]

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self.regret)

    @property
    def rounds(self) -> tuple[int, ...]:
        """How many users there were after each batch."""
        return self.ready.radius.users

    def total_regret(self) -> Mean:
        """After the horizon."""
        return Mean.of(self.regret[:, -1])

    def certified_regret(self) -> Mean:
        """What is proved of it on the event of the radius, run by run."""
        return Mean.of(self.certified[:, -1])

    def known_regret(self) -> Mean:
        """What the server can prove of it, run by run, on that event."""
        return Mean.of(self.known[:, -1])

    def plain_regret(self) -> Mean:
        """Without privacy."""
        return Mean.of(self.plain[:, -1])


def linear_ready(setting: LinearSetting) -> LinearReady:
    """Certify the release, and compute the radii.

    Raises NotVerifiedError where the release is not verified: then nothing can run.
    """
    plain = radius(setting.without_privacy(), None)
    if setting.epsilon is None:
        return LinearReady(setting, None, plain, plain)
    release = certified_release(setting)
    return LinearReady(setting, release, radius(setting, release), plain)


def run_linear(
    environment: LinearEnvironment,
    ready: LinearReady,
    runs: ExactInput = 10,
    seed: ExactInput = 0,
    workers: ExactInput = 1,
    *,
    cluster: str | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> LinearResults:
    """Run it so many times, independently. cluster, progress: as in `bandit.run.run`.

    environment: where contexts and rewards come from. ready: what `linear_ready` gives.
    runs, seed, workers: how many, from which, in how many processes.

    Raises ParameterError where the environment is not of the setting's dimension.

    >>> from exactdp.bandit.linear.environments import UnitBall
    >>> ready = linear_ready(LinearSetting(dimension=2, horizon=200, epsilon=8))
    >>> run_linear(UnitBall(2, 5), ready, runs=2).regret.shape
    (2, 6)
    """
    count, start, crew = read_counts(runs, seed, workers)
    if environment.dimension != ready.setting.dimension:
        raise ParameterError(
            f"dimension must be that of {environment.name}, {environment.dimension}, got "
            f"{ready.setting.dimension}"
        )
    found = {}
    for number, played in each(
        partial(_one, environment, ready, start), range(count), crew, cluster
    ):
        found[number] = played
        progress(1)
    ordered = [found[number] for number in range(count)]
    wrong = None
    if environment.theta is not None:
        wrong = np.array([run.outside is not None and run.outside[-1] > 0 for run, _ in ordered])
    return LinearResults(
        ready,
        np.array([run.regret for run, _ in ordered]),
        np.array([run.certified for run, _ in ordered]),
        np.array([run.known for run, _ in ordered]),
        wrong,
        np.array([beside.regret for _, beside in ordered]),
    )


def _one(
    environment: LinearEnvironment, ready: LinearReady, seed: int, number: int
) -> tuple[int, tuple[LinearRun, LinearRun]]:
    def play(given: Radius, release: LinearRelease | None) -> LinearRun:
        fresh = np.random.SeedSequence(seed, spawn_key=(number,))
        return play_linear(place, given, release, fresh)

    place = environment.of_run(number) if isinstance(environment, Published) else environment
    played = play(ready.radius, ready.release)
    beside = played if ready.release is None else play(ready.plain, None)
    return number, (played, beside)
