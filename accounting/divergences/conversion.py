"""From one notion of privacy to another: Rényi DP and zCDP to (epsilon, delta).

A conversion is a bound that holds for every mechanism with that curve (or rho): what is enclosed
here is the number that the theorem gives, its infimum over every real order included. For what one
mechanism costs exactly see `Composition`.

*Rényi to (epsilon, delta)*: Canonne, Kamath, Steinke, "The discrete Gaussian for differential
privacy", NeurIPS 2020, Proposition 12: for every a > 1 with D(a) < infinity

    epsilon = D(a) + log(1/(a delta))/(a-1) + log(1 - 1/a),   or, solved for delta,
    delta = e^((a-1)(D(a) - epsilon)) (a-1)^(a-1) / a^a.

With h(x) = x log x - (1+x) log(1+x), and x = 1/(a-1) in the first line, x = a - 1 in the second,

    epsilon = D(1 + 1/x) + x log(1/delta) + h(x),      log delta = K(x) - epsilon x + h(x).

K(x) = x D(1 + x) = log E_P e^(xL) is convex (Hölder), and so is its perspective x K(1/x) =
D(1 + 1/x). Either way it is the infimum over x > 0 of f(x) + tilt x + h(x), f convex.

*Above*: the value at any point; where to look is chosen in floats. *Below*: all of it, F, is convex
(h' = -log(1 + 1/x) rises), so that between two of several equidistant points it is at least what
it is at one of them, less what it falls by from the point on the other side of that one to it. To
the left of all points it is at least what it is at the first one, if it does not rise from there to
the second, and infinite where it is at the first one, if it is finite at some other; to the right
likewise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import NamedTuple, TypeAlias

from flint import arb

from ...exact import Enclosure, ExactInput, ParameterError, ball, exact
from ...exact.precision import WIDTH, enclose, working_precision

Curve: TypeAlias = Callable[[Sequence[Fraction]], Sequence[Enclosure]]

_ZERO, _INFINITY = Enclosure.exactly(0), Decimal("Infinity")
_LEAST_LOG = -(10**15)
_FARTHEST = 80.0  # logarithms of x, either way
_NEAREST = 2.0**-17  # distance in them at which a valley is looked at
_CLOSE = (Fraction(1, 1 << 16), Fraction(1, 1 << 24), Fraction(1, 1 << 32))  # of points, relative


class Conversion(NamedTuple):
    """What the theorem gives, and the order at which its upper end is taken.

    order: None where that is the limit of large orders (the pure epsilon) or no order is needed.
    """

    value: Enclosure
    order: Fraction | None


def renyi_to_epsilon(
    curve: Curve, delta: ExactInput, pure: Enclosure | None = None, width: Fraction = WIDTH
) -> Conversion:
    """The least epsilon >= 0 that the Rényi curve gives at this delta, over all real orders.

    curve: enclosures of D at exact orders > 1, such as `Composition.renyi_curve`; a few digits
    narrower than `width`, or else the result is wider than asked. For a bound of D that is no Rényi
    divergence itself (so that (a-1) D(a) need not be convex) only the upper end is certain.
    pure: the limit of large orders, if known; delta = 0 asks for it. width: relative; down to
    about 1e-24. Where D is infinite at every order that was tried, only a lower end is known.

    delta: at least 0 and at most 1. Raises ParameterError for anything else. Returns a Conversion:
    `.value`, the enclosure, and `.order`, at which it is nearly attained.

    Source: Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS
    2020, Proposition 12.

    >>> import exactdp
    >>> curve = exactdp.mechanism("gaussian:sigma=5").renyi_curve
    >>> f"{renyi_to_epsilon(curve, '1e-6').value:.4f}"
    '0.9000'
    """
    level = exact(delta, "delta", at_least=0, at_most=1)
    if level == 1:
        return Conversion(_ZERO, None)
    if level == 0:
        if pure is None:
            raise ParameterError("delta must be above 0 where the pure epsilon is not given")
        return Conversion(pure, None)
    with working_precision(_bits(width)):
        *both, x = _infimum(lambda x: curve([1 + 1 / x])[0], -ball(level).log(), toward=1.0)
        ends = [enclose(end.max(arb(0))) for end in both]
    order = 1 + 1 / x if x else None
    value = Enclosure(ends[0].lower, ends[1].upper)
    if pure is not None:  # itself the value in the limit, and not rounded
        order = None if pure.upper <= value.upper else order
        value = value.intersection(Enclosure(Fraction(0), pure.upper))
    return Conversion(value, order)


def renyi_to_delta(
    curve: Curve, epsilon: ExactInput, pure: Enclosure | None = None, width: Fraction = WIDTH
) -> Conversion:
    """The least delta that the Rényi curve gives at this epsilon >= 0, over all real orders.

    Arguments as for `renyi_to_epsilon`; `width` is relative to delta.

    curve, epsilon, pure: the curve, epsilon, and the limit of large orders. Raises ParameterError
    for numbers out of range. Returns a Conversion.

    >>> import exactdp
    >>> curve = exactdp.mechanism("gaussian:sigma=5").renyi_curve
    >>> renyi_to_delta(curve, "0.9").value < "1e-5"
    True
    """
    level = exact(epsilon, "epsilon", at_least=0)
    if pure is not None and pure.at_most(level):
        return Conversion(_ZERO, None)

    with working_precision(_bits(width)):
        low, high, x = _infimum(lambda x: curve([1 + x])[0].times(x), -ball(level), toward=-1.0)
        tiny = low < _LEAST_LOG  # too small to be written out
        lower = _ZERO if tiny else enclose(low.min(arb(0)).exp())
        upper = enclose(high.min(arb(0)).max(arb(_LEAST_LOG)).exp())
    order = 1 + x if x and high < 0 else None
    return Conversion(Enclosure(lower.lower, min(upper.upper, Fraction(1))), order)


def zcdp_to_epsilon(
    rho: ExactInput | Enclosure, delta: ExactInput, width: Fraction = WIDTH
) -> Conversion:
    """The least epsilon that rho-zCDP gives at this delta: D(a) = rho a for all real orders.

    Infinite at delta = 0, unless rho = 0.

    Raises ParameterError for numbers out of range. Returns a Conversion, as `renyi_to_epsilon`.

    >>> f"{zcdp_to_epsilon('0.02', '1e-6').value:.4f}"
    '0.9000'
    """
    curve, limit = _of_rho(rho)
    return renyi_to_epsilon(curve, delta, limit, width)


def zcdp_to_delta(
    rho: ExactInput | Enclosure, epsilon: ExactInput, width: Fraction = WIDTH
) -> Conversion:
    """The least delta that rho-zCDP gives at this epsilon >= 0.

    Raises ParameterError for numbers out of range. Returns a Conversion, as `renyi_to_epsilon`.
    (rho: above 0, or an enclosure.)

    >>> zcdp_to_delta("0.02", 1).value < "1e-6"
    True
    """
    curve, limit = _of_rho(rho)
    return renyi_to_delta(curve, epsilon, limit, width)


def _infimum(
    f: Callable[[Fraction], Enclosure], tilt: arb, toward: float
) -> tuple[arb, arb, Fraction | None]:
    """Bounds of that of f(x) + tilt x + h(x) over x > 0, and where its upper one is the value.

    f: convex, enclosed at an exact point. toward: on which side it is finite; where it is finite
    nowhere that was tried, only a lower end is known, and no x.
    """
    upper, best = arb.pos_inf(), Fraction(0)

    def height(x: Fraction) -> tuple[arb, arb]:
        """From below and from above."""
        nonlocal upper, best
        value, rest = f(x), tilt * ball(x) - ball(x).log1p() - ball(x) * ball(1 / x).log1p()
        low, high = (ball(value.lower) + rest).lower(), (ball(value.upper) + rest).upper()
        if high < upper:
            upper, best = high, x
        return low, high

    here, step = 0.0, 1.0  # ever nearer to where it turns; a poor choice makes the result wide
    while step > _NEAREST and abs(here) < _FARTHEST:
        logs = (here + side * step for side in (-1, 0, 1))
        left, middle, right = (height(Fraction(math.exp(log_x)))[1] for log_x in logs)
        move = toward
        if middle.is_finite():
            bend = left + right - 2 * middle  # a parabola's lowest point, where it is near
            move = math.copysign(1.0, 1.0 if left > right else -1.0)
            if bend > 0:
                nearest = (left - right) / (2 * bend)
                move = float(nearest.mid()) if nearest.is_finite() else 0.0
        is_far = abs(move) >= 1
        here += step * max(min(move, 1.0), -1.0)
        step = 2 * step if is_far else step / 8
    height(Fraction(math.exp(here)))
    if not best:
        return arb.neg_inf(), upper, None
    lower, centre = arb.neg_inf(), best
    for close in _CLOSE:
        around = [height(centre * (1 + side * close)) for side in (-2, -1, 0, 1, 2)]
        lower = lower.max(_least(around))
    return lower.min(upper), upper, best


def _least(ends: Sequence[tuple[arb, arb]]) -> arb:
    """At most a convex function with these bounds at five equidistant points, some finite."""

    def near(at: int, other: int) -> arb:  # from here to the next one, away from the other one
        (low, _), (_, high) = ends[at], ends[other]
        return low - (high - low).max(arb(0)) if high.is_finite() else arb.neg_inf()

    def outside(at: int, inner: int) -> arb:
        low, high = ends[at][0], ends[inner][1]
        return low if low >= high or not low.is_finite() else arb.neg_inf()

    inside = [near(k, k - 1).max(near(k + 1, k + 2)) for k in (1, 2)]
    return reduce(arb.min, [*inside, outside(0, 1), near(1, 2), near(3, 2), outside(4, 3)])


def _of_rho(rho: ExactInput | Enclosure) -> tuple[Curve, Enclosure]:
    """D(a) = rho a, and its limit, the pure epsilon."""
    cost = rho if isinstance(rho, Enclosure) else Enclosure.exactly(exact(rho, "rho", at_least=0))
    if cost.at_least(0) is False:
        raise ParameterError(f"rho must be at least 0, got {rho}")
    cost = cost.maximum(_ZERO)
    limit = Enclosure.infinite() if cost.lower > 0 else Enclosure(Fraction(0), _INFINITY)
    return lambda orders: [cost.times(a) for a in orders], limit if cost.upper else _ZERO


def _bits(width: Fraction) -> int:
    """Room for the width and for orders up to 2^120."""
    return 256 + 2 * (1 / width).__ceil__().bit_length()
