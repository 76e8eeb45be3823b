"""Uses that the grid knows by laws of its own: random allocation, and batches of a fixed size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from ...mechanisms.allocation import Allocation, allocation
from ..losses.continuous.batches import batch_law, plain_law
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..scenario import Use
from .allocated import AllocatedLoss
from .cells import CellLaw, Parts
from .dealt import DealtSteps
from .two_way import TwoWayLoss


def is_own(uses: Sequence[Use]) -> bool:
    """Is any of them known so?"""
    return len(own_parts(uses)[1]) < len(uses)


def own_parts(uses: Sequence[Use]) -> tuple[Parts, tuple[Use, ...]]:
    """Their losses, and the other uses."""
    found: list[tuple[CellLaw, int]] = []
    others: list[Use] = []
    for use in uses:
        if (allocated := allocation(use.mechanism)) is not None:
            found += _allocated(allocated, use.times)
        elif (batches := batch_law(use.mechanism)) is not None:
            attained = plain_law(batches)
            found.append((attained if attained.rate == 1 else TwoWayLoss(attained), use.times))
        else:
            others.append(use)
    return found, tuple(others)


def _allocated(one: Allocation, times: int) -> Iterator[tuple[CellLaw, int]]:
    """One of t steps; of k > 1 from above one in each of k groups, from below all steps' sum."""
    noise = one.scale / one.sensitivity
    if one.taken == one.steps:
        yield SampledGaussian(Fraction(1), noise, one.removing), one.taken * times
        return
    several = one.taken > 1
    for steps, groups in one.groups:
        yield AllocatedLoss(noise, steps, one.removing, not several), groups * times
    if several:
        yield DealtSteps(noise, one.taken, one.steps, one.removing), times
