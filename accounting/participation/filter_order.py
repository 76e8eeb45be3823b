"""The order at which a Rényi filter counts: what it costs, and which one to choose.

Any order gives a guarantee; a good one is looked for in floats.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

from flint import arb

from ...exact import ball, refine
from ...exact.number import log_about
from ...exact.roots import float_root
from ...mechanisms.mechanism import Mechanism
from ..composition.composed import compose

_COARSE = Fraction(1, 10**4)
_FARTHEST = 6.0  # in the logarithm of order - 1, from the order that suits Gaussian noise
_HOPELESS = 1000.0


def surcharge(order: Fraction, delta: Fraction) -> arb:
    """What an (order, r)-RDP bound has to be raised by to be the epsilon of (epsilon, delta)-DP.

    Lemma 10: log(1/(a delta))/(a-1) + log(1-1/a). Source: Canonne, Kamath, Steinke, "The discrete
    Gaussian for differential privacy", NeurIPS 2020, Proposition 12.
    """
    a = ball(order)
    return -(a * ball(delta)).log() / (a - 1) + (1 - 1 / a).log()


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
