"""A pair of laws for a profile that is known from both sides: what composes shuffled reports.

*Above.* All tests of all neighbours, either way round, have P(S) - g Q(S) <= d(g) for each g of a
list: d a bound of delta where g >= 1, and 1 - g + g d(1/g) where g < 1, since the others' tests are
these with the datasets exchanged. The pair whose tests fill that polygon dominates (Blackwell): its
outcomes are the edges of P = min over g of (d(g) + g Q).

*Below.* Some tests are attained, with known power and level, and so are all mixtures of them: the
upper hull of these points, of (0, 0) and of (1, 1), is that of a pair whose outcomes are its edges,
and which neighbours' outputs dominate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

from attrs import frozen
from flint import arb

from ...exact.budget import spend
from ...exact.number import ball
from ...exact.precision import working_precision
from ..pairs.listed_pair import ListedPair, Masses, Swapped
from .shuffled_crowd import Crowd

_DOTS = 64
_NEAR = 40  # dots, every other one of which is measured as nearly as may be
_WIDTH = 1e-3  # of each
_BITS = 128
_LEAST = -46.0  # log of delta beyond which dots are far apart
_TRIES = 40
_ROUGH = 1e-2

Point = tuple[Fraction, Fraction]  # Q and P of a test


class Reports(Protocol):
    """What is asked of shuffled reports: a hashable value (`shuffled.Shuffled`)."""

    def __hash__(self) -> int: ...

    @property
    def users(self) -> int:
        """How many report."""
        ...

    @property
    def mirrored(self) -> bool:
        """Are some datasets attained that are the same with the two values exchanged?"""
        ...

    def worst_attained(self, odds: arb, mirrored: bool = False) -> Crowd:
        """Of those that are attained, about the dearest at e^epsilon = odds."""
        ...

    def at_most(self, odds: arb, width: float) -> arb:
        """No neighbours have a larger delta there."""
        ...

    def near_most(self, odds: arb, width: float) -> arb:
        """The same, and nearer to what is attained where that is known; takes longer."""
        ...

    def largest_odds(self) -> arb | None:
        """At least the largest ratio of what two values report; None where it is infinite."""
        ...


@frozen
class ProfilePair(ListedPair):
    """One use of shuffled reports, from above or from below.

    near: with what takes longer. every: of the places where delta is measured, one of so many.
    """

    shuffled: Reports
    above: bool
    near: bool = False
    every: int = 1

    def masses(self) -> Masses:
        corners = _corners(self.shuffled, self.above, self.near, self.every)
        p = [ball(b[1] - a[1]) for a, b in pairwise(corners)]
        q = [ball(b[0] - a[0]) for a, b in pairwise(corners)]
        return p, q

    def name_of(self, outcome: int) -> str:
        return f"so many reports that the loss is the {outcome + 1}th largest of a list"

    def swapped(self) -> ListedPair:
        """Itself where the polygon is the same for both ways round."""
        return self if self.above or self.shuffled.mirrored else Swapped(self)


@lru_cache(maxsize=32)
def _corners(shuffled: Reports, above: bool, near: bool, every: int) -> list[Point]:
    with working_precision(_BITS):
        levels = _levels(shuffled)
        if above:
            return filled(_bounds(shuffled, levels[::every], near))
        tests = _tests(shuffled, levels, every, False)
        mirrored = _worst(shuffled, levels).mirrored
        return attained(tests, tests if mirrored else _tests(shuffled, levels, every, True))


@lru_cache(maxsize=16)
def _worst(shuffled: Reports, levels: tuple[Fraction, ...]) -> Crowd:
    middle = levels[min(_DOTS // 4, len(levels) - 1)]  # hardly any where reports tell nothing
    return shuffled.worst_attained(ball(middle), shuffled.mirrored)


@lru_cache(maxsize=16)
def _levels(shuffled: Reports) -> tuple[Fraction, ...]:
    """e^epsilon, exact numbers from 1 on: dense where delta counts, sparse beyond."""
    top = shuffled.largest_odds()
    last = Fraction(50) if top is None else Fraction(float(top.log().upper()))
    end = _end(shuffled, last)
    found = [end * k / _DOTS for k in range(_DOTS + 1)]
    while found[-1] < last:
        found.append(min(found[-1] * Fraction(5, 4) + Fraction(1, 100), last))
    return tuple(dict.fromkeys(_rational(ball(level).exp()) for level in found))


def _bounds(shuffled: Reports, levels: Sequence[Fraction], near: bool) -> dict[Fraction, Fraction]:
    """A bound of delta by e^epsilon; 0 where no report has a larger ratio."""
    found = {}
    for place, odds in enumerate(levels):
        spend()
        found[odds] = _bound(shuffled, odds, near and place < _NEAR and place % 2 == 0)
    top = shuffled.largest_odds()
    if top is not None:
        found[_up(top) + Fraction(1, 1 << 60)] = Fraction(0)
    return found


@lru_cache(maxsize=1024)  # what ends early goes on from here
def _bound(shuffled: Reports, odds: Fraction, near: bool) -> Fraction:
    measure = shuffled.near_most if near else shuffled.at_most
    return _up(measure(ball(odds), _WIDTH))


def _tests(
    shuffled: Reports, levels: tuple[Fraction, ...], every: int, swapped: bool
) -> list[Point]:
    found = list[Point]()
    for place in range(0, len(levels), every):
        spend()
        found += _test(shuffled, levels, place, swapped)
    return found


@lru_cache(maxsize=1024)
def _test(
    shuffled: Reports, levels: tuple[Fraction, ...], place: int, swapped: bool
) -> tuple[Point, ...]:
    crowd = _worst(shuffled, levels)
    crowd = crowd.swapped() if swapped else crowd
    test = crowd.measured(shuffled.users, ball(levels[place]), _WIDTH)
    return ((_up(test.level), -_up(-test.power)),) if test.lower > 0 else ()


def _end(shuffled: Reports, last: Fraction) -> Fraction:
    """Where delta is about e^_LEAST."""
    low, high = Fraction(0), last
    for _ in range(_TRIES):
        middle = (low + high) / 2
        low, high = (low, middle) if _is_small(shuffled, middle) else (middle, high)
        if high - low < high / 16:
            break
    return high


@lru_cache(maxsize=256)
def _is_small(shuffled: Reports, epsilon: Fraction) -> bool:
    upper = shuffled.at_most(ball(epsilon).exp(), _ROUGH)
    return not upper > 0 or float(upper.log().mid()) < _LEAST


def _rational(value: arb) -> Fraction:
    mantissa, exponent = map(int, value.mid().man_exp())
    return Fraction(mantissa) * Fraction(2) ** exponent


def _up(value: arb) -> Fraction:
    """Not below the ball."""
    return _rational(value.upper())


def filled(bounds: Mapping[Fraction, Fraction]) -> list[Point]:
    """The corners of P = min(1, d(g) + g Q), Q rising from 0 to 1."""
    lines = dict(bounds)
    lines |= {1 / odds: 1 - (1 - most) / odds for odds, most in bounds.items() if odds > 1}
    lines[Fraction(0)] = Fraction(1)
    hull: list[tuple[Fraction, Fraction]] = []  # slopes falling, of the lower envelope
    for slope in sorted(lines, reverse=True):
        height = lines[slope]
        while hull and hull[-1][1] >= height:
            hull.pop()
        while len(hull) >= 2 and _meet(hull[-2], hull[-1]) >= _meet(hull[-1], (slope, height)):
            hull.pop()
        hull.append((slope, height))
    # lines of smaller slope lie higher at Q = 0
    corners = [(Fraction(0), hull[0][1])]
    for one, other in pairwise(hull):
        at = _meet(one, other)
        if at > 1:
            break
        corners.append((at, one[1] + one[0] * at))
    if corners[0][1]:
        corners.insert(0, (Fraction(0), Fraction(0)))
    if corners[-1][0] < 1:
        corners.append((Fraction(1), Fraction(1)))
    return corners


def _meet(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> Fraction:
    """Where two lines, by slope and height at 0, are equal."""
    return (other[1] - one[1]) / (one[0] - other[0])


def attained(tests: Sequence[Point], exchanged: Sequence[Point]) -> list[Point]:
    """The corners of the upper hull of these tests, and of others with the datasets exchanged."""
    points = set(tests) | {(1 - power, 1 - level) for level, power in exchanged}
    points = {(level, power) for level, power in points if power > level}
    points |= {(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))}
    hull: list[Point] = []
    for q, p in sorted(points):
        while len(hull) >= 2 and not _turns_right(hull[-2], hull[-1], (q, p)):
            hull.pop()
        hull.append((q, p))
    return hull


def _turns_right(a: Point, b: Point, c: Point) -> bool:
    return (b[1] - a[1]) * (c[0] - b[0]) > (c[1] - b[1]) * (b[0] - a[0])
