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
D(k) > 0. At a first zero D(k)' <= 0; but there l(k) is the mean of two distinct negative numbers
(k >= 1), sinh is strictly concave on them, and D(k)' = -2 [sinh l(k-1) - 2 sinh l(k) + sinh l(k+1)]
> 0; or l(1) = 3 l(0) (k = 0), and D(0)' = 6 sinh l(0) - 2 sinh l(1) = -8 sinh^3 l(0) > 0.
"""

from __future__ import annotations

from flint import arb

from ..mechanisms import DiscreteGaussian, DiscreteLaplace, Law, Skellam

__all__ = ["gaussian_distance"]


def gaussian_distance(law: Law) -> arb | None:
    """mu: a shift by d is post-processing of N(d mu, 1) against N(0, 1). None: none is proved.

    It is the least mu for which that holds for d = 1: there both have the total variation p(0).
    """
    if not isinstance(law, DiscreteGaussian | DiscreteLaplace | Skellam):
        return None
    # 2 Phi^-1((1 + p)/2) = 2 sqrt(2) erfinv(p)
    return 2 * arb(2).sqrt() * law.ball(0).erfinv()
