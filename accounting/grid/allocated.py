"""Random allocation: the loss of one of t steps, from the law of an average of likelihood ratios.

With S = dP/dQ, the average of t ratios under Q (`continuous.allocated`), the loss is log S under P
if a user is removed, -log S under Q if one is added: on a geometric lattice of S (`average`) it is
on that of the grid.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import frozen
from flint import arb

from ...exact.number import ball
from ..losses.law import Cumulant, cumulant_of
from .average import averaged
from .cells import Bounded, Cell, Cells

_MORE = 10.0  # by so much, in its logarithm, more is left out than of other losses
_LEAST = 1e-300
_ROUGHLY = (Fraction(1, 1 << 20), -60.0, 256)  # step, tail and points of what is only chosen by


@frozen
class AllocatedLoss(Bounded):
    """One of `steps` steps. attained: does it tell anything from below, too?"""

    noise: Fraction
    steps: int
    removing: bool
    attained: bool = True

    def largest(self) -> arb:
        """There is none, either way round."""
        return arb.pos_inf()

    def cumulant(self, c: float) -> Cumulant:
        """Of the one that dominates, about."""
        spread = _averaged(self.noise, self.steps, *_ROUGHLY)
        logs, losses = np.log(np.maximum(spread.above, _LEAST)), spread.points
        if self.removing:
            return cumulant_of(logs + (c + 1) * losses, losses)
        return cumulant_of(logs - c * losses, -losses)

    def cells(self, step: Fraction, tilt: float, log_tail: float, points: int) -> Cells:
        """Of what dominates they are points."""
        spread = _averaged(self.noise, self.steps, step, log_tail + _MORE, points)
        sign = 1 if self.removing else -1
        ratio, up = sign * int(spread.step / step), 1 + arb(spread.off)
        found, attained = [], []
        for k, above, (p, q) in zip(spread.places, spread.above, spread.statistic(), strict=True):
            mass = arb(above) * up
            if self.removing:
                mass *= (ball(spread.step) * k).exp()
            found.append(Cell(ratio * k, ratio * k, mass, arb(0)))
            attained.append(Cell(ratio * k, ratio * k, *((p, q) if self.removing else (q, p))))
        if not self.attained:
            attained = [Cell(0, 0, arb(1), arb(1))]
        missing = arb(spread.missing) if self.removing else spread.missing + up * arb(spread.zero)
        return Cells(found, missing, attained)


_averaged = lru_cache(maxsize=16)(averaged)
