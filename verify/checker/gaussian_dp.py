"""mu of Gaussian DP, by closed forms of one use; several by the root of the sum of squares.

*From above.* What each use releases is post-processing of N(mu_i, 1) against N(0, 1), and so of
sampled users: who takes part is the same on both sides, and where it is not the user nothing is
told of that user. A reduction mod m is post-processing. Products of such pairs are one of distance
sqrt(sum of mu_i^2).

*From below*: that of one use, as the others may be ignored; all of Gaussian noise; and, since
Rényi divergences are at most a mu^2/2 (post-processing), those of an order, 2 if the hints name
none. Sampling
does not lower that: the mixture is at least rate times P, and of a fixed factor nothing is left in
the limit of tests of low level.

*One use.* With t(k) = -Phi^-1(P(X >= k)): noise whose curvature 2 log p(k) - log p(k-1) -
log p(k+1) does not rise in k >= 0 (discrete Gaussian, Skellam, discrete Laplace) has t(k)/(k - 1/2)
falling in k >= 1, and as mu the largest of t(k) - t(k-d), k from d/2 + 1/2 to 3d/2 + 1/2, where
t(1-k) = -t(k). Laplace: 2 Phi^-1(1 - e^(-e/2)/2), by the half-line in the middle. Randomized
response: by its only vertex, and what is as pure is no dearer. The proofs are in
`mechanisms/laws/` and `accounting/divergences/gaussian_dp.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import singledispatch

from mpmath import iv

from .arithmetic import (
    INFINITY,
    Enclosure,
    End,
    Interval,
    OpenError,
    exp,
    interval,
    root_above,
    root_below,
)
from .divergences import pure, renyi
from .keys import tails
from .laws import DiscreteGaussian, DiscreteLaplace, Skellam
from .mechanisms import (
    Additive,
    Continuous,
    Finite,
    FixedSize,
    Key,
    Mechanism,
    Response,
    Sampled,
    TwoLaws,
)
from .normal import quantile
from .scenarios import Uses

_FARTHEST_SHIFT = 64


def gaussian_mu(uses: Uses, above: bool, order: Fraction) -> End:
    """mu of all of these uses together, from above or below, there by this order as well."""
    if not uses:
        return Fraction(0)
    if above or all(isinstance(one, Continuous) and one.is_gaussian for one, _ in uses):
        squares: End = Fraction(0)
        for one, times in uses:
            high = _square(one)
            squares = INFINITY if INFINITY in (high, squares) else squares + times * high
        if squares == INFINITY:
            return INFINITY
        return (root_above if above else root_below)(Fraction(squares))
    least: End = Fraction(0)
    for one, _ in uses:
        with suppress(OpenError):
            least = max(least, _mu(one)[0])
    if least == INFINITY or (least and len(uses) == uses[0][1] == 1):
        return least
    with suppress(OpenError):
        found = [(times, renyi(one, order, False, False)) for one, times in uses]
        if any(spent == INFINITY for _, spent in found):
            return INFINITY
        whole = sum((times * Fraction(spent) for times, spent in found), Fraction(0))
        least = max(least, root_below(2 * whole / order))
    return least


def _square(mechanism: Mechanism) -> End:
    if isinstance(mechanism, Continuous) and mechanism.is_gaussian:
        return 1 / mechanism.variance
    high = _mu(mechanism)[1]
    return INFINITY if high == INFINITY else Fraction(high) ** 2


@singledispatch
def _mu(mechanism: Mechanism) -> Enclosure:
    raise OpenError(
        "mu is known here of discrete Laplace, Skellam, discrete Gaussian and continuous noise and "
        "of randomized response only"
    )


@_mu.register
def _(one: Continuous) -> Enclosure:
    if one.is_gaussian:
        return root_below(1 / one.variance), root_above(1 / one.variance)
    low, high = _twice(exp(-interval(1 / (2 * one.noise))) / 2)
    return (low if one.rate == 1 else Fraction(0)), high


@_mu.register
def _(one: Response) -> Enclosure:
    if one.delta:
        return INFINITY, INFINITY
    if not one.epsilon:
        return Fraction(0), Fraction(0)
    return _twice(1 / (1 + exp(interval(one.epsilon))))


@_mu.register(Sampled)
@_mu.register(FixedSize)
def _(one: Sampled | FixedSize) -> Enclosure:
    return Fraction(0), _mu(one.mechanism)[1]


@_mu.register(Finite)
@_mu.register(Key)
def _(one: Finite | Key) -> Enclosure:
    if pure(one, False, True) == INFINITY:  # what has P > 0 = Q
        return INFINITY, INFINITY
    return Fraction(0), _mu(Response(Fraction(pure(one, True, True)), Fraction(0)))[1]


@_mu.register
def _(one: TwoLaws) -> Enclosure:
    raise OpenError("mu of a user's own pair is not re-established here")


@_mu.register
def _(one: Additive) -> Enclosure:
    law, d = one.law, one.shift
    if not isinstance(law, DiscreteGaussian | DiscreteLaplace | Skellam):
        raise OpenError("mu of this law is not known here")
    if d > _FARTHEST_SHIFT:
        raise OpenError(f"mu is not re-established of sensitivities above {_FARTHEST_SHIFT}")
    if not d:
        return Fraction(0), Fraction(0)
    last = (3 * d + 1) // 2
    steps = [(Fraction(0), Fraction(0)), *(quantile(tail) for tail in tails(law, 1, last, iv.prec))]
    windows = [_window(steps, k, d) for k in range(d // 2 + 1, last + 1)]
    low, high = max(low for low, _ in windows), max(high for _, high in windows)
    return (low if one.modulus is None else Fraction(0)), high


def _window(
    steps: Sequence[tuple[Fraction, Fraction]], k: int, d: int
) -> tuple[Fraction, Fraction]:
    """t(k) - t(k-d)."""
    (low, high), other = steps[k], steps[abs(d + 1 - k) if k <= d else k - d]
    return (low + other[0], high + other[1]) if k <= d else (low - other[1], high - other[0])


def _twice(tail: Interval) -> Enclosure:
    low, high = quantile(tail)
    return 2 * low, 2 * high
