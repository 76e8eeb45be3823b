"""theta(t) = sum over integers x of e^(-(x-t)^2/(2 sigma2)), and its derivative, in balls.

Entire in t, even, of period 1, and by Poisson summation

    theta(t) = sqrt(2 pi sigma2) sum_j e^(-2 pi^2 sigma2 j^2 + 2 pi i j t),

so theta(t) <= theta(0) for real t. The sum is Jacobi's theta_3(t, 2 pi i sigma2), which FLINT
encloses for any parameter, by the modular group.

*Sums*: how nearly the sum of n independent discrete Gaussians N_Z(0, sigma2) is N_Z(0, n sigma2).

It is not quite N_Z(0, n sigma2). Split v in Z^n with sum x into (x/n)(1, ..., 1) + u, u orthogonal
to (1, ..., 1). Then |v|^2 = x^2/n + |u|^2, and u runs through a coset of the lattice
A = {v in Z^n : sum v = 0} that depends on x mod n only:

    p(x) = const e^(-x^2/(2 n sigma2)) w(x),    w(x) = sum_u e^(-|u|^2/(2 sigma2)),

w even and of period n. By Poisson summation over A, with the dual lattice A* = the projection of
Z^n orthogonal to (1, ..., 1),

    w(x) = const sum_{y in A*} e^(-2 pi^2 sigma2 |y|^2) e^(2 pi i <y, u_x>),

so that |w(x)/c - 1| <= T for one constant c, where T is the sum of e^(-2 pi^2 sigma2 |y|^2) over
y in A* other than 0. Hence log(max w/min w) and |log p(x)/p'(x)|, p' the law N_Z(0, n sigma2), are
at most log((1 + T)/(1 - T)) (for the second, sum p = sum p' = 1 fixes the constant up to 1 +- T).
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
    if sigma2 < Fraction(1, 6):  # the first sum converges faster
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


def gaussian_gap(count: int, sigma2: Fraction) -> arb:
    """Bound |log p(x)/p'(x)| for all x; perhaps infinite."""
    rest = _dual_rest(count, 2 * arb.pi() ** 2 * ball(sigma2))
    return (2 * rest / (1 - rest)).log1p().upper() if rest < 1 else arb.pos_inf()


def _dual_rest(count: int, a: arb) -> arb:
    """Bound T = sum of e^(-a |y|^2) over y in A* other than 0.

    A class of Z^n mod (1, ..., 1) has a v with |k| <= n/2, k = sum v, and |y|^2 = |v|^2 - k^2/n.
    Let G(b) = sum_m e^(-a m^2 + b m). The v of k = 0 but 0 itself sum to at most G(0)^n - 1; those
    of k in [first, last], where k^2/n <= k last/n, to at most
    e^(-u first) (G(a last/n + u)^n - 1) for any u >= 0; those of -k to the same.
    """
    if count == 1:
        return arb(0)

    def power(b: arb) -> arb:  # G(b)^n - 1, the terms beyond m = 1 by a geometric sum; 0 <= b <= a
        near = (b - a).exp() + (-b - a).exp()
        excess = near + 2 * (2 * b - 4 * a).exp() / (1 - (b - 5 * a).exp())
        return (count * excess.log1p()).expm1()

    total = power(arb(0))
    first = 1
    while first <= count // 2:
        last = min(2 * first - 1, count // 2)
        step = a * last / count
        u = arb(max(0.0, float(a - step + (arb(first) / count).log())))  # no float holds 1e-400
        total += 2 * power(step).min((-u * first).exp() * power(step + u))
        first = last + 1
    return total.upper()
