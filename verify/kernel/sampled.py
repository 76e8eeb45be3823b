"""Poisson-sampled discrete Gaussian noise: from a verdict to its theorem, at a whole order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ..checker.mechanisms import Mechanism, Sampled, Vector
from .form import Numbers
from .gaussians import MARGIN, are_gaussian, in_nines, log, square
from .verdicted import LEAST_BITS, NotWrittenError, Verdicted, bits

_LARGEST_ORDER = 1_000  # half its square of blends are computed

Uses = Sequence[tuple[Mechanism, int]]


def are_sampled(uses: Uses) -> bool:
    """Does each add discrete Gaussian noise, some to what is known of those who take part?"""
    return not are_gaussian(uses) and all(
        isinstance(one, Sampled) or (isinstance(one, Vector) and one.neighbours == "add-remove")
        for one, _ in uses
    ) and are_gaussian([(_plain(one), times) for one, times in uses])  # fmt: skip


def sampled(uses: Uses, asked: Verdicted, order: Fraction | None) -> str:
    """Its Rényi divergence at a whole order, or (order None) the (epsilon, delta) of the best."""
    if not asked.verified or (order is None and not asked.delta):
        raise NotWrittenError("--coq: no theorem of sampled users but what whole orders imply")
    whole = _best(uses, asked.epsilon) if order is None else order
    if whole.denominator > 1 or not 2 <= whole <= _LARGEST_ORDER:
        raise NotWrittenError(
            f"--coq: no theorem of sampled users but at orders 2, 3, ..., {_LARGEST_ORDER:,}"
        )
    n, a = int(whole), asked.epsilon
    most = 0.0 if order is not None else log(asked.delta)
    found = log_sum(uses, n) - (n - 1) * float(a) if order is not None else _log_delta(uses, a, n)
    if not found + MARGIN * max(1, abs(found)) < most:
        raise NotWrittenError("--coq: no theorem of sampled users but what whole orders imply")
    steepest = max(square(_plain(one)) for one, _ in uses)
    used = sum(times for _, times in uses)
    r = LEAST_BITS + 2 * bits((n - 1) * a) + 2 * bits(n) + 2 * bits(steepest) + bits(used)
    numbers: Numbers = {"U": _in_elevens(uses), **asked.claim, "c": n, "p": 2 * r + 16, "r": r}
    name = "sampled Gaussians" if order is None else "sampled Gaussians, Renyi"
    return asked.write(name, numbers)


def _plain(one: Mechanism) -> Mechanism:
    """The noise on what is known of those who take part."""
    if isinstance(one, Sampled):
        return one.mechanism
    return replace(one, rate=Fraction(1)) if isinstance(one, Vector) else one


def _rate(one: Mechanism) -> Fraction:
    assert isinstance(one, Sampled | Vector)
    return one.rate


def _in_elevens(uses: Uses) -> list[int]:
    """As `sampled_in` of `Laws.v` reads them."""
    nines = in_nines([(_plain(one), times) for one, times in uses])
    rates = [_rate(one).as_integer_ratio() for one, _ in uses]
    return [
        number
        for place, (x, y) in enumerate(rates)
        for number in (nines[9 * place], x, y, *nines[9 * place + 1 : 9 * place + 9])
    ]


def _best(uses: Uses, epsilon: Fraction) -> Fraction:
    """The order of the least delta; its logarithm is convex."""
    low, high = 2, _LARGEST_ORDER
    while low < high:
        middle = (low + high) // 2
        falls = _log_delta(uses, epsilon, middle) > _log_delta(uses, epsilon, middle + 1)
        low, high = (middle + 1, high) if falls else (low, middle)
    return Fraction(low)


def _log_delta(uses: Uses, epsilon: Fraction, n: int) -> float:
    gain = (n - 1) * math.log(n - 1) - n * math.log(n)
    return log_sum(uses, n) - (n - 1) * float(epsilon) + gain


def log_sum(uses: Uses, n: int) -> float:
    """(n - 1) times the divergence of order n of all uses."""
    return math.fsum(times * _log_moment(one, n) for one, times in uses)


def _log_moment(one: Mechanism, n: int) -> float:
    """ln of sum_k C(n, k) q^k (1-q)^(n-k) e^(s k(k-1)/2), which without the e^... is 1."""
    q, s = _rate(one), float(square(_plain(one)))
    if q == 1:
        return s * n * (n - 1) / 2
    takes, leaves = log(q), log(1 - q)

    def term(k: int) -> float:
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        x = s * k * (k - 1) / 2
        return ways + k * takes + (n - k) * leaves + x + math.log(-math.expm1(-x))

    terms = [term(k) for k in range(2, n + 1)]
    top = max(terms)
    more = top + math.log(math.fsum(math.exp(each - top) for each in terms))
    return math.log1p(math.exp(more)) if more < 0 else more + math.log1p(math.exp(-more))
