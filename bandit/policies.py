"""The policies of the package, each on the protocol of `policy`.

The rules with a proof (`algorithms.algorithm`): batched successive elimination (Algorithm 1 of
Chowdhury and Zhou, ICLR 2023), where in every batch each active arm is pulled by n new users and
arms leave whose estimate is more than 2 beta below the best one, until one arm is left and nothing
is released any more; and the largest upper confidence bound, of all batches of an arm so far.
Sequential halving spends a fixed budget.

Those of which nothing is proved, as functions of what was released: IMED, KL-UCB with log t,
without privacy and with the d of private coins, Thompson sampling, and AdaP-KLUCB. Their noise is
discrete, and their batches are the algorithm's; the authors' bounds of regret are of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .policy import Decision, Floats, ReleasedSums, State, Whole
from .setting import Setting

if TYPE_CHECKING:
    from .plan import Plan

_HALVINGS = 40  # of a bisection
_ALPHA = 3.1  # of AdaP-KLUCB, whose bound is for more than 3


class SuccessiveElimination:
    """Who is active, one row a run."""

    waits = False

    def __init__(self, plan: Plan, runs: int) -> None:
        self.active = np.ones((runs, plan.setting.arms), dtype=bool)

    def next_batch(self, state: State) -> NDArray[Any]:
        """All that are active."""
        return self.active[state.runs]

    def observe(self, state: State, released: ReleasedSums) -> Decision:
        """Let arms leave."""
        active, totals = self.active[state.runs], released.totals
        best = np.where(active, totals, totals[active].min()).max(axis=1, keepdims=True)
        near = best - np.where(active, totals, best) <= released.batch.threshold
        stays = active & near.astype(bool)
        self.active[state.runs] = stays
        return Decision(stays=stays)


class LargestBound:
    """The bounds of all arms, one row a run: every arm has its first batch, in order; then the arm
    with the largest bound (the first of several) has its next one."""

    def __init__(self, plan: Plan, runs: int) -> None:
        assert plan.index is not None
        self.index = plan.index
        self.bounds = np.full((runs, plan.setting.arms), np.inf)

    def next_batch(self, state: State) -> NDArray[Any]:
        """The largest bound's."""
        return np.asarray(self.bounds[state.runs].argmax(axis=1))

    def largest(self, runs: Whole, most: int) -> Whole:
        """runs x most: the arms of the largest bounds, largest first, the first one of several."""
        cut = self.bounds.shape[1] - most
        rows = self.bounds[runs]
        ends = np.partition(rows, cut, axis=1)[:, cut]
        order = np.empty((len(runs), most), dtype=np.int64)
        for number, (row, end) in enumerate(zip(rows, ends, strict=True)):
            above = np.flatnonzero(row >= end)
            order[number] = above[np.argsort(-row[above], kind="stable")[:most]]
        return order

    def observe(self, state: State, released: ReleasedSums) -> Decision:
        """Bound the arms' means anew."""
        batches = np.full(len(state.runs), released.batch.number)
        bounds = self.index.of(batches, released.totals)
        self.bounds[state.runs, released.arms] = bounds
        return Decision(index=bounds)


# -- a fixed budget -------------------------------------------------------------------------------


