"""delta(epsilon) and epsilon(delta) of the uses of one scenario: what measures which uses."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from ..exact.enclosure import Enclosure
from . import mixed
from .composition import composed_delta, composed_epsilon
from .continuous import allocated, batches
from .continuous import composed as continuous
from .continuous.uses import parts_of
from .scenario import Scenario

_Measure: TypeAlias = Callable[[Fraction, Fraction, int, float], Enclosure]


class ComposedProfile(NamedTuple):
    """delta at an epsilon and epsilon at a delta, by width, cap of the precision, and work."""

    delta: _Measure
    epsilon: _Measure


def profile_of(uses: Scenario) -> ComposedProfile:
    """Of these uses together: discrete or continuous noise or both, allocations, or batches.

    Raises ParameterError for lists that mix the last two with other mechanisms.
    """
    if (allocations := allocated.allocations_of(uses)) is not None:
        return ComposedProfile(
            lambda level, width, cap, work: allocated.allocated_delta(allocations, level, width),
            lambda delta, width, cap, work: allocated.allocated_epsilon(allocations, delta, width),
        )
    if (drawn := batches.batches_of(uses)) is not None:
        return ComposedProfile(
            lambda level, width, cap, work: batches.batched_delta(drawn, level, width, work),
            lambda delta, width, cap, work: batches.batched_epsilon(drawn, delta, width, work),
        )
    parts, others = parts_of(uses)
    if not parts:
        return ComposedProfile(
            lambda level, width, cap, work: composed_delta(uses, level, width, cap, work),
            lambda delta, width, cap, work: composed_epsilon(uses, delta, width, cap, work),
        )
    if others:
        return ComposedProfile(
            lambda level, width, cap, work: mixed.delta(parts, others, level, width, work),
            lambda delta, width, cap, work: mixed.epsilon(parts, others, delta, width, work),
        )
    return ComposedProfile(
        lambda level, width, cap, work: continuous.composed_delta(parts, level, width, work),
        lambda delta, width, cap, work: continuous.composed_epsilon(parts, delta, width, work),
    )
