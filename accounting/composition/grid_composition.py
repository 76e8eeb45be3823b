"""Grid laws composed in integers, rounded up: they dominate the composition, in no floats at all.

The integers are those of `grid.weights`, not tilted: more mass can only raise
delta (`loss_grid`), and what is cut off at either end becomes an infinite loss. Where there are too
many points, the mass of every other one is spread to its two neighbours as losses are in
`loss_grid`, for which the distances on both sides and the mass are all that counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from flint import arb

from ...exact import ball, spend
from ..grid.weights import Weights, power
from .composed import Composition
from .grid_laws import dominating_laws
from .loss_grid import Grid, GridLaw

MOST_POINTS = 1 << 16
_SPARE_BITS = 72  # below the mass that may be cut off
_SHARE = 64  # so much less is cut off: it takes few more points
_FLAT = Fraction(0)


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
    grid = parts[0][0].grid
    bits = _SPARE_BITS + math.ceil(total / tail).bit_length()
    firsts = [min(law.masses, default=0) for law, _ in parts]
    gaps = (k - first for (law, _), first in zip(parts, firsts, strict=True) for k in law.masses)
    stride = math.gcd(*gaps) or 1
    # a law of k uses counts at most total/k times in the end, and at most `levels` are cut for each
    levels = 2 * sum(times.bit_length() for _, times in parts) + len(parts)
    cut = math.floor(tail * 2**bits / (2 * _SHARE * total * levels))  # at either end

    def plus(one: _Sum, other: _Sum) -> _Sum:
        spend()
        (here, count), (there, more) = one, other
        while here.step != there.step or len(here) + len(there) > most:
            step = max(here.step, there.step) * (2 if here.step == there.step else 1)
            here, there = _coarsened(here, step, grid), _coarsened(there, step, grid)
        return _Sum(here.times(there).cut(cut * (count + more)), count + more)

    stay, product = arb(1), None
    for (law, times), first in zip(parts, firsts, strict=True):
        masses = {(k - first) // stride: mass.upper() for k, mass in law.masses.items()}
        one = Weights.of(masses, True, bits, grid.step * stride, _FLAT, 0)
        part = power(_Sum(one, 1), times, plus)
        product = part if product is None else plus(product, part)
        stay *= (1 - law.infinite.upper().min(arb(1))) ** times
    assert product is not None
    found, unit = product.weights, product.weights.untilted(1, arb(0))
    offset = sum(first * times for (_, times), first in zip(parts, firsts, strict=True))
    width = int(found.step / grid.step)
    coeffs = enumerate(map(int, found.masses.coeffs()), start=found.first)
    points = {offset + width * k: (mass * unit).upper() for k, mass in coeffs if mass}
    return GridLaw(grid, points, (1 - stay + found.rest * unit).upper().min(arb(1)))


class _Sum(NamedTuple):
    """The finite losses of so many uses, counted from the least one in steps."""

    weights: Weights
    uses: int


def _coarsened(weights: Weights, step: Fraction, grid: Grid) -> Weights:
    """On every second, fourth ... point, up to this step.

    A point between two at distances D below and U above gives the upper one the share
    (1 - e^-D)/(1 - e^-(D+U)) or more. D is at most gap (1 + shrink), U at least gap (1 -
    shrink), and the share rises with D and falls with U.
    """
    while weights.step < step:
        gap = ball(weights.step)
        share = (-gap * ball(1 + grid.shrink)).expm1() / (-2 * gap).expm1()
        most = share.upper().min(arb(1))
        weights = weights.coarsened((1 - most, most))
    return weights
