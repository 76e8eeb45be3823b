"""Rényi divergences in closed form, up to little: for laws too wide to list.

*Sums of n discrete Gaussians.* p(x) = const e^(-x^2/2v) w(x), v = n sigma2, |w - 1| <= T: see
`dual_rest`. Against p0 = N_Z(0, v), whose divergence of order a is a d^2/2v + log(theta(a d)/
theta(0))/(a-1), log p/p0 is within g = log((1+T)/(1-T)) of 0, so that log sum P^a Q^(1-a) moves by
at most (2a - 1) g. theta(t) = sum_x e^(-(x-t)^2/2v) is largest at t = 0, and by Poisson summation
between 1 - 2q/(1-q) and 1 + 2q/(1-q) times sqrt(2 pi v), q = e^(-2 pi^2 v).

*Skellam, from below.* Hölder: for any c, with u = a - 1,
    log E_P e^(-u c X) <= (u/a) log sum P^a Q^(1-a) + (u/a) log E_Q e^(-a c X),
and log E_P e^(tX) = v (cosh t - 1). With c = d/v
    D_a >= (a/u) v (cosh(u c) - 1) + a c d - v (cosh(a c) - 1).
From above its Gaussian serves (`unit`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mpmath import iv

from .arithmetic import (
    Enclosure,
    Interval,
    OpenError,
    certainly,
    exp,
    interval,
    log,
    upper,
    value,
)

WIDE = 200_000  # variances above which the closed bounds are tried first


def skellam_renyi_at_least(variance: Fraction, shift: int, order: Fraction) -> Fraction:
    """The divergence of Sk(0, variance) from its shift, on the integers, from below."""
    u, c = order - 1, interval(shift / variance)
    v, a = interval(variance), interval(order)
    least = a / interval(u) * v * _cosh_less_1(interval(u) * c)
    least += a * c * shift - v * _cosh_less_1(a * c)
    return max(Fraction(value(least)[0]), Fraction(0))


def covered_by_chords(
    k: Callable[[Fraction], Fraction],
    rho: Fraction,
    settled: Callable[[Fraction], bool],
    most: int,
) -> bool:
    """Is K(a) <= rho a (a - 1) for every order a > 1? k bounds K(a) = (a - 1) D_a from above.

    K is convex with K(1) = 0: between two orders it lies below the chord of its bounds there, and
    rho a (a - 1) less a chord is a parabola with its minimum at a known place.
    """
    order, here, step = Fraction(1), Fraction(0), Fraction(1, 1024)
    for _ in range(most):
        if order > 1 and settled(order):
            return True
        if step < order / most**2:
            return False
        there = k(order + step)
        if there > rho * (order + step) * (order + step - 1):
            step /= 4
            continue
        slope = (there - here) / step
        lowest = min(max((1 + slope / rho) / 2, order), order + step)
        if rho * lowest * (lowest - 1) >= here + slope * (lowest - order):
            order, here, step = order + step, there, 2 * step
        else:
            step /= 2
    return False


def _cosh_less_1(t: Interval) -> Interval:
    """cosh t - 1 = 2 sinh^2(t/2), which does not cancel much."""
    half = t / 2
    sinh = (exp(half) - exp(-half)) / 2
    return 2 * sinh**2


def gaussian_sum_renyi(count: int, sigma2: Fraction, shift: int, order: Fraction) -> Enclosure:
    """The divergence of a sum of discrete Gaussians from its shift, on the integers."""
    rest, v = dual_rest(count, sigma2), count * sigma2
    middle = interval(order * shift * shift / (2 * v))
    gap, u = _log_ratio(rest), interval(order - 1)
    spread = interval(2 * order - 1) * gap
    q = upper(exp(-2 * iv.pi**2 * interval(v)))
    low = value(middle - (_log_ratio(2 * q / (1 - q)) + spread) / u)[0]
    return max(Fraction(low), Fraction(0)), value(middle + spread / u)[1]


def _log_ratio(rest: Interval) -> Interval:
    """log((1 + T)/(1 - T))."""
    if not certainly(rest < 1):
        raise OpenError("the shares are too narrow for a closed bound")
    return upper(log((1 + rest) / (1 - rest)))


def dual_rest(count: int, sigma2: Fraction) -> Interval:
    """Bound T = sum of e^(-a |y|^2), a = 2 pi^2 sigma2, over y != 0 in the dual of {sum v = 0}.

    That is the projection of Z^n orthogonal to (1, ..., 1). By Poisson summation the theta function
    of a coset of {v in Z^n: sum v = 0} is a constant times 1 + a sum of terms of modulus at most
    e^(-a |y|^2): w(x) up to a constant. A class of Z^n mod (1, ..., 1) has a v with |k| <= n/2,
    k = sum v, and |y|^2 = |v|^2 - k^2/n >= |v|^2 - |k|/2 >= |v|^2/2, as |k| <= |v|^2. So
    T <= G^n - 1, G = sum_m e^(-a m^2/2) <= 1 + 2 q/(1-q), q = e^(-a/2); and G^n <= e^(n (G-1)).
    """
    if count == 1:
        return iv.mpf(0)
    q = upper(exp(-(iv.pi**2) * interval(sigma2)))
    return upper(exp(upper(count * 2 * q / (1 - q))) - 1)
