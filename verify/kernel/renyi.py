"""Rényi divergences and zero-concentrated privacy: from a verdict to its theorem.

Of one use, of lists of discrete Gaussian noise on numbers and vectors, and of the same of
Poisson-sampled users, at a whole order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from ...exact.number import log_about
from ...exact.roots import first_met, halved
from ..checker.laws import DiscreteGaussian
from ..checker.mechanisms import Additive, Mechanism, Response, Sampled, TwoLaws, Vector
from ..checker.reach import Reach
from .verdicted import (
    FAR_BITS,
    LEAST_BITS,
    NotWrittenError,
    Verdicted,
    bits,
    columns,
    quotient,
    squared,
    unknown,
)

_LARGEST_ORDER = 2_000  # c of an order c/o: c^c is computed
_LARGEST_SAMPLED = 1_000  # the same of sampled users: half its square of blends are computed
_MARGIN = 1e-9  # of a logarithm in floating point: it chooses an order, the proof decides

Uses: TypeAlias = Sequence[tuple[Mechanism, int]]


def concentrated(asked: Verdicted, mechanism: Mechanism) -> str:
    """rho = K Delta^2/(2 sigma2) of discrete Gaussian noise used K times, exactly."""
    uses = "" if asked.times == 1 else ", K uses"
    return asked.write(f"discrete Gaussian{uses}, zero-concentrated", _gaussian(mechanism))


def renyi(asked: Verdicted, mechanism: Mechanism, order: Fraction) -> str:
    """At one order, of K uses: K times as much as of one."""
    at = quotient("co", order)
    match mechanism:
        case Response(delta=0) if mechanism.epsilon:
            numbers = at | _precision(asked, order, 2 * order * mechanism.epsilon)
            return asked.write(
                "randomized response, Renyi", numbers | quotient("ef", mechanism.epsilon)
            )
        case TwoLaws(slack=0) if order.denominator == 1 and all(mechanism.p + mechanism.q):
            if asked.verified and not asked.epsilon:  # the proof rounds each quotient up
                raise NotWrittenError("--coq: no theorem of a Rényi divergence of 0")
            numbers = at | _precision(asked, order, Fraction(0))
            return asked.write("pair of tables, Renyi", {**numbers, **columns(mechanism)})
    numbers = at | _gaussian(mechanism)
    assert isinstance(mechanism, Additive) and isinstance(mechanism.law, DiscreteGaussian)
    moved = order * mechanism.sensitivity
    most = asked.times * moved * mechanism.sensitivity / (2 * mechanism.law.sigma2)
    # a divergence is its bound where order Delta is whole, and less elsewhere
    if asked.verified != (most <= asked.epsilon) or not (asked.verified or moved.denominator == 1):
        raise NotWrittenError("--coq: no theorem between a Rényi divergence and its bound")
    return asked.write("discrete Gaussian, Renyi", numbers)


def _gaussian(noise: Mechanism) -> dict[str, int]:
    if not isinstance(noise, Additive) or noise.modulus is not None:
        raise unknown()
    if not isinstance(noise.law, DiscreteGaussian):
        raise unknown()
    return quotient("tu", noise.law.sigma2) | {"s": noise.sensitivity}


def _precision(asked: Verdicted, order: Fraction, exponent: Fraction) -> dict[str, int]:
    """Of e^x for all x up to the exponent and the claim's, as much as one use's share needs."""
    near = bits(asked.times / ((order - 1) * asked.room)) if asked.room else FAR_BITS
    return squared(near + 2 * bits(exponent + (order - 1) * asked.epsilon / asked.times) + 20)


def are_gaussian(uses: Uses) -> bool:
    """Does each add discrete Gaussian noise, to a number or to what is no more than a vector?"""
    return all(_is_gaussian(mechanism) for mechanism, _ in uses)


def _is_gaussian(one: Mechanism) -> bool:
    if not isinstance(one, Additive | Vector) or one.modulus is not None:
        return False
    whole = isinstance(one, Additive) or (isinstance(one.reach, Reach) and one.rate == 1)
    return whole and isinstance(one.law, DiscreteGaussian)


def listed(uses: Uses, asked: Verdicted, order: Fraction | None) -> str:
    """A list's rho (order None), or its Rényi divergence: the sums of what all uses cost."""
    if not are_gaussian(uses):
        raise unknown()
    costs = _rho(uses) if asked.verified else _attained(uses, order or Fraction(2))
    if ((order or 1) * costs <= asked.epsilon) is not asked.verified:
        raise NotWrittenError("--coq: no theorem between a list's Rényi divergence and its bound")
    name = "zero-concentrated" if order is None else "Renyi"
    at = quotient("co", order or Fraction(1))
    return asked.write(f"list of Gaussians, {name}", {"V": _in_nines(uses), **at})


