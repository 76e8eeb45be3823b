"""Convex functions that do not rise, known at some points: what they are bounded by between them.

The privacy profile, as a function of e^epsilon, and the trade-off curve are such functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from ..exact import Enclosure, ball

Vertex = tuple[arb, arb]


def balls(value: Enclosure) -> tuple[arb, arb]:
    """Both ends of a finite enclosure."""
    return ball(Fraction(value.lower)), ball(Fraction(value.upper))


def polygon_below(xs: Sequence[arb], bounds: Sequence[tuple[arb, arb]]) -> list[Vertex]:
    """Vertices, from left to right, of a polygon below every such function within these bounds.

    xs: rising. bounds: at each of them, a lower and an upper bound of the function f.

    Between x1 < x2, with x0 before and x3 behind: a chord's slope rises along a convex function, so
    f(x) >= f(x1) + (f(x1) - f(x0))/(x1 - x0) (x - x1), and the lower bound at x1 with the upper one
    at x0 makes the right side no larger. From x2 and x3 in the same way, with a slope of at most 0.
    The larger of the two lines has its corner where they meet. Where that place is not certain, or
    there is no x0, the second line alone is taken, from the left end on.
    """
    vertices: list[Vertex] = []
    last = len(xs) - 1
    for i in range(last):
        x1, x2, low1, low2 = xs[i], xs[i + 1], bounds[i][0], bounds[i + 1][0]
        vertices.append((x1, low1))
        right = arb(0)
        if i + 2 <= last:
            right = ((bounds[i + 2][1] - low2) / (xs[i + 2] - x2)).min(right)
        if i > 0:
            left = (low1 - bounds[i - 1][1]) / (x1 - xs[i - 1])
            corner = (low2 - low1 + left * x1 - right * x2) / (left - right)
            if left < right and x1 <= corner <= x2:
                vertices.append((corner, low1 + left * (corner - x1)))
                continue
        vertices.append((x1, low2 - right * (x2 - x1)))
    vertices.append((xs[last], bounds[last][0]))
    return vertices
