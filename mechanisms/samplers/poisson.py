"""Poisson variables of a rational rate, and their differences: Skellam noise.

p(x) is proportional to r(x) = rate^(x-m) m!/x!, m = floor(rate), which is log-concave with its mode
at m: p(x)/p(x-1) = rate/x falls, and is at least 1 up to x = rate.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ...exact.number import ball
from ...exact.precision import working_precision
from .envelope import Envelope, envelope

__all__ = ["poisson_envelope"]


@lru_cache(maxsize=64)
def poisson_envelope(rate: Fraction) -> Envelope:
    """The histogram that a Poisson variable of this rational rate > 0 is drawn from."""
    mode = math.floor(rate)

    def ratio(x: int) -> arb:
        if x < 0:
            return arb(0)
        with working_precision(ctx.prec + 2 * max(x, mode).bit_length() + 16):
            logs = arb(mode + 1).lgamma() - arb(x + 1).lgamma() + (x - mode) * ball(rate).log()
        return logs.exp()

    return envelope(ratio, mode, math.isqrt(mode) + 1, (0, None))
