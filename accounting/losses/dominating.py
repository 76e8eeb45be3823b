"""One pair that dominates several: the least that no adversary can beat who picks among them.

The largest of their privacy profiles is convex in gamma = e^epsilon, hence the profile of some pair
(Zhu, Dong, Wang, AISTATS 2022, Proposition 8). Between points gamma_0 < gamma_1 < ... it lies below
its chords, and the pair with the chords for a profile has the Q-mass by which the slopes differ at
each point, the P-mass gamma times that, and the rest at infinity.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from flint import arb

from ..divergences.privacy_profile import value_at
from .law import Atoms
from .listed import ListedLoss

_APART = 2.0**-40  # points closer than this are one


def dominating(laws: Sequence[Atoms]) -> Atoms:
    """The loss law of a pair that dominates all pairs with these loss laws.

    Exact where one of them dominates the others; otherwise above by what the chords add between
    neighbouring losses.
    """
    points: list[arb] = []  # from the largest loss down: beyond it, the profile is flat
    for loss in sorted((loss.mid() for law in laws for loss in law.losses), key=float)[::-1]:
        if not points or points[-1] - loss > _APART * (1 + abs(loss)):
            points.append(loss)
    points.reverse()
    escaping = reduce(arb.max, (law.escaping() for law in laws))
    missing = reduce(arb.max, (law.missing() for law in laws))
    if not points:  # all losses are infinite, or missing
        known = [law.exactly_escaping for law in laws if law.exactly_escaping is not None]
        exactly = max(known) if len(known) == len(laws) else None
        return Atoms([], [], escaping, missing, exactly_escaping=exactly)
    profiles = [(ListedLoss([(law, 1)]), law.escaping() - escaping) for law in laws]
    heights = [
        reduce(arb.max, (value_at(x, profile.exceeding(x)) + less for profile, less in profiles))
        for x in points
    ]
    gammas = [point.exp() for point in points]
    finite = reduce(arb.max, (profile.p[0] + less for profile, less in profiles))  # at gamma = 0
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
    return Atoms(masses, points, escaping, missing)
