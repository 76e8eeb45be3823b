"""What filters and odometers have in common: uses with what each costs, and a good order to count.

Costs add up in one currency or in several. Rényi divergences count at an order that is chosen
beforehand: any gives a guarantee, and a good one is looked for in floats.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from attrs import field, frozen

from ...exact import WIDTH, Enclosure, ExactInput, ball, refine, spend, whole
from ...exact.number import log_about
from ...exact.roots import float_root
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import compose
from ..composition.known import surcharge as surcharge
from ..divergences.gaussian_dp import squared
from ..figure import MU, Figure
from ..scenario import Use, neighbours

MOST_USES = 10**9
_COARSE = Fraction(1, 10**4)
_FARTHEST = 6.0  # in the logarithm of order - 1, from the order that suits Gaussian noise
_HOPELESS = 1000.0


class Charge(NamedTuple):
    """So many uses of a mechanism, and what each of them costs in every currency."""

    mechanism: Mechanism
    times: int
    each: tuple[Enclosure, ...]


Charges: TypeAlias = tuple[Charge, ...]


@frozen
class Spending(ABC):
    """What was spent so far, where costs add up. An immutable value.

    Uses whose neighbours differ from those spent before are refused: ParameterError.
    """

    charges: Charges = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def figures(self) -> tuple[Figure, ...]:
        """The numbers that add up, one for each currency; of mu its square."""

    def costs(self, mechanism: Mechanism, width: Fraction = WIDTH) -> tuple[Enclosure, ...]:
        """What one use costs, in every currency."""
        costs = ((figure, compose(mechanism).figure(figure, width)) for figure in self.figures)
        return tuple(squared(cost) if figure == MU else cost for figure, cost in costs)

    def charged(self, mechanism: Mechanism, times: int) -> Charges:
        """The charges with so many uses more; a mechanism used before keeps its cost.

        Raises OutOfTimeError where a cost, which is charged for good, may have been cut short.
        """
        neighbours([*(Use(*charge[:2]) for charge in self.charges), Use(mechanism, 1)])
        if all(charge.mechanism != mechanism for charge in self.charges):
            costs = self.costs(mechanism)
            spend()
            return (*self.charges, Charge(mechanism, times, costs))
        return tuple(
            charge._replace(times=charge.times + times) if charge.mechanism == mechanism else charge
            for charge in self.charges
        )


def total(charges: Charges, currency: int = 0) -> Enclosure:
    """What these charges come to."""
    return Enclosure.total(charge.each[currency].times(charge.times) for charge in charges)


def read_times(times: ExactInput) -> int:
    """How often a mechanism is to be used: 1 to 10^9."""
    return whole(times, "times", at_least=1, at_most=MOST_USES)


def best_order(epsilon: Fraction, delta: Fraction) -> Fraction:
    """About the order a at which (epsilon - surcharge)/a, the rho that it proves, is largest.

    At the infimum over a of a rho + surcharge(a), its derivative rho - log(1/(a delta))/(a-1)^2
    is 0. With this rho the infimum is (2a-1) log(1/(a delta))/(a-1)^2 + log(1-1/a), which is to
    be epsilon: a root between 1, where it is infinite, and 1/delta, where it is negative.
    """
    log_delta = log_about(delta)
    goal = float(epsilon)

    def excess(log_x: float) -> float:
        x = math.exp(log_x)
        return (1 + 2 * x) * (-log_delta - math.log1p(x)) / x**2 - math.log1p(1 / x) - goal

    return _order_at(float_root(excess, -40.0, min(-log_delta, 100.0)))


def best_order_for(mechanism: Mechanism, epsilon: Fraction, delta: Fraction) -> Fraction:
    """About the order at which most uses of the mechanism fit.

    In x = 1/(a-1), epsilon - surcharge is concave and the divergence convex (`conversion`): their
    ratio rises and then falls.
    """
    from scipy.optimize import minimize_scalar

    def loss(log_x: float) -> float:
        order = _order_at(log_x)
        room = float(refine(lambda: ball(epsilon) - surcharge(order, delta)).lower)
        cost = compose(mechanism).renyi(order, _COARSE).upper
        if room <= 0 or cost == Decimal("Infinity"):
            return _HOPELESS
        return math.log(float(cost) / room) if cost > 0 else -_HOPELESS

    start = math.log(best_order(epsilon, delta) - 1)
    ends = (start - _FARTHEST, start + _FARTHEST)
    found = minimize_scalar(loss, bounds=ends, method="bounded", options={"xatol": 0.01})
    return _order_at(float(found.x))


def _order_at(log_x: float) -> Fraction:
    return 1 + Fraction(f"{math.exp(log_x):.9g}")