def converted(uses: Uses, asked: Verdicted) -> str:
    """(epsilon, delta) of a list by its rho, at the order that is best for it."""
    rho = _rho(uses)
    order = _order(float(rho), asked) if asked.delta else None
    if not asked.verified or order is None:
        raise NotWrittenError(
            "--coq: no theorem of (epsilon, delta) of such noise but what its rho implies"
        )
    at = quotient("co", order)
    exponent = (at["c"] - at["o"]) * abs(asked.epsilon - order * rho)
    hints = at | squared(LEAST_BITS + 2 * bits(exponent))
    return asked.write("list of Gaussians", {"V": _in_nines(uses), **hints})


def _in_nines(uses: Uses) -> list[int]:
    """As `vectors_in` of `Laws.v` reads them; a number is a vector of one coordinate."""
    numbers = []
    for mechanism, times in uses:
        reach = _reach(mechanism)
        sigma2 = mechanism.law.sigma2  # type: ignore[attr-defined]
        bounds = [(each or Fraction(0)).as_integer_ratio() for each in (reach.l2, reach.l1)]
        largest = [int(each or 0) for each in (reach.linf, reach.dimension)]
        numbers += [times, *sigma2.as_integer_ratio(), *bounds[0], *bounds[1], *largest]
    return numbers


def _reach(mechanism: Mechanism) -> Reach:
    if isinstance(mechanism, Additive):
        return Reach(linf=Fraction(mechanism.sensitivity), dimension=1)
    assert isinstance(mechanism, Vector) and isinstance(mechanism.reach, Reach)
    return mechanism.reach


def _steepness(mechanism: Mechanism, square: int | None = None) -> Fraction:
    """A vector's square, by default the longest one's, over sigma2: 2 rho of one use."""
    longest = _reach(mechanism).largest_square if square is None else square
    return longest / Fraction(mechanism.law.sigma2)  # type: ignore[attr-defined]


def _rho(uses: Uses) -> Fraction:
    return sum((times * _steepness(one) for one, times in uses), Fraction(0)) / 2


def _attained(uses: Uses, order: Fraction) -> Fraction:
    """The same of vectors that are within reach, and that this order times is whole."""
    total = Fraction(0)
    for mechanism, times in uses:
        best = max(_candidates(_reach(mechanism)), key=_square)
        if any((order * move).denominator > 1 for move in best):
            raise NotWrittenError(
                "--coq: no theorem that refutes at an order that misses whole numbers"
            )
        total += times * _steepness(mechanism, _square(best))
    return total / 2


def _candidates(reach: Reach) -> list[dict[int, int]]:
    """Of which the theorem takes the longest: how many coordinates of which size."""
    far, most = reach.farthest, reach.largest_square
    ways = (
        None if reach.l1 is None else math.floor(reach.l1),
        None if reach.dimension is None else reach.dimension * far,
    )
    full, left = divmod(min((each for each in ways if each is not None), default=most), far)
    packed = {far: full, left: 1} if 0 < left < far else {far: full}
    found = (packed, {1: most}, {far: 1})
    return [each for each in found if reach.contains(each)]


def _square(counts: dict[int, int]) -> int:
    return sum(count * move**2 for move, count in counts.items())


def _order(rho: float, asked: Verdicted) -> Fraction | None:
    """A short order at which rho gives delta; ln delta is convex in the order, least at a root."""
    epsilon, most = float(asked.epsilon), log_about(asked.delta)

    def slope(order: float) -> float:
        return (2 * order - 1) * rho - epsilon + math.log1p(-1 / order)

    low, _ = halved(lambda order: slope(order) >= 0, 1 + 1e-9, float(_LARGEST_ORDER), 200)
    for o in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        c = min(max(o + 1, round(low * o)), _LARGEST_ORDER)
        if c <= o:
            break
        a = c / o
        log = (a - 1) * (a * rho - epsilon) + (a - 1) * math.log(a - 1) - a * math.log(a)
        if log + _MARGIN * max(1, abs(log)) < most:
            return Fraction(c, o)
    return None


