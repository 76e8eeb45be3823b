"""Pólya variables (negative binomial of real shape), and their differences.

p(x) is proportional to Gamma(x+r)/x! b^x, b = e^(-1/scale), so p(x)/p(x-1) = b (x-1+r)/x.
*r >= 1*: this ratio does not rise in x: log-concave, with the mode at floor(b (r-1)/(1-b)).
*r < 1*: it rises to b, and is below 1: the mode is at 0, and r(x + 1) <= r(x) e^(-1/scale).
For tiny r nearly all mass is at 0, and the rest nearly that of the logarithmic series b^x/x: the
steps grow with x, so that a few hundred of them cover any scale.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ...exact.number import Real, ball
from ...exact.precision import working_precision
from .envelope import Envelope, envelope
from .reals import near_floor

__all__ = ["polya_envelope"]


@lru_cache(maxsize=64)
def polya_envelope(shape: Fraction, scale: Real) -> Envelope:
    """The histogram of P(X = x) = Gamma(x+r)/(x! Gamma(r)) b^x (1-b)^r, r the shape."""

    def odds() -> arb:
        return 1 / (1 / ball(scale)).expm1()  # b/(1 - b)

    mode = near_floor(lambda: ball(shape - 1) * odds()) if shape > 1 else 0
    size = mode.bit_length() + shape.numerator.bit_length() + shape.denominator.bit_length()

    def ratio(x: int) -> arb:
        if x < 0:
            return arb(0)
        with working_precision(ctx.prec + 2 * x.bit_length() + 2 * size + 16):
            r = ball(shape)
            logs = (r + x).lgamma() - (r + mode).lgamma() + (mode - x) / ball(scale)
            logs += arb(mode + 1).lgamma() - arb(x + 1).lgamma()
        return logs.exp()

    if shape >= 1:
        spread = near_floor(lambda: (ball(shape) * odds() * (1 + odds())).sqrt()) + 1
        return envelope(ratio, mode, spread, (0, None))
    spread = near_floor(lambda: ball(scale)) + 1
    small = shape.denominator.bit_length() + spread.bit_length()
    return envelope(ratio, 0, spread, (0, None), tail_scale=lambda: ball(scale), extra=small)
