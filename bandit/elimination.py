"""Batched successive elimination (Algorithm 1 of Chowdhury and Zhou, ICLR 2023), as a policy.

In every batch each active arm is pulled by n new users, one arm after the other; what the n rewards
sum up to is released; and arms leave whose estimate is more than 2 beta below the best one. Once
one arm is left nothing is released any more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .policy import Decision, ReleasedSums, State
from .prepare import Prepared


class Elimination:
    """Who is active, one row a run."""

    def __init__(self, prepared: Prepared, runs: int) -> None:
        self.active = np.ones((runs, prepared.setting.arms), dtype=bool)

    def next_batch(self, state: State) -> NDArray[Any]:
        """All that are active."""
        return self.active[state.runs]

    def observe(self, state: State, released: ReleasedSums) -> Decision:
        """Let arms leave."""
        active, totals = self.active[state.runs], released.totals
        best = np.where(active, totals, totals[active].min()).max(axis=1, keepdims=True)
        near = best - np.where(active, totals, best) <= released.phase.threshold
        stays = active & near.astype(bool)
        self.active[state.runs] = stays
        return Decision(stays=stays)
