"""What bounds uses of vectors from above besides the lists that they lie between.

*What adds up over coordinates* (pure epsilon, Rényi divergence at each order, rho, which is at most
the sum of suprema) is c(|v_1|) + c(|v_2|) + ..., c(k) the cost of one number that moves by k. Where
c(k) <= a k^2 + b k for all k within reach, a, b >= 0, it is at most a |v|_2^2 + b |v|_1: the best
such a and b are a vertex of these constraints.

*Rounded at random*: at most the mixture that it is. *Binomial noise*: that of a law which is all
but the same (`rounding`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial

from ...exact.budget import in_any_case, in_time
from ...exact.enclosure import Enclosure
from ...mechanisms.additive.coordinate_rounding import Stochastic
from ...mechanisms.additive.reach import RoundedReach
from ...mechanisms.additive.vector import VectorNoise, vector
from ...mechanisms.bracket import RenyiCurve
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.gaussian_envelope import NoEnvelopeError
from ...mechanisms.mechanism import Mechanism
from ..figure import RHO, Figure
from ..scenario import Use
from .rounding import is_trimmable, rounded, trimmed_cost

MOST_MOVES = 16  # of one coordinate, each of which is measured
_FEW_RESIDUES = 64
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")
_ANYTHING = Enclosure.unknown()


def in_one_curve(curve: RenyiCurve, figure: Figure) -> Enclosure:
    """At most what this curve bounds, of a figure that adds up.

    Beyond the order of a guarantee some mechanisms that have it attain what has no bound.
    """
    end: Fraction | Decimal = _INFINITY
    if figure.quantity == "renyi":
        assert figure.at is not None
        end = curve.at(figure.at)
    elif figure == RHO:
        end = curve.rho
    return Enclosure(end if end == _INFINITY and curve.order is not None else _ZERO, end)


def coordinates(
    mechanism: Mechanism, figure: Figure, measure: Callable[[Sequence[Use]], Enclosure]
) -> Enclosure | None:
    """What all coordinates of one use add up to, at most; None where that is not known."""
    one = vector(mechanism)
    if one is None:
        return None
    if one.rate == 1 and isinstance(one.law, DiscreteGaussian):  # a/(2 sigma2) a unit of |v|_2^2
        curve = RenyiCurve(one.reach.largest_square / (2 * one.law.sigma2))
        if (found := in_one_curve(curve, figure)).is_finite():
            return found
    if one.rate != 1 or one.reach.farthest > MOST_MOVES:
        return None
    moves = range(1, one.reach.farthest + 1)
    costs = [measure([Use(*part) for part in one.along({move: 1})]).upper for move in moves]
    if _INFINITY in costs:
        return _ANYTHING
    square, total = one.reach.largest_square, one.reach.largest_sum
    slope, level = least_tilt([Fraction(cost) for cost in costs], square, total)
    return Enclosure(_ZERO, slope * square + level * total)


def is_reduced(listed: Sequence[Use]) -> bool:
    """Are all of them vectors, if any, mod a number so small that all residues are seen often?"""
    found = (vector(use.mechanism) for use in listed)
    return all(one is None or (one.modulus or _INFINITY) <= _FEW_RESIDUES for one in found)


def mixed(listed: Sequence[Use], figure: Figure) -> Enclosure:
    """At most epsilon, delta or a Rényi divergence of vectors that are rounded at random, as the
    mixture that they are, or epsilon and delta of binomial noise; of others, and out of time,
    nothing is known.
    """
    if (found := rounded_at_random(listed)) is not None:
        one, reach, times = found
        cost = partial(rounded, figure, one.law, reach.norm, reach.dimension, times, one.rate)
        with suppress(NoEnvelopeError):
            return in_any_case(cost, _ANYTHING)
    vectors = [(vector(use.mechanism), use.times) for use in listed]
    binomial = [(one, count) for one, count in vectors if one is not None and is_trimmable(one)]
    if figure.quantity == "renyi" or len(binomial) < len(vectors):
        return _ANYTHING
    return in_time(partial(trimmed_cost, binomial, figure), _ANYTHING)


def rounded_at_random(uses: Sequence[Use]) -> tuple[VectorNoise, RoundedReach, int] | None:
    """The vector, its reach and how often it is used, where all uses are of one such; else None."""
    mechanism, times = uses[0]
    one = vector(mechanism)
    if len(uses) > 1 or one is None or not isinstance(one.reach, RoundedReach):
        return None
    return (one, one.reach, times) if isinstance(one.reach.rounding, Stochastic) else None


def least_tilt(costs: Sequence[Fraction], square: int, total: int) -> tuple[Fraction, Fraction]:
    """Those a, b >= 0 with a k^2 + b k >= cost of k for which a square + b total is least.

    Divided by k: a k + b >= cost/k =: r(k). For a given a the least b is the largest r(k) - a k,
    so that the whole is convex and linear between slopes of the upper hull of the r(k).
    """
    rates = [(move, cost / move) for move, cost in enumerate(costs, start=1)]
    slopes = {_ZERO, max(rate / move for move, rate in rates)}
    slopes |= {(s - r) / (j - i) for i, r in rates for j, s in rates if j > i and s > r}
    tilts = [
        (slope, max(_ZERO, *(rate - slope * move for move, rate in rates))) for slope in slopes
    ]
    return min(tilts, key=lambda tilt: tilt[0] * square + tilt[1] * total)
