"""delta(level) of Gaussian uses, sampled or not, from their transforms on one line.

With M the product of all uses' transforms and c > 0 (`losses.composite`),

    delta(level) = (1/2 pi i) int M(s) e^(-s level)/(s (s + 1)) ds,  Re s = c.

*Sums for integrals.* By Poisson summation, equidistant nodes of spacing h = 2 pi/Lambda give the
integral and its aliases e^(c Lambda r) delta(level + r Lambda), r != 0, which are positive and
bounded (`losses.composite.aliases`).

*The far nodes.* From y = Y on |M| is at most D, the product of the parts' `decay`; since |s (s +
1)| >= y^2 and the sum of h/y^2 from Y on is at most 1/(Y - h), they weigh at most e^(-c level)
D/(pi (Y - h)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from flint import acb, arb, ctx

from ....exact.budget import spend
from ....exact.enclosure import Enclosure
from ....exact.errors import DoesNotApplyError
from ....exact.precision import enclose_between
from ....exact.roots import float_root, met_near
from ....losses.planning import Saddle
from ..composite import Together, aliases, period
from .sampled_gaussian import SampledGaussian, powers
from .sampled_noise import LineLaw

Parts: TypeAlias = Sequence[tuple[LineLaw, int]]
Gaussians: TypeAlias = Sequence[tuple[SampledGaussian, int]]
Bounds: TypeAlias = Callable[[arb], tuple[arb, arb]]


_PER_NODE, _PER_TERM = 3e-5, 6e-8  # what nodes and their terms cost, in about seconds
_FEWEST, _MANY, _MOST = 200, 1000, 1 << 26  # nodes
_NEAR = (0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 1.3)  # shares of a saddle point's line
_FAR_MORE = 4  # times the work
_ROUGHLY, _MORE = 2e-3, 0.02  # how near the logarithm of a number of nodes is told; more, for that
_FARTHEST = 1e11  # real parts beyond are not tried
_NEED, _MOST_TERMS = 40.0, 20_000  # nodes on a line, of such an accuracy, that are few enough
_MOST_STEPS = 60
_BESIDE = 1e-7  # of a level, how far beside it a secant begins


class Plan(NamedTuple):
    """A line Re s = c and what to sum on it, chosen in floats: a poor one costs time or width."""

    c: float
    length: float  # Lambda
    sides: tuple[float, float]  # to the left and right of c, for the aliases
    need: float  # how far, in logarithms, what is left out has to be below M(c)
    nodes: int  # until that is reached


def plan(parts: Gaussians, saddle: Saddle, log_width: float) -> Plan:
    """Nodes for a relative width of delta(saddle.level).

    The saddle point's line, or one near it where that needs many nodes: beyond some order the
    transform of a sampled law rises so fast that aliases die out slowly on its left. Raises
    DoesNotApplyError where the transforms take too many nodes of their own.
    """
    if not is_few(parts, saddle.c):
        raise DoesNotApplyError("the transform falls so slowly that it takes too many nodes")
    best = _planned(parts, saddle.c, saddle, log_width)
    for share in _NEAR:
        if best.nodes > _MANY:
            other = _planned(parts, saddle.c * share, saddle, log_width)
            best = min(best, other, key=lambda plan: plan.nodes)
    return best


class Profile:
    """Bounds of delta(level) near one level, at the working precision of its creation.

    work: about how many seconds to take. Raises DoesNotApplyError where that is too little.
    """

    def __init__(self, parts: Gaussians, chosen: Plan, work: float) -> None:
        terms = sum(law.terms(chosen.c, -chosen.need) for law, _ in parts)
        per_node, before = _PER_NODE * len(parts) + _PER_TERM * terms, _PER_NODE * terms
        self.c, count = arb(chosen.c), chosen.nodes
        if count > max(_FEWEST, (work - before) / per_node):
            raise DoesNotApplyError("the transform takes too many nodes")
        if count * per_node + before > _FAR_MORE * work:
            raise DoesNotApplyError("the transform takes too many terms")
        self.spacing = arb(2 * math.pi / chosen.length)
        self.length = 2 * arb.pi() / self.spacing
        end = self.spacing * count
        top, uses = float(end.mid()), sum(times for _, times in parts)
        totals, decay = [acb(1)] * count, arb(1)
        for law, times in parts:
            line = law.line(self.c, -chosen.need - math.log(uses))
            values = line.transforms(self.spacing, count)
            totals = [total * value**times for total, value in zip(totals, values, strict=True)]
            decay *= law.decay(self.c, top * (1 - 2**-40)) ** times
            spend()
        share = self.spacing / arb.pi()
        self.nodes: list[acb] = []
        for j, value in enumerate(totals):
            s = acb(self.c, self.spacing * j)
            self.nodes.append(value * (share if j else share / 2) / (s * (s + 1)))
        self.rest = decay / (arb.pi() * (end - self.spacing))
        composite = Together(tuple(parts))
        self.sizes = {b: composite.transform(acb(b)).real for b in chosen.sides}

    def bounds(self, level: arb) -> tuple[arb, arb]:
        """A lower and an upper bound of delta(level)."""
        spend()
        total, turn = arb(0), acb(0, -self.spacing * level).exp()
        for (wave,), value in zip(powers([turn], len(self.nodes)), self.nodes, strict=True):
            total += (value * wave).real
        unit = (-self.c * level).exp()
        total = unit * total + arb(0, (unit * self.rest).upper())
        lower = total - aliases(self.sizes, self.c, self.length, level)
        return lower.max(arb(0)).lower(), total.min(arb(1)).upper()


def _planned(parts: Gaussians, c: float, saddle: Saddle, log_width: float) -> Plan:
    composite = Together(tuple(parts))
    # delta is about M(c) e^(-c level) times e^scale
    scale = saddle.log_delta - composite.cumulant(c).value + c * saddle.level
    need = max(10.0, 3 - log_width - scale)
    length, sides = period(composite, c, saddle.level, need + 9)

    def rest(log_count: float) -> float:
        return _log_rest(parts, c, 2 * math.pi / length * math.exp(log_count)) + need

    count = math.exp(float_root(rest, 0.0, math.log(_MOST), _ROUGHLY))
    return Plan(c, length, sides, need, math.ceil(count * (1 + _MORE)) + 1)


def _log_rest(parts: Gaussians, c: float, y: float) -> float:
    """How far below M(c) what lies beyond y is, about."""
    return sum(times * law.log_decay(c, y)[0] for law, times in parts) - math.log(y)


def is_few(parts: Parts, c: float) -> bool:
    """Do the transforms on this line need few enough nodes to be worth it?"""
    return c < _FARTHEST and sum(law.terms(c, -_NEED) for law, _ in parts) < _MOST_TERMS


def root(bounds: Bounds, target: arb, start: arb) -> Enclosure:
    """Enclose the least level >= 0 with value <= target > 0; start: about where it is.

    Whatever that is, a level counts as an upper end only where the upper bound is at most the
    target, and as a lower end only where the lower bound is at least that.
    """
    if bounds(arb(0))[1] <= target:
        return Enclosure.exactly(0)
    level, before, fall = start.max(arb(0)).mid(), None, arb(1)
    gap, near = arb(1), arb(2) ** -(ctx.prec - 24)
    for _ in range(12):
        low, high = bounds(level)
        middle = ((low + high) / 2).mid()
        if not middle > 0:
            break
        height, gap = (middle / target).log().mid(), ((high - low) / middle).mid()
        if before is None:  # the first secant, from a point beside the start
            before, level = (level, height), level * (1 + _BESIDE) + _BESIDE
            continue
        if level != before[0] and (secant := (before[1] - height) / (level - before[0])) > 0:
            fall = secant.mid()
        before, level = (level, height), (level + height / fall).max(arb(0)).mid()
        if abs(height) < gap / 4 + near:
            break
    step = (gap / fall + abs(level) * arb(2) ** -(ctx.prec - 16)).mid()
    upper = met_near(lambda at: bool(bounds(at)[1] <= target), level, step, most=_MOST_STEPS)
    lower = met_near(lambda at: bool(bounds(at)[0] >= target), level, -step, most=_MOST_STEPS)
    upper = arb.pos_inf() if upper is None else upper
    return enclose_between(arb(0) if lower is None else lower, upper)
