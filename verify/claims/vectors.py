"""What is published of integer vectors with discrete noise: bounds that grow with the dimension or
with |v|_1, and the Gaussian envelope, which does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

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
from .finding import Finding, Scope, claim, holds, require

CLIENTS = (16, 100, 1000)
SHARES = tuple(map(Fraction, ("1/4", "1/2", "1")))
VARIANCES = (4, 100, 10_000)
SQUARES = (1, 50, 10_000)  # |v|_2^2
DIMENSIONS = (1 << 10, 1 << 20)
ORDERS = (2, 32)
_DEPLOYED = VectorNoise(DiscreteGaussianSum(100, "1/2"), Reach("7.08", dimension=1 << 20))


class Point(NamedTuple):
    """A published bound, what is certified, and the divergence of a Gaussian of that variance."""

    where: str
    published: Enclosure
    certified: Enclosure
    gaussian: Fraction

    @property
    def ratio(self) -> float:
        """Published over certified, in terms of the noise-to-sensitivity ratio; rounded down."""
        square = ball(Fraction(self.published.lower)) / ball(Fraction(self.certified.upper))
        return float(enclose(square.sqrt()).lower)


def point(mechanism: VectorNoise, variance: Fraction, order: int) -> Point:
    """One mechanism at one order. variance: that of the noise by name."""
    square = mechanism.reach.largest_square
    certified = unit_parameter(mechanism.law)
    bound = refine(lambda: published_renyi(mechanism)(Fraction(order)))
    mu2 = Fraction(certified.upper) ** 2, Fraction(certified.lower) ** 2
    low, high = (order * square * each / 2 for each in reversed(mu2))
    where = f"{mechanism.law}, |v|² = {square}, d = {mechanism.reach.dimension}, order {order}"
    return Point(where, bound, Enclosure(low, high), Fraction(order * square) / variance / 2)


def gaussian_points() -> Iterator[Point]:
    """Sums of discrete Gaussians from clients."""
    grid = product(CLIENTS, SHARES, SQUARES, DIMENSIONS, ORDERS)
    for count, sigma2, square, dimension, order in grid:
        law = DiscreteGaussianSum(count, sigma2)
        yield point(_vector(law, square, dimension), count * sigma2, order)


def skellam_points() -> Iterator[Point]:
    """Skellam noise."""
    for variance, square, dimension, order in product(VARIANCES, SQUARES, DIMENSIONS, ORDERS):
        yield point(_vector(Skellam(variance), square, dimension), Fraction(variance), order)


def _vector(law: Law, square: int, dimension: int) -> VectorNoise:
    longest = refine(lambda: ball(Fraction(square)).sqrt()).upper
    return VectorNoise(law, Reach(Fraction(longest), dimension=dimension))


def _certified(points: Iterable[Point]) -> dict[str, str]:
    """Where the envelope is below the bound, which then holds."""
    every = list(points)
    found = [each for each in every if each.certified.at_most(Fraction(each.published.lower))]
    require(bool(found), "the envelope is nowhere below the published bound")
    farthest = max(found, key=_ratio)
    open_ones = [each for each in every if each not in found]
    evidence = {
        "certified": f"at {len(found)} of {len(every)} points of the grid: there the envelope's "
        "order mu_1² |v|²/2 is at most the published bound",
        "farthest": f"{farthest.ratio:.4g} times as much noise for the same bound, at "
        f"{farthest.where}",
    }
    if open_ones:
        nearest = min(open_ones, key=_ratio)
        evidence["not decided here"] = (
            f"{len(open_ones)} points of little noise, where the published bound is the lower one: "
            f"{nearest.ratio:.6g} times as much noise, at {nearest.where}"
        )
    return evidence


def _ratio(point: Point) -> float:
    return point.ratio


@claim(
    "V-gaussians",
    "Kairouz, Liu, Steinke (ICML 2021), Proposition 14, as google-research/federated computes it",
    "Sums of n discrete Gaussians on integer vectors in d dimensions have Rényi divergence at most "
    "order |v|²/2 n sigma² + tau d, and (order/2)(|v|/sqrt(n) sigma + tau sqrt(d))², tau = "
    "10 sum e^(-2 pi² sigma² k/(k+1)), k = 1, ..., n - 1",
)
def _gaussians() -> Finding:
    deployed = point(_DEPLOYED, Fraction(50), 2)
    require(deployed.ratio > 100, "the published bound is nearer than it was")
    own = refine(lambda: (ball(Fraction(deployed.certified.upper) / deployed.gaussian)).sqrt())
    return holds(
        {
            **_certified(gaussian_points()),
            "at 100 clients of sigma² = 1/2 in 2^20 dimensions": "with as much noise as "
            f"sensitivity the published bound is that of {deployed.ratio:.4g} times less noise "
            f"than what is certified; which is within {float(own.upper):.6g} of Gaussian noise of "
            "the variance n sigma²",
            "not needed": "d: noise and sensitivity alone bound every divergence "
            "(docs/envelope.md)",
        },
        scope=Scope.POINTS,
    )


@claim(
    "V-skellam",
    "Agarwal, Kairouz, Liu (NeurIPS 2021), Theorem 3.5",
    "Skellam noise of variance V on integer vectors has Rényi divergence at most order |v|²/2V + "
    "min{((2 order - 1) |v|² + 6 |v|_1)/4V², 3 |v|_1/2V} at orders 2, 3, ...",
)
def _skellam() -> Finding:
    return holds(
        {
            **_certified(skellam_points()),
            "not needed": "|v|_1: noise and |v|_2 alone bound every divergence (docs/envelope.md)",
        },
        scope=Scope.POINTS,
    )
