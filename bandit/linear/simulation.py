"""Runs of batched LinUCB: all users of a batch follow what was released before it.

A user takes the arm of the largest <theta^, x> + width(x); before anything is released, one at
random. Contexts, arms and rewards stay with the user: she sends her `contribution`, of which the
server gets the batch's noisy sum. (LinUCB: Abbasi-Yadkori, Pal, Szepesvari 2011; in batches under
local and shuffled privacy, and with federated users: Shariff, Sheffet 2018; Zhou, Chowdhury, arXiv
2302.13945.)

Simulated: rounding and noise are drawn by NumPy, of a whole batch, with the law of `contribution`.
Each run has randomness of its own, from the seed and its number, so that the numbers are the same
whatever the number of workers; beside it runs one without privacy, of the same users, in the same
batches.

The policies of `bandit.policy` are asked for arms, whose users then have a batch of that arm with a
release of its own. Here every user of a batch takes an arm by contexts that nobody else may see,
and one release is of all arms: there is nothing that a policy could be asked for in between.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...common.parallel import each
from ...exact.number import ExactInput, ParameterError
from ..environments.rewards import checked
from ..results import Mean
from ..run import read_counts
from .contexts import LinearEnvironment, Published
from .contribution import Contribution
from .radius import Estimate, Radius, radius
from .regret import cap_of, released_regret
from .release import LinearRelease, certified_release, drawn
from .setting import LinearSetting

_TINY = 1e-9  # that floats may be off
_AT_ONCE = 1 << 14  # users at most, and
_NUMBERS = 1 << 21  # numbers of their contexts, about

Floats = NDArray[np.float64]


class Sums(Protocol):
    """What the server knows of G and u after each batch."""

    def add(self, contexts: Floats, rewards: Floats) -> None:
        """Some users of the batch."""

    def release(self) -> tuple[Floats, Floats]:
        """End the batch: G~ and u~ of all so far."""


class ExactSums:
    """Without privacy."""

    def __init__(self, dimension: int) -> None:
        self.gram, self.rewards = np.zeros((dimension, dimension)), np.zeros(dimension)

    def add(self, contexts: Floats, rewards: Floats) -> None:
        self.gram += contexts.T @ contexts
        self.rewards += contexts.T @ (2 * rewards - 1)

    def release(self) -> tuple[Floats, Floats]:
        return (self.gram + self.gram.T) / 2, self.rewards


class NoisySums:
    """Rounded, with noise, mod 2^bits: batch by batch, then read and added up."""

    def __init__(self, release: LinearRelease, rng: np.random.Generator) -> None:
        self.contribution: Contribution = release.contribution
        self._noise, self._rng = release.noise, rng
        self._batch = np.zeros(self.contribution.size, dtype=np.int64)
        self._total = np.zeros(self.contribution.size, dtype=np.int64)

    def add(self, contexts: Floats, rewards: Floats) -> None:
        most = max(1, _NUMBERS // self.contribution.size)
        for start in range(0, len(rewards), most):
            some = slice(start, start + most)
            scaled = self.contribution.vectors(contexts[some], rewards[some])
            scaled += self._rng.random(scaled.shape)
            self._batch += np.floor(scaled).astype(np.int64).sum(axis=0)

    def release(self) -> tuple[Floats, Floats]:
        size = self.contribution.size
        sent = self.contribution.residues(self._batch + drawn(self._noise, self._rng, size))
        self._batch = np.zeros(size, dtype=np.int64)
        self._total += self.contribution.centred(sent)
        return self.contribution.unscaled(self._total / self.contribution.scale)


@frozen(eq=False)
class LinearRun:
    """One run, after each batch.

    regret     pseudo-regret so far
    certified  what it is at most, in the event of the radius
    released   likewise, from what was released alone
    outside    contexts so far, of all arms, whose mean was outside the radius; None where no
               linear truth is known
    last       the estimate that the last batch gave
    """

    regret: Floats
    certified: Floats
    released: Floats
    outside: NDArray[np.int64] | None
    last: Estimate


def _checked(contexts: Floats, means: Floats) -> tuple[Floats, Floats]:
    """What an environment, which may be anybody's own, has drawn."""
    longest = float(np.sqrt(np.einsum("ukd,ukd->uk", contexts, contexts).max()))
    if not longest < 1 + _TINY:
        raise ParameterError(f"contexts must be of norm at most 1, got one of norm {longest:g}")
    return contexts, checked(means)


