"""How far apart the aliases of an inversion sum have to lie."""

from __future__ import annotations

import math
from collections.abc import Mapping

from flint import arb

from .composite import Composite, Saddle


def period(composite: Composite, saddle: Saddle, goal: float) -> tuple[float, float, float]:
    """Lambda that makes aliases e^-goal small, and the b to the right and left that prove it.

    An alias at distance Lambda is at most M(b) e^(-b level - |b - c| Lambda), which is compared
    with M(c) e^(-c level). A poor choice here costs width or time only.
    """
    c, level, here = saddle.c, saddle.level, saddle.cumulant.value
    reach = math.sqrt(2 * goal / max(saddle.cumulant.curvature, 1e-300))
    reach = min(reach, 10 * (c + goal))  # where the largest loss is near, the curvature vanishes
    options: list[list[tuple[float, float]]] = [[], []]
    for factor in (0.5, 1.0, 2.0):
        right, left = c + max(reach * factor, 1e-3 * c), max(c - reach * factor, 0.0)
        for found, b in zip(options, (right, left), strict=True):
            there = composite.cumulant(b).value
            rise = there - here - (b - c) * level
            found.append(((rise + goal) / abs(b - c), b))
    right_option, left_option = min(options[0]), min(options[1])
    return max(right_option[0], left_option[0]), right_option[1], left_option[1]


def aliases(sizes: Mapping[float, arb], c: arb, length: arb, level: arb) -> arb:
    """An upper bound of all aliases, Lambda = length apart; sizes: M(b), b to either side of c.

    Those on one side add up to at most M(b) e^(-b level) sum of e^(-|b - c| Lambda r) over r >= 1.
    """
    total = arb(0)
    for b, size in sizes.items():
        decay = (-abs(arb(b) - c) * length).exp()
        total += size * (-b * level).exp() * decay / (1 - decay)
    return total
