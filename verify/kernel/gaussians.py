"""Lists of discrete Gaussian noise on numbers and vectors: from a verdict to its theorem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ..checker.laws import DiscreteGaussian
from ..checker.mechanisms import Additive, Mechanism, Vector
from ..checker.reach import Reach
from .form import Numbers
from .verdicted import LEAST_BITS, NotWrittenError, Verdicted, bits, unknown

_LARGEST_ORDER = 2_000  # c of an order c/o: c^c is computed
MARGIN = 1e-9  # of a logarithm in floating point: it chooses an order, the proof decides


def are_gaussian(uses: Sequence[tuple[Mechanism, int]]) -> bool:
    """Does each add discrete Gaussian noise, to a number or to what is no more than a vector?"""
    return all(_is_gaussian(mechanism) for mechanism, _ in uses)


def _is_gaussian(one: Mechanism) -> bool:
    if not isinstance(one, Additive | Vector) or one.modulus is not None:
        return False
    whole = isinstance(one, Additive) or (isinstance(one.reach, Reach) and one.rate == 1)
    return whole and isinstance(one.law, DiscreteGaussian)


def listed(uses: Sequence[tuple[Mechanism, int]], asked: Verdicted, order: Fraction | None) -> str:
    """A list's rho (order None), or its Rényi divergence: the sums of what all uses cost."""
    if not are_gaussian(uses):
        raise unknown()
    a, b = asked.epsilon.as_integer_ratio()
    numbers: Numbers = {"V": in_nines(uses), "a": a, "b": b}
    factor, name = Fraction(1) if order is None else order, "zero-concentrated"
    if order is not None:
        c, o = order.as_integer_ratio()
        numbers, name = {**numbers, "c": c, "o": o}, "Renyi"
    costs = _rho(uses) if asked.verified else _attained(uses, order or Fraction(2))
    if (factor * costs <= asked.epsilon) is not asked.verified:
        raise NotWrittenError("--coq: no theorem between a list's Rényi divergence and its bound")
    return asked.write(f"list of Gaussians, {name}", numbers)


def converted(uses: Sequence[tuple[Mechanism, int]], asked: Verdicted) -> str:
    """(epsilon, delta) of a list by its rho, at the order that is best for it."""
    rho = _rho(uses)
    order = _order(float(rho), float(asked.epsilon), log(asked.delta)) if asked.delta else None
    if not asked.verified or order is None:
        raise NotWrittenError(
            "--coq: no theorem of (epsilon, delta) of such noise but what its rho implies"
        )
    c, o = order.as_integer_ratio()
    exponent = (c - o) * abs(asked.epsilon - order * rho)
    r = LEAST_BITS + 2 * bits(exponent)
    hints = {"c": c, "o": o, "p": 2 * r + 16, "r": r}
    return asked.write("list of Gaussians", {"V": in_nines(uses), **asked.claim, **hints})


def in_nines(uses: Sequence[tuple[Mechanism, int]]) -> list[int]:
    """As `vectors_in` of `Laws.v` reads them; a number is a vector of one coordinate."""
    numbers = []
    for mechanism, times in uses:
        reach = _reach(mechanism)
        sigma2 = mechanism.law.sigma2  # type: ignore[union-attr]
        bounds = [(each or Fraction(0)).as_integer_ratio() for each in (reach.l2, reach.l1)]
        largest = [int(each or 0) for each in (reach.linf, reach.dimension)]
        numbers += [times, *sigma2.as_integer_ratio(), *bounds[0], *bounds[1], *largest]
    return numbers


def _reach(mechanism: Mechanism) -> Reach:
    if isinstance(mechanism, Additive):
        return Reach(linf=Fraction(mechanism.sensitivity), dimension=1)
    assert isinstance(mechanism, Vector) and isinstance(mechanism.reach, Reach)
    return mechanism.reach


def _summed(uses: Sequence[tuple[Mechanism, int]], squares: Sequence[int]) -> Fraction:
    shares = (
        times * square / (2 * mechanism.law.sigma2)  # type: ignore[union-attr]
        for (mechanism, times), square in zip(uses, squares, strict=True)
    )
    return sum(shares, Fraction(0))


def square(mechanism: Mechanism) -> Fraction:
    """The longest vector's square over sigma2: 2 rho of one use."""
    return _summed([(mechanism, 2)], [_reach(mechanism).largest_square])


def _rho(uses: Sequence[tuple[Mechanism, int]]) -> Fraction:
    return _summed(uses, [_reach(mechanism).largest_square for mechanism, _ in uses])


def _attained(uses: Sequence[tuple[Mechanism, int]], order: Fraction) -> Fraction:
    """The same of vectors that are within reach, and that this order times is whole."""
    squares = []
    for mechanism, _ in uses:
        best = max(_candidates(_reach(mechanism)), key=_square)
        if any((order * move).denominator > 1 for move in best):
            raise NotWrittenError(
                "--coq: no theorem that refutes at an order that misses whole numbers"
            )
        squares.append(_square(best))
    return _summed(uses, squares)


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


def log(number: Fraction) -> float:
    """Its logarithm, also where it is too small or too large for a float."""
    return math.log(number.numerator) - math.log(number.denominator)


def _order(rho: float, epsilon: float, log_delta: float) -> Fraction | None:
    """A short order at which rho gives delta; ln delta is convex in the order, least at a root."""

    def slope(order: float) -> float:
        return (2 * order - 1) * rho - epsilon + math.log1p(-1 / order)

    low, high = 1 + 1e-9, float(_LARGEST_ORDER)
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    for o in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        c = min(max(o + 1, round(low * o)), _LARGEST_ORDER)
        if c <= o:
            break
        a = c / o
        log = (a - 1) * (a * rho - epsilon) + (a - 1) * math.log(a - 1) - a * math.log(a)
        if log + MARGIN * max(1, abs(log)) < log_delta:
            return Fraction(c, o)
    return None
