"""What Rényi divergences of a few orders tell of epsilon and delta: from above, in little time.

Divergences of one order add up over uses. For every a > 1, D the divergence of order a (Canonne,
Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, Proposition 12),

    epsilon <= D + log(1/(a delta))/(a-1) + log(1 - 1/a),
    delta <= e^((a-1)(D - epsilon)) (a-1)^(a-1) / a^a.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from flint import arb

from ...exact.budget import OutOfTimeError
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ball
from ...exact.precision import CAP, refine
from ..figure import Figure, anything
from ..scenario import Scenario
from . import divergence

ORDERS = (*map(Fraction, (8, 2, 32, 16, 4, 64, 12, 6, 24, 3, 256)), Fraction(3, 2))  # best first
_ROUGHLY = Fraction(1, 10**6)
_ZERO = Fraction(0)


def by_orders(uses: Scenario, figure: Figure) -> Enclosure:
    """Bounds of epsilon at a delta above 0, or of delta at an epsilon, by the orders in time."""
    assert figure.at is not None
    bound = epsilon_of if figure.quantity == "epsilon" else delta_of
    found = anything(figure)
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