def are_sampled(uses: Uses) -> bool:
    """Does each add discrete Gaussian noise, some to what is known of those who take part?"""
    return not are_gaussian(uses) and all(
        isinstance(use, Sampled) or (isinstance(use, Vector) and use.neighbours == "add-remove")
        for use, _ in uses
    ) and are_gaussian([(plain(use), times) for use, times in uses])  # fmt: skip


def sampled(uses: Uses, asked: Verdicted, order: Fraction | None) -> str:
    """Its Rényi divergence at a whole order, or (order None) the (epsilon, delta) of the best."""
    if not asked.verified or (order is None and not asked.delta):
        raise NotWrittenError("--coq: no theorem of sampled users but what whole orders imply")
    whole = _best(uses, asked.epsilon) if order is None else order
    if whole.denominator > 1 or not 2 <= whole <= _LARGEST_SAMPLED:
        raise NotWrittenError(
            f"--coq: no theorem of sampled users but at orders 2, 3, ..., {_LARGEST_SAMPLED:,}"
        )
    n, a = int(whole), asked.epsilon
    most = 0.0 if order is not None else log_about(asked.delta)
    found = log_sum(uses, n) - (n - 1) * float(a) if order is not None else _log_delta(uses, a, n)
    if not found + _MARGIN * max(1, abs(found)) < most:
        raise NotWrittenError("--coq: no theorem of sampled users but what whole orders imply")
    steepest = max(_steepness(plain(one)) for one, _ in uses)
    used = sum(times for _, times in uses)
    r = LEAST_BITS + 2 * bits((n - 1) * a) + 2 * bits(n) + 2 * bits(steepest) + bits(used)
    name = "sampled Gaussians" if order is None else "sampled Gaussians, Renyi"
    return asked.write(name, {"U": _in_elevens(uses), "c": n, **squared(r)})


def plain(one: Mechanism) -> Mechanism:
    """The noise on what is known of those who take part."""
    if isinstance(one, Sampled):
        return one.mechanism
    return replace(one, rate=Fraction(1)) if isinstance(one, Vector) else one


def _rate(one: Mechanism) -> Fraction:
    assert isinstance(one, Sampled | Vector)
    return one.rate


def _in_elevens(uses: Uses) -> list[int]:
    """As `sampled_in` of `Laws.v` reads them."""
    nines = _in_nines([(plain(one), times) for one, times in uses])
    rates = [_rate(one).as_integer_ratio() for one, _ in uses]
    return [
        number
        for place, (x, y) in enumerate(rates)
        for number in (nines[9 * place], x, y, *nines[9 * place + 1 : 9 * place + 9])
    ]


def _best(uses: Uses, epsilon: Fraction) -> Fraction:
    """The order of the least delta; its logarithm is convex."""

    def rises(n: int) -> bool:
        return _log_delta(uses, epsilon, n) <= _log_delta(uses, epsilon, n + 1)

    return Fraction(first_met(rises, 1, _LARGEST_SAMPLED))


def _log_delta(uses: Uses, epsilon: Fraction, n: int) -> float:
    gain = (n - 1) * math.log(n - 1) - n * math.log(n)
    return log_sum(uses, n) - (n - 1) * float(epsilon) + gain


def log_sum(uses: Uses, n: int) -> float:
    """(n - 1) times the divergence of order n of all uses."""
    return math.fsum(times * _log_moment(one, n) for one, times in uses)


def _log_moment(one: Mechanism, n: int) -> float:
    """ln of sum_k C(n, k) q^k (1-q)^(n-k) e^(s k(k-1)/2), which without the e^... is 1."""
    q, s = _rate(one), float(_steepness(plain(one)))
    if q == 1:
        return s * n * (n - 1) / 2
    takes, leaves = log_about(q), log_about(1 - q)

    def term(k: int) -> float:
        ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        x = s * k * (k - 1) / 2
        return ways + k * takes + (n - k) * leaves + x + math.log(-math.expm1(-x))

    terms = [term(k) for k in range(2, n + 1)]
    top = max(terms)
    more = top + math.log(math.fsum(math.exp(each - top) for each in terms))
    return math.log1p(math.exp(more)) if more < 0 else more + math.log1p(math.exp(-more))
