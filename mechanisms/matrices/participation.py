"""In which steps a user may take part, and the largest sum of products over all such choices.

The sensitivity of x -> C x, for users whose steps are any pattern p that is allowed and whose
vectors there have norm at most 1, is the supremum of |sum of c_t u_t^T|_F, c_t the columns:

    sens^2 = max over p of max over u of the sum over s, t in p of (c_s . c_t)(u_s . u_t).

Where no product of columns is negative all u may be equal, and it is the largest *sum of products*;
else that of the products without their signs is at least it, and what signs attain (u = +-u_0) at
most.

A user may take part fewer times than is allowed, so that a step counts from which on no more fit.

*The earliest pattern 0, b, 2b, ... is the worst* where products do not rise (a) as both columns
move on by a step, nor (b) as the earlier one moves away from the later: in any pattern the j-th
step is at least jb and at least (j-i)b after the i-th, so that (b) and then (a) lead from each
product to that of the earliest pattern. A lower-triangular Toeplitz matrix whose coefficients are
not negative and do not rise is such (Kalinin, Lampert, arXiv 2405.13763, Theorem 2; McMahan, Xu,
Zhang, arXiv 2408.08868): c_s . c_t is the sum over j < n - t of r_j r_(j+t-s).
"""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ...exact.number import ExactInput, ParameterError, whole

MOST_STEPS = 1 << 40
_MOST_TIMES = 100_000
_MOST_BRANCHES, _MOST_OPEN = 400, 300_000  # of a search
_SLACK = 1e-11  # relative, above what rounding in floats can do to sums of so few terms

_Floats = NDArray[np.float64]


def _steps(value: ExactInput) -> int:
    return whole(value, "steps", at_least=1, at_most=MOST_STEPS)


def _times(value: ExactInput) -> int:
    return whole(value, "participations", at_least=1, at_most=_MOST_TIMES)


def _separation(value: ExactInput) -> int:
    return whole(value, "separation", at_least=1, at_most=MOST_STEPS)


@frozen
class Participation:
    """Up to so many `times` in so many steps, at least (or exactly, if fixed) `separation` apart.

    Raises ParameterError where so many do not fit.
    """

    steps: int = field(converter=_steps)
    times: int = field(converter=_times, default=1)
    separation: int = field(converter=_separation, default=1)
    fixed: bool = False

    def __attrs_post_init__(self) -> None:
        if self.span > self.steps:
            raise ParameterError(
                f"steps must be at least {self.span} for {self.times} participations that are "
                f"{self.separation} apart, got {self.steps}"
            )

    @property
    def span(self) -> int:
        """How many steps the densest pattern takes."""
        return (self.times - 1) * self.separation + 1

    @property
    def earliest(self) -> tuple[int, ...]:
        """0, b, 2b, ..."""
        return self.from_step(0)

    def from_step(self, first: int) -> tuple[int, ...]:
        """The densest pattern from this step on."""
        return tuple(range(first, first + self.span, self.separation))

    @property
    def starts(self) -> range:
        """Where those that are exactly so far apart need to begin, where no product is negative.

        Steps only add: a pattern goes on as often as it may, or to the end, and then begins earlier
        by `separation` while it may. So it has all its steps, or begins before that.
        """
        return range(max(self.steps - self.span + 1, min(self.separation, self.steps)))


def search(products: _Floats, who: Participation) -> tuple[tuple[int, ...], float]:
    """A pattern with nearly the largest sum of these products >= 0, and a bound of all sums.

    The bound is that of a search that branches on the first step, the second one, ...: what up to k
    more steps from s on add is at most 0, or

        V_k(s) = max over t >= s of w(t) + 2 (r_1(t) + ... + r_(k-1)(t)) + V_(k-1)(t + b),

    w(t) the product with itself and twice those with all steps chosen, r_d(t) the largest product
    with a step at least d b later. After many branches the least bound of those left open holds.
    """
    pattern, best = _densest(products, who)
    if who.fixed:
        return pattern, best * (1 + _SLACK)
    n, b, k = who.steps, who.separation, who.times
    later = _later(products, b, k)
    reach = np.cumsum(np.vstack([np.zeros(n), *later]), axis=0) * 2  # r_1 + ... + r_d, twice
    order, branches = count(), count()
    root = _values(np.diagonal(products).copy(), reach, b, k)
    open_ones: list[tuple[float, int, tuple[int, ...], float]] = []
    heapq.heappush(open_ones, (-root[k][0], next(order), (), 0.0))
    while len(open_ones) < _MOST_OPEN and next(branches) < _MOST_BRANCHES:
        if not open_ones or -open_ones[0][0] <= best * (1 + _SLACK):
            return pattern, best * (1 + 2 * _SLACK)
        _, _, chosen, total = heapq.heappop(open_ones)
        if total > best:
            best, pattern = total, chosen
        left = k - len(chosen)
        weights = np.diagonal(products) + 2 * products[list(chosen)].sum(axis=0)
        first = chosen[-1] + b if chosen else 0
        if first >= n:
            continue
        if left == 1:
            step = first + int(weights[first:].argmax())
            found = total + float(weights[step])
            if found > best:
                best, pattern = found, (*chosen, step)
            continue
        values = _values(weights, reach, b, left)
        bounds = weights[first:] + reach[left - 1][first:] + values[left - 1][first + b : n + b]
        for offset in np.flatnonzero(total + bounds > best * (1 + _SLACK)):
            step = first + int(offset)
            bound = total + float(bounds[offset])
            entry = (-bound, next(order), (*chosen, step), total + float(weights[step]))
            heapq.heappush(open_ones, entry)
    most = max(best, -open_ones[0][0]) if open_ones else best
    return pattern, most * (1 + 2 * _SLACK)


def _later(products: _Floats, b: int, k: int) -> list[_Floats]:
    """r_1, ..., r_(k-1)."""
    n = len(products)
    highest = np.maximum.accumulate(products[:, ::-1], axis=1)[:, ::-1]
    found = []
    for d in range(1, k):
        row = np.zeros(n)
        inside = np.arange(n - d * b)
        row[: n - d * b] = highest[inside, inside + d * b]
        found.append(row)
    return found


def _values(weights: _Floats, reach: _Floats, b: int, k: int) -> list[_Floats]:
    """V_0, ..., V_k, each at 0, ..., n + b."""
    n = len(weights)
    found = [np.zeros(n + b + 1)]
    for j in range(1, k + 1):
        here = np.zeros(n + b + 1)
        here[:n] = weights + reach[j - 1] + found[-1][b : n + b]
        found.append(np.maximum.accumulate(here[::-1])[::-1])
    return found


def _densest(products: _Floats, who: Participation) -> tuple[tuple[int, ...], float]:
    """The best of the densest patterns, each as far as it fits, and its sum."""
    n, best = who.steps, (who.earliest, -1.0)
    for first in range(n):
        steps = np.arange(first, min(first + who.span, n), who.separation)
        if (total := float(products[np.ix_(steps, steps)].sum())) > best[1]:
            best = tuple(steps.tolist()), total
    return best
