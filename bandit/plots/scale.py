"""How large the runs of a figure are: as in the paper, or a preview within half a minute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from .pictures import Place

__all__ = ["FULL", "QUICK", "Scale"]

_SHOWN = 4  # decades of rounds in a picture: what happens before is the same for all
_STEPS = 25  # checkpoints a decade


@dataclass(frozen=True)
class Scale:
    """How long, how often, and which curves.

    runs        of each curve
    horizons    T
    growth      eta, of the batches
    scaling     curves of a larger s are left out: their certificates take long
    arms        K of the drawn instances
    confidence  p of the radius
    """

    runs: int
    horizons: Mapping[Place, int]
    growth: int = 2
    scaling: int = 10**6
    arms: int = 10
    confidence: Fraction = Fraction(1, 10)

    def rounds(self, place: Place) -> NDArray[np.int64]:
        """The checkpoints: equally far apart on a log axis, the last one is the horizon."""
        horizon = self.horizons[place]
        first = max(1, horizon // 10**_SHOWN)
        count = round(_STEPS * np.log10(horizon / first)) + 1
        marks = np.rint(np.geomspace(first, horizon, count)).astype(np.int64)
        return np.unique(np.append(marks[:-1], horizon))


FULL = Scale(20, MappingProxyType({Place.EASY: 10**6, Place.HARD: 10**7, Place.RATINGS: 10**6}))
QUICK = Scale(
    5,
    MappingProxyType(dict.fromkeys(Place, 10**6)),
    growth=4,
    scaling=10,
)
