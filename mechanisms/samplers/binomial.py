"""Binomial variables: the number of successes in independent trials.

Few fair coins are counted among as many bits. Otherwise: p(x) is proportional to
C(n, x)/C(n, m) (q/(1-q))^(x-m), which is log-concave (p(x)/p(x-1) = (n-x+1)/x q/(1-q) falls), with
the mode at m = floor((n+1) q).
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from flint import arb, ctx

from ...exact.number import ExactInput, Formula, ParameterError, Real, ball, exact, whole
from ...exact.precision import START, working_precision
from .bits import RandomBits
from .envelope import Envelope, envelope
from .reals import near_floor

__all__ = ["binomial", "binomial_envelope", "binomial_real"]

_MOST_COINS = 4096


def binomial(trials: ExactInput, probability: ExactInput | Formula, bits: RandomBits) -> int:
    """The successes of trials >= 0 with this probability: a rational, or a formula in (0, 1).

    Raises ParameterError outside these ranges.
    """
    n = whole(trials, "trials", at_least=0)
    if isinstance(probability, (int, float, str, Fraction, Decimal)):
        rational = exact(probability, "probability", at_least=0, at_most=1)
        if n == 0 or rational in (0, 1):
            return n * int(rational)
        return binomial_real(n, rational, bits)
    with working_precision(START):
        value = probability.ball()
    if not (value > 0 and value < 1):
        raise ParameterError(f"probability must be strictly between 0 and 1, got {value}")
    return 0 if n == 0 else binomial_real(n, probability, bits)


def binomial_real(trials: int, probability: Real, bits: RandomBits) -> int:
    """`binomial` without checks: trials >= 1, 0 < probability < 1."""
    if probability == Fraction(1, 2) and trials <= _MOST_COINS:
        return bits.take(trials).bit_count()
    return binomial_envelope(trials, probability).draw(bits)


@lru_cache(maxsize=64)
def binomial_envelope(n: int, q: Real) -> Envelope:
    """The histogram that `binomial` draws from."""
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
