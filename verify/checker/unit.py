"""mu_1 from above: a vector v of integers is hidden by noise of one law in every coordinate at
least as well as N(0, 1) hides a distance of mu_1 |v|_2, in any number of dimensions.

*Domination.* p is symmetric, log-concave and positive on all of Z, S(k) = P(X >= k), t(k) =
-Phi^-1(S(k)). By Neyman and Pearson the best tests of X + d against X, d >= 0, are the half-lines
{x >= k}, with the errors S(k) and 1 - S(k - d). If t(k+1) - t(k) <= mu_1 for all k, these points
lie on or above the trade-off function of N(d mu_1, 1) against N(0, 1), which is convex, and so do
the chords between them. Blackwell (1953): there is a kernel from the Gaussian pair to this one. The
product of such kernels, coordinate by coordinate, after a rotation, turns N(mu_1 |v|_2, 1) against
N(0, 1) into (X + v, X). Kernels are linear: the same of Poisson samples, both ways round.
Reduction mod m is post-processing.

A(k) = 2 log p(k) - log p(k-1) - log p(k+1).

*Theorem A.* If A(k) does not rise in k >= 0, mu_1 = t(1) - t(0) = 2 Phi^-1((1 + p(0))/2). For w > 0
compare p with the normal law rounded to cells of width w around its integers: A of that rises in
k >= 0, so that the log of the ratio is even and V-shaped there: falling, then rising. The
differences of the tails start at the sign of the first one and change sign at most once on k >= 1,
from + to -: t(k)/(k - 1/2) does not rise, and t(k+1) - t(k) <= t(k)/(k - 1/2) <= 2 t(1). It holds
for discrete Gaussian noise (A is constant), discrete Laplace noise (A(k) = 0 for k >= 1), Skellam
noise and Pólya differences of shape >= 1 (a first zero of A(k) - A(k+1) in the parameter has a
derivative of the wrong sign).

*Theorem B.* Sums of discrete Gaussians have A(k) <= A(0) (Regev, Stephens-Davidowitz, "An
inequality for Gaussians on lattices", 2017). Then mu_1 is at most any w with B(w) >= A(0), B(w) =
2 log((2 Phi(w/2) - 1)/(Phi(3w/2) - Phi(w/2))) the least A of cells of width w: at a widest step
a(k) = w the cells beside it are no wider, so that A(k) >= B(w), and B rises in w.

All steps of both, and that A falls, are proved in `docs/envelope.md`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from mpmath import iv

from .arithmetic import (
    Interval,
    OpenError,
    certainly,
    exp,
    interval,
    log,
    lower,
    middle,
    precision,
    upper,
    value,
)
from .laws import (
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    Law,
    PolyaDifference,
    Skellam,
    SymmetricLaw,
    dual_rest,
    log_ratio,
)
from .normal import cdf, quantile
from .pmf import reach_where

_BITS = 192
_WIDE_SKELLAM = 10_000  # variances from which on the closed bound of p(0) is narrow enough
_WIDE_GAUSSIAN = 8
_SMOOTH = Fraction(1, 10**12)
_HALVINGS = 60


@lru_cache(maxsize=64)
def unit_parameter(law: Law) -> Fraction:
    """An upper bound of mu_1. Raises OpenError where none is known."""
    if isinstance(law, DiscreteGaussianSum) and law.count == 1:
        law = DiscreteGaussian(law.sigma2)
    with precision(_BITS):
        if isinstance(law, DiscreteGaussianSum):
            return _widest(_largest_curvature(law))
        tail = (1 - upper(_centre(law))) / 2
        return 2 * quantile(lower(tail))[1]


def distance(law: Law, square: int) -> Fraction:
    """An upper bound of mu_1 |v|_2, |v|_2^2 = square."""
    with precision(_BITS):
        found = interval(unit_parameter(law)) * iv.sqrt(interval(square))
        return Fraction(value(found)[1])


def _centre(law: Law) -> Interval:
    """p(0), or a bound from above, of a law whose A falls."""
    if isinstance(law, DiscreteLaplace):
        return (1 - law.beta()) / (1 + law.beta())
    if isinstance(law, DiscreteGaussian) and law.sigma2 > _WIDE_GAUSSIAN:
        # Poisson summation: sum of e^(-x^2/(2 s)) = sqrt(2 pi s) (1 + something positive)
        return 1 / iv.sqrt(2 * iv.pi * interval(law.sigma2))
    if isinstance(law, Skellam) and law.variance > _WIDE_SKELLAM:
        return _skellam_centre(law.variance)
    falls = isinstance(law, DiscreteGaussian | Skellam)
    if not (falls or (isinstance(law, PolyaDifference) and law.shape >= 1)):
        raise OpenError("no Gaussian envelope of this noise is known here")
    assert isinstance(law, SymmetricLaw)
    enough = 0.75 * iv.prec + 20
    return law.pmf(reach_where(lambda k: law.rough(k) > enough)).at(0)


def _skellam_centre(variance: Fraction) -> Interval:
    """Bound e^-v I_0(v) = (1/pi) int e^(-v (1 - cos t)) dt, t from 0 to pi, from above.

    With s = 2 sin(t/2) it is (1/pi) int e^(-v s^2/2) (1 - s^2/4)^(-1/2) ds, s from 0 to 2. For
    x = s^2/4 <= 1/4, (1 - x)^(-1/2) <= 1 + x/2 + (3/8) x^2/(1 - x) <= 1 + x/2 + x^2/2, and the
    Gaussian moments over all s >= 0 bound that part; for s >= 1 e^(-v/2) bounds the first factor,
    and int (1 - s^2/4)^(-1/2) ds <= pi.
    """
    v = interval(variance)
    return (1 + 1 / (8 * v) + 3 / (32 * v**2)) / iv.sqrt(2 * iv.pi * v) + exp(-v / 2)


def _largest_curvature(law: DiscreteGaussianSum) -> Interval:
    """A(0) = 2 log p(0)/p(1); with p(x) = const e^(-x^2/2v) w(x), |w - 1| <= T, from above."""
    rest, plain = dual_rest(law.count, law.sigma2), interval(1 / (law.count * law.sigma2))
    if law.is_wide or certainly(rest < interval(_SMOOTH) * plain):
        return upper(plain + 2 * log_ratio(rest))
    pmf = law.pmf(1)
    if not certainly(pmf.at(1) > 0):
        raise OpenError("not all outcomes are known well enough")
    return upper(2 * log(pmf.at(0) / pmf.at(1)))


def _widest(bend: Interval) -> Fraction:
    """A w with B(w) >= bend, by halving; B(w) < w^2, so that the least one is above sqrt(bend)."""
    low = middle(iv.sqrt(bend))
    high = 2 * low
    for _ in range(_HALVINGS):
        if _is_as_bent(high, bend):
            break
        high *= 2
    else:
        raise OpenError("no widest cell was found")
    for _ in range(_HALVINGS):
        between = Fraction(round((low + high) * 2**_BITS), 2 ** (_BITS + 1))
        low, high = (low, between) if _is_as_bent(between, bend) else (between, high)
    return high


def _is_as_bent(width: Fraction, bend: Interval) -> bool:
    """Is B(width) >= bend, for certain?"""
    half, next_half = cdf(interval(width / 2)), cdf(interval(3 * width / 2))
    here, beside = 2 * half - 1, next_half - half
    if not (certainly(here > 0) and certainly(beside > 0)):
        return False
    return certainly(2 * log(here / beside) >= bend)
