"""Shuffled bits of two values: what is seen is the number of ones, and others hold 0 or 1.

With a of the others at 0 and the rest at 1, W ones among their reports, the two datasets show W and
one bit more: two sums of independent bits, whose probabilities are convolved. delta is the largest
over a = 0, ..., n - 1, each computed for certain.

*All a of an interval at once.* Of the others at least `low` hold 0 and at least n - 1 - `high` hold
1. An adversary who is told the reports of all the rest knows no less, and what is left does not
depend on a in [low, high]: it bounds delta for all of them. Intervals are halved where that is
more than a value of a that is known to cost nearly as much.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from flint import arb, arb_poly

from ...exact.budget import spend

MOST_USERS = 10_000
_NEAR = 1.002  # times what is attained: so near the bound is to come
_FEW, _MOST_TURNS = 100, 48  # users, of whom all cases are tried; intervals otherwise
_FIRST = 9  # values of a that are tried


class Rates(NamedTuple):
    """The probabilities of reporting 1, of those who hold 0 and of those who hold 1."""

    zero: arb
    one: arb


class _Window(NamedTuple):
    """Probabilities of first, first + 1, ..., and at most how much is missing."""

    first: int
    masses: list[arb]
    missing: arb


def attained_bits(rates: Rates, users: int, odds: arb, log_delta: float) -> arb:
    """What some a attain at e^epsilon = odds, at the working precision; log_delta: about."""
    others, least, worst = users - 1, arb(0), 0
    tried = sorted({others * k // (_FIRST - 1) for k in range(_FIRST)})
    for a in tried:
        found = _cost(rates, a, others - a, odds, log_delta)[0]
        if found > least:
            least, worst = found, a
    step = others // (_FIRST - 1)
    while (step := step // 2) > others // 100:
        for a in (worst - step, worst + step):
            if 0 <= a <= others:
                found = _cost(rates, a, others - a, odds, log_delta)[0]
                if found > least:
                    least, worst = found, a
    return least.lower()


def bound_bits(rates: Rates, users: int, odds: arb, log_delta: float) -> arb:
    """What no a exceeds there."""
    others = users - 1
    goal = attained_bits(rates, users, odds, log_delta) * _NEAR
    turns = _MOST_TURNS if users > _FEW else 4 * users
    heap = [(-1.0, 0, others, arb(1))]
    while turns > 0:
        _, low, high, upper = heap[0]
        if upper <= goal or (low == high and len(heap) > 1) or not upper > 0:
            break
        heapq.heappop(heap)
        middle = (low + high) // 2
        for first, last in dict.fromkeys(((low, middle), (min(middle + 1, high), high))):
            turns -= 1
            upper = _cost(rates, first, others - last, odds, log_delta)[1]
            heapq.heappush(heap, (-float(upper), first, last, upper))
        if low == high:
            break
    most = heap[0][3]
    for _, _, _, upper in heap:
        most = most.max(upper)
    return most.upper()


def _cost(rates: Rates, zeros: int, ones: int, odds: arb, log_delta: float) -> tuple[arb, arb]:
    """Bounds of delta where so many others hold 0 and 1, either way round."""
    spend()
    cut = 40.0 - log_delta
    one, other = _window(zeros, rates.zero, cut), _window(ones, rates.one, cut)
    w = (arb_poly(one.masses) * arb_poly(other.masses)).coeffs()
    missing = one.missing + other.missing
    up = down = arb(0)
    before = arb(0)
    keep_up, move_up = (1 - rates.one) - odds * (1 - rates.zero), rates.one - odds * rates.zero
    keep_down, move_down = (1 - rates.zero) - odds * (1 - rates.one), rates.zero - odds * rates.one
    zero = arb(0)
    for mass in [*w, zero]:
        up += (move_up * before + keep_up * mass).max(zero)
        down += (move_down * before + keep_down * mass).max(zero)
        before = mass
    found = up.max(down)
    # the mass that is left out adds at most itself, and takes at most odds times itself
    return (found.lower() - odds * missing).max(zero).lower(), (found + missing).upper()


def _window(count: int, rate: arb, cut: float) -> _Window:
    """The binomial law, without outcomes of probability below e^-cut or so at either end."""
    if count == 0:
        return _Window(0, [arb(1)], arb(0))
    mode = min(int(float(rate.mid()) * (count + 1)), count)
    odds = rate / (1 - rate)
    ways = (arb(count + 1).lgamma() - arb(mode + 1).lgamma() - arb(count - mode + 1).lgamma()).exp()
    top = ways * rate**mode * (1 - rate) ** (count - mode)
    small = (-arb(cut)).exp()
    above, below = [top], list[arb]()
    missing = arb(0)
    k, mass = mode, top
    while k < count and not mass < small:
        mass *= odds * (count - k) / (k + 1)
        above.append(mass)
        k += 1
    if k < count:
        ratio = odds * (count - k) / (k + 1)
        missing += mass * ratio / (1 - ratio)
    k, mass = mode, top
    while k > 0 and not mass < small:
        mass *= k / (odds * (count - k + 1))
        below.append(mass)
        k -= 1
    if k > 0:
        ratio = k / (odds * (count - k + 1))
        missing += mass * ratio / (1 - ratio)
    return _Window(k, [*reversed(below), *above], missing.upper())
