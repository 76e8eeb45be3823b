"""Random allocation: the loss of one of t steps, from the law of an average of likelihood ratios.

With S = dP/dQ, the average of t ratios under Q (`continuous.allocated`), the loss is log S under P
if a user is removed, -log S under Q if one is added: on a geometric lattice of S (`average`) it is
on that of the grid.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ball
from ...exact.precision import floor_of
from ...losses.cells import Cell, Cells, listed_cells
from ..losses.law import FiniteLoss
from .average import averaged

_MORE = 10.0  # by so much, in its logarithm, more is left out than of other losses
_LEAST = 1e-300
_ROUGHLY = (Fraction(1, 1 << 20), -60.0, 256)  # step, tail and points of what is only chosen by
_MOST_POINTS = 4096  # of an average, which takes their square
_POINT = 20_000  # units of work


@frozen
class AllocatedLoss(FiniteLoss):
    """One of `steps` steps: what dominates it, and a statistic of what is attained."""

    noise: Fraction
    steps: int
    removing: bool
    log_tail: float

    def largest(self) -> arb:
        """There is none, either way round."""
        return arb.pos_inf()

    def sketch(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Losses and logarithms of masses, of the one that dominates, about."""
        spread = _averaged(self.noise, self.steps, *_ROUGHLY)
        logs, losses = np.log(np.maximum(spread.above, _LEAST)), spread.points
        return (losses, logs + losses) if self.removing else (-losses, logs)

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        """On the lattice of this step, its outcomes on a coarser one of their own."""
        width = Fraction(2) ** math.floor(math.log2(float(step)))
        points = min(points, _MOST_POINTS)
        spread = _averaged(self.noise, self.steps, width, self.log_tail + _MORE, points)
        sign, up = 1 if self.removing else -1, 1 + arb(spread.off)
        losses = [sign * k * ball(spread.step) for k in spread.places]
        masses = [arb(above) * up for above in spread.above]
        if self.removing:
            masses = [mass * loss.exp() for mass, loss in zip(masses, losses, strict=True)]
        attained = []
        for loss, (p, q) in zip(losses, spread.statistic(), strict=True):
            k = floor_of(loss / step)
            attained.append(Cell(k, k, *((p, q) if self.removing else (q, p))))
        missing = arb(spread.missing) if self.removing else spread.missing + up * arb(spread.zero)
        cells = listed_cells(masses, losses, step)
        return Cells(cells, missing, _POINT * len(losses), attained)


_averaged = lru_cache(maxsize=16)(averaged)
