"""mu(d), the exact best mu for the shift d: sup over k of t(k) - t(k-d) <= d mu_1.

X + d against X has the vertices (S(k), 1 - S(k-d)); they lie on or above those of N(mu, 1) against
N(0, 1) for mu = mu(d) and for no smaller mu (`unit`).

*Where the curvature does not rise* t(k)/(k - 1/2) falls in k >= 1 (`unit`). So mu(d) is the largest
of t(j) + t(d+1-j), 1 <= j <= d: those are the k with k - d <= 0 < k, and for k > d

    t(k) - t(k-d) <= t(k) (1 - (k-d-1/2)/(k-1/2)) <= d t(m+1)/(m + 1/2),  m = d // 2,

which is 2 t(m+1) for d = 2m + 1 and, as t(m) >= t(m+1) (m-1/2)/(m+1/2), at most t(m) + t(m+1) for
d = 2m: one of those sums. Where the steps themselves fall in k >= 0 this middle one is the largest:
discrete Gaussian (`docs/envelope.md`); discrete Laplace, whose steps from k >= 1 on are integrals
of the falling Mills ratio of t over equal lengths.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import accumulate

from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, whole
from ...exact.precision import WIDTH, enclose, enclose_between, refine
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from .cells import quantile
from .unit import unit_parameter

_MOST = 1000  # shifts up to which all sums are compared
_OPEN = "bounded by the largest step times the shift"


def shift_parameter(law: Law, shift: ExactInput, width: Fraction = WIDTH) -> Enclosure:
    """mu(|shift|), a whole shift: noise of this law hides it like N(mu, 1) hides mu.

    Where it is not known in closed form it is enclosed by the middle sum and |shift| mu_1, and says
    so. For a vector v, sqrt(sum of mu(|v_i|)^2) <= mu_1 |v|_2 holds as well.

    Raises NoEnvelopeError where no mu is proved.
    """
    law, d = law.simplest(), abs(whole(shift, "shift"))
    unit = unit_parameter(law, width)
    if d <= 1:
        return unit.times(d)
    if law.curvature_falls:
        return refine(
            lambda: largest_window(law, d), width=width, enough=lambda found: bool(found.why)
        )
    return refine(lambda: _middle(law, d), width=width).hull(unit.times(d)).because(_OPEN)


def largest_window(law: Law, d: int) -> Enclosure:
    """mu(d) at the working precision where the curvature does not rise."""
    middle = _middle(law, d)
    if d == 1 or isinstance(law.simplest(), DiscreteGaussian | DiscreteLaplace):
        return enclose(middle)
    if d > _MOST:
        return enclose_between(middle, d * _middle(law, 1)).because(_OPEN)
    sums = accumulate(reversed(law.balls(1, d - 1)), initial=law.upper_tail(d))
    steps = [quantile(tail) for tail in sums]  # t(d), ..., t(1)
    pairs = zip(steps[: (d + 1) // 2], reversed(steps), strict=False)
    return enclose(reduce(arb.max, (left + right for left, right in pairs)))


def _middle(law: Law, d: int) -> arb:
    """t(m+1) + t(m) for d = 2m, 2 t(m+1) for d = 2m + 1."""
    outer = quantile(law.upper_tail(d // 2 + 1))
    return 2 * outer if d % 2 else outer + quantile(law.upper_tail(d // 2))
