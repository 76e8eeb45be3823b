"""What is seen of runs: every release while they go on, and how they went."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from .phase import Phase
from .results import RegretCurve


@frozen
class Released:
    """What one batch of one run released, arm by arm, and what was decided: for transcripts."""

    run: int
    phase: Phase
    arms: NDArray[np.int64]
    values: NDArray[Any]
    totals: NDArray[Any]  # what the estimates rest on, in units of the grid
    stays: NDArray[np.bool_] | None  # where arms are eliminated
    index: NDArray[np.float64] | None = None  # where it decides: after this batch


@frozen
class Played:
    """How runs went, one row each.

    pulls    of each arm
    active   whether each arm was still active at the end; of an index policy, which eliminates
             none, whether its index was never below its mean
    batches  how many were released
    curve   regret over time
    """

    pulls: NDArray[np.int64]
    active: NDArray[np.bool_]
    batches: NDArray[np.int64]
    curve: RegretCurve


Record: TypeAlias = Callable[[Released], None]  # is told of every batch that is released
Permit: TypeAlias = Callable[[int, Phase, int, int], None]
"""Asked before anything of a batch is drawn: run, batch, arm, and the round its users begin in."""
