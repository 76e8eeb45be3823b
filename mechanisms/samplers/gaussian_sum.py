"""Sums of discrete Gaussians: added one by one where they are few, as one draw where they are many.

The sum is symmetric and log-concave (see the law), so its mode is at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from flint import arb, ctx

from ...exact.number import ball
from ...exact.precision import START, working_precision
from ..laws.discrete_gaussian_sum import DiscreteGaussianSum
from .envelope import Envelope, envelope

__all__ = ["gaussian_sum_envelope"]

_DEVIATIONS = 8  # of the masses that are computed together
_LONGEST = 20_000


@lru_cache(maxsize=16)
def gaussian_sum_envelope(law: DiscreteGaussianSum) -> Envelope:
    """The histogram that a sum of many is drawn from."""
    spread = math.isqrt(math.ceil(law.count * law.sigma2)) + 1
    with working_precision(START):
        gap = law.gaussian_gap()
    return envelope(_ratio(law, gap, _DEVIATIONS * spread), 0, spread, (None, None))


def _ratio(law: DiscreteGaussianSum, gap: arb, reach: int) -> Callable[[int], arb]:
    """p(x)/p(0). gap bounds |log p(x)/p'(x)|, p' the law N_Z(0, count sigma2)."""

    def ratio(x: int) -> arb:
        if gap < arb(2) ** -(ctx.prec + 8):
            exponent = -(x * x) / (2 * law.count * ball(law.sigma2))
            return (exponent + arb(0, 2 * gap)).exp()
        if abs(x) <= reach <= _LONGEST:
            masses = _masses(law, reach, ctx.prec)
            return masses[abs(x)] / masses[0]
        return law.ball(x) / law.ball(0)

    return ratio


@lru_cache(maxsize=4)
def _masses(law: DiscreteGaussianSum, reach: int, bits: int) -> list[arb]:
    """p(0), ..., p(reach)."""
    with working_precision(bits):
        return law.balls(0, reach)
