"""Losses that are few enough to be listed: all values of their sum, and one pair above several.

*One pair that dominates several* is the least that no adversary can beat who picks among them.
The largest of their privacy profiles is convex in gamma = e^epsilon, hence the profile of some pair
(Zhu, Dong, Wang, AISTATS 2022, Proposition 8). Between points gamma_0 < gamma_1 < ... it lies below
its chords, and the pair with the chords for a profile has the Q-mass by which the slopes differ at
each point, the P-mass gamma times that, and the rest at infinity. Between neighbouring losses the
profiles are lines: points are all losses, and where the largest changes in between.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import accumulate, pairwise
from typing import NamedTuple

from attrs import evolve
from flint import arb

from ...exact.budget import spend
from ...exact.number import ball
from ..divergences.privacy_profile import Event, value_at
from .composite import Together
from .law import Atoms

_APART = 2.0**-40  # points closer than this are one
_EACH, _MOST = 10, 300_000  # units of work a profile and point; so many of these at most
_ROUNDED = arb(2) ** -50  # floats order what is farther from it than this, relative to the level


class ListedLoss:
    """All values of a composed loss, at the working precision of its creation.

    Uses of one law are counted outcome by outcome: a multiset of outcomes has a multinomial
    probability, and its loss is the sum of theirs.
    """

    def __init__(self, parts: Sequence[tuple[Atoms, int]]) -> None:
        values = [(arb(1), arb(0))]
        for law, times in parts:
            # outcomes in their order, the last one and its run: masses are divided by run!
            runs = [(0, 0, mass * arb(times).fac(), loss) for mass, loss in values]
            for _ in range(times):
                runs = [
                    (
                        k,
                        (again := run + 1 if k == last else 1),
                        mass * law.masses[k] / again,
                        loss + law.losses[k],
                    )
                    for last, run, mass, loss in runs
                    for k in range(last, len(law))
                ]
            values = [(mass, loss) for *_, mass, loss in runs]
        values.sort(key=lambda value: float(value[1].mid()))
        self.masses = [mass for mass, _ in values]
        self.losses = [loss for _, loss in values]
        self._order = [float(loss.mid()) for loss in self.losses]
        self._widest = 2 * max((loss.rad() for loss in self.losses), default=arb(0)).upper()
        whole = Together(parts)
        self._escaping, self._missing = ball(whole.infinite), whole.missing().upper()
        # p[k] = P(L is one of the values from k on), q likewise under Q = P e^(-L)
        others = [mass * (-loss).exp() for mass, loss in values]
        self.p, self.q = (
            [*accumulate(reversed(some), initial=arb(0))][::-1] for some in (self.masses, others)
        )

    def exceeding(self, level: arb, exact_level: Fraction | None = None) -> Event:
        """The event {L > level}."""
        first = bisect_right(self._order, float(level.mid()))
        excess, clear = self._missing, self._widest + _ROUNDED * (1 + abs(level))
        for indices, sign in ((range(first, len(self.losses)), 1), (range(first - 1, -1, -1), -1)):
            # on either side, as far as the order in floats and the level can be in doubt
            for index in indices:
                gap = self.losses[index] - level
                if sign * gap > clear:
                    break
                if not sign * gap >= 0:
                    excess += (self.masses[index] * (1 - (-gap).exp())).abs_upper()
        return Event(self.p[first] + self._escaping, self.q[first], excess)


class _Height(NamedTuple):
    """The largest profile at a point, and whose it is."""

    at: arb
    value: arb
    top: int


def dominating(laws: Sequence[Atoms]) -> Atoms:
    """The loss law of a pair that dominates all pairs with these loss laws.

    Exact but for losses that are closer than floats tell, or too many.
    """
    points: list[arb] = []  # from the largest loss down: beyond it, the profile is flat
    among = [loss.mid() for law in laws for loss in law.losses]
    for loss in sorted(among, key=lambda loss: float(loss.mid()))[::-1]:
        if not points or points[-1] - loss > _APART * (1 + abs(loss)):
            points.append(loss)
    # chords between fewer points are above as well, if the largest is one of them
    stride = max(math.ceil(len(points) * len(laws) / _MOST), 1)
    points = points[::stride][::-1]
    spend(_EACH * len(points) * len(laws))
    escaping = reduce(arb.max, (law.escaping() for law in laws))
    missing = reduce(arb.max, (law.missing() for law in laws))
    if not points:  # all losses are infinite, or missing
        exactly = [law.infinite for law in laws if isinstance(law.infinite, Fraction)]
        return Atoms([], [], max(exactly) if len(exactly) == len(laws) else escaping, missing)
    profiles = [ListedLoss([(evolve(law, missing=arb(0)), 1)]) for law in laws]

    def height(x: arb) -> _Height:
        values = [value_at(x, profile.exceeding(x)) - escaping for profile in profiles]
        top = max(range(len(values)), key=lambda index: values[index].mid())
        return _Height(x, reduce(arb.max, values), top)

    def crossing(x: arb, two: Sequence[int]) -> arb:
        one, other = (profiles[index].exceeding(x) for index in two)
        return ((one.p - other.p) / (one.q - other.q)).log().mid()

    curve = [height(x) for x in points]
    pending = list(pairwise(curve))
    while pending:
        left, right = pending.pop()
        if left.top == right.top:
            continue
        x = crossing(left.at, (left.top, right.top))
        gap = _APART * (1 + abs(x))
        if left.at + gap < x and x < right.at - gap:
            spend(_EACH * len(laws))
            curve.append(height(x))
            pending += [(left, curve[-1]), (curve[-1], right)]
    curve.sort(key=lambda one: float(one.at.mid()))
    points, heights = [one.at for one in curve], [one.value for one in curve]
    # at gamma = 0
    wholes = (one.p[0] + law.escaping() for one, law in zip(profiles, laws, strict=True))
    found = of_profile(points, heights, reduce(arb.max, wholes) - escaping)
    # rounding may leave a little of the profile beyond the last point
    return evolve(found, infinite=escaping + heights[-1].upper(), missing=missing)


def of_profile(points: Sequence[arb], values: Sequence[arb], whole: arb) -> Atoms:
    """The law of the pair whose profile has these values at the points, `whole` at gamma = 0, and
    is linear in between and constant beyond.

    Where the chords bend the wrong way no mass is taken away: the profile is then above them.
    """
    gammas = [point.exp() for point in points]
    slopes = [
        (before - after) / (right - left)
        for left, right, before, after in zip(
            [arb(0), *gammas], gammas, [whole, *values], values, strict=False
        )
    ]
    masses = [
        (gamma * (slope - after)).max(arb(0))
        for gamma, slope, after in zip(gammas, slopes, [*slopes[1:], arb(0)], strict=True)
    ]
    return Atoms(masses, list(points), values[-1], arb(0))
