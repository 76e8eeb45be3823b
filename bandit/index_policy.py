"""Index policies: the arm with the largest upper confidence bound has the next batch.

Every arm has its first batch, in order. Then the arm with the largest bound (the first one of
several) has its next one, and its bound is that of all its batches so far (`radius.index`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .policy import Decision, ReleasedSums, State, Whole
from .prepare import Prepared


class IndexPolicy:
    """The bounds of all arms, one row a run."""

    def __init__(self, prepared: Prepared, runs: int) -> None:
        assert prepared.index is not None
        self.index = prepared.index
        self.bounds = np.full((runs, prepared.setting.arms), np.inf)

    def next_batch(self, state: State) -> NDArray[Any]:
        """The largest bound's."""
        return np.asarray(self.bounds[state.runs].argmax(axis=1))

    def ahead(self, runs: Whole, most: int) -> Whole:
        """runs x most: the arms of the largest bounds, largest first, the first one of several."""
        cut = self.bounds.shape[1] - most
        rows = self.bounds[runs]
        ends = np.partition(rows, cut, axis=1)[:, cut]
        order = np.empty((len(runs), most), dtype=np.int64)
        for place, (row, end) in enumerate(zip(rows, ends, strict=True)):
            above = np.flatnonzero(row >= end)
            order[place] = above[np.argsort(-row[above], kind="stable")[:most]]
        return order

    def observe(self, state: State, released: ReleasedSums) -> Decision:
        """Bound the arms' means anew."""
        batches = np.full(len(state.runs), released.phase.number)
        bounds = self.index.of(batches, released.totals)
        self.bounds[state.runs, released.arms] = bounds
        return Decision(index=bounds)
