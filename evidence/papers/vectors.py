"""What is published of integer vectors with discrete noise: bounds that grow with the dimension or
with |v|_1, and the Gaussian envelope, which does not."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from attrs import frozen

from ...accounting.interop.foreign import published_renyi
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose, refine
from ...mechanisms.additive.reach import Reach
from ...mechanisms.additive.vector import VectorNoise
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from ...mechanisms.laws.gaussian_envelope import unit_parameter
from ...mechanisms.laws.law import Law
from ...mechanisms.laws.skellam import Skellam
from .proofs import Figures, require

_CLIENTS = (16, 100, 1000)
_SHARES = tuple(map(Fraction, ("1/4", "1/2", "1")))
_VARIANCES = (4, 100, 10_000)
_SQUARES = (1, 50, 10_000)  # |v|_2^2
_DIMENSIONS = (1 << 10, 1 << 20)
_ORDERS = (2, 32)
_DEPLOYED = VectorNoise(DiscreteGaussianSum(100, "1/2"), Reach("7.08", dimension=1 << 20))


@frozen
class Point:
    """A published bound, and what is certified.

    ratio: published over certified, in terms of the noise-to-sensitivity ratio; rounded down.
    """

    where: str
    published: Enclosure
    certified: Enclosure
    ratio: float


def gaussians() -> Figures:
    """Sums of discrete Gaussians from clients."""
    deployed = _point(_DEPLOYED, 2)
    require(deployed.ratio > 100, "the published bound is nearer than it was")
    square = _DEPLOYED.reach.largest_square  # at order 2 and variance 50
    own = refine(lambda: ball(Fraction(deployed.certified.upper) * 50 / square).sqrt())
    laws = [DiscreteGaussianSum(count, sigma2) for count, sigma2 in product(_CLIENTS, _SHARES)]
    return {**_certified(laws), "deployed": deployed.ratio, "own": Fraction(own.upper)}


def skellam() -> Figures:
    """Skellam noise."""
    return _certified(map(Skellam, _VARIANCES))


def _certified(laws: Iterable[Law]) -> Figures:
    """Where the envelope is below the bound, which then holds."""
    every = []
    for law, square, dimension, order in product(laws, _SQUARES, _DIMENSIONS, _ORDERS):
        longest = refine(lambda: ball(Fraction(square)).sqrt()).upper  # noqa: B023
        reach = Reach(Fraction(longest), dimension=dimension)
        every.append(_point(VectorNoise(law, reach), order))
    found = [each for each in every if each.certified.at_most(Fraction(each.published.lower))]
    require(bool(found), "the envelope is nowhere below the published bound")
    open_ones = [each for each in every if each not in found]
    return {
        "count": len(every),
        "below": len(found),
        "farthest": max(found, key=lambda each: each.ratio),
        "open": len(open_ones),
        "nearest": min(open_ones, key=lambda each: each.ratio),
    }


def _point(mechanism: VectorNoise, order: int) -> Point:
    """One mechanism at one order."""
    square = mechanism.reach.largest_square
    certified = unit_parameter(mechanism.law)
    bound = refine(lambda: published_renyi(mechanism)(Fraction(order)))
    low, high = (
        order * square * Fraction(end) ** 2 / 2 for end in (certified.lower, certified.upper)
    )
    over = enclose((ball(Fraction(bound.lower)) / ball(high)).sqrt())
    where = f"{mechanism.law}, |v|² = {square}, d = {mechanism.reach.dimension}, order {order}"
    return Point(where, bound, Enclosure(low, high), float(over.lower))
