"""The normal distribution function, up to a proved error: one value, or many on a short range.

Phi(z) - 1/2 = phi(z) (z + z^3/3 + z^5/15 + ...), all terms of one sign: once z^2/(2n + 3) <= 1/2
what is left is at most the last term. For z > 0 beyond `_FAR`, phi(z) (1/z - 1/z^3) < 1 - Phi(z)
< phi(z)/z.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from mpmath import iv

from .arithmetic import (
    Interval,
    OpenError,
    ceiling,
    certainly,
    exp,
    floor,
    hull,
    interval,
    lower,
    middle,
    precision,
    upper,
    value,
)
from .deadline import check_time

_FAR = 40
_NEWTON = 4


def cdf(z: Interval) -> Interval:
    """Phi(z), with a small relative error, also far out."""
    return hull(_at(lower(z)), _at(upper(z)))  # it rises


def _at(z: Interval) -> Interval:
    """Phi at a point."""
    return _tail(-z) if certainly(z <= 0) else 1 - _tail(z)


def _density(z: Interval) -> Interval:
    return exp(-(z**2) / 2) / iv.sqrt(2 * iv.pi)


def _tail(z: Interval) -> Interval:
    """1 - Phi(z) at a point z >= 0."""
    if certainly(z > _FAR):
        return _density(z) / z * hull(1 - 1 / z**2, iv.mpf(1))
    far = float(min(value(z)[1], _FAR + 1))
    more = math.ceil(0.73 * far**2) + 16  # bits of 1/(1 - Phi)
    with precision(iv.prec + more):
        term, found, n = z, z, 0
        goal = iv.ldexp(iv.mpf(1), -iv.prec)
        while not (certainly(z**2 <= n + 1) and certainly(upper(term) <= goal)):
            check_time()
            n += 1
            term = term * z**2 / (2 * n + 1)
            found += term
        found = iv.mpf(1) / 2 - _density(z) * hull(found, found + upper(term))
    return +found


def quantile(tail: Interval) -> tuple[Fraction, Fraction]:
    """-Phi^-1(tail), 0 < tail < 1/2: guessed by Newton's method, then met from both sides."""
    about = float(middle(tail))
    if not 1e-280 < about < 0.5:
        raise OpenError("a tail is too close to 0 or to 1/2")
    near, far = 0.0, 40.0
    for _ in range(60):
        guess = (near + far) / 2
        near, far = (guess, far) if math.erfc(guess / math.sqrt(2)) / 2 > about else (near, guess)
    found = Fraction(near)
    for _ in range(_NEWTON):
        at = interval(found)
        found += middle((cdf(-at) - tail) / _density(at))
        found = Fraction(round(found * 2 ** (iv.prec + 8)), 2 ** (iv.prec + 8))
    gap = max(abs(found), Fraction(1, 2**20)) / 2 ** (iv.prec // 2)
    low, high = found - gap, found + gap
    if certainly(cdf(-interval(low)) >= tail) and certainly(cdf(-interval(high)) <= tail):
        return low, high
    raise OpenError("a quantile of the normal distribution is not known well enough")


class Table:
    """Phi in integers of so many bits, by Taylor's series about the multiples of 1/4.

    f(s) = phi(c + s) has f' = -(c + s) f, so (n+1) a(n+1) = -c a(n) - a(n-1) for its coefficients.
    On the circle |s| = 8, |f| <= e^(8^2/2), since the real part of (c + s)^2 is at least -8^2: so
    |a(n)| <= e^32/8^n < 2^(47 - 3n). For |s| <= 1/8 the terms of Phi after n are below
    2^(47 - 6 (n + 1)) together. Horner's scheme cuts off less than one unit at every step, of a
    coefficient that is off by two at most: with |s| <= 1/8, less than 4 units altogether.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._terms = (bits + 47) // 6 + 1
        self._series = lru_cache(maxsize=None)(self._about)

    def _about(self, quarter: int) -> list[int]:
        with precision(self.bits + 40):
            c = iv.mpf(quarter) / 4
            before, here = iv.mpf(0), _density(c)
            found = [cdf(c)]
            for n in range(self._terms):
                found.append(here / (n + 1))
                before, here = here, -(c * here + before) / (n + 1)
            if any(ceiling(each, self.bits) - floor(each, self.bits) > 2 for each in found):
                raise OpenError("the normal distribution function is not known well enough")
            return [floor(each, self.bits) for each in reversed(found)]

    def at(self, z: Interval) -> tuple[int, int]:
        """Bounds of 2^bits Phi(z) for every z in the interval: the density is below 1/2."""
        check_time()
        low, high = floor(z, self.bits), ceiling(z, self.bits)
        quarter = (low + (1 << self.bits - 3)) >> self.bits - 2
        s, found = low - (quarter << self.bits - 2), 0
        for coefficient in self._series(quarter):
            found = (found * s >> self.bits) + coefficient
        return found - 5, found + 5 + (high - low)
