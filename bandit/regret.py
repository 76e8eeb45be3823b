"""Regret over time, exactly: it grows by the gap of the arm that is pulled, one arm at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["RegretCurve", "checkpoints"]


def checkpoints(horizon: int, count: int = 40) -> NDArray[np.int64]:
    """Rounds 1, ..., horizon at about equal ratios: `count` of them, fewer where these coincide."""
    rounds = np.rint(np.geomspace(1, horizon, count)).astype(np.int64)
    rounds[-1] = horizon
    return np.unique(rounds)


class RegretCurve:
    """Which arms runs pulled for how long, in order; at most one entry an arm and batch.

    Pseudo-regret after t rounds is the sum of the gaps of the arms pulled so far: piecewise linear
    in t, with a corner where one arm's users end and the next one's begin.
    """

    def __init__(self, gaps: NDArray[np.float64], runs: int) -> None:
        self._gaps = gaps
        self._rounds = [np.zeros((runs, 1), dtype=np.int64)]
        self._regret = [np.zeros((runs, 1))]

    def add(self, pulled: NDArray[np.int64]) -> None:
        """So many further pulls of each arm (runs x arms), one arm after the other."""
        self._rounds.append(self._rounds[-1][:, -1:] + np.cumsum(pulled, axis=1))
        self._regret.append(self._regret[-1][:, -1:] + np.cumsum(pulled * self._gaps, axis=1))

    def at(self, rounds: NDArray[np.int64]) -> NDArray[np.float64]:
        """The regret of each run after each of these many rounds (runs x rounds)."""
        corners, regret = np.hstack(self._rounds), np.hstack(self._regret)
        pairs = zip(corners, regret, strict=True)
        return np.array([np.interp(rounds, xs, ys) for xs, ys in pairs])