def play_linear(
    environment: LinearEnvironment,
    radius: Radius,
    release: LinearRelease | None,
    seed: np.random.SeedSequence,
) -> LinearRun:
    """Play it. The same seed has the same users, whatever is released of them."""
    users, noise = (np.random.default_rng(each) for each in seed.spawn(2))
    sums: Sums = ExactSums(radius.dimension) if release is None else NoisySums(release, noise)
    theta, cap = environment.theta, float(cap_of(radius.norm))
    most = max(1, min(_AT_ONCE, _NUMBERS // (environment.arms * environment.dimension)))
    estimate: Estimate | None = None
    regret, certified, released, outside, before = 0.0, 0.0, 0.0, 0, 0
    rows = []
    for batch, after in enumerate(radius.users, 1):
        for start in range(before, after, most):
            count = min(most, after - start)
            contexts, means = _checked(*environment.draw(users, count))
            luck, every = users.random(count), np.arange(count)
            if estimate is None:
                chosen = users.integers(environment.arms, size=count)
                certified += count * cap
            else:
                centre, width = estimate.means(contexts), estimate.widths(contexts)
                chosen = (centre + width).argmax(axis=1)
                certified += float(np.minimum(width[every, chosen], cap).sum())
                if theta is not None:
                    outside += int((np.abs(centre - contexts @ theta) > width).sum())
            regret += float((means.max(axis=1) - means[every, chosen]).sum())
            rewards = (luck < means[every, chosen]).astype(np.float64)
            sums.add(contexts[every, chosen], rewards)
        latest, size = radius.estimate(batch, *sums.release()), after - before
        if estimate is None:
            released += size * cap
        else:
            released += released_regret(estimate, latest, size, radius.norm)
        estimate, before = latest, after
        rows.append((regret, certified, released, outside))
    assert estimate is not None
    regrets, least, bounds, out = (np.array(each) for each in zip(*rows, strict=True))
    return LinearRun(regrets, least, bounds, None if theta is None else out, estimate)


@frozen
class LinearPlan:
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

    plan       what they share: the release and the radii
    regret     pseudo-regret so far: of each user's best arm
    certified  what it is at most where the radius holds
    released   likewise, from what was released alone
    outside    by run: was any context's mean ever outside the radius? None where there is no truth
    plain      regret without privacy, of the same users

    >>> from exactdp.bandit.linear.contexts import UnitBall
    >>> plan = prepare_linear(LinearSetting(dimension=2, horizon=200, epsilon=None))
    >>> results = run_linear(UnitBall(2, 5), plan, runs=3)
    >>> results.runs, results.rounds[-1], results.total_regret().mean > 0
    (3, 200, True)
    """

    plan: LinearPlan
    regret: NDArray[np.float64]
    certified: NDArray[np.float64]
    released: NDArray[np.float64]
    outside: NDArray[np.bool_] | None
    plain: NDArray[np.float64]

    @property
    def runs(self) -> int:
        """How many there are."""
        return len(self.regret)

    @property
    def rounds(self) -> tuple[int, ...]:
        """How many users there were after each batch."""
        return self.plan.radius.users

    def total_regret(self) -> Mean:
        """After the horizon."""
        return Mean.of(self.regret[:, -1])

    def certified_regret(self) -> Mean:
        """What is proved of it on the event of the radius, run by run."""
        return Mean.of(self.certified[:, -1])


def prepare_linear(setting: LinearSetting) -> LinearPlan:
    """Certify the release, and compute the radii.

    Raises NotVerifiedError where the release is not verified: then nothing can run.
    """
    plain = radius(setting.without_privacy(), None)
    if setting.epsilon is None:
        return LinearPlan(setting, None, plain, plain)
    release = certified_release(setting)
    return LinearPlan(setting, release, radius(setting, release), plain)


def run_linear(
    environment: LinearEnvironment,
    plan: LinearPlan,
    runs: ExactInput = 10,
    seed: ExactInput = 0,
    workers: ExactInput = 1,
    *,
    cluster: str | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> LinearResults:
    """Run it so many times, independently. cluster, progress: as in `bandit.run.run`.

    environment: where contexts and rewards come from. plan: what `prepare_linear` gives.
    runs, seed, workers: how many, from which, in how many processes.

    Raises ParameterError where the environment is not of the setting's dimension.

    >>> from exactdp.bandit.linear.contexts import UnitBall
    >>> plan = prepare_linear(LinearSetting(dimension=2, horizon=200, epsilon=8))
    >>> run_linear(UnitBall(2, 5), plan, runs=2).regret.shape
    (2, 6)
    """
    count, start, crew = read_counts(runs, seed, workers)
    if environment.dimension != plan.setting.dimension:
        raise ParameterError(
            f"dimension must be that of {environment.name}, {environment.dimension}, got "
            f"{plan.setting.dimension}"
        )
    played = {}
    task = partial(_both, environment, plan, start)
    for number, both in each(task, range(count), crew, cluster):
        played[number] = both
        progress(1)
    private, plain = zip(*(played[number] for number in range(count)), strict=True)
    outside = None
    if environment.theta is not None:
        outside = np.array([run.outside is not None and run.outside[-1] > 0 for run in private])
    return LinearResults(
        plan,
        np.array([run.regret for run in private]),
        np.array([run.certified for run in private]),
        np.array([run.released for run in private]),
        outside,
        np.array([run.regret for run in plain]),
    )


def _both(
    environment: LinearEnvironment, plan: LinearPlan, seed: int, number: int
) -> tuple[int, tuple[LinearRun, LinearRun]]:
    """The run of this number, and the one without privacy."""

    def play(given: Radius, release: LinearRelease | None) -> LinearRun:
        fresh = np.random.SeedSequence(seed, spawn_key=(number,))
        return play_linear(instance, given, release, fresh)

    instance = environment.of_run(number) if isinstance(environment, Published) else environment
    private = play(plan.radius, plan.release)
    return number, (private, private if plan.release is None else play(plan.plain, None))
