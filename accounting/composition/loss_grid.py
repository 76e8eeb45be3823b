"""Privacy losses moved onto a grid, pessimistically: for accountants that compute in floats.

*Spreading.* Take P-mass p and Q-mass q whose losses log P/Q lie between two grid points, and give
the points the P-masses a + b = p that keep q = a e^(-low) + b e^(-high). (1 - e^level y)^+ is
convex in y = Q/P, so by Jensen's inequality delta(level) can only grow; and so it does in every
composition, where all other losses may be held fixed (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi,
"Connect the dots", PoPETs 2022: there the chords of the profile). The error is of second order in
the step. More mass, or mass at a larger loss, can only raise delta(level) as well.

*Several pairs* by one that dominates them all (`losses.listed`).

*Mechanisms* loss by loss (`losses.of_pair`) where outcomes are few, else by blocks (`grid.blocks`).

*Composed* in the integers of `grid.weights`, rounded up, not tilted: more mass can only raise
delta, and what is cut off at either end becomes an infinite loss. Where there are too many points,
the mass of every other one is spread to its two neighbours as losses are above, for which the
distances on both sides and the mass are all that counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from attrs import define, field
from flint import arb

from ...exact.budget import spend
from ...exact.enclosure import Endpoint
from ...exact.number import ball
from ...exact.precision import enclose, floor_of
from ...losses.planning import Sketch
from ...mechanisms.laws.closed_forms import table_of
from ...mechanisms.mechanism import AdditiveNoise, Mechanism, ways
from ...mechanisms.pair import Pair
from ...mechanisms.sampled import likewise, unsampled
from ..divergences.finite_sums import is_listed
from ..grid.blocks import BlockLoss
from ..grid.weights import Weights, power
from ..losses.law import Atoms, Lattice
from ..losses.listed import dominating
from ..losses.of_pair import listed_law
from ..losses.product import moved, outcomes
from .composed import Composition


class Grid:
    """The losses k step - shrink |k step|, k an integer, at the working precision.

    A float product k step is at least the loss of k if shrink >= 2^-52; sums of k then stay on the
    safe side, as |k| + |l| >= |k + l|.
    """

    def __init__(self, step: Fraction, shrink: Fraction = Fraction(0)) -> None:
        self.step, self.shrink = step, shrink
        self._steps = ball(step * (1 + shrink)), ball(step), ball(step * (1 - shrink))
        self._odds: dict[int, arb] = {}

    def odds(self, k: int) -> arb:
        """e^loss."""
        if k not in self._odds:
            self._odds[k] = self.loss(k).exp()
        return self._odds[k]

    def loss(self, k: int) -> arb:
        """That of point k."""
        return k * self._steps[(k > 0) - (k < 0) + 1]

    def below(self, loss: Fraction | arb) -> int:
        """Some point that is not above the loss, and the last one but for rounding."""
        if isinstance(loss, Fraction):
            return math.floor(loss / self.step)
        return floor_of((loss / self._steps[1]).lower())

    def above(self, loss: Fraction | arb) -> int:
        """Some point that is not below the loss, and the first one but for rounding."""
        if isinstance(loss, Fraction):
            shrink = self.shrink if loss > 0 else -self.shrink
            return math.ceil(loss / (self.step * (1 - shrink)))
        return -floor_of(-(loss / self._steps[2 if loss > 0 else 0]).upper())


@define
class GridLaw:
    """P-masses of the grid's points, and of an infinite loss."""

    grid: Grid
    masses: dict[int, arb] = field(factory=dict)
    infinite: arb = field(factory=lambda: arb(0))

    def put(self, k: int, mass: arb) -> None:
        """Add to the mass of one point."""
        self.masses[k] = self.masses.get(k, arb(0)) + mass

    def spread(self, p: arb, q: arb, loss: Fraction | arb) -> None:
        """Add outcomes of these P- and Q-masses of one loss.

        A loss that cannot be told from a point stays there with all of p: that is enough if it
        lies below, and more than its share if it lies above.
        """
        low, high = self.grid.below(loss), self.grid.above(loss)
        beside = high - low == 2
        low += beside
        if low == high:
            self.put(low, p)
            return
        near, far = self.grid.odds(low), self.grid.odds(high)
        upper = ((p - q * near) / (1 - near / far)).max(arb(0))
        self.put(high, upper)
        self.put(low, p if beside else (p - upper).max(arb(0)))

    def points(self) -> list[int]:
        """The points that have mass, in rising order."""
        return sorted(self.masses)

    def delta(self, level: arb) -> arb:
        """delta(level)."""
        found = self.infinite
        for k, mass in self.masses.items():
            found += mass * (1 - (level.exp() / self.grid.odds(k))).max(arb(0))
        return found

    def epsilon(self, delta: arb) -> Endpoint:
        """The least level >= 0 at which that is certainly at most delta, rounded up."""
        p, q = self.infinite, arb(0)  # of losses above k
        if not p <= delta:
            return Decimal("Infinity")
        for k in reversed(self.points()):
            odds = self.grid.odds(k)
            if k < 0 or not p - odds * q <= delta:
                break
            p, q = p + self.masses[k], q + self.masses[k] / odds
        return enclose(((p - delta) / q).log().max(arb(0))).upper if p > delta else Fraction(0)


def largest(laws: Sequence[GridLaw]) -> GridLaw:
    """One that dominates these."""
    grid = laws[0].grid
    listed = [
        Atoms([law.masses[k] for k in ks], [grid.loss(k) for k in ks], law.infinite, arb(0))
        for law, ks in ((law, law.points()) for law in laws)
    ]
    return _spread(dominating(listed), grid)


