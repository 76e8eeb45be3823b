"""The Gaussian envelope: one distance mu that bounds every divergence of a shifted law.

*Domination.* Let p be symmetric and log-concave, positive on all of Z, S(k) = P(X >= k), Phibar the
upper tail of the normal law and t(k) = Phibar^-1(S(k)), which rises in k. For a shift d >= 0 the
optimal tests of X + d against X are the half-lines {x >= k} (the likelihood ratio rises), with
errors S(k) and 1 - S(k - d). If all steps t(k+1) - t(k) are at most mu, then t(k - d) >= t(k) -
d mu: every vertex of the trade-off function lies on or above that of N(d mu, 1) against N(0, 1),
and the chords between vertices above the convex Gaussian curve. By Blackwell's theorem the shifted
pair is post-processing of the Gaussian one, so that D_a <= a (d mu)^2/2 at every order.

*The largest step is the one at 0*, mu = t(1) - t(0) = 2 Phi^-1((1 + p(0))/2), if the curvature
A(k) = 2 log p(k) - log p(k-1) - log p(k+1) does not rise in k >= 0. For any width w > 0 compare p
with the Gaussian law rounded to cells of width w, g(k) = Phi(w(k + 1/2)) - Phi(w(k - 1/2)). The
curvature of g rises in k >= 0 (it is an average of 1 - V over two neighbouring cells, V the
variance of the normal law truncated to a cell, which falls as the cell moves away from 0). So the
second difference of log p/g rises, log p/g is even, hence V-shaped: as k grows its sign runs
through a part of + - +. Then S_g(j) - S(j), j >= 1, whose steps are p(j) - g(j) and whose limit is
0, changes sign at most once, from + to -; it is positive where t(j) > w(j - 1/2). As w is free,
t(j)/(j - 1/2) does not rise in j, so t(k+1) - t(k) <= t(k)/(k - 1/2) <= 2 t(1).

*Where that holds.* Discrete Gaussian: A is constant. Discrete Laplace: A(k) = 0 for k >= 1.
Skellam: with l(k) = log I(k+1)/I(k) at the variance x, l(k)' = -2 sinh l(k) - (2k+1)/x, and
D(k) = A(k) - A(k+1) = l(k-1) - 2 l(k) + l(k+1) for k >= 1, -3 l(0) + l(1) for k = 0. As x -> 0 all
D(k) > 0. At a first zero D(k)' <= 0; but there l(k) is the mean of two negative numbers (k >= 1),
distinct as I(k)^2 - I(k-1) I(k+1) has positive coefficients, sinh is strictly concave on them, and
D(k)' = -2 [sinh l(k-1) - 2 sinh l(k) + sinh l(k+1)] > 0; or l(1) = 3 l(0) (k = 0), and D(0)' =
6 sinh l(0) - 2 sinh l(1) = -8 sinh^3 l(0) > 0.
Pólya differences of shape r > 1: the same with l(k) = log p(k+1)/p(k) and z = cosh(1/scale), where
(z^2 - 1) dl(k)/dz = (2k+1)(z - cosh l(k)) + (2r-1) sinh l(k); as z -> infinity all D(k) > 0, and
at a zero dD(k)/dz < 0 (`docs/envelope.md`). Sums of discrete Laplace noise are such.

*Sums of discrete Gaussians.* Their curvature is largest at 0, and that alone bounds the largest
step mu (theorem B): where it is attained the neighbouring cells are no wider, so that A(0) >= A(k)
>= B_mu(t(k)) >= B_mu(-mu/2), B the curvature of cells of the normal law (`cells`). A short
certificate (`centre`) makes the step at 0 the largest in nearly all cases.

*Reduction mod m, clamping, rounding of the released value* are post-processing: the envelope of the
law before it holds. Proofs, and what is refused: `docs/envelope.md`.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from flint import arb

from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ParameterError, ball
from ...exact.precision import WIDTH, refine
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from ...mechanisms.laws.law import Law
from .cells import quantile, widest
from .centre import first_step_is_largest
from .sums import masses, tails


class NoEnvelopeError(ParameterError):
    """A law of which no Gaussian envelope is proved; the message says why."""


def unit_parameter(law: Law, width: Fraction = WIDTH) -> Enclosure:
    """mu_1, the largest step t(k+1) - t(k): noise of this law on an integer vector v is
    mu_1 |v|_2-GDP, in any dimension.

    width: the relative width asked for; an enclosure that is wider says why. It is the least such
    constant wherever it is 2 t(1), the lower end: a unit shift has total variation p(0).

    Raises NoEnvelopeError where none is proved.

    >>> from exactdp.mechanisms.laws import Skellam
    >>> print(unit_parameter(Skellam(100)))
    0.10016757129403238
    """
    law = law.simplest()
    _refuse(law)
    if isinstance(law, DiscreteGaussianSum) and law.count > _MOST_TERMS:
        # adding the others is post-processing
        few = unit_parameter(DiscreteGaussianSum(_MOST_TERMS, law.sigma2), width)
        return Enclosure(Decimal(0), few.upper).because("so many terms are not told from fewer")
    if law.curvature_falls or _is_certified(law):
        return refine(lambda: _first_step(law), width=width).intersection(_POSITIVE)
    bound = refine(lambda: _first_step(law).union(_by_curvature(law)), width=width, cap=_BITS)
    if not bound.is_within(width):
        bound = bound.because("the largest step is only bounded by the largest curvature")
    return bound.intersection(_POSITIVE)


def unit_bound(law: Law) -> Enclosure:
    """At most what `unit_parameter` encloses, in little time: by the largest curvature.

    Raises NoEnvelopeError as that does.
    """
    law = law.simplest()
    _refuse(law)
    found = refine(lambda: _by_curvature(law), width=_ROUGH, cap=_BITS)
    return Enclosure(Decimal(0), found.upper)


def distance_at(unit: Endpoint, square: int) -> Fraction:
    """unit |v|_2 of a vector of this |v|_2^2, at most: rational."""
    return Fraction(refine(lambda: ball(Fraction(unit)) * ball(square).sqrt()).upper)


def gaussian_distance(law: Law) -> arb | None:
    """mu_1 as a ball, where it is the step at 0 by the shape of the law; None for all others."""
    if not (law.symmetric and law.log_concave and law.curvature_falls):
        return None
    return _first_step(law)


def _refuse(law: Law) -> None:
    if any(end is not None for end in law.support):
        raise NoEnvelopeError(
            f"law must have no first and no last outcome, got {law}: at an end the step of the "
            "quantiles is infinite, and no mu holds (`trimmed` charges the tail to delta instead)"
        )
    if not law.log_concave:
        raise NoEnvelopeError(
            f"law must be log-concave, got {law}: only then half-lines are the optimal tests"
        )
    if not (law.symmetric and (law.curvature_falls or law.curvature_peaks)):
        raise NoEnvelopeError(f"law must have a known largest curvature, got {law}")


def _is_certified(law: Law) -> bool:
    return isinstance(law, DiscreteGaussianSum) and first_step_is_largest(law)


def _first_step(law: Law) -> arb:
    """2 t(1) = 2 Phi^-1((1 + p(0))/2), from 1 - p(0) = 2 S(1) where that is the smaller one."""
    centre = masses(law, 0)[0] if isinstance(law, DiscreteGaussianSum) else law.ball(0)
    if centre < 0.5:
        return 2 * arb(2).sqrt() * centre.erfinv()
    tail = tails(law, 1)[0] if isinstance(law, DiscreteGaussianSum) else law.upper_tail(1)
    return 2 * quantile(tail)


def _by_curvature(law: Law) -> arb:
    """Theorem B with A(0)."""
    at_0, at_1 = masses(law, 1) if isinstance(law, DiscreteGaussianSum) else law.balls(0, 1)
    return widest(2 * (at_0 / at_1).log())


_ROUGH = Fraction(1, 10**6)
_MOST_TERMS = 10**50  # beyond, the bits below do not tell the curvature
_BITS = 192  # more would not make the two bounds meet
_POSITIVE = Enclosure(Decimal(0), Decimal("Infinity"))
