"""Where a falling function, known by a lower and an upper bound, reaches a target."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb, ctx

from ....exact.enclosure import Enclosure
from ....exact.precision import enclose_between
from ....exact.roots import met_near

Bounds = Callable[[arb], tuple[arb, arb]]
_MOST_STEPS = 60


def root(bounds: Bounds, target: arb, start: arb, slope: float) -> Enclosure:
    """Enclose the least level >= 0 with value <= target > 0.

    start, slope: about where it is, and minus the slope of the logarithm there. Whatever they are,
    a level counts as an upper end only where the upper bound is at most the target, and as a lower
    end only where the lower bound is at least that.
    """
    if bounds(arb(0))[1] <= target:
        return Enclosure.exactly(0)
    level, fall, before = start.max(arb(0)).mid(), arb(slope), None
    gap = arb(1)
    for _ in range(10):
        low, high = bounds(level)
        middle = ((low + high) / 2).mid()
        if not middle > 0:
            break
        height = (middle / target).log().mid()
        gap = ((high - low) / middle).mid()
        if before is not None and level != before[0]:
            secant = ((before[1] - height) / (level - before[0])).mid()
            if secant > 0:
                fall = secant
        before = (level, height)
        level = (level + height / fall).max(arb(0)).mid()
        if abs(height) < gap / 4 + arb(2) ** -(ctx.prec - 24):
            break
    step = (gap / fall + abs(level) * arb(2) ** -(ctx.prec - 16)).mid()
    upper = met_near(lambda at: bool(bounds(at)[1] <= target), level, step, most=_MOST_STEPS)
    lower = met_near(lambda at: bool(bounds(at)[0] >= target), level, -step, most=_MOST_STEPS)
    return between(lower if lower is not None else arb(0), upper)


def between(lower: arb, upper: arb | None) -> Enclosure:
    """From a lower to an upper bound of a number that is not negative; None: infinite."""
    return enclose_between(lower, arb.pos_inf() if upper is None else upper)
