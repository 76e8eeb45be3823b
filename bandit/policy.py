"""What decides who is asked next: the protocol by which every policy here is played, or one's own.

A policy sees what was released, and says which arms have their next batch. All else is not its
business: how many users that batch has, how their sum is released and what is proved of it belong
to the algorithm (`Algorithm.deciding`), and so do the account of privacy, transcripts and replay.
That is why a policy needs no proof of privacy of its own: it is a function of what was released.

    class Greedy:
        def next_batch(self, state):
            return np.argmax(np.where(state.batches > 0, state.means, 1.0), axis=1)

        def observe(self, state, released):
            return None

    greedy = DP_KLUCB.deciding("greedy", "the largest mean", lambda setting, runs: Greedy())
    run(Config(greedy, Setting(3, 10**5, "0.5"), instances), runs=100)

Runs go in lock step: every array has one row a run, and a policy that keeps something of its own
keeps it by the runs' numbers, `state.runs`. docs/policies.md is a worked page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from attrs import define, field, frozen
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .release import Batch
    from .setting import Setting

Floats: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
_POLICY = 2  # what a seed is for: beside the instances and the runs (`bandit.run`)


@define(eq=False)
class History:
    """All runs, one row each: what was released so far. For the runner to write."""

    setting: Setting
    users: Whole
    batches: Whole
    sums: Floats
    variances: Floats
    rounds: Whole
    seed: int
    first: int
    lots: dict[int, tuple[int, Floats]] = field(factory=dict)  # by run: drawn last, at which step


@frozen(eq=False)
class State:
    """What was released so far in the runs that a policy is asked about, one row each.

    runs     which they are, from 0: rows of what a policy keeps
    history  what the runner keeps of them: policies read it by the properties here

    >>> class Watching:
    ...     def next_batch(self, state):
    ...         print(state.runs, state.users.tolist(), state.setting.horizon)
    ...         return np.full(len(state.runs), -1)  # stop
    >>> from exactdp.bandit.algorithms import KL_UCB
    >>> from exactdp.bandit.instances import easy
    >>> from exactdp.bandit.run import Config, run
    >>> from exactdp.bandit.setting import Setting
    >>> watching = KL_UCB.deciding("watching", "mine", lambda setting, runs: Watching())
    >>> played = run(Config(watching, Setting(3, 1000), easy(3)), runs=1)
    [0 1 2 3 4] [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]] 1000
    """

    runs: Whole
    _history: History = field(repr=False)

    @property
    def setting(self) -> Setting:
        """The numbers that the algorithm was given: arms, horizon, epsilon, confidence, ..."""
        return self._history.setting

    @property
    def users(self) -> Whole:
        """runs x arms: users of each arm whose rewards are in released sums."""
        return self._history.users[self.runs]

    @property
    def batches(self) -> Whole:
        """runs x arms: batches of each arm that were released."""
        return self._history.batches[self.runs]

    @property
    def sums(self) -> Floats:
        """runs x arms: released sums of rewards of all batches, noise included, its mean taken off.

        In units of rewards; noise may make a sum negative, or larger than its users.
        """
        return self._history.sums[self.runs]

    @property
    def means(self) -> Floats:
        """runs x arms: sums by users; 0 where there are none."""
        return self.sums / np.maximum(self.users, 1)

    @property
    def variances(self) -> Floats:
        """runs x arms: the variance of the noise in these sums."""
        return self._history.variances[self.runs]

    @property
    def rounds(self) -> Whole:
        """By run: how many rounds have passed."""
        return self._history.rounds[self.runs]

    def normal(self, size: int) -> Floats:
        """runs x size: independent standard normal numbers, for policies that draw lots.

        They depend on the seed, the run, and how many batches it has released, and on nothing else:
        asked again in the same state they are the same, on any number of workers, and in a replay.
        """
        history, steps = self._history, self.batches.sum(axis=1).tolist()
        for run, step in zip(self.runs.tolist(), steps, strict=True):
            if run not in history.lots or (step, size) != (
                history.lots[run][0],
                len(history.lots[run][1]),
            ):
                key = (_POLICY, history.first + run, step)
                stream = np.random.default_rng(np.random.SeedSequence(history.seed, spawn_key=key))
                history.lots[run] = step, stream.standard_normal(size)
        return np.array([history.lots[run][1] for run in self.runs.tolist()])


@frozen(eq=False)
class ReleasedSums:
    """One batch of some runs, of one number and size, as it was released.

    batch   its number, its users an arm, its release and what is proved of it
    arms    as the policy asked: one arm a run, or a mask runs x arms
    sums    the noisy sum of each of these, in units of 1/precision; 0 elsewhere in a mask
    totals  what estimates rest on, in these units: all batches, or where an algorithm forgets this

    >>> class Once:
    ...     def next_batch(self, state):
    ...         return np.where(state.batches.sum(axis=1) == 0, 1, -1)
    ...     def observe(self, state, released):
    ...         print(released.arms, released.batch.users, (released.sums == released.totals).all())
    >>> from exactdp.bandit.algorithms import DP_KLUCB
    >>> from exactdp.bandit.instances import easy
    >>> from exactdp.bandit.run import Config, run
    >>> from exactdp.bandit.setting import Setting
    >>> once = DP_KLUCB.deciding("once", "mine", lambda setting, runs: Once())
    >>> played = run(Config(once, Setting(3, 1000), easy(3)), runs=2)
    [1 1 1 1 1] 21 True
    """

    batch: Batch
    arms: NDArray[Any]
    sums: NDArray[Any]
    totals: NDArray[Any]


@frozen(eq=False)
class Decision:
    """What a policy wants to be known of a batch, for results and transcripts: one of two, or none.

    stays  runs x arms: which are not eliminated; lost is a run whose best arms are
    index  by run: the upper confidence bound of the arm that had the batch; lost is a run where
           every best arm's was ever below its mean

    >>> Decision(stays=np.array([[True, False, True]])).stays.sum(axis=1).tolist()
    [2]
    """

    stays: NDArray[np.bool_] | None = None
    index: Floats | None = None


@frozen
class Largest:
    """The arm of the largest score, the first of several; before, those that have none yet.

    It keeps nothing: scores, runs x arms, follow from what was released. waits: do runs wait for
    others with a batch of their size? Not worth it where sizes are many.
    """

    score: Callable[[State], Floats]
    waits: bool = True

    def next_batch(self, state: State) -> NDArray[Any]:
        """The arm of the largest score."""
        return np.asarray(np.where(state.users > 0, self.score(state), np.inf).argmax(axis=1))

    def observe(self, state: State, released: ReleasedSums) -> None:
        """Nothing to keep."""


class Policy(Protocol):
    """Which arms are next, from what was released.

    It must be a function of that (and of `State.normal`) alone: asked again before anything new was
    released it answers the same. One object plays some runs together, and is used once.

    >>> class Greedy:
    ...     def next_batch(self, state):
    ...         return np.where(state.users > 0, state.means, np.inf).argmax(axis=1)
    ...     def observe(self, state, released):
    ...         return None
    >>> from exactdp.bandit.algorithms import KL_UCB
    >>> from exactdp.bandit.instances import easy
    >>> from exactdp.bandit.run import Config, run
    >>> from exactdp.bandit.setting import Setting
    >>> greedy = KL_UCB.deciding("greedy", "the largest mean", lambda setting, runs: Greedy())
    >>> run(Config(greedy, Setting(3, 1000), easy(3)), runs=4).runs
    4
    """

    def next_batch(self, state: State) -> NDArray[Any]:
        """For each run the arm that has its next batch, or -1 to stop; or a mask runs x arms.

        In a mask all arms of a run must have had equally many batches. No arm: the run stops.
        One arm: it is the only one left, and is played to the end of the horizon, nothing released.
        Where the horizon ends before the batch does, the arms have what is left of it, in order.
        """

    def observe(self, state: State, released: ReleasedSums) -> Decision | None:
        """A batch was released; the state contains it."""
