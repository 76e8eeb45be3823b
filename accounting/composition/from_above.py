"""What a Gaussian, or divergences of a few orders, tell of epsilon and delta: from above, quickly.

*Gaussian.* Noise that a Gaussian dominates (`envelope.unit`) still does when its users are sampled,
and in every list: post-processing passes through mixtures and products. Also where it is reduced
mod m.

*Rényi.* Divergences of one order add up over uses. For every a > 1, D the divergence of order a
(Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
Proposition 12),

    epsilon <= D + log(1/(a delta))/(a-1) + log(1 - 1/a),
    delta <= e^((a-1)(D - epsilon)) (a-1)^(a-1) / a^a.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from flint import arb

from ...exact.budget import OutOfTimeError
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ball
from ...exact.precision import CAP, refine
from ...mechanisms.continuous import ContinuousNoise, Shape, continuous
from ...mechanisms.mechanism import AdditiveNoise, Mechanism
from ...mechanisms.sampled import likewise, unsampled
from ..envelope import NoEnvelopeError, distance_at, unit_parameter
from ..figure import Figure
from ..losses.continuous import profile
from ..losses.continuous.uses import parts_of
from ..scenario import Scenario, Use
from . import divergence

ORDERS = (*map(Fraction, (8, 2, 32, 16, 4, 64, 12, 6, 24, 3, 256)), Fraction(3, 2))  # best first
_ROUGHLY = Fraction(1, 10**6)
_ZERO = Fraction(0)


def by_envelope(uses: Scenario, figure: Figure) -> Enclosure:
    """Bounds of epsilon at a delta above 0, or of delta at an epsilon; anything if it has none."""
    assert figure.at is not None
    try:
        parts, _ = parts_of(enveloped(uses))
    except NoEnvelopeError:
        return figure.trivial
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


def by_orders(uses: Scenario, figure: Figure) -> Enclosure:
    """Bounds of epsilon at a delta above 0, or of delta at an epsilon, by the orders in time."""
    assert figure.at is not None
    bound = epsilon_of if figure.quantity == "epsilon" else delta_of
    found = figure.trivial
    try:
        for order, total in _totals(uses):
            if total.is_finite():
                most = bound(order, total.upper, figure.at)
                found = found.intersection(Enclosure(_ZERO, most, by=("Rényi divergences",)))
    except (ArithmeticError, OutOfTimeError):  # those that are known tell what they tell
        pass
    return found


def _totals(uses: Scenario) -> Iterator[tuple[Fraction, Enclosure]]:
    """The divergence of all uses at each order."""
    for order in ORDERS:
        each = [
            divergence.renyi_curve(mechanism, [order], _ROUGHLY, CAP)[0].times(times)
            for mechanism, times in uses
        ]
        yield order, Enclosure.total(each)


def epsilon_of(order: Fraction, renyi: Endpoint, delta: Fraction) -> Endpoint:
    """At most this epsilon at this delta, by a finite divergence of this order."""

    def bound() -> arb:
        a = ball(order)
        return ball(Fraction(renyi)) - (a * ball(delta)).log() / (a - 1) + (1 - 1 / a).log()

    return max(refine(bound, width=_ROUGHLY).upper, _ZERO)


def delta_of(order: Fraction, renyi: Endpoint, epsilon: Fraction) -> Endpoint:
    """At most this delta at this epsilon."""

    def bound() -> arb:
        a = ball(order)
        gap = ball(Fraction(renyi) - epsilon)
        return ((a - 1) * (gap + (a - 1).log()) - a * a.log()).exp()

    return min(refine(bound, width=_ROUGHLY).upper, Fraction(1))
