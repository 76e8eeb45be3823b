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

a(k) <= log(S(k)/S(k+1))/t(k) as Phibar/phi(t) < 1/t; S(k)/S(k+1) <= 1 + p(k)/p(k+1) by
log-concavity; and t(k) >= sqrt(g) k - b, as S(k) <= e^(-g k^2/2) (each term is sub-Gaussian) while
Phibar(x) >= e^(-(x + b)^2/2) for x >= 0.
"""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from itertools import pairwise

from flint import arb

from ...exact.deadline import check_time
from ...exact.number import ball
from ...exact.precision import working_precision
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from .cells import curvature, quantile

__all__ = ["first_step_is_largest"]

_BITS = 160
_MOST = 5000  # steps that are compared one by one
_FARTHEST = 2.0**10  # t(K), by the rule of curvature
_MOST_BLOCKS = 300


@lru_cache(maxsize=256)
def first_step_is_largest(law: DiscreteGaussianSum) -> bool:
    """Is it certified that all a(k) <= a(0)? False: not by these rules, with this much work."""
    with working_precision(_BITS):
        at_0, at_1 = law.ball(0), law.ball(1)
        if not (0 < at_1 < at_0 < 1):  # undecided, where p(0) is all but 1
            return False
        first = 2 * quantile((1 - at_0) / 2)
        count = _by_curvature(law, first, 2 * (at_0 / at_1).log())
        if count is None:
            count = _by_tails(law, first)
        if count is None:
            return False
        steps = _quantiles(law, count)
        return all(right - left <= first for left, right in pairwise(steps))


def _by_curvature(law: DiscreteGaussianSum, first: arb, bend: arb) -> int | None:
    """K by the first rule; None: it does not apply, or not soon enough."""
    low, high = 0.0, _FARTHEST
    if not curvature(first, arb(min(high, 40.0))) > bend:
        return None
    high = 40.0
    while high - low > 1e-3 * float(first):
        middle = (low + high) / 2
        low, high = (low, middle) if curvature(first, arb(middle)) > bend else (middle, high)
    # t(k) is about sqrt(g) k, hence not far below a(0) k
    unit = 1 / math.sqrt(law.count * law.sigma2)
    start = math.ceil(high / unit) + 1
    for count in (start, start + start // 20 + 2):
        if count > _MOST:
            return None
        if quantile(law.upper_tail(count)) >= high:
            return count
    return None


def _by_tails(law: DiscreteGaussianSum, first: arb) -> int | None:
    """K by the second rule; None: not soon enough."""
    g = 1 / (law.count * ball(law.sigma2))
    root, offset = g.sqrt(), (2 * arb(2).log()).sqrt()
    spare = float(first / root) - 1  # how far a(0) is above the limit, relatively
    if not spare > 0:
        return None
    ratio = _largest_ratio(law, g, min(0.25, spare / 4))
    if ratio is None:
        return None

    def holds(k: int) -> bool:
        room = root * k - offset
        return bool(room > 0 and (1 + ratio * (g * (k + arb(1) / 2)).exp()).log() / room < first)

    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
        if low > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high if high <= _MOST else None


def _largest_ratio(law: DiscreteGaussianSum, g: arb, slack: float) -> arb | None:
    """Bound all c(k)/c(k+1), to about a factor e^slack; None: too much work.

    c(k)/c(k+1) = e^(-g(k + 1/2)) p(k)/p(k+1), and p(k)/p(k+1) rises in k. As c is even and of
    period n, k and the inverse ratios on [0, n/2] are all.
    """
    half, length = law.count // 2, max(1, int(slack / float(g)))
    if half // length > _MOST_BLOCKS:
        return None
    found = [arb(1)]
    for low in range(0, half + 1, length):
        check_time()
        high = min(low + length - 1, half)
        p, q = law.balls(low, low + 1), law.balls(high, high + 1)
        found.append((-g * (low + arb(1) / 2)).exp() * q[0] / q[1])
        found.append((g * (high + arb(1) / 2)).exp() * p[1] / p[0])
    return reduce(arb.max, found)


def _quantiles(law: DiscreteGaussianSum, last: int) -> list[arb]:
    """t(1), ..., t(last)."""
    tail = law.upper_tail(last)
    found = [quantile(tail)]
    for mass in reversed(law.balls(1, last - 1)):
        tail += mass
        found.append(quantile(tail))
    return found[::-1]
