"""theta(t) = sum over integers x of e^(-(x-t)^2/(2 sigma2)), and its derivative, in balls.

Entire in t, even, of period 1, and by Poisson summation

    theta(t) = sqrt(2 pi sigma2) sum_j e^(-2 pi^2 sigma2 j^2 + 2 pi i j t),

so theta(t) <= theta(0) for real t. The sum is Jacobi's theta_3(t, 2 pi i sigma2), which FLINT
encloses for any parameter, by the modular group.
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


def theta(sigma2: Fraction, t: acb, derivative: int = 0) -> acb:
    """Enclose theta(t), or theta'(t) for derivative 1."""
    if not t.is_finite():
        return acb(arb.nan(), arb.nan())
    s2, near = ball(sigma2), t - t.real.mid().floor()
    found = near.modular_theta(acb(0, 2 * arb.pi() * s2), derivative)[2]
    if found.rel_accuracy_bits() < ctx.prec // 2:
        # t may be wide: |term +-j| <= e^(b j - a j^2) <= e^(b - a) w^(j-1), w = e^(b - 3a), and in
        # the derivative 2 pi j times as much
        a, b = 2 * arb.pi() ** 2 * s2, 2 * arb.pi() * t.imag.abs_upper()
        if (w := (b - 3 * a).exp()) < 1:
            rest = 2 * (b - a).exp() / (1 - w) * (2 * arb.pi() / (1 - w)) ** derivative
            if rest < found.rad():
                found = acb(arb(1 - derivative, rest.upper()), arb(0, rest.upper()))
    return (2 * arb.pi() * s2).sqrt() * found


@lru_cache(maxsize=256)
def theta_at_zero(sigma2: Fraction, bits: int) -> arb:
    """theta(0), enclosed with this many bits: what the discrete Gaussian is divided by."""
    with working_precision(bits):
        return theta(sigma2, acb(0)).real


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
