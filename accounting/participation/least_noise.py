"""Between which two amounts of noise a target is just met: a search with certified ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from ...exact.enclosure import Enclosure
from ...mechanisms.laws.law import UndecidedError

_MOST_SECANTS = 40
_FARTHEST = 10**6


def least_noise(
    cost: Callable[[Fraction], Enclosure],
    target: Enclosure,
    guess: float,
    width: Fraction,
    slope: float = -0.5,
) -> Enclosure:
    """An amount whose cost certainly exceeds the target, and a slightly larger one that meets it.

    cost: a positive number (epsilon, say) that tends to fall as the amount grows, enclosed at least
    ten times more narrowly than `width`. target: as known. guess: where to look first, and slope:
    of log cost in log amount there, about. width: relative, at least 1e-12. Where the cost falls
    strictly, the least amount that meets the target is inside.
    Wider than asked where what lies between is too close to call, which `Enclosure.is_within`
    tells. Raises UndecidedError where no two such amounts are found.
    """

    def met(amount: Fraction) -> bool | None:
        found = cost(amount)
        if found.at_most(target.lower):
            return True
        return False if found.greater_than(target.upper) else None

    middle = _located(cost, float(target.upper), guess, slope, float(width))
    high, step = _rounded(middle * (1 + width / 3)), width
    while met(high) is not True:
        high, step = _rounded(high * (1 + step)), 4 * step
        if high > _FARTHEST * middle:
            raise UndecidedError(f"nothing up to {float(high):.6g} certainly meets the target")
    low, step = _rounded(middle * (1 - width / 3)), width
    while met(low) is not False:
        low, step = _rounded(low / (1 + step)), 4 * step
        if low * _FARTHEST < middle:
            raise UndecidedError(f"nothing down to {float(low):.6g} certainly misses the target")
    while high - low > width * high:
        between = _rounded((low + high) / 2)
        answer = met(between)
        if answer is None:
            break
        low, high = (low, between) if answer else (between, high)
    return Enclosure(low, high)


def _located(
    cost: Callable[[Fraction], Enclosure],
    target: float,
    guess: float,
    slope: float,
    width: float,
) -> Fraction:
    """Where the cost is about the target, by secants in logarithms."""
    here = math.log(guess)
    last: tuple[float, float] | None = None
    for _ in range(_MOST_SECANTS):
        found = cost(_rounded(Fraction(math.exp(here))))
        value = float(found.upper if found.is_finite() else found.lower)
        gap = math.log(value / target) if 0 < value < math.inf else math.copysign(1, value - target)
        if last is not None and here != last[0]:
            slope = min((gap - last[1]) / (here - last[0]), -0.1)
        step = max(-2.0, min(2.0, -gap / slope))
        here, last, settled = here + step, (here, gap), last is not None
        if abs(step) < (math.sqrt(width) / 10 if settled else width / 10):
            break  # after a secant the error is of the order of the square of the step
    return Fraction(math.exp(here))


def _rounded(amount: Fraction) -> Fraction:
    return Fraction(f"{float(amount):.15g}")
