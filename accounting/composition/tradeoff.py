"""Trade-off curves: the least type II error of a test of neighbours, at each type I error.

*Two directions.* Of the datasets D, D' a test may take either for its null hypothesis. `forward`
rejects D: its type I error is a probability under D, its type II error one under D', T(D, D') in
the words of Dong, Roth, Su ("Gaussian differential privacy", JRSS B 2022). `backward`, T(D', D), is
its inverse. Where they differ an adversary has the smaller, and `hull`, the largest convex and
symmetric function below both, is less than any test attains: it is what an f-DP statement with a
symmetric f says, and has the same content as the privacy profile.

*From profiles.* With d(g) the largest P(S) - g Q(S) over events S, d'(g) the largest Q(S) - g P(S),
g = e^epsilon >= 1, and d'(g) = 1 - g (1 - d(1/g)) for g < 1,

    T(P, Q)(a) = sup over g >= 1 of max(0, 1 - d'(g) - g a, (1 - d(g) - a)/g)

(Wasserman and Zhou, JASA 2010, Theorem 2.4; Dong, Roth, Su, Proposition 2.5). The hull is that of
the larger of d and d' in the place of both.

*Lower bound.* Every epsilon of a grid, with upper bounds of d and d' over all that neighbours may
do, gives a value below.

*Upper bound.* Of one pair that neighbours attain, throughout: where they have a choice, the
supremum over g above is of another pair at each g, and no test need attain it. All g count, also
those between. d is convex in g and does not rise, so it lies above a polygon (`polygon_below`).
Along an edge d' = u - v g both 1 - u + (v - a) g and (1 - u - a)/g + v are monotone in g: the
supremum is attained at a vertex. Beyond the grid the last chord goes on until d' would be 0; there
both fall in g. No test is worse than guessing: T(a) <= 1 - a.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve, frozen
from flint import arb

from ...exact import Enclosure, ExactInput, ParameterError, ball, exact, whole
from ...exact.budget import OutOfTimeError
from ...exact.precision import enclose, working_precision
from ...mechanisms.continuous import continuous
from ...mechanisms.mechanism import Choice, Mechanism, OneWay, either_way
from ...mechanisms.pairs.pair import TwoWayPair
from ..losses.continuous.profile import continuous_loss
from ..scenario import Scenario, Use, scenarios
from ..solve import lists_of
from .curves import (
    MOST_POINTS,
    Composed,
    Curve,
    Profile,
    Vertex,
    balls,
    bounds_between,
    polygon_below,
    profile,
    shade,
)

_BITS = 256
_FINE = 2000  # places where bounds are drawn
_ROUGH = Fraction(1, 100)
_ZERO = Enclosure.exactly(0)

Measure: TypeAlias = Callable[[Sequence[Use]], Composed]
_Ways: TypeAlias = tuple[Profile, Profile]  # of D against D' and of D' against D, on one grid


@frozen(repr=False)
class Tradeoff(Curve):
    """The least type II error of any test of neighbours D and D', at rising type I errors.

    `alphas` are exact probabilities, the others enclosures there: `betas` of the smaller of
    `forward`, T(D, D'), and `backward`, T(D', D); `hull` of the largest convex and symmetric
    function below both. D is the dataset with the user (neighbours add-remove), or column p.

    alphas, betas, forward, backward, hull: the places, and what is known there.

    >>> import exactdp
    >>> curve = exactdp.mechanism("gaussian:sigma=1").tradeoff(["0.1"])
    >>> curve.alphas, curve.betas[0] > "0.6"
    ((Fraction(1, 10),), True)
    """

    names = ("type_1", "type_2")
    places = "type I errors"

    alphas: tuple[Fraction, ...]
    betas: tuple[Enclosure, ...]
    forward: tuple[Enclosure, ...]
    backward: tuple[Enclosure, ...]
    hull: tuple[Enclosure, ...]

    def rows(self) -> list[dict[str, object]]:
        """One row a type I error: type_2, type_2_forward, type_2_backward and symmetric_hull."""
        besides = zip(self.forward, self.backward, self.hull, strict=True)
        names = ("type_2_forward", "type_2_backward", "symmetric_hull")
        return [
            row | dict(zip(names, more, strict=True))
            for row, more in zip(super().rows(), besides, strict=True)
        ]

    def _draw(self, ax: Any) -> None:
        """The type II error against the type I error; guessing, and what is symmetric, beside it.

        Each direction is convex; what is shaded, the smaller of the two, need not be.
        """
        at = np.linspace(float(self.alphas[0]), float(self.alphas[-1]), _FINE)
        errors = [ball(alpha) for alpha in self.alphas]
        forward, backward, hull = (
            bounds_between(at, errors, betas) for betas in (self.forward, self.backward, self.hull)
        )
        shade(ax, at, np.minimum(forward[0], backward[0]), np.minimum(forward[1], backward[1]))
        if self.forward != self.backward:
            for high, style, label in (
                (forward[1], "-.", "D ruled out"),
                (backward[1], (0, (1, 1)), "D\u2032 ruled out"),
                (hull[1], "--", "symmetric convex hull"),
            ):
                ax.plot(at, high, linestyle=style, linewidth=0.8, label=label)
        ax.plot([0, 1], [1, 0], linestyle=":", color="grey", linewidth=1, label="guessing")
        ax.set_xlabel("type I error α")
        ax.set_ylabel("type II error β")
        ax.legend()


def tradeoff(
    uses: Sequence[Use],
    measure: Measure,
    known: Profile,
    alphas: Sequence[ExactInput] | None,
    points: ExactInput,
    width: Fraction,
) -> Tradeoff:
    """The trade-off curves of these uses, at these type I errors.

    None: 0, ..., 1 in `points` steps that are finer near 0, where the curve is steep. measure: of
    uses, what profiles are taken of. known: the profile of these uses, to this width.
    """
    grid = _grid(alphas, points)
    ways, attained = _profiles(uses, measure, known, width)
    with working_precision(_BITS):
        hull = _between((known, known), (known, known), grid)
        forward = _between(ways, attained, grid)
        backward = _between(ways[::-1], attained[::-1], grid)
    both = zip(forward, backward, strict=True)
    betas = tuple(
        Enclosure(min(one.lower, other.lower), min(one.upper, other.upper)) for one, other in both
    )
    return Tradeoff(tuple(grid), betas, forward, backward, hull)


def guessing(alphas: Sequence[ExactInput] | None, points: ExactInput) -> Tradeoff:
    """What holds of every mechanism: no test is worse than guessing."""
    grid = _grid(alphas, points)
    most = tuple(Enclosure(Fraction(0), 1 - alpha) for alpha in grid)
    return Tradeoff(tuple(grid), most, most, most, most)


def _grid(alphas: Sequence[ExactInput] | None, points: ExactInput) -> list[Fraction]:
    if alphas is None:
        count = whole(points, "points", at_least=1, at_most=MOST_POINTS)
        return [Fraction(k * k, count * count) for k in range(count + 1)]
    grid = sorted({exact(alpha, "alpha", at_least=0, at_most=1) for alpha in alphas})
    if not grid:
        raise ParameterError("alphas must hold at least one number")
    return grid


# -- which profiles -------------------------------------------------------------------------------


def _profiles(
    uses: Sequence[Use], measure: Measure, known: Profile, width: Fraction
) -> tuple[_Ways, _Ways]:
    """Of all that neighbours may do, and of one pair that they attain throughout."""
    found = scenarios(uses)
    ways = (known, known)
    if len(found) > 1:
        first, second = (profile(measure(way), known.epsilons, 0, width) for way in found)
        ways = (first, second)
    if _is_one_pair(uses):
        return ways, ways
    none = Profile(known.epsilons, (_ZERO,) * len(known.epsilons))  # where nothing is attained
    ahead_and_back = _attained(uses, measure, known)
    ahead, back = (
        profile(measure(way), known.epsilons, 0, width) if way else none for way in ahead_and_back
    )
    return ways, (ahead, back)


def _is_one_pair(uses: Sequence[Use]) -> bool:
    """Is there nothing to choose for neighbours but which of them is D?"""
    if (lists := lists_of(uses)) is not None:
        return lists.exact is not None and _is_one_pair(lists.exact)
    for mechanism, _ in uses:
        if continuous_loss(mechanism) is None and len(list(islice(mechanism.pairs(), 2))) > 1:
            return False
    return True


def _attained(uses: Sequence[Use], measure: Measure, known: Profile) -> tuple[Scenario, Scenario]:
    """A pair that neighbours attain, for (D, D') and for (D', D), use by use; empty: none known."""
    found = scenarios(uses)[0]
    if (lists := lists_of(found)) is not None:
        middle = known.epsilons[len(known.epsilons) // 2]
        below = list(lists.attained)
        if len(below) > 1:
            with suppress(OutOfTimeError):
                below.sort(key=lambda each: measure(each).delta(middle, _ROUGH).lower)
        found = below[-1] if below else ()
    fixed = [(one_pair(use.mechanism), use.times) for use in found]
    kept = [(pair, times) for pair, times in fixed if pair is not None]
    ahead, back = (tuple(Use(pair[way], times) for pair, times in kept) for way in (0, 1))
    return ahead, back


def one_pair(mechanism: Mechanism) -> tuple[Mechanism, Mechanism] | None:
    """One pair that neighbours attain, and the swapped one; None where nothing is released."""
    inner = either_way(mechanism)
    if (noise := continuous(inner)) is not None:
        inner = evolve(noise, neighbours="add-remove")
    elif continuous_loss(inner) is None:
        pair = next(iter(inner.pairs()), None)
        if pair is None:
            return None
        assert not isinstance(pair, TwoWayPair)  # attained by nobody
        forth, back = Choice((pair,), "add-remove"), Choice((pair.swapped(),), "add-remove")
        return OneWay(forth), OneWay(back)
    return OneWay(inner), OneWay(inner.reversed())


# -- from profiles to errors ----------------------------------------------------------------------


def _between(ways: _Ways, attained: _Ways, grid: Sequence[Fraction]) -> tuple[Enclosure, ...]:
    """T(P, Q) at these type I errors. ways: d and d', whose upper bounds hold of all neighbours;
    attained: those of one pair, whose lower bounds count."""
    odds = [ball(epsilon).exp() for epsilon in ways[0].epsilons]
    tops = [
        [(g, balls(delta)[1]) for g, delta in zip(odds, way.deltas, strict=True)] for way in ways
    ]
    bounds = [[balls(delta) for delta in way.deltas] for way in attained]
    ends = (_vertices(odds, *bounds), _vertices(odds, *bounds[::-1]))
    found = list[Enclosure]()
    for alpha in grid:
        low, high = (enclose(_supremum(alpha, *points)) for points in (tops, ends))
        least = Enclosure(low.lower, 1 - alpha).maximum(_ZERO)
        found.append(least.intersection(Enclosure(Fraction(0), high.upper)))
    return tuple(found)


def _supremum(alpha: Fraction, forth: list[Vertex], back: list[Vertex]) -> arb:
    """Over points (g, d(g)) and (g, d'(g))."""
    a = ball(alpha)
    found = arb(0)
    for g, delta in back:
        found = found.max(1 - delta - g * a)
    for g, delta in forth:
        found = found.max((1 - delta - a) / g)
    return found


def _vertices(
    odds: list[arb], bounds: list[tuple[arb, arb]], other: list[tuple[arb, arb]]
) -> list[Vertex]:
    """Of a polygon below d, from 1 on and beyond the last of the odds. other: bounds of d'.

    Left of 1, d goes on as a convex function of g: at 1/g it is 1 - (1 - d'(g))/g.
    """
    if odds[0] == 1 and len(odds) > 1:
        g, mirrored = odds[1], other[1]
        first = (1 - (1 - mirrored[0]) / g, 1 - (1 - mirrored[1]) / g)
        vertices = polygon_below([1 / g, *odds], [first, *bounds])[2:]  # those from 1 on
    else:  # between 1 and the first of the odds, nothing is known but that d does not rise
        vertices = [(arb(1), bounds[0][0]), *polygon_below(odds, bounds)]
    end, low = odds[-1], bounds[-1][0]
    if len(odds) > 1:
        slope = (low - bounds[-2][1]) / (end - odds[-2])
        if slope >= 0:  # so d stays where it is
            return vertices
        if slope < 0:
            return [*vertices, (end - low / slope, arb(0))]
    return [*vertices, (end, arb(0))]
