"""Sums over one discrete Laplace variable of what others do above or below it, in closed form.

With b = e^(-1/scale), P(X >= k) = b^k/(1 + b) for k >= 0 and 1 - b^(1-k)/(1 + b) for k <= 1. Where
t is at least as large as every q, P(q + X < t) and P(q + X >= t) are linear in y = b^t, and so is a
product of such a polynomial in y, whose mean is a sum of geometric series. Where t is as small as
all of them, likewise in b^-t. What lies between is added up one by one; so is all of it where the
variables are many.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from flint import arb, arb_poly, ctx

from ...exact.budget import spend
from ...exact.number import ball
from ...exact.precision import working_precision

_MANY = 300  # variables, with whose number the closed form takes ever longer
_TERM = 15  # units, about, a term and value

Times = Mapping[int, int]  # so many variables with this value added


def mean_above(scale: Fraction, other: Fraction, below: Times, above: Times) -> arb:
    """P(all of some below Y, all others not), Y and the X's discrete Laplace, independent.

    scale: of Y; other: of every X. below, above: how many X are to have q + X < Y, and q + X >= Y.
    """
    count = sum(below.values()) + sum(above.values())
    if count > _MANY:
        return _summed(scale, other, below, above)
    with working_precision(ctx.prec + 3 * count + 32):  # the powers of 1 - y nearly cancel
        total = _mean(scale, other, below, above)
    return +total


def _mean(scale: Fraction, other: Fraction, below: Times, above: Times) -> arb:
    first, second = (-1 / ball(scale)).exp(), (-1 / ball(other)).exp()
    low, high = min((0, *below, *above)) - 1, max((0, *below, *above))
    half = 1 / (1 + second)
    # from `high` on, in y = second^(t - high), and up to `low`, in second^(low - t)
    right = left = arb_poly([1])
    for q, times in below.items():
        right *= arb_poly([1, -half * second ** (high - q)]) ** times
        left *= arb_poly([0, half * second ** (q + 1 - low)]) ** times
    for q, times in above.items():
        right *= arb_poly([0, half * second ** (high - q)]) ** times
        left *= arb_poly([1, -half * second ** (q + 1 - low)]) ** times
    total = _series(right, first, second) * first**high
    total += _series(left, first, second) * first ** (-low)
    spend(_TERM * (high - low) * (len(below) + len(above)))
    for t in range(low + 1, high):
        total += _term(t, first, second, below, above)
    return total * (1 - first) / (1 + first)


def _summed(scale: Fraction, other: Fraction, below: Times, above: Times) -> arb:
    """The same one by one, both ways from 0.

    A discrete Laplace law is log-concave, so its tails are, and a product of such; what a term is
    to the one before therefore falls on the way out, and what is left is less than the geometric
    series of the first that is left out.
    """
    first, second = (-1 / ball(scale)).exp(), (-1 / ball(other)).exp()
    total = start = _term(0, first, second, below, above)
    for way in (1, -1):
        last, t = start, way
        while True:
            spend()
            now = _term(t, first, second, below, above)
            total += now
            ratio = now / last
            if ratio < 1:
                rest = now * ratio / (1 - ratio)
                if rest < total * arb(2) ** -ctx.prec:
                    total += arb(0).union(rest)
                    break
            last, t = now, t + way
    return total * (1 - first) / (1 + first)


def _term(t: int, first: arb, second: arb, below: Times, above: Times) -> arb:
    """P(all of some below t, all others not) first^|t|."""
    seen = first ** abs(t)
    for q, times in below.items():
        seen *= _tail(second, q + 1 - t) ** times  # P(q + X < t), of a symmetric X
    for q, times in above.items():
        seen *= _tail(second, t - q) ** times
    return seen


def _series(polynomial: arb_poly, first: arb, second: arb) -> arb:
    """The sum over t >= 0 of first^t polynomial(second^t)."""
    terms = enumerate(polynomial.coeffs())
    return sum((c / (1 - first * second**k) for k, c in terms), arb(0))


def _tail(decay: arb, k: int) -> arb:
    """P(X >= k)."""
    return decay**k / (1 + decay) if k >= 0 else 1 - decay ** (1 - k) / (1 + decay)
