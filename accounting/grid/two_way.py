"""Batches of a fixed size: between the pair that is attained and the one that dominates both ways.

With L the loss of a pair (P, Q), the dearer way round, the pair that has its profile either way has
L's masses above 0 under P and Q, those of -L below 0 with P and Q changed over, and what is left at
0 (`losses.continuous.uses`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...losses.cells import Cell, Cells
from ..losses.law import LossLaw
from .blocks import BlockLoss
from .cells import DividedLoss


@frozen(slots=False)
class TwoWayLoss(LossLaw):
    """Of one batch. attained: the loss if a user is removed from Poisson sampling."""

    attained: DividedLoss | BlockLoss

    def largest(self) -> arb:
        """The same either way round."""
        return self.attained.largest()

    def sketch(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Losses and logarithms of masses, about."""
        return self._sketch

    @cached_property
    def _sketch(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        losses, logs = self.attained.sketch()
        logs, losses = logs[losses > 0], losses[losses > 0]
        rest = max(1 - float((np.exp(logs) + np.exp(logs - losses)).sum()), 1e-300)
        return (
            np.concatenate((-losses, [0.0], losses)),
            np.concatenate((logs - losses, [np.log(rest)], logs)),
        )

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """Those above 0, the same below, and what is left.

        Where it is open how much of a cell lies above 0, all of it does: more mass, or mass at a
        larger loss, can only raise delta.
        """
        measured = (
            self.attained.enclosed if isinstance(self.attained, BlockLoss) else self.attained.cells
        )
        one = measured(step, tilt, points)
        found, surely = list[Cell](), arb(0)
        for low, high, p, q, _ in one.cells:
            if 0 <= low < high:
                found += [Cell(low, high, p.upper(), q), Cell(-high, -low, q.upper(), p)]
                surely += p.lower() + q.lower()
            elif high > 0:
                found += [Cell(high, high, p.upper(), q), Cell(0, 0, q.upper(), p)]
        rest = (1 - surely).max(arb(0))
        return Cells([*found, Cell(0, 0, rest, rest)], 2 * one.missing, 2 * one.cost)
