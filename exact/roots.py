"""Where a monotone function crosses: in floats, and where the answer must be certain.

`float_root` chooses and decides nothing; what the others return has been met for certain.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from flint import arb, ctx

from .enclosure import UndecidedError

_MOST_STEPS = 200
_FARTHEST = 1 << 80

_Number = TypeVar("_Number", float, Fraction)


def float_root(
    function: Callable[[float], float], low: float, high: float, near: float = 1e-12
) -> float:
    """About where a monotone function is 0, low <= x <= high; else the end that is nearer to it.

    near: how far off it may be, relatively, down to 1e-15. Nothing certain may rest on it. Infinite
    values are fine. Not scipy's, which takes half a second to import.

    Method: Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a
    nonlinear function without using derivatives", Advances in Engineering Software 28 (1997).
    """
    a, b = (low, function(low)), (high, function(high))  # a is the newest point
    if (a[1] > 0) == (b[1] > 0):
        return low if abs(a[1]) <= abs(b[1]) else high
    share = 0.5
    for _ in range(_MOST_STEPS):
        best = min(a, b, key=lambda point: abs(point[1]))
        allowed = near * max(abs(best[0]), 1e-3 * min(1.0, high - low))
        least = allowed / abs(b[0] - a[0])
        if best[1] == 0 or least >= 1:
            return best[0]
        x = a[0] + min(max(share, least / 2), 1 - least / 2) * (b[0] - a[0])
        new = (x, function(x))
        c, b = (a, b) if (new[1] > 0) == (a[1] > 0) else (b, a)
        a = new
        share = _quadratic(a, b, c)
    return best[0]


def _quadratic(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Where from a to b the root seems to lie; the middle if that is not to be trusted."""
    (x, at_x), (y, at_y), (z, at_z) = a, b, c
    if not all(map(math.isfinite, (at_x, at_y, at_z))) or at_z in (at_x, at_y):
        return 0.5
    xi, phi = (x - y) / (z - y), (at_x - at_y) / (at_z - at_y)
    if not phi**2 < xi or not (1 - phi) ** 2 < 1 - xi:
        return 0.5
    inner = at_x / (at_y - at_x) * at_z / (at_y - at_z)
    return inner + (z - x) / (y - x) * at_x / (at_z - at_x) * at_y / (at_z - at_y)


def first_met(met: Callable[[int], bool | None], low: int, high: int) -> int:
    """By bisection, an x in (low, high] with met(x) certain and met(x - 1) not; met(high) is.

    It is the first such x where a condition that is met once is met from there on.
    """
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if met(middle) is True else (middle, high)
    return high


def halved(
    met: Callable[[_Number], bool], outside: _Number, inside: _Number, times: int
) -> tuple[_Number, _Number]:
    """(not met, met) of two numbers of which that is said, after so many halvings."""
    for _ in range(times):
        middle = (outside + inside) / 2
        outside, inside = (outside, middle) if met(middle) else (middle, inside)
    return outside, inside


def first_met_near(
    met: Callable[[int], bool | None], start: int, low: int | None = None, high: int | None = None
) -> int:
    """`first_met` in (low, high], None for no end, by growing steps outward from the start.

    Raises UndecidedError where none is met, or all are, within 2^80 of the start.
    """
    here, step = start, 1
    if here == high or (here != low and met(here) is True):
        while low is None or here - step > low:
            if met(here - step) is not True:
                low = here - step
                break
            here, step = _stepped(here, -step)
        return first_met(met, low, here)
    while high is None or here + step < high:
        if met(here + step) is True:
            high = here + step
            break
        here, step = _stepped(here, step)
    return first_met(met, here, high)


def _stepped(here: int, step: int) -> tuple[int, int]:
    if abs(step) > _FARTHEST:
        raise UndecidedError(f"no crossing within {_FARTHEST} of the start")
    return here + step, 2 * abs(step)


def met_between(met: Callable[[arb], bool], outside: arb, inside: arb) -> tuple[arb, arb]:
    """`first_met` of balls: two points as near as the precision has, met at the second of them."""
    for _ in range(2 * ctx.prec):
        middle = ((outside + inside) / 2).mid()
        if middle in (outside, inside):
            break
        outside, inside = (outside, middle) if met(middle) else (middle, inside)
    return outside, inside


def met_near(
    met: Callable[[arb], bool], start: arb, step: arb, growth: int = 2, most: int = 40
) -> arb | None:
    """The first x >= 0 at which it is met, from the start on by growing steps; None: none near."""
    x = start.mid()
    for _ in range(most):
        if met(x):
            return x
        if x <= 0 and step < 0:
            break
        x, step = (start + step).max(arb(0)).mid(), step * growth
    return None
