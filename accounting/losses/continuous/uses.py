"""Uses of continuous mechanisms as the laws of their losses, in one direction."""

from __future__ import annotations

from collections.abc import Sequence

from ....mechanisms.allocation import allocation
from ....mechanisms.continuous import ContinuousNoise, continuous
from ....mechanisms.dominating import dominated
from ....mechanisms.fixed_size import FixedSize
from ....mechanisms.mechanism import Mechanism, either_way
from ....mechanisms.sampled import RandomRate
from ....mechanisms.vector import vector
from ...scenario import Use
from .batches import batch_law, plain_law
from .composed import Parts
from .mixture import LineLaw, MixtureLoss


def has_no_outcomes(mechanism: Mechanism) -> bool:
    """Is it of continuous laws, or known by other mechanisms, and has no pairs of laws itself?"""
    inner = either_way(mechanism)
    plain = inner.mechanism if isinstance(inner, RandomRate) else inner
    kinds = (continuous, allocation, batch_law, vector, dominated)
    return any(kind(plain) is not None for kind in kinds)


def continuous_noise(mechanism: Mechanism) -> ContinuousNoise | None:
    """The continuous noise that this is: where a scheme samples it, as at its rate on the whole.

    None for what is discrete.
    """
    inner = either_way(mechanism)
    if isinstance(inner, RandomRate | FixedSize) and (plain := continuous(inner.mechanism)):
        return continuous(plain.at_rate(inner.rate, getattr(inner, "removing", True)))
    return continuous(mechanism)


def single_law(mechanism: Mechanism) -> LineLaw:
    """The loss of a single use of continuous noise, batches of a fixed size included."""
    batches = batch_law(mechanism)
    law = line_law(mechanism) if batches is None else plain_law(batches)
    assert law is not None
    return law


def line_law(mechanism: Mechanism) -> LineLaw | None:
    """The loss of one use; None for a discrete mechanism."""
    inner = either_way(mechanism)
    if isinstance(inner, RandomRate):
        each = [(weight, continuous(part)) for weight, part in inner.parts]
        laws = [
            (weight, plain_law(noise, noise.removing))
            for weight, noise in each
            if noise is not None
        ]
        return MixtureLoss(tuple(laws)) if len(laws) == len(each) else None
    noise = continuous(mechanism)
    return None if noise is None else plain_law(noise, noise.removing)


def parts_of(uses: Sequence[Use]) -> tuple[Parts, tuple[Use, ...]]:
    """The losses of the continuous uses, and the discrete uses."""
    laws = [(line_law(use.mechanism), use) for use in uses]
    discrete = tuple(use for law, use in laws if law is None)
    return [(law, use.times) for law, use in laws if law is not None], discrete
