"""Uses of continuous mechanisms as the laws of their losses, in one direction."""

from __future__ import annotations

from collections.abc import Sequence

from ....mechanisms.allocation import allocation
from ....mechanisms.continuous import ContinuousNoise, Shape, continuous
from ....mechanisms.dominating import dominated
from ....mechanisms.mechanism import Mechanism
from ....mechanisms.vector import vector
from ...scenario import Use
from .batches import batch_law
from .composed import Parts, sampled_gaussian, sampled_laplace
from .line import LineLaw


def has_no_outcomes(mechanism: Mechanism) -> bool:
    """Is it of continuous laws, or known by other mechanisms, and has no pairs of laws itself?"""
    kinds = (continuous, allocation, batch_law, vector, dominated)
    return any(kind(mechanism) is not None for kind in kinds)


def line_law(mechanism: Mechanism) -> LineLaw | None:
    """The loss of one use; None for a discrete mechanism."""
    noise = continuous(mechanism)
    return None if noise is None else _law(noise)


def parts_of(uses: Sequence[Use]) -> tuple[Parts, tuple[Use, ...]]:
    """The losses of the continuous uses, and the discrete uses."""
    laws = [(line_law(use.mechanism), use) for use in uses]
    discrete = tuple(use for law, use in laws if law is None)
    return [(law, use.times) for law, use in laws if law is not None], discrete


def _law(noise: ContinuousNoise) -> LineLaw:
    made = sampled_gaussian if noise.shape is Shape.GAUSSIAN else sampled_laplace
    direction = "remove" if noise.removing else "add"
    return made(noise.rate, noise.scale, noise.sensitivity, direction)  # type: ignore[arg-type]
