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
from .cells import Bounded, Cell, Cells, Continuous, Seen, divided, tail

_TAIL = -100.0  # the logarithm of what is not looked at to choose by


@frozen(slots=False)
class TwoWayLoss(Bounded):
    """Of one batch. attained: the loss if a user is removed from Poisson sampling."""

    attained: Continuous

    def largest(self) -> arb:
        """The same either way round."""
        return self.attained.largest()

    def cumulant(self, c: float) -> Cumulant:
        """Of the one that dominates, about."""
        logs, losses = self._masses
        return cumulant_of(logs + c * losses, losses)

    @cached_property
    def _masses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        logs, losses = Seen(self.attained, _TAIL).masses
        logs, losses = logs[losses > 0], losses[losses > 0]
        rest = max(1 - float((np.exp(logs) + np.exp(logs - losses)).sum()), 1e-300)
        return (
            np.concatenate((logs - losses, [np.log(rest)], logs)),
            np.concatenate((-losses, [0.0], losses)),
        )

    def cells(self, step: Fraction, tilt: float, log_tail: float, points: int) -> Cells:
        """Those above 0, the same below, and what is left."""
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
