"""Privacy losses moved onto a grid, pessimistically: for accountants that compute in floats.

*Spreading.* Take P-mass p and Q-mass q whose losses log P/Q lie between two grid points, and give
the points the P-masses a + b = p that keep q = a e^(-low) + b e^(-high). (1 - e^level y)^+ is
convex in y = Q/P, so by Jensen's inequality delta(level) can only grow; and so it does in every
composition, where all other losses may be held fixed (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi,
"Connect the dots", PoPETs 2022: there the chords of the profile). The error is of second order in
the step. More mass, or mass at a larger loss, can only raise delta(level) as well.

*Several pairs.* The profiles as functions of e^level are convex, and so is the largest of them.
Chords between its values at grid points are above it; the law whose profile they are has at each
point the P-mass e^loss times the change of slope.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from attrs import define, field
from flint import arb

from ...exact.enclosure import Endpoint
from ...exact.number import ball
from ...exact.precision import enclose, floor_of


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
        found = self._odds.get(k)
        if found is None:
            found = self._odds[k] = (k * self._steps[(k > 0) - (k < 0) + 1]).exp()
        return found

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

    def trimmed(self, tail: Fraction) -> GridLaw:
        """Fewer points: up to this mass raised from below them, and as much made infinite."""
        points, most = self.points(), ball(tail)
        low, high, raised, infinite = 0, len(points), arb(0), arb(0)
        while low + 1 < high and raised + self.masses[points[low]] <= most:
            raised += self.masses[points[low]]
            low += 1
        while low + 1 < high and infinite + self.masses[points[high - 1]] <= most:
            high -= 1
            infinite += self.masses[points[high]]
        kept = {k: self.masses[k] for k in points[low:high]}
        law = GridLaw(self.grid, kept, self.infinite + infinite)
        law.put(points[low], raised)
        return law

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


class _Profile:
    """delta at the grid's points, from the masses above each of them."""

    def __init__(self, law: GridLaw) -> None:
        self.law, self.points = law, law.points()
        p, q = [law.infinite], [arb(0)]
        for k in reversed(self.points):
            p.append(p[-1] + law.masses[k])
            q.append(q[-1] + law.masses[k] / law.grid.odds(k))
        self.p, self.q = p[::-1], q[::-1]

    def line(self, k: int) -> tuple[arb, arb]:
        """P and Q of the losses above point k: delta is P - odds Q from here to the next point."""
        place = bisect_right(self.points, k)
        return self.p[place], self.q[place]

    def at(self, k: int) -> arb:
        p, q = self.line(k)
        return p - self.law.grid.odds(k) * q


def largest(laws: Sequence[GridLaw]) -> GridLaw:
    """The law of the largest of these profiles, exact but for one step around each crossing."""
    grid, profiles = laws[0].grid, [_Profile(law) for law in laws]
    values: dict[int, arb] = {}
    winners: dict[int, _Profile] = {}

    def visit(k: int) -> None:
        each = [profile.at(k) for profile in profiles]
        top = reduce(arb.max, each)
        values[k] = top
        winners[k] = next(
            profile for profile, value in zip(profiles, each, strict=True) if not value < top
        )

    for k in set().union(*(profile.points for profile in profiles)):
        visit(k)
    gaps = list(pairwise(sorted(values)))
    while gaps:
        first, last = gaps.pop()
        if last - first > 1 and winners[first] is not winners[last]:
            k = _crossing(grid, winners[first].line(first), winners[last].line(first))
            inner = [place for place in (k, k + 1) if first < place < last]
            for place in inner:
                visit(place)
            gaps += pairwise([first, *inner, last]) if inner else []
    nodes = sorted(values)
    if not nodes:
        return GridLaw(grid, infinite=reduce(arb.max, [law.infinite for law in laws]))
    return law_of_chords(grid, nodes, [values[k] for k in nodes])


def _crossing(grid: Grid, one: tuple[arb, arb], other: tuple[arb, arb]) -> int:
    """About where two lines cross: it only matters for the width."""
    odds = (one[0] - other[0]) / (one[1] - other[1])
    return math.floor(float(odds.log().mid()) / float(grid.step)) if odds > 0 else 0


def with_slack(law: GridLaw, slack: arb) -> GridLaw:
    """The law when every event's P and Q are known only up to the slack.

    Then delta <= P - odds Q + slack (1 + odds). The true profile is convex, 1 at odds 0, and falls:
    any chord from there to a bound is above it, and any bound holds from its point on.
    """
    profile = _Profile(law)
    values = [profile.at(k) + slack * (1 + law.grid.odds(k)) for k in profile.points]
    if not values:
        return GridLaw(law.grid, infinite=arb(1))
    turn = min(range(len(values)), key=lambda i: values[i].mid())
    start = min(
        range(turn + 1), key=lambda i: ((values[i] - 1) / law.grid.odds(profile.points[i])).mid()
    )
    return law_of_chords(law.grid, profile.points[start : turn + 1], values[start : turn + 1])


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