def with_slack(law: GridLaw, slack: arb) -> GridLaw:
    """The law when every event's P and Q are known only up to the slack.

    Then delta <= P - odds Q + slack (1 + odds). The true profile is convex, 1 at odds 0, and falls:
    any chord from there to a bound is above it, and any bound holds from its point on.
    """
    points, values, p, q = law.points(), list[arb](), law.infinite, arb(0)
    for k in reversed(points):  # p and q are of the losses above
        ratio = law.grid.odds(k)
        values.append(p - ratio * q + slack * (1 + ratio))
        p, q = p + law.masses[k], q + law.masses[k] / ratio
    values.reverse()
    if not values:
        return GridLaw(law.grid, infinite=arb(1))
    turn = min(range(len(values)), key=lambda i: values[i].mid())
    start = min(range(turn + 1), key=lambda i: ((values[i] - 1) / law.grid.odds(points[i])).mid())
    return law_of_chords(law.grid, points[start : turn + 1], values[start : turn + 1])


def law_of_chords(grid: Grid, nodes: Sequence[int], values: Sequence[arb]) -> GridLaw:
    """The law with this profile at the nodes, 1 at odds 0, linear in between and constant beyond.

    Where the chords bend the wrong way (by rounding, or where the slack was met carelessly) no
    mass is taken away: the profile is then above them.
    """
    law = GridLaw(grid, infinite=values[-1].min(arb(1)))
    odds = [grid.odds(k) for k in nodes]
    falls = [(1 - values[0]) / odds[0]]
    falls += [
        (near - far) / (there - here)
        for (near, far), (here, there) in zip(pairwise(values), pairwise(odds), strict=True)
    ]
    falls.append(arb(0))
    for k, here, (before, after) in zip(nodes, odds, pairwise(falls), strict=True):
        law.put(k, (here * (before - after)).max(arb(0)))
    return law


_MOST_LISTED = 1 << 21  # of all residues and shifts together
_FEW = 1 << 16  # outcomes of one pair, of which each is listed
_FINE = 512  # times finer than the losses spread blocks are, at least


def dominating_laws(mechanism: Mechanism, grid: Grid, tail: Fraction) -> list[GridLaw]:
    """The loss law that dominates all neighbours; for a user's pair the laws of both directions.

    Every use of a `FinitePair` compares the same two datasets the same way round, so that its
    directions compose apart. Elsewhere neighbours may be met another way each time. Outcomes
    beyond the P-mass `tail` on each side get the largest loss that they may have. At the working
    precision.
    """
    found, log_tail = [], float(ball(tail).log().mid())
    for way in ways(mechanism):
        pairs = list(_pairs(way))
        laws = [_atoms(pair, grid, log_tail) for pair in pairs]
        if not laws:  # nothing tells neighbours apart
            found.append(GridLaw(grid, {0: arb(1)}))
            continue
        law = _spread(laws[0] if len(laws) == 1 else dominating(laws), grid)
        slack = max(pair.slack for pair in pairs)
        found.append(with_slack(law, ball(slack)) if slack else law)
    return found


def _pairs(mechanism: Mechanism) -> Iterable[Pair]:
    inner = unsampled(mechanism)
    noise = inner if isinstance(inner, AdditiveNoise) and table_of(inner.law) is None else None
    if noise is not None and noise.farthest * (noise.modulus or 0) > _MOST_LISTED:
        # the reduction is post-processing
        return likewise(mechanism, AdditiveNoise(noise.law, noise.farthest)).pairs()
    return mechanism.pairs()


def _atoms(pair: Pair, grid: Grid, log_tail: float) -> Atoms:
    """Its losses, or those of blocks of outcomes where these are many."""
    wrapped, blocks = pair.reduced, None
    if wrapped is not None and not is_listed(wrapped):
        pair = pair.unwrapped  # type: ignore[union-attr]
    if outcomes(pair, log_tail) > _FEW:
        blocks = BlockLoss.of(pair, log_tail, 1)
    if blocks is None:
        return listed_law(pair, log_tail)
    spread = math.sqrt(Sketch.of(*blocks.sketch(), 1).cumulant(0.0)[2])
    step = Fraction(2) ** math.floor(math.log2(min(spread / _FINE, float(grid.step) / 8)))
    return moved(blocks, step)


def _spread(atoms: Atoms, grid: Grid) -> GridLaw:
    law = GridLaw(grid, infinite=atoms.escaping() + atoms.missing())
    for mass, loss in zip(atoms.masses, atoms.losses, strict=True):
        law.spread(mass, mass * (-loss).exp(), _exact(loss, atoms.lattice))
    return law


def _exact(loss: arb, lattice: Lattice | None) -> Fraction | arb:
    """As an exact number, where all losses are known to be such."""
    if lattice is None or not isinstance(lattice.unit, Fraction):
        return loss
    first, step = lattice.unit * lattice.origin, lattice.unit * lattice.step
    steps = floor_of(((loss - ball(first)) / ball(step)).mid() + arb(0.5)) if step else 0
    return first + step * steps


MOST_POINTS = 1 << 16
_SPARE_BITS = 72  # below the mass that may be cut off
_SHARE = 64  # so much less is cut off: it takes few more points


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
        one = Weights.of(masses, True, bits, grid.step * stride, Fraction(0), 0)
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
