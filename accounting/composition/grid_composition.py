"""Grid laws composed in integers, rounded up: they dominate the composition, in no floats at all.

Masses are integers in units of 2^-bits. Products of polynomials in integers are exact; each
coefficient is then rounded up, and more mass can only raise delta (`loss_grid`). What is cut off on
the right becomes an infinite loss, and on the left it is raised to the first point that is kept.
Where there are too many points, the mass of every other one is spread to its two neighbours as
losses are in `loss_grid`, for which the distances on both sides and the mass are all that counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from flint import arb, fmpz_poly

from ...exact import ball, check_time
from .composed import Composition
from .grid_laws import dominating_laws
from .loss_grid import Grid, GridLaw, cut_off

MOST_POINTS = 1 << 16
_SPARE_BITS = 64  # below the mass that may be cut off


def composition_laws(composition: Composition, grid: Grid, tail: Fraction) -> list[GridLaw]:
    """Laws that dominate all uses together: two where a user's pair has two directions.

    tail: P-mass on either side that may be taken to have the largest possible loss, of all uses.
    """
    each = [
        (dominating_laws(use.mechanism, grid, tail / composition.times), use.times)
        for use in composition.uses
    ]
    return [
        composed([(laws[min(way, len(laws) - 1)], times) for laws, times in each], tail)
        for way in range(max(len(laws) for laws, _ in each))
    ]


def composed(
    parts: Sequence[tuple[GridLaw, int]], tail: Fraction, most: int = MOST_POINTS
) -> GridLaw:
    """The law of the sum of the losses of these laws, each so many times.

    tail: P-mass that may become infinite. Indices k add up, and the losses k step - shrink |k step|
    of the grid with them, on the safe side.
    most: points of two laws that are multiplied; fewer are faster and less narrow.
    """
    total = sum(times for _, times in parts)
    if total == 1:
        return parts[0][0]
    bits = _SPARE_BITS + math.ceil(total / tail).bit_length()
    gaps = (k - min(law.masses) for law, _ in parts for k in law.masses)
    stride = math.gcd(*gaps) or 1
    # a law of k uses counts at most total/k times in the end, and at most `levels` are cut for each
    levels = 2 * sum(times.bit_length() for _, times in parts) + len(parts)
    cut = math.floor(tail * 2**bits / (total * levels))
    product: _Fixed | None = None
    for law, times in parts:
        part = _fixed(law, stride, bits, most).power(times, cut)
        product = part if product is None else product.plus(part, cut)
    assert product is not None
    return product.law()


class _Fixed(NamedTuple):
    """Masses of the points first, first + stride, ..., and of infinity, in units of 2^-bits."""

    grid: Grid
    first: int
    masses: list[int]
    infinite: int
    uses: int
    bits: int
    stride: int
    most: int

    def plus(self, other: _Fixed, cut: int) -> _Fixed:
        """The sum of both losses; cut: the mass that may become infinite for every use."""
        check_time()
        one, other = self, other
        while one.stride != other.stride or len(one.masses) + len(other.masses) > self.most:
            coarser = max(one.stride, other.stride)
            if one.stride == other.stride:
                coarser *= 2
            one, other = one._coarsened(coarser), other._coarsened(coarser)
        product = fmpz_poly(one.masses) * fmpz_poly(other.masses)
        masses = [-(-int(mass) >> self.bits) for mass in product]
        # P(either is infinite), which rises with both
        infinite = one.infinite + other.infinite - (one.infinite * other.infinite >> self.bits)
        uses = one.uses + other.uses
        found = one._replace(
            first=one.first + other.first, masses=masses, infinite=infinite, uses=uses
        )
        return found._trimmed(cut * uses)

    def power(self, times: int, cut: int) -> _Fixed:
        """So many of these losses added up."""
        square, product = self, None
        while True:
            if times & 1:
                product = square if product is None else product.plus(square, cut)
            times >>= 1
            if not times:
                break
            square = square.plus(square, cut)
        assert product is not None
        return product

    def _trimmed(self, most: int) -> _Fixed:
        kept, raised, beyond = cut_off(self.masses, most, 0)
        masses = self.masses[kept]
        if masses:
            masses[0] += raised
        infinite = min(self.infinite + beyond, 1 << self.bits)
        first = self.first + self.stride * kept.start
        return self._replace(first=first, masses=masses, infinite=infinite)

    def _coarsened(self, stride: int) -> _Fixed:
        """On every second, fourth ... point, up to this stride.

        A point between two at distances D below and U above gives the upper one the share
        (1 - e^-D)/(1 - e^-(D+U)) or more. D is at most gap (1 + shrink), U at least gap (1 -
        shrink), and the share rises with D and falls with U.
        """
        if self.stride >= stride:
            return self
        gap = ball(self.grid.step * self.stride)
        share = (-gap * ball(1 + self.grid.shrink)).expm1() / (-2 * gap).expm1()
        part = min(_above(share, self.bits), 1 << self.bits)
        between = self.masses[1::2]
        upper = [-(-mass * part >> self.bits) for mass in between]
        masses = [*self.masses[::2], *([0] if between and not len(self.masses) % 2 else [])]
        for j, (mass, raised) in enumerate(zip(between, upper, strict=True)):
            masses[j] += mass - raised
            masses[j + 1] += raised
        return self._replace(masses=masses, stride=2 * self.stride)._coarsened(stride)

    def law(self) -> GridLaw:
        """As a law on the grid."""
        unit = arb(2) ** -self.bits
        points = range(self.first, self.first + self.stride * len(self.masses), self.stride)
        masses = {k: mass * unit for k, mass in zip(points, self.masses, strict=True) if mass}
        return GridLaw(self.grid, masses, self.infinite * unit)


def _fixed(law: GridLaw, stride: int, bits: int, most: int) -> _Fixed:
    points = law.points()
    masses = [0] * ((points[-1] - points[0]) // stride + 1) if points else []
    for k in points:
        masses[(k - points[0]) // stride] = _above(law.masses[k], bits)
    infinite = min(_above(law.infinite, bits), 1 << bits)
    first = points[0] if points else 0
    return _Fixed(law.grid, first, masses, infinite, 1, bits, stride, most)


def _above(mass: arb, bits: int) -> int:
    """An integer that is not below mass 2^bits."""
    mantissa, exponent = (mass.upper() * arb(2) ** bits).upper().mid().man_exp()
    shift = int(exponent)
    return int(mantissa) << shift if shift >= 0 else -(-int(mantissa) >> -shift)
