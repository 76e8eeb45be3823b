"""theta(t) = sum over integers x of e^(-(x-t)^2/(2 sigma2)), and its derivative, in balls.

Entire in t, even, of period 1, and by Poisson summation

    theta(t) = sqrt(2 pi sigma2) sum_j e^(-2 pi^2 sigma2 j^2 + 2 pi i j t),

so theta(t) <= theta(0) for real t. The first sum has few terms for small sigma2, the second for
large; at sigma2 = 1/(2 pi) their terms fall alike. Both are cut off where a geometric sum bounds
the rest below the working precision.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import acb, arb, ctx

from ...exact.number import ball
from ...exact.precision import working_precision

_SMALL = 1e-8
_UNKNOWN = acb(arb.nan(), arb.nan())


def theta(sigma2: Fraction, t: acb) -> tuple[acb, acb]:
    """Enclose theta(t) and theta'(t); non-finite for balls too wide to be worth the sum."""
    if not t.is_finite():
        return _UNKNOWN, _UNKNOWN
    return _direct(ball(sigma2), t) if _few_terms(sigma2) else _dual(ball(sigma2), t)


@lru_cache(maxsize=256)
def theta_at_zero(sigma2: Fraction, bits: int) -> arb:
    """theta(0), enclosed with this many bits: what the discrete Gaussian is divided by."""
    with working_precision(bits):
        return theta(sigma2, acb(0))[0].real


def theta_variance(sigma2: Fraction) -> arb:
    """sum_x x^2 e^(-x^2/(2 sigma2)) / theta(0)."""
    # With S_k = sum_j j^k q^(j^2): S_2/S_0 of the first sum; from the second, by
    # E e^(zX) = e^(sigma2 z^2/2) theta(sigma2 z)/theta(0), sigma2 + sigma2^2 theta''(0)/theta(0).
    s2 = ball(sigma2)
    if _few_terms(sigma2):
        total, squares = _square_sums(1 / (2 * s2))
        return squares / total
    total, squares = _square_sums(2 * arb.pi() ** 2 * s2)
    return s2 * (1 - 4 * arb.pi() ** 2 * s2 * squares / total)


def tilt(mean: float, sigma2: float) -> tuple[float, float]:
    """In floats: the s for which N_Z(0, sigma2) tilted by e^(sx) has this mean; its deviation."""
    if sigma2 > 3:  # the periodic correction is below 1e-24
        return mean / sigma2, math.sqrt(sigma2)
    low, high = mean - 1, mean + 1  # of sigma2 s
    ks = np.arange(round(mean) - 25, round(mean) + 26, dtype=np.float64)
    for _ in range(60):
        middle = (low + high) / 2
        logs = (ks - middle) ** 2 / (-2 * sigma2)
        weights = np.exp(logs - logs.max())
        found = float(weights @ ks / weights.sum())
        low, high = (middle, high) if found < mean else (low, middle)
    variance = float(weights @ (ks - found) ** 2 / weights.sum())
    if abs(mean) < _SMALL:  # where the mean is s times the variance, which halving does not resolve
        return mean / variance, math.sqrt(variance)
    return middle / sigma2, math.sqrt(max(variance, 1e-6))


def _few_terms(sigma2: Fraction) -> bool:
    """Does the first sum converge faster? Decides the cost only."""
    return sigma2 < Fraction(1, 6)


def _most_terms() -> int:
    """More than a narrow t with |Im t| <= 10 sigma2 needs: terms fall at least like e^(-3 j^2)."""
    return 16 + math.isqrt(ctx.prec)


def _dual(s2: arb, t: acb) -> tuple[acb, acb]:
    # |term +-j| <= e^(-a j^2 + b j), in the derivative times 2 pi j
    a, b = 2 * arb.pi() ** 2 * s2, 2 * arb.pi() * t.imag.abs_upper()
    turn = acb(0, 2) * arb.pi() * t
    total, slope = acb(1), acb(0)
    tolerance = arb(2) ** -ctx.prec
    for j in range(1, _most_terms()):
        # the ratio of neighbouring bounds falls, so the rest from j on is below a geometric sum
        first, ratio = (b * j - a * j * j).exp(), (b - a * (2 * j + 1)).exp()
        if ratio < 0.25:
            rest = 2 * first / (1 - ratio)
            if rest < tolerance:
                unit = (2 * arb.pi() * s2).sqrt()
                # sum over i >= j of 2 pi i (bound i): ratios (i+1)/i times the above, below 1/2
                steep = 4 * arb.pi() * j * 2 * first
                return unit * (total + _disc(rest)), unit * (slope + _disc(steep))
        left, right = (-a * j * j + j * turn).exp(), (-a * j * j - j * turn).exp()
        total += left + right
        slope += acb(0, 2) * arb.pi() * j * (left - right)
    return _UNKNOWN, _UNKNOWN


def _direct(s2: arb, t: acb) -> tuple[acb, acb]:
    """From the integer nearest to Re t outward."""
    nearest = (t.real.mid() + arb(1) / 2).mid().floor().unique_fmpz()
    if nearest is None:
        return _UNKNOWN, _UNKNOWN
    offset = t - nearest
    away, high = offset.real.abs_upper(), offset.imag.abs_upper()
    total = (-(offset * offset) / (2 * s2)).exp()
    slope = -offset / s2 * total
    # relative to e^(-away^2/(2 s2)), the least that the largest term can be on the real axis
    tolerance = (-(away * away) / (2 * s2)).exp() * arb(2) ** -ctx.prec
    for j in range(1, _most_terms()):
        # for j > away: |term +-j| <= e^((high^2 - (j - away)^2)/(2 s2)), whose ratios fall; in
        # the derivative times |x - t|/s2 <= (j + away + high)/s2
        if j > away:
            first = ((high * high - (j - away) ** 2) / (2 * s2)).exp()
            ratio = (-(2 * (j - away) + 1) / (2 * s2)).exp()
            if ratio < 0.25:
                rest = 2 * first / (1 - ratio)
                if rest < tolerance:
                    # ratios at most 2 times the above, below 1/2
                    steep = 4 * (j + away + high) / s2 * first
                    return total + _disc(rest), slope + _disc(steep)
        for x in (j, -j):
            term = (-((offset - x) ** 2) / (2 * s2)).exp()
            total += term
            slope += (x - offset) / s2 * term
    return _UNKNOWN, _UNKNOWN


def _disc(radius: arb) -> acb:
    """A ball around 0 that contains all numbers of at most this absolute value."""
    return acb(arb(0, radius.upper()), arb(0, radius.upper()))


def _square_sums(rate: arb) -> tuple[arb, arb]:
    """sum_j q^(j^2) and sum_j j^2 q^(j^2) over all integers j, q = e^(-rate), rate > 1."""
    total, squares = arb(1), arb(0)
    j = 1
    while True:
        term = (-rate * j * j).exp()
        # terms j^2 q^(j^2) fall by ((j+1)/j)^2 q^(2j+1) <= 4 q^3 <= 4 e^-3 < 1/4
        rest = 2 * j * j * term / (1 - arb(1) / 4)
        if j > 1 and rest < arb(2) ** -ctx.prec * squares:
            error = arb(0, rest.upper())
            return total + error, squares + error
        total, squares = total + 2 * term, squares + 2 * j * j * term
        j += 1
