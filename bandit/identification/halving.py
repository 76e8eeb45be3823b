"""The best arm with a fixed budget: sequential halving on sums that are never forgotten.

Karnin, Koren and Somekh, "Almost Optimal Exploration in Multi-Armed Bandits" (ICML 2013), for the
fixed-budget problem under global DP of Chen, Karthik, Chee and Tan (arXiv 2401.09073). Batch b = 1,
..., B, B = ceil(log2 K), is of the K_b = ceil(K/2^(b-1)) arms that are left, floor(T/(B K_b)) users
each; the K_(b+1) arms of the largest sums stay, of equal ones the first. Of the sums of *all*
batches, while the original forgets: users count, and more noise of the tails that it has already
costs little. No user is in two batches, so that a run is as private as each release.

How often it errs is `halving_error`. Releases are those of `algorithms`, misread with probability
at most 1e-12/(1024 K) each.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ..algorithms.algorithm import Algorithm
from ..environments.environment import Environment
from ..playing import Playing
from ..policy import ReleasedSums, State
from ..prepare import Prepared
from ..setting import Setting
from ..source import Source
from .algorithms import IDENTIFIERS
from .play import Found


def remaining(arms: int) -> list[int]:
    """K_1 = K, K_2, ..., down to 1.

    >>> remaining(5)
    [5, 3, 2, 1]
    """
    found = [arms]
    while found[-1] > 1:
        found.append(-(-found[-1] // 2))
    return found


def _users(setting: Setting, batch: int, _: int) -> int:
    """Beyond the last batch more than there are: it never takes place."""
    left = remaining(setting.arms)[:-1]
    if batch > len(left):
        return setting.horizon + 1
    return max(1, setting.horizon // (len(left) * left[batch - 1]))


class Halving:
    """Who is left, one row a run."""

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


HALVINGS: tuple[Algorithm, ...] = tuple(
    evolve(
        each,
        name=each.name.replace("lucb", "halving"),
        source="sequential halving of a fixed budget, sums never forgotten",
        schedule=_users,
        policy=Halving,
        usual=Fraction(1, 10**12),
    )
    for each in IDENTIFIERS
)


def play_halving(
    prepared: Prepared, places: Sequence[Environment], runs: int, source: Source
) -> Found:
    """Run it `runs` times in the only one of these environments, or once in each."""
    policy = Halving(prepared.setting, runs)
    playing = Playing(prepared, policy, runs, places, source)
    playing.play(waits=False)
    everywhere = np.ones(runs, dtype=bool)
    chosen = policy.active.argmax(axis=1)
    return Found(chosen, everywhere, playing.pulls, playing.history.batches)
