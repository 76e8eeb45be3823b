"""Laws of a loss on a lattice that lie above and below a profile which is known point by point.

A pair's profile H(g) = sup over S of P(S) - g Q(S) is convex in g >= 0, H(0) = 1, H(g) >= 1 - g. Of
two pairs the one with the larger profile is at least as dear however often both are composed (Zhu,
Dong, Wang 2022). Every convex function between 1 - g and 1 that is 1 at 0 is a profile: its slope
rises at g by the Q-mass of the loss log g; the P-mass is g times that.

*Above*: chords between the points g_i = e^(i step), i = first, ..., last, one from (0, 1) to the
first and a flat line after the last, whose height is an infinite loss of P ("connecting the dots",
Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, 2022). It holds both ways round: profiles of (P, Q)
and (Q, P) determine each other. Q's infinite loss is what its masses lack.

*Below*: a convex function lies above its neighbouring chords, prolonged. With a, b >= 0 by how much
its slope rises at either end of a segment of length w, it is at most w a b/(a + b) below the chord.
Points lowered by the larger of that on both sides have chords that lie below H; so has their lower
convex hull, which goes down to 1 - g on the left and to 0 on the right.

In terms of G(g) = H(g) - 1 + g, which rises from 0 at the slope Q(loss <= log g).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from flint import arb, arb_poly

from ...exact.deadline import check_time
from ...exact.number import ball
from ...exact.precision import floor_of


@dataclass(frozen=True)
class Dots:
    """P-masses at the losses step * (first + i); escaping: at infinity."""

    step: Fraction
    first: int
    masses: list[arb]
    escaping: arb

    def delta(self, level: arb) -> arb:
        """E (1 - e^(level - L))^+, at any real level."""
        start, last = floor_of(level / ball(self.step)) - self.first, len(self.masses) - 1
        best, odds = arb(0), level.exp()
        for i in range(start - 1, start + 3):  # the best event starts there
            p, q = self._tails[min(max(i, 0), last + 1)]
            best = best.max(p - odds * q)
        return (best + self.escaping).min(arb(1))

    @cached_property
    def _tails(self) -> list[tuple[arb, arb]]:
        """P and Q of the i-th loss and all larger ones."""
        h, p, q, found = ball(self.step), arb(0), arb(0), [(arb(0), arb(0))]
        for i in range(len(self.masses) - 1, -1, -1):
            p += self.masses[i]
            q += self.masses[i] * (-h * (self.first + i)).exp()
            found.append((p, q))
        return found[::-1]


def above(step: Fraction, first: int, heights: Sequence[arb], removing: bool) -> Dots:
    """A law that dominates. heights: G at e^(step (first + i)); removing: P first, else Q first."""
    points = [(ball(step) * (first + i)).exp() for i in range(len(heights))]
    slopes = [heights[0] / points[0], *_slopes(points, heights), arb(1)]
    masses = _rises(slopes)
    if removing:
        weighed = [mass * point for mass, point in zip(masses, points, strict=True)]
        return Dots(step, first, weighed, (1 - points[-1] + heights[-1]).max(arb(0)))
    return Dots(step, -(first + len(masses) - 1), masses[::-1], slopes[0].max(arb(0)))


def below(step: Fraction, first: int, heights: Sequence[arb], removing: bool) -> Dots:
    """A law that is dominated. Raises ArithmeticError where the points are too near to a line."""
    count = len(heights)
    points = [(ball(step) * (first + i)).exp() for i in range(count)]
    slopes = _slopes(points, heights)
    rises = [(b - a).max(arb(0)).upper() for a, b in pairwise(slopes)]
    gaps = [arb(0)]  # of the segments that have neighbours on both sides
    for i in range(1, count - 2):
        a, b = rises[i - 1], rises[i]
        both = a + b
        gap = (points[i + 1] - points[i]) * a * b / both if both > 0 else arb(0)
        gaps.append(gap.upper())
    lowered = [
        (heights[i] - gaps[i - 1].max(gaps[min(i, count - 3)])).lower() for i in range(1, count - 1)
    ]
    # lowered[j] belongs to the point j + 1; segments at either end count as the lines 0 and g - 1
    left, right = 1, count - 2
    for i in range(1, count - 1):
        if not lowered[i - 1] > 0:
            left = i + 1
    for i in range(count - 2, left, -1):
        if not lowered[i - 1] > points[i] - 1:
            right = i - 1
    if not left < right:
        raise ArithmeticError("the points are too few for a law below")
    corners = [(left, points[left], arb(0))]
    for i in range(left + 1, right):
        corners.append((i, points[i], lowered[i - 1]))
    corners.append((right, points[right], points[right] - 1))
    hull = _hull(corners)
    slopes = [arb(0), *_slopes([x for _, x, _ in hull], [y for _, _, y in hull]), arb(1)]
    masses = [arb(0)] * (right - left + 1)
    for (i, x, _), mass in zip(hull, _rises(slopes), strict=True):
        masses[i - left] = mass * x if removing else mass
    if removing:
        return Dots(step, first + left, masses, arb(0))
    return Dots(step, -(first + right), masses[::-1], arb(0))


def together(parts: Sequence[tuple[Dots, int]], rest: arb, rising: bool) -> Dots:
    """The sum of independent losses, each so many times, on one lattice.

    rest: so much mass at the ends of a sum may be moved up (rising: an upper bound) or left out.
    """
    total: Dots | None = None
    for law, times in parts:
        power, count = law, times
        while True:
            if count & 1:
                total = power if total is None else _sum(total, power, rest, rising)
            count >>= 1
            if not count:
                break
            power = _sum(power, power, rest, rising)
    assert total is not None
    return total


def _sum(one: Dots, other: Dots, rest: arb, rising: bool) -> Dots:
    check_time()
    product = (arb_poly(one.masses) * arb_poly(other.masses)).coeffs()
    masses = [mass.max(arb(0)) for mass in product]
    escaping = one.escaping + other.escaping - one.escaping * other.escaping
    low, lost = _end(masses, rest)
    high, gone = _end(masses[low:][::-1], rest)
    kept = masses[low : len(masses) - high]
    if rising:
        kept[0] += lost
        escaping += gone
    return Dots(one.step, one.first + other.first + low, kept, escaping)


def _end(masses: Sequence[arb], rest: arb) -> tuple[int, arb]:
    """How many of the first masses weigh at most `rest`, and what they weigh."""
    total = arb(0)
    for i, mass in enumerate(masses[:-1]):
        if not total + mass < rest:
            return i, total
        total += mass
    return len(masses) - 1, total


def _slopes(points: Sequence[arb], heights: Sequence[arb]) -> list[arb]:
    return [
        (heights[i + 1] - heights[i]) / (points[i + 1] - points[i]) for i in range(len(points) - 1)
    ]


def _rises(slopes: Sequence[arb]) -> list[arb]:
    """By how much each slope is above the one before, never negative."""
    return [(b - a).max(arb(0)) for a, b in pairwise(slopes)]


def _hull(corners: Sequence[tuple[int, arb, arb]]) -> list[tuple[int, arb, arb]]:
    """The lower convex hull of points from left to right."""
    hull: list[tuple[int, arb, arb]] = []
    for corner in corners:
        while len(hull) > 1:
            (_, x, y), (_, x1, y1) = hull[-2:]
            turn = (x1 - x) * (corner[2] - y) - (y1 - y) * (corner[1] - x)
            if turn > 0:
                break
            if not turn <= 0:
                raise ArithmeticError("points that lie on a line, as far as can be told")
            hull.pop()
        hull.append(corner)
    return hull
