"""Discrete Gaussian noise N_Z(0, sigma2): p(x) = e^(-x^2/(2 sigma2)) / theta(0).

Everything comes from one function, theta(t) = sum_x e^(-(x-t)^2/(2 sigma2)), entire in t:

    E e^(zX) = e^(sigma2 z^2/2) theta(sigma2 z)/theta(0)                      (complete the square),
    theta(t) = sqrt(2 pi sigma2) sum_j e^(-2 pi^2 sigma2 j^2 + 2 pi i j t)    (Poisson summation).

The first sum has few terms for small sigma2, the second for large; at sigma2 = 1/(2 pi) their
terms fall alike. Source of the law: Canonne, Kamath, Steinke, "The Discrete Gaussian for
Differential Privacy", NeurIPS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import mpmath
import numpy as np
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, ball, exact, mpf, whole
from ..exact.precision import START, refine, working_precision
from .law import Law, Moments
from .saddle import vertical_path

__all__ = ["DiscreteGaussian"]

_MOST_TERMS = 10_000


@dataclass(frozen=True)
class DiscreteGaussian(Law):
    """N_Z(0, sigma2), sigma2 > 0 exact. (Its variance is slightly below sigma2.)"""

    sigma2: Fraction

    log_concave = "log p(x) = const - x^2/(2 sigma2) is concave"

    def __init__(self, sigma2: ExactInput) -> None:
        object.__setattr__(self, "sigma2", exact(sigma2, "sigma2", above=0))

    def theta(self, t: arb) -> arb:
        """Enclose sum_x e^(-(x-t)^2/(2 sigma2)); at most theta(0), by the second sum above."""
        return _theta(self.sigma2, acb(t)).real

    def moments(self) -> Moments:
        return Moments(Enclosure.exactly(0), refine(self._variance))

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        with mpmath.workdps(digits + 15):
            s2 = mpf(self.sigma2)
            if s2 < 1:
                rate, unit = 1 / (2 * s2), mpmath.mpf(1)
            else:
                rate, unit = 2 * mpmath.pi**2 * s2, mpmath.sqrt(2 * mpmath.pi * s2)
            terms = int(mpmath.sqrt(mpmath.mp.prec / rate)) + 2
            total = 1 + 2 * sum(mpmath.exp(-rate * j * j) for j in range(1, terms))
            return mpmath.exp(-mpmath.mpf(x) ** 2 / (2 * s2)) / (unit * total)

    def ball(self, x: int) -> arb:
        return (-(x * x) / (2 * ball(self.sigma2))).exp() / _normaliser(self.sigma2, ctx.prec)

    def balls(self, low: int, high: int) -> list[arb]:
        return [self.ball(x) for x in range(low, high + 1)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        with working_precision(START):
            constant = float(_normaliser(self.sigma2, START).log().mid())
        squares = np.asarray(xs, dtype=np.float64) ** 2
        return squares / (-2 * float(self.sigma2)) - constant

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        exponent, factor = self.transform(z)
        if analytic and not factor.real > 0:  # a zero of the factor may be near
            return acb(arb.nan(), arb.nan())
        return exponent + factor.log()

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        s2 = ball(self.sigma2)
        return s2 * z * z / 2, _theta(self.sigma2, s2 * z) / _normaliser(self.sigma2, ctx.prec)

    def slope(self, z: acb) -> acb:
        return ball(self.sigma2) * z

    def path(self, t: int, side: int) -> Sequence[acb]:
        # up to the bounded factor, the saddle point of s2 z^2/2 - tz
        s2 = float(self.sigma2)
        return vertical_path(t / s2, side, spread=math.sqrt(s2))

    def steepening(self, x: int, shift: int) -> arb:
        # s(y) = -(2y - 1)/(2 sigma2) falls by the same amount at each step
        return shift / ball(self.sigma2)

    def flattening(self, x: int, shift: int) -> arb | None:
        return self.steepening(x, shift)

    def loss(self, x: int, shift: int) -> arb:
        return ball(Fraction(shift * (shift - 2 * x)) / (2 * self.sigma2))

    def renyi_sum(self, order: arb, shift: int) -> arb:
        # completing the square; theta has period 1 and is even
        exponent = order * (order - 1) * shift * shift / (2 * ball(self.sigma2))
        return exponent.exp() * self.theta(order * shift) / _normaliser(self.sigma2, ctx.prec)

    def renyi_exact(self, order: Fraction, shift: int) -> Fraction | None:
        if (order * shift).denominator != 1:
            return None
        return order * shift * shift / (2 * self.sigma2)

    def zcdp_exact(self, shift: int) -> Fraction:
        # theta(t) <= theta(0), with equality at the integer orders
        return Fraction(shift * shift) / (2 * self.sigma2)

    def n_fold(self, count: int) -> Law:
        from .discrete_gaussian_sum import DiscreteGaussianSum  # which is built on this law

        if whole(count, "count", at_least=1) == 1:
            return self
        return DiscreteGaussianSum(count, self.sigma2)

    def _variance(self) -> arb:
        # With S_k = sum_j j^k q^(j^2): S_2/S_0 of the first sum; from the second, M''(0) =
        # sigma2 + sigma2^2 theta''(0)/theta(0).
        s2 = ball(self.sigma2)
        if _few_terms(self.sigma2):
            total, squares = _square_sums(1 / (2 * s2))
            return squares / total
        total, squares = _square_sums(2 * arb.pi() ** 2 * s2)
        return s2 * (1 - 4 * arb.pi() ** 2 * s2 * squares / total)


def _few_terms(sigma2: Fraction) -> bool:
    """Does the first sum converge faster? Decides the cost only."""
    return sigma2 < Fraction(1, 6)


@lru_cache(maxsize=256)
def _normaliser(sigma2: Fraction, bits: int) -> arb:
    """theta(0), enclosed with this many bits."""
    with working_precision(bits):
        return _theta(sigma2, acb(0)).real


def _theta(sigma2: Fraction, t: acb) -> acb:
    s2 = ball(sigma2)
    if not t.is_finite():
        return t
    if _few_terms(sigma2):
        return _direct_sum(s2, t)
    # |term j| = e^(-a j^2 + b |j|) at most
    a, b = 2 * arb.pi() ** 2 * s2, 2 * arb.pi() * t.imag.abs_upper()
    turn = acb(0, 2) * arb.pi() * t
    total, rest = acb(1), arb(2)
    tolerance = arb(2) ** -ctx.prec
    for j in range(1, _MOST_TERMS):
        # the ratio of neighbouring bounds falls, so the rest from j on is below a geometric sum
        first, ratio = (b * j - a * j * j).exp(), (b - a * (2 * j + 1)).exp()
        if ratio < 0.5:
            rest = 2 * first / (1 - ratio)
            if rest < tolerance:
                break
        total += (-a * j * j + j * turn).exp() + (-a * j * j - j * turn).exp()
    else:
        return acb(arb.nan(), arb.nan())
    total += acb(arb(0, rest.upper()), arb(0, rest.upper()))
    return (2 * arb.pi() * s2).sqrt() * total


def _direct_sum(s2: arb, t: acb) -> acb:
    """sum_x e^(-(x-t)^2/(2 s2)) for small s2, from the integer nearest to Re t outward."""
    nearest = (t.real.mid() + arb(1) / 2).floor().unique_fmpz()
    if nearest is None:
        return acb(arb.nan(), arb.nan())
    offset = t - nearest
    away, high = offset.real.abs_upper(), offset.imag.abs_upper()
    total = (-(offset * offset) / (2 * s2)).exp()
    # relative to e^(-away^2/(2 s2)), the least that the largest term can be on the real axis
    tolerance = (-(away * away) / (2 * s2)).exp() * arb(2) ** -ctx.prec
    for j in range(1, _MOST_TERMS):
        # for j >= away: |term +-j| <= e^((high^2 - (j - away)^2)/(2 s2)), its ratios fall
        first = ((high * high - (j - away) ** 2) / (2 * s2)).exp()
        ratio = (-(2 * (j - away) + 1) / (2 * s2)).exp()
        if j > away and ratio < 0.5:
            rest = (2 * first / (1 - ratio)).upper()
            if rest < tolerance:
                return total + acb(arb(0, rest), arb(0, rest))
        total += (-((offset - j) ** 2) / (2 * s2)).exp() + (-((offset + j) ** 2) / (2 * s2)).exp()
    return acb(arb.nan(), arb.nan())


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
