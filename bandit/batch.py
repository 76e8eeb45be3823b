"""One batch of an arm: how it is released, what is proved of it, when an arm leaves."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from attrs import frozen

from .evidence import Evidence
from .radius.plan import ContinuousLaplace
from .release import Release


@frozen(slots=False)
class Batch:
    """One batch, for one number of active arms; 1 where an index decides which arm it is of.

    number     b = 1, 2, ...
    active     how many arms take part
    release    of one arm
    evidence   what is proved of it; None for algorithms without proof
    radius     beta; an arm leaves where the best estimate exceeds its own by more than 2 beta; None
               where an index decides
    units      n g of all batches that an estimate rests on
    centre     the mean of the noise in these, in units of the grid
    threshold  2 beta in these units; floored, which decides the same, where sums are whole numbers
    """

    number: int
    active: int
    release: Release
    evidence: Evidence | None
    radius: float | None
    units: int
    centre: Fraction
    threshold: int | float

    @property
    def users(self) -> int:
        """n, for each active arm."""
        return self.release.users

    @cached_property
    def variance(self) -> float:
        """Of the noise in the released sum, in units of rewards."""
        noise = self.release.noise
        if noise is None:
            return 0.0
        if isinstance(noise, ContinuousLaplace):
            return float(2 * noise.scale**2) / self.release.precision**2
        laws = noise if isinstance(noise, tuple) else (noise,)
        found = sum(float(law.moments().variance) for law in laws)
        return found / self.release.precision**2