def remaining(arms: int) -> list[int]:
    """K_1 = K, K_2, ..., down to 1.

    >>> remaining(5)
    [5, 3, 2, 1]
    """
    left = [arms]
    while left[-1] > 1:
        left.append(-(-left[-1] // 2))
    return left


def halving_users(setting: Setting, batch: int, _: int) -> int:
    """Of sequential halving: floor(T/(B K_b)). After the last batch more than there are."""
    left = remaining(setting.arms)[:-1]
    if batch > len(left):
        return setting.horizon + 1
    return max(1, setting.horizon // (len(left) * left[batch - 1]))


class Halving:
    """Sequential halving of a fixed budget, on sums that are never forgotten.

    Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits" (ICML 2013), for
    the fixed-budget problem under global DP of Chen, Karthik, Chee and Tan (arXiv 2401.09073).
    Batch b = 1, ..., B, B = ceil(log2 K), is of the K_b = ceil(K/2^(b-1)) arms that are left; the
    K_(b+1) arms of the largest sums stay, of equal ones the first. Of the sums of *all* batches,
    while the original forgets: users count, and more noise of the tails that it has already costs
    little. How often it errs is `identification.halving_error`.
    """

    def __init__(self, setting: Setting, runs: int) -> None:
        self.active = np.ones((runs, setting.arms), dtype=bool)

    def next_batch(self, state: State) -> NDArray[np.bool_]:
        """All that are left; nobody where that is one."""
        active = self.active[state.runs]
        return np.asarray(active & (active.sum(axis=1, keepdims=True) > 1))

    def observe(self, state: State, released: ReleasedSums) -> None:
        """Let the half with the smaller sums leave."""
        active, totals = self.active[state.runs], released.totals
        lowest = -np.inf if totals.dtype.kind == "f" else np.iinfo(totals.dtype).min + 1
        stays = -(-active[0].sum() // 2)
        order = np.argsort(-np.where(active, totals, lowest), axis=1, kind="stable")[:, :stays]
        kept = np.zeros_like(active)
        np.put_along_axis(kept, order, True, axis=1)
        self.active[state.runs] = kept

    def answers(self) -> Whole:
        """By run: the arm that is left."""
        return np.asarray(self.active.argmax(axis=1))


# -- scores, of which the arm of the largest has the next batch -----------------------------------


def kl(low: Floats, high: Floats) -> Floats:
    """The divergence of coins of these means, in floats; infinite where high alone is 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(low > 0, low * np.log(low / high), 0.0)
        other = np.where(low < 1, (1 - low) * np.log((1 - low) / (1 - high)), 0.0)
    return one + other


def private_kl(low: Floats, high: Floats, epsilon: float) -> Floats:
    """d(low, high) for epsilon-global DP (`lower_bound`), in floats; 0 where low is not below."""
    with np.errstate(divide="ignore", invalid="ignore"):
        meets = high / (high + (1 - high) * np.exp(min(epsilon, 500.0)))
        z = np.clip(np.where(high > 0, meets, 0.0), low, np.maximum(low, high))
        one = np.where(z > 0, z * np.log(z / high), 0.0)
        other = np.where(z < 1, (1 - z) * np.log((1 - z) / (1 - high)), 0.0)
    return np.where(low < high, epsilon * (z - low) + one + other, 0.0)


def upper(
    means: Floats, level: Floats, divergence: Callable[[Floats, Floats], Floats] = kl
) -> Floats:
    """The largest q in [mean, 1] with divergence(mean, q) <= level, in floats."""
    low, high = means, np.ones_like(means)
    whole = divergence(means, high) <= level
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        fits = divergence(means, middle) <= level
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return np.where(whole, 1.0, low)


def _log_level(state: State) -> Floats:
    """log t/N, t the rounds so far."""
    rounds = np.log(np.maximum(state.rounds, 1))[:, None]
    return np.asarray(rounds / np.maximum(state.users, 1))


def klucb_index(state: State) -> Floats:
    """max{q >= m: N kl(m, q) <= log t} of an arm of mean m and N users.

    Garivier and Cappé, "The KL-UCB Algorithm for Bounded Stochastic Bandits and Beyond" (COLT
    2011), as they run it: what can be had without privacy.
    """
    return upper(np.clip(state.means, 0.0, 1.0), _log_level(state))


def private_klucb_index(state: State) -> Floats:
    """max{q: N d(m, q) <= log t} with the d of private coins and the noisy mean m, clipped.

    DP-KLUCB as its authors index it: Azize, Wu, Honda, Orabona, Ito and Basu, "Optimal Regret of
    Bernoulli Bandits under Global Differential Privacy" (arXiv 2505.05613).
    """
    epsilon = float(state.setting.epsilon)
    means = np.clip(state.means, 0.0, 1.0)
    return upper(means, _log_level(state), lambda low, high: private_kl(low, high, epsilon))


def imed_index(state: State) -> Floats:
    """-(N d(m, m*) + log N), m* the largest noisy mean, clipped: no level of confidence is needed.

    DP-IMED of the same paper, with d in the place of kl in IMED (Honda and Takemura,
    "Non-asymptotic analysis of a new bandit algorithm for semi-bounded rewards", JMLR 2015).
    """
    means = np.clip(state.means, 0.0, 1.0)
    best = np.where(state.users > 0, means, 0.0).max(axis=1, keepdims=True)
    distance = private_kl(means, best, float(state.setting.epsilon))
    return -(state.users * distance + np.log(np.maximum(state.users, 1)))


def drawn_means(state: State) -> Floats:
    """A draw from N(m, 1/4N + v/N²), v the variance of the noise in the arm's sum.

    Thompson sampling (Biometrika 1933), in the Gaussian form of Agrawal and Goyal ("Further Optimal
    Regret Bounds for Thompson Sampling", AISTATS 2013), whose variance for N rewards in [0, 1] is
    widened by that of the noise. Which arm is drawn depends on released sums and on lots of its own
    only, so that it is as private as these sums are.
    """
    users = np.maximum(state.users, 1)
    spread = np.sqrt(0.25 / users + state.variances / users**2)
    drawn: Floats = state.means + spread * state.normal(state.setting.arms)
    return drawn


class AdaptiveEpisodes:
    """AdaP-KLUCB: every episode doubles an arm's users, and its index is of the last one alone.

    Azize and Basu, "When Privacy Meets Partial Information: A Refined Analysis of Differentially
    Private Bandits" (NeurIPS 2022), Algorithm 1 and its second index: with n users in its last
    episode and their noisy mean m, the index before round t is

        max{q in [0, 1]: kl(c, q) <= alpha log(t)/n},   c = m + alpha log(t)/(epsilon n) in [0, 1],

    where c is clipped; their experiments have alpha = 3.1, as here. Of an arm that was played once,
    where they write half its users, n is 1, which is ours, and so is the first arm of several with
    the largest index.
    """

    def __init__(self, runs: int, arms: int) -> None:
        self.users = np.zeros((runs, arms))
        self.means = np.zeros((runs, arms))

    def next_batch(self, state: State) -> NDArray[Any]:
        """The arm of the largest index; first those that have none yet."""
        users = self.users[state.runs]
        level = _ALPHA * np.log(state.rounds + 1)[:, None] / np.maximum(users, 1)
        private = self.means[state.runs] + level / float(state.setting.epsilon)
        bounds = upper(np.clip(private, 0.0, 1.0), level)
        return np.asarray(np.where(users > 0, bounds, np.inf).argmax(axis=1))

    def observe(self, state: State, released: ReleasedSums) -> None:
        """Forget all episodes of the arm before this one."""
        batch, at = released.batch, (state.runs, released.arms)
        self.users[at] = batch.users
        sums = released.sums - float(batch.release.centre)
        self.means[at] = sums / (batch.release.precision * batch.users)
