"""Probabilities of a sum of a few or of many narrow discrete Gaussians, by doubling.

p_2n(k) = sum_j p_n(j) p_n(k - j), p_(n+1)(k) = sum_j p_n(j) p_1(k - j): only positive terms, so the
relative radii add up. The terms are log-concave in j: once they fall by half, what is left on that
side is below a geometric sum. Only the probabilities that are asked for on the way are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache
from itertools import accumulate
from itertools import count as integers

from flint import arb, ctx

from ...exact.budget import spend
from ...exact.number import ball
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum

_WIDE = 64  # the variance above which the law's own probabilities are as quick
_FEW = 4  # and so few of them one by one quicker than together


def masses(law: DiscreteGaussianSum, last: int) -> list[arb]:
    """p(0), ..., p(last)."""
    if law.moments().variance.upper > _WIDE:
        return [law.ball(k) for k in range(last + 1)] if last < _FEW else law.balls(0, last)
    mass, found = _doubled(law, ctx.prec), []
    for k in range(last + 1):
        # the periodic factor is the same at k and at the representative of +-k in [0, count/2]
        place = min(k % law.count, -k % law.count)
        found.append(mass(place) if k == place else mass(place) * _decay(law, k, place))
    return found


def tails(law: DiscreteGaussianSum, last: int) -> list[arb]:
    """S(1), ..., S(last), S(k) = P(X >= k) = p(k) + p(k+1) + ...

    As p(k+1)/p(k) falls, a geometric sum bounds what is left out.
    """
    step = 8 + math.isqrt(math.ceil(law.moments().variance.upper))
    while True:
        found = masses(law, last + step)
        ratio = found[-1] / found[-2]
        rest = found[-1] * ratio / (1 - ratio)
        if ratio < 1 and rest < found[last] * arb(2) ** -ctx.prec:
            break
        step *= 2
    sums = list(accumulate([arb(0).union(rest), *reversed(found)]))
    return sums[::-1][1 : last + 1]


@lru_cache(maxsize=8)
def _doubled(law: DiscreteGaussianSum, bits: int) -> Callable[[int], arb]:
    """k >= 0 -> p(k), at the working precision of so many bits."""
    one = cache(DiscreteGaussian(law.sigma2).ball)

    @cache
    def mass(terms: int, k: int) -> arb:
        spend()
        if terms == 1:
            return one(k)
        half, odd = divmod(terms, 2)
        if odd:
            return _sum_around(
                lambda j: mass(terms - 1, abs(k - j)) * one(abs(j)), round(k / terms)
            )
        return _sum_around(lambda j: mass(half, abs(j)) * mass(half, abs(k - j)), k // 2)

    return lambda k: mass(law.count, k)


def _decay(law: DiscreteGaussianSum, k: int, place: int) -> arb:
    return (ball(Fraction(place * place - k * k) / (2 * law.count * law.sigma2))).exp()


def _sum_around(term: Callable[[int], arb], start: int) -> arb:
    """The sum of log-concave terms over all integers, outward from near their largest."""
    total = arb(0)
    negligible = arb(2) ** -ctx.prec
    for first, step in ((start, 1), (start - 1, -1)):
        before: arb | None = None
        for j in integers(first, step):
            here = term(j)
            total += here
            if before is not None:
                ratio = here / before
                rest = here * ratio / (1 - ratio)
                if ratio < 0.5 and rest < total * negligible:
                    total += arb(0).union(rest)
                    break
            before = here
    return total
