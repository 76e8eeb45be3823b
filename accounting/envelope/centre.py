"""Is the widest step of a sum of discrete Gaussians the one at 0? A certificate, or no answer.

X is the sum of n copies of N_Z(0, sigma2), g = 1/(n sigma2), p(k) = const e^(-g k^2/2) c(k), c > 0
even and of period n, so that a(k) = t(k+1) - t(k) -> sqrt(g). Its curvature A is largest at 0
(`DiscreteGaussianSum.curvature_peaks`). a(1), ..., a(K-1) are compared with a(0) one by one. From K
on none is larger by either rule; proofs in `docs/envelope.md`:

*By curvature*: A(0) < B(t(K)), B of cells of width a(0) (`cells`). A largest a(k) > a(0), k >= K,
would have A(0) >= A(k) >= B_a(k)(t(k)) >= B_a(0)(t(K)). One exists: sqrt(g) < a(0), as
A(0) >= g (c(1) <= c(0)) and B_a(0) < a(0)^2.

*By tails*: with b = sqrt(2 log 2) and C >= all c(k)/c(k+1), for sqrt(g) k > b,

    a(k) <= log(1 + C e^(g(k + 1/2)))/(sqrt(g) k - b),  which falls in k:

a(k) <= log(S(k)/S(k+1))/t(k) as Phibar/phi(t) < 1/t; S(k)/S(k+1) <= 1 + p(k)/p(k+1); and t(k) >=
sqrt(g) k - b, as S(k) <= e^(-g k^2/2) (each term is sub-Gaussian) while Phibar(x) >=
e^(-(x + b)^2/2) for x >= 0. C = e^(1/(2 sigma2)) will do: q(k) = p(k)/p(k+1) rises in k, is at
least 1 for k >= 0, and q(k) q(n-1-k) = e^(1/sigma2), so that q(k) <= e^(1/(2 sigma2)) for
0 <= k <= (n-1)/2. There c(k)/c(k+1) = e^(-g(k + 1/2)) q(k) and its inverse are at most C; all
others are among them, c being even and of period n.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

from flint import arb

from ...exact.number import ball
from ...exact.precision import working_precision
from ...exact.roots import first_met, float_root
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from .cells import curvature, quantile
from .sums import masses, tails

_BITS = 160
_MOST = 8000  # steps that are compared one by one
_FARTHEST = 60.0  # t(K), by the rule of curvature


@lru_cache(maxsize=256)
def first_step_is_largest(law: DiscreteGaussianSum) -> bool:
    """Is it certified that all a(k) <= a(0)? False: not by these rules, with this much work."""
    with working_precision(_BITS):
        at_0, at_1 = masses(law, 1)
        if not 0 < at_1 < at_0 < 1:  # where p(0) is all but 1
            return False
        first, bend = 2 * quantile((1 - at_0) / 2), 2 * (at_0 / at_1).log()
        last = _by_curvature(law, first, bend)
        if last is not None:
            steps = _quantiles(law, last)
            return curvature(first, steps[-1]) > bend and _are_steps(steps, first)
        last = _by_tails(law, first)
        return last is not None and _are_steps(_quantiles(law, last), first)


def _by_curvature(law: DiscreteGaussianSum, first: arb, bend: arb) -> int | None:
    """About the first K at which the first rule holds; None: it does not, or not soon enough."""

    def met(place: float) -> float:
        return 1.0 if curvature(first, arb(place)) > bend else -1.0

    if met(_FARTHEST) < 0:
        return None
    # t(k) is at least about sqrt(g) k
    deviation = math.sqrt(law.count * law.sigma2)
    last = math.ceil(1.01 * deviation * (float_root(met, 0, _FARTHEST) + 0.01)) + 1
    return last if last <= _MOST else None


def _by_tails(law: DiscreteGaussianSum, first: arb) -> int | None:
    """K by the second rule; None: not soon enough."""
    s2 = ball(law.sigma2)
    g = 1 / (law.count * s2)
    root, offset, ratio = g.sqrt(), (2 * arb(2).log()).sqrt(), (1 / (2 * s2)).exp()

    def met(k: int) -> bool:
        room = root * k - offset
        steepest = (ratio * (g * (k + arb(1) / 2)).exp()).log1p()
        return bool(room > 0 and steepest <= first * room)

    return first_met(met, 0, _MOST) if met(_MOST) else None


def _quantiles(law: DiscreteGaussianSum, last: int) -> list[arb]:
    """t(1), ..., t(last)."""
    return [quantile(tail) for tail in tails(law, last)]


def _are_steps(quantiles: list[arb], most: arb) -> bool:
    """Is none of these steps larger?"""
    return all(right - left <= most for left, right in pairwise(quantiles))
