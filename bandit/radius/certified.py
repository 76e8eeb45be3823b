"""A confidence radius with a certified probability that the best arm is ever eliminated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from .plan import Plan

__all__ = ["CertifiedRadius", "certified_failure", "certified_radius"]


@dataclass(frozen=True, eq=False)
class CertifiedRadius:
    """beta[b - 1, active], and a bound of the probability that a best arm is ever eliminated.

    table    shape (B, K + 1); infinite where nothing is to be eliminated
    failure  encloses the bound that is proved (the probability itself is at most its upper end)
    shares   what each batch contributes to it, at most
    wraps    of that, what is due to sums that are decoded wrongly
    """

    table: NDArray[np.float64]
    failure: Enclosure
    shares: tuple[Enclosure, ...]
    wraps: tuple[Enclosure, ...]


def certified_radius(plan: Plan) -> CertifiedRadius:
    """The radii of a plan, as narrow as is proved here."""
    raise NotImplementedError


def certified_failure(plan: Plan, table: NDArray[np.float64]) -> Enclosure:
    """The bound that is proved for any table of radii."""
    raise NotImplementedError
