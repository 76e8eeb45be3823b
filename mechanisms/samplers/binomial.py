"""Binomial variables: the number of successes in independent trials.

Few fair coins are counted among as many bits. Otherwise: p(x) is proportional to
C(n, x)/C(n, m) (q/(1-q))^(x-m), which is log-concave (p(x)/p(x-1) = (n-x+1)/x q/(1-q) falls), with
the mode at m = floor((n+1) q).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ...exact.number import Real, ball
from ...exact.precision import working_precision
from .bits import RandomBits
from .envelope import Envelope, envelope
from .reals import near_floor

__all__ = ["binomial_envelope", "binomial_real"]

_MOST_COINS = 4096


def binomial_real(trials: int, probability: Real, bits: RandomBits) -> int:
    """The successes of trials >= 1 with this probability in (0, 1): a rational, or a formula."""
    if probability == Fraction(1, 2) and trials <= _MOST_COINS:
        return bits.take(trials).bit_count()
    return binomial_envelope(trials, probability).draw(bits)


@lru_cache(maxsize=64)
def binomial_envelope(n: int, q: Real) -> Envelope:
    """The histogram that `binomial_real` draws from."""
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
