"""The binomial, Poisson and Pólya laws by their envelopes: p(x) up to a factor, and where it peaks.

Differences of Poisson variables are Skellam noise.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ...exact.number import Real, ball
from ...exact.precision import working_precision
from .bits import RandomBits
from .envelope import Envelope, envelope
from .reals import near_floor

_MOST_COINS = 4096


def binomial_real(trials: int, probability: Real, bits: RandomBits) -> int:
    """The successes of trials >= 1 with this probability in (0, 1): a rational, or a formula.

    Few fair coins are counted among as many bits.
    """
    if probability == Fraction(1, 2) and trials <= _MOST_COINS:
        return bits.take(trials).bit_count()
    return binomial_envelope(trials, probability).draw(bits)


@lru_cache(maxsize=64)
def binomial_envelope(n: int, q: Real) -> Envelope:
    """The histogram that `binomial_real` draws from.

    p(x) is proportional to C(n, x)/C(n, m) (q/(1-q))^(x-m), which is log-concave
    (p(x)/p(x-1) = (n-x+1)/x q/(1-q) falls), with the mode at m = floor((n+1) q).
    """
    mode = near_floor(lambda: (n + 1) * ball(q))
    spread = near_floor(lambda: (n * ball(q) * (1 - ball(q))).sqrt()) + 1

    def ratio(x: int) -> arb:
        if not 0 <= x <= n:
            return arb(0)
        with working_precision(ctx.prec + 2 * n.bit_length() + 16):
            odds = ball(q) / (1 - ball(q))
            logs = arb(mode + 1).lgamma() - arb(x + 1).lgamma() + (x - mode) * odds.log()
            logs += arb(n - mode + 1).lgamma() - arb(n - x + 1).lgamma()
        return logs.exp()

    return envelope(ratio, mode, spread, (0, n))


@lru_cache(maxsize=64)
def poisson_envelope(rate: Fraction) -> Envelope:
    """The histogram that a Poisson variable of this rational rate > 0 is drawn from.

    p(x) is proportional to rate^(x-m) m!/x!, m = floor(rate), which is log-concave with its mode at
    m: p(x)/p(x-1) = rate/x falls, and is at least 1 up to x = rate.
    """
    mode = math.floor(rate)

    def ratio(x: int) -> arb:
        if x < 0:
            return arb(0)
        with working_precision(ctx.prec + 2 * max(x, mode).bit_length() + 16):
            logs = arb(mode + 1).lgamma() - arb(x + 1).lgamma() + (x - mode) * ball(rate).log()
        return logs.exp()

    return envelope(ratio, mode, math.isqrt(mode) + 1, (0, None))


@lru_cache(maxsize=64)
def polya_envelope(shape: Fraction, scale: Real) -> Envelope:
    """The histogram of P(X = x) = Gamma(x+r)/(x! Gamma(r)) b^x (1-b)^r, r the shape.

    b = e^(-1/scale), so p(x)/p(x-1) = b (x-1+r)/x.
    *r >= 1*: this ratio does not rise in x: log-concave, with the mode at floor(b (r-1)/(1-b)).
    *r < 1*: it rises to b, and is below 1: the mode is at 0, and r(x + 1) <= r(x) e^(-1/scale).
    For tiny r nearly all mass is at 0, and the rest nearly that of the logarithmic series b^x/x:
    the steps grow with x, so that a few hundred of them cover any scale.
    """

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
