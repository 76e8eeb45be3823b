"""Poisson variables of a rational rate, and their differences: Skellam noise.

p(x) is proportional to r(x) = rate^(x-m) m!/x!, m = floor(rate), which is log-concave with its mode
at m: p(x)/p(x-1) = rate/x falls, and is at least 1 up to x = rate.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ...exact.number import ExactInput, ball, exact
from ...exact.precision import working_precision
from .bits import RandomBits
from .envelope import Envelope, envelope

__all__ = ["poisson", "poisson_envelope", "skellam"]


def poisson(rate: ExactInput, bits: RandomBits) -> int:
    """A Poisson variable of this rational rate > 0. Raises ParameterError for any other."""
    return poisson_envelope(exact(rate, "rate", above=0)).draw(bits)


def skellam(variance: ExactInput, bits: RandomBits) -> int:
    """Sk(0, variance): the difference of two Poisson variables of rate variance/2 > 0, rational."""
    rate = exact(variance, "variance", above=0) / 2
    return poisson_envelope(rate).difference(bits)


@lru_cache(maxsize=64)
def poisson_envelope(rate: Fraction) -> Envelope:
    """The histogram that `poisson` draws from."""
    mode = math.floor(rate)

    def ratio(x: int) -> arb:
        if x < 0:
            return arb(0)
        with working_precision(ctx.prec + 2 * max(x, mode).bit_length() + 16):
            logs = arb(mode + 1).lgamma() - arb(x + 1).lgamma() + (x - mode) * ball(rate).log()
        return logs.exp()

    return envelope(ratio, mode, math.isqrt(mode) + 1, (0, None))
