"""One pair that dominates several: the least that no adversary can beat who picks among them.

The largest of their privacy profiles is convex in gamma = e^epsilon, hence the profile of some pair
(Zhu, Dong, Wang, AISTATS 2022, Proposition 8). Between points gamma_0 < gamma_1 < ... it lies below
its chords, and the pair with the chords for a profile has the Q-mass by which the slopes differ at
each point, the P-mass gamma times that, and the rest at infinity. Between neighbouring losses the
profiles are lines: points are all losses, and where the largest changes in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

from attrs import evolve
from flint import arb

from ...exact.budget import spend
from ..divergences.privacy_profile import value_at
from .law import Atoms
from .listed import ListedLoss

_APART = 2.0**-40  # points closer than this are one
_FEW = 1  # losses that need no points of their own
_EACH, _MOST = 10, 300_000  # units of work a profile and point; so many of these at most


class _Height(NamedTuple):
    """The largest profile at a point, and whose it is."""

    at: arb
    value: arb
    top: int


def dominating(laws: Sequence[Atoms]) -> Atoms:
    """The loss law of a pair that dominates all pairs with these loss laws.

    Exact but for losses that are closer than floats tell, or too many.
    """
    regular = _regular(laws)
    points: list[arb] = []  # from the largest loss down: beyond it, the profile is flat
    among = [loss if regular else loss.mid() for law in regular or laws for loss in law.losses]
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
        known = [law.exactly_escaping for law in laws if law.exactly_escaping is not None]
        exactly = max(known) if len(known) == len(laws) else None
        return Atoms([], [], escaping, missing, exactly_escaping=exactly)
    profiles = [ListedLoss([(evolve(law, missing=arb(0)), 1)]) for law in laws]

    def height(x: arb) -> _Height:
        values = [value_at(x, profile.exceeding(x)) - escaping for profile in profiles]
        top = max(range(len(values)), key=lambda index: values[index].mid())
        return _Height(x, reduce(arb.max, values), top)

    def crossing(x: arb, two: Sequence[int]) -> arb:
        one, other = (profiles[index].exceeding(x) for index in two)
        return ((one.p - other.p) / (one.q - other.q)).log().mid()

    curve = [height(x) for x in points]
    pending = [] if regular else list(pairwise(curve))
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
    gammas = [point.exp() for point in points]
    # at gamma = 0
    wholes = (one.p[0] + law.escaping() for one, law in zip(profiles, laws, strict=True))
    finite = reduce(arb.max, wholes) - escaping
    slopes = [
        (before - after) / (right - left)
        for left, right, before, after in zip(
            [arb(0), *gammas], gammas, [finite, *heights], heights, strict=False
        )
    ]
    masses = [
        (gamma * (slope - after)).max(arb(0))
        for gamma, slope, after in zip(gammas, slopes, [*slopes[1:], arb(0)], strict=True)
    ]
    # rounding may leave a little of the profile beyond the last point
    escaping += heights[-1].upper() if heights else arb(0)
    lattice = regular[0].lattice if regular else None
    return Atoms(masses, points, escaping, missing, lattice)


def _regular(laws: Sequence[Atoms]) -> list[Atoms]:
    """The one law on a lattice, where the others have few losses, none of them larger.

    Its losses alone are enough for points: the sum of losses then stays on the lattice.
    """
    found = [law for law in laws if law.lattice is not None and len(law) > _FEW]
    others = [law for law in laws if law not in found]
    if len(found) != 1 or any(len(law) > _FEW for law in others):
        return []
    highest = max(loss.lower() for loss in found[0].losses)
    return found if all(loss < highest for law in others for loss in law.losses) else []
