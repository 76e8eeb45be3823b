"""Batches of a fixed size: between the pair that is attained and the one that dominates both ways.

With L the loss of a pair (P, Q), the dearer way round, the pair that has its profile either way has
L's masses above 0 under P and Q, those of -L below 0 with P and Q changed over, and what is left at
0 (`losses.continuous.batches`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ball
from ..losses.law import Cumulant, cumulant_of
from .blocks import BlockLoss
from .cells import Bounded, Cell, Cells, Continuous, Seen, cells_of, divided, tail

_TAIL = -100.0  # the logarithm of what is not looked at to choose by


@frozen(slots=False)
class TwoWayLoss(Bounded):
    """Of one batch. attained: the loss if a user is removed from Poisson sampling."""

    attained: Continuous | BlockLoss

    def largest(self) -> arb:
        """The same either way round."""
        return self.attained.largest()

    def cumulant(self, c: float) -> Cumulant:
        """Of the one that dominates, about."""
        logs, losses = self._masses
        return cumulant_of(logs + c * losses, losses)

    @cached_property
    def _masses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        one = self.attained
        logs, losses = one.about if isinstance(one, BlockLoss) else Seen(one, _TAIL).masses
        logs, losses = logs[losses > 0], losses[losses > 0]
        rest = max(1 - float((np.exp(logs) + np.exp(logs - losses)).sum()), 1e-300)
        return (
            np.concatenate((logs - losses, [np.log(rest)], logs)),
            np.concatenate((-losses, [0.0], losses)),
        )

    def cells(self, step: Fraction, tilt: float, log_tail: float, points: int) -> Cells:
        """Those above 0, the same below, and what is left."""
        if isinstance(self.attained, BlockLoss):
            return _of_blocks(cells_of(self.attained, step, tilt, log_tail, points))
        one = divided(self.attained, step, tilt, log_tail)
        above = [cell for cell in one.cells if cell.low >= 0]
        for _, high, *_ in (cell for cell in one.cells if cell.low < 0 < cell.high):
            ends = zip(
                tail(self.attained, arb(0)), tail(self.attained, high * ball(step)), strict=True
            )
            above.append(Cell(0, high, *((first - last).max(arb(0)) for first, last in ends)))
        below = [Cell(-high, -low, q, p) for low, high, p, q, _ in above]
        p, q = tail(self.attained, arb(0))
        rest = (1 - p - q).max(arb(0))
        return Cells([*below, Cell(0, 0, rest, rest), *above], 2 * one.missing, one.cells)


def _of_blocks(one: Cells) -> Cells:
    """The same, where of some cells it is open how much of them lies above 0: that all of it does.

    More mass, or mass at a larger loss, can only raise delta.
    """
    found, surely = list[Cell](), arb(0)
    for cell in one.cells:
        low, high, p, q, _ = cell
        if 0 <= low < high:
            found += [cell, Cell(-high, -low, q, p)]
            surely += p.lower() + q.lower()
        elif high > 0:
            found += [Cell(high, high, p, q), Cell(0, 0, q, p)]
    rest = (1 - surely).max(arb(0))
    return Cells([*found, Cell(0, 0, rest, rest)], 2 * one.missing, one.cells)
