"""What the Gaussian envelope tells of epsilon and delta of composed noise: from above, quickly.

Noise that a Gaussian dominates (`envelope.unit`) still does when its users are sampled, and in
every list: post-processing passes through mixtures and products. Also where it is reduced mod m.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...exact.enclosure import Enclosure
from ...mechanisms.continuous import ContinuousNoise, Shape, continuous
from ...mechanisms.mechanism import AdditiveNoise, Mechanism
from ...mechanisms.sampled import likewise, unsampled
from ..envelope import NoEnvelopeError, distance_at, unit_parameter
from ..figure import Figure, anything
from ..losses.continuous import profile
from ..losses.continuous.uses import parts_of
from ..scenario import Scenario, Use

_ROUGHLY = Fraction(1, 10**6)


def by_envelope(uses: Scenario, figure: Figure) -> Enclosure:
    """Bounds of epsilon at a delta above 0, or of delta at an epsilon; anything if it has none."""
    assert figure.at is not None
    try:
        parts, _ = parts_of(enveloped(uses))
    except NoEnvelopeError:
        return anything(figure)
    measured = profile.epsilon if figure.quantity == "epsilon" else profile.delta
    found = measured(parts, figure.at, _ROUGHLY)
    return Enclosure(Fraction(0), found.upper).found_by("Gaussian envelope")


def enveloped(uses: Sequence[Use]) -> list[Use]:
    """The Gaussians that dominate them, the same way round. Raises NoEnvelopeError."""
    return [Use(_gaussian(mechanism), times) for mechanism, times in uses]


def _gaussian(mechanism: Mechanism) -> Mechanism:
    """The Gaussian that dominates it, the same way round. Raises NoEnvelopeError."""
    noise = continuous(mechanism)
    if noise is not None and noise.shape is Shape.GAUSSIAN:
        return noise
    inner = unsampled(mechanism)
    if isinstance(inner, ContinuousNoise) and inner.shape is Shape.GAUSSIAN:
        return mechanism
    mu = distance_of(inner)
    return likewise(mechanism, ContinuousNoise(Shape.GAUSSIAN, Fraction(1), mu))


def distance_of(noise: Mechanism) -> Fraction:
    """At least the mu with which noise on a number, nobody sampled, is mu-GDP, by its envelope.

    Raises NoEnvelopeError.
    """
    if not isinstance(noise, AdditiveNoise) or noise.farthest == 0:
        raise NoEnvelopeError("only noise on a number has the Gaussian envelope")
    return distance_at(unit_parameter(noise.law).upper, noise.farthest**2)
