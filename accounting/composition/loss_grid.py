"""Privacy losses moved onto a grid, pessimistically: for accountants that compute in floats.

*Moved* by coins (`losses.cells`): the least share of outcomes between two grid points goes to the
upper one that is certain to be enough, so that delta(level) can only grow, and so it does in every
composition (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the dots", PoPETs 2022: there
the chords of the profile). The error is of second order in the step. More mass, or mass at a larger
loss, can only raise delta(level) as well.

*Mechanisms* by what dominates them (`losses.product`).

*Composed* in integers, rounded up: products of polynomials in integers are exact. What is cut off
at either end becomes an infinite loss. Where there are too many points, the mass of every other one
is moved to its two neighbours as losses are above, for which the distances on both sides and the
mass are all that counts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from typing import NamedTuple

from attrs import evolve, frozen
from flint import arb, fmpz, fmpz_poly

from ...exact.budget import spend
from ...exact.number import ball
from ...exact.precision import floor_of
from ...losses.cells import Cell, listed_cells, on_lattice
from ...losses.planning import Sketch
from ...mechanisms.mechanism import Mechanism
from ..losses.law import Atoms
from ..losses.listed import of_profile
from ..losses.product import moved, product_of
from ..scenario import Use, scenarios
from .composed import Composition

_FINE = 512  # times finer than the losses spread blocks are, at least


class GridPLD(NamedTuple):
    """P-masses of losses by how many steps they are, rising; and of an infinite loss."""

    masses: dict[int, arb]
    infinite: arb

    def listed(self, step: Fraction) -> Atoms:
        """The same, loss by loss."""
        losses = [k * ball(step) for k in self.masses]
        return Atoms(list(self.masses.values()), losses, self.infinite, arb(0))


def on_grid(law: Atoms, step: Fraction) -> GridPLD:
    """Multiples of the step that dominate it; losses that are such stay where they are."""
    h, cells, others = ball(step), list[Cell](), list[tuple[arb, arb]]()
    for mass, loss in zip(law.masses, law.losses, strict=True):
        if (loss / h).is_integer():
            k = floor_of(loss / h)
            cells.append(Cell(k, k, mass, mass * (-loss).exp()))
        else:
            others.append((mass, loss))
    cells += listed_cells([mass for mass, _ in others], [loss for _, loss in others], h)
    masses = sorted(on_lattice(cells, h).items())
    return GridPLD({k: mass for k, (mass, _) in masses}, law.escaping() + law.missing())


def with_slack(law: GridPLD, slack: arb, step: Fraction) -> GridPLD:
    """The law when every event's P and Q are known only up to the slack.

    Then delta <= P - odds Q + slack (1 + odds). The true profile is convex, 1 at odds 0, and falls:
    any chord from there to a bound is above it, and any bound holds from its point on.
    """
    if not law.masses:
        return GridPLD({}, arb(1))
    odds = [(k * ball(step)).exp() for k in law.masses]
    values, p, q = list[arb](), law.infinite, arb(0)
    for mass, ratio in zip(reversed(law.masses.values()), reversed(odds), strict=True):
        values.append(p - ratio * q + slack * (1 + ratio))  # p and q are of the losses above
        p, q = p + mass, q + mass / ratio
    values.reverse()
    turn = min(range(len(values)), key=lambda i: values[i].mid())
    start = min(range(turn + 1), key=lambda i: ((values[i] - 1) / odds[i]).mid())
    points = list(law.masses)[start : turn + 1]
    found = of_profile([k * ball(step) for k in points], values[start : turn + 1], arb(1))
    return GridPLD(dict(zip(points, found.masses, strict=True)), values[turn])


def _laws(mechanism: Mechanism, step: Fraction, tail: Fraction) -> list[GridPLD]:
    """The law that dominates all neighbours; for a user's pair the laws of both directions.

    Every use of a `FinitePair` compares the same two datasets the same way round, so that its
    directions compose apart. Elsewhere neighbours may be met another way each time. Outcomes
    beyond the P-mass `tail` on each side get the largest loss that they may have. At the working
    precision.
    """
    found, log_tail = list[GridPLD](), float(ball(tail).log().mid())
    for scenario in scenarios([Use(mechanism, 1)]):
        product = product_of(scenario, log_tail)
        each, slack = product.losses(log_tail), product.charges().slack
        if not each:  # nothing tells neighbours apart
            found.append(GridPLD({0: arb(1)}, arb(0)))
            continue
        parts = list[tuple[GridPLD, int]]()
        for loss, times in each:
            if not isinstance(loss, Atoms):
                spread = math.sqrt(Sketch.of(*loss.sketch(), 1).cumulant(0.0)[2])
                finer = math.floor(math.log2(min(spread / _FINE, float(step) / 8)))
                loss = moved(loss, Fraction(2) ** finer)
            parts.append((on_grid(loss, step), times))
        law = composed(parts, step, tail)
        found.append(with_slack(law, slack, step) if slack > 0 else law)
    return found


MOST_POINTS = 1 << 16
_LONGEST = 1 << 20  # points of one use
_SPARE_BITS = 72  # below the mass that may be cut off
_SHARE = 64  # so much less is cut off: it takes few more points


def composition_laws(composition: Composition, step: Fraction, tail: Fraction) -> list[GridPLD]:
    """Laws that dominate all uses together: two where a user's pair has two directions.

    tail: P-mass on either side that may be taken to have the largest possible loss, of all uses.
    """
    each = [
        (_laws(use.mechanism, step, tail / composition.times), use.times)
        for use in composition.uses
    ]
    return [
        composed([(laws[way % len(laws)], times) for laws, times in each], step, tail)
        for way in range(max(len(laws) for laws, _ in each))
    ]


def composed(parts: Sequence[tuple[GridPLD, int]], step: Fraction, tail: Fraction) -> GridPLD:
    """The law of the sum of the losses of these laws, each so many times.

    tail: P-mass that may become infinite.
    """
    total = sum(times for _, times in parts)
    if total == 1:
        return parts[0][0]
    firsts = [min(law.masses, default=0) for law, _ in parts]
    gaps = (k - first for (law, _), first in zip(parts, firsts, strict=True) for k in law.masses)
    stride = math.gcd(*gaps) or 1
    bits = _SPARE_BITS + math.ceil(total / tail).bit_length()
    # a law of k uses counts at most total/k times in the end, and at most `levels` are cut for each
    levels = 2 * sum(times.bit_length() for _, times in parts) + len(parts)
    cut = math.floor(tail * 2**bits / (2 * _SHARE * total * levels))  # at either end

    def plus(left: _Sum, right: _Sum) -> _Sum:
        spend()
        while left.stride != right.stride or len(left) + len(right) > MOST_POINTS:
            wider = max(left.stride, right.stride) * (2 if left.stride == right.stride else 1)
            left, right = left.coarsened(wider, step), right.coarsened(wider, step)
        return left.plus(right).cut(cut * (left.count + right.count))

    def power(single: _Sum, times: int) -> _Sum:
        if times == 1:
            return single
        half = power(single, times // 2)
        return plus(plus(half, half), single) if times % 2 else plus(half, half)

    stay, sums = arb(1), list[_Sum]()
    for (law, times), first in zip(parts, firsts, strict=True):
        dense = [0] * ((max(law.masses, default=first) - first) // stride + 1)
        if len(dense) > _LONGEST:
            raise ArithmeticError(f"a step so fine needs more than {_LONGEST} points")
        for k, mass in law.masses.items():
            dense[(k - first) // stride] = -floor_of(-(mass * arb(2) ** bits).upper())
        sums.append(power(_Sum(bits, 1, stride, 0, fmpz_poly(dense), 0), times))
        stay *= (1 - law.infinite.upper().min(arb(1))) ** times
    found, unit = reduce(plus, sums), arb(2) ** -bits
    offset = sum(first * times for (_, times), first in zip(parts, firsts, strict=True))
    coeffs = enumerate(map(int, found.masses.coeffs()), start=found.first)
    masses = {offset + found.stride * k: (mass * unit).upper() for k, mass in coeffs if mass}
    return GridPLD(masses, (1 - stay + found.rest * unit).upper().min(arb(1)))


@frozen(eq=False)
class _Sum:
    """The finite losses of so many uses, in strides from the least one, `first` and on; and what
    was cut off, its places forgotten. Masses in units of 2^-bits, rounded up.
    """

    bits: int
    count: int
    stride: int
    first: int
    masses: fmpz_poly
    rest: int

    def __len__(self) -> int:
        return int(self.masses.length())

    def plus(self, other: _Sum) -> _Sum:
        """Of both together, independent."""
        masses, total = self._rounded(self.masses * other.masses), int(self.masses(1))
        rest = self.rest * (int(other.masses(1)) + other.rest) + total * other.rest
        return evolve(
            self,
            count=self.count + other.count,
            first=self.first + other.first,
            masses=masses,
            rest=-(-rest >> self.bits),
        )

    def cut(self, most: int) -> _Sum:
        """Without the points at either end that weigh at most so much."""
        coeffs = self.masses.coeffs()
        low = bisect_right(list(accumulate(coeffs)), most)
        high = len(coeffs) - bisect_right(list(accumulate(coeffs[::-1])), most)
        kept = fmpz_poly(coeffs[low : max(low, high)])
        lost = int(self.masses(1) - kept(1))
        return evolve(self, first=self.first + low, masses=kept, rest=self.rest + lost)

    def coarsened(self, stride: int, step: Fraction) -> _Sum:
        """On every second, fourth ... point, up to this stride.

        A point halfway between two at twice the distance gives the upper one the share (1 -
        e^-gap)/(1 - e^(-2 gap)) or more.
        """
        if self.stride >= stride:
            return self
        gap, odd, coeffs = ball(step * self.stride), self.first % 2, self.masses.coeffs()
        share = ((-gap).expm1() / (-2 * gap).expm1()).upper().min(arb(1))
        below, above = (
            fmpz(-floor_of(-(x * arb(2) ** self.bits).upper())) for x in (1 - share, share)
        )
        between = fmpz_poly(coeffs[1 - odd :: 2])
        moved = self._rounded(between * below + between.left_shift(1) * above)
        masses = fmpz_poly(coeffs[odd::2]).left_shift(odd) + moved
        wider = evolve(self, stride=2 * self.stride, first=self.first // 2, masses=masses)
        return wider.coarsened(stride, step)

    def _rounded(self, masses: fmpz_poly) -> fmpz_poly:
        return -(-masses // fmpz(1 << self.bits))
