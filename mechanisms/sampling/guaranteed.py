"""Mechanisms of which nothing is known but a guarantee: the worst of all that have it.

*Pure and (epsilon, delta)-DP*: randomized response of these numbers; every mechanism that has the
guarantee is post-processing of it (`ResponsePair`). *mu-Gaussian DP*: N(mu, 1) against N(0, 1), by
definition. These are mechanisms like any other, in every list and for sampled users.

*rho-zCDP and Rényi DP of one order* have no worst mechanism. In a list their Rényi divergences are
at most what the guarantee says, and they are dominated by one pair, as follows; N(mu, 1)
against N(0, 1) with mu^2/2 <= rho has the guarantee, and so have some pairs of two outcomes
(`accounting.guarantees`).

*Beyond its order a* a Rényi guarantee, however small, bounds nothing: where dP/dQ is e^k, k >= 1,
with the Q-mass t k^-2 e^(-ak) and both laws are alike elsewhere but for a factor, D_b is infinite
at every b > a, and as t -> 0 D_a becomes as small as is asked, both ways round.

*Privacy profiles* follow from bounds of Rényi divergences, as pairs that dominate.

*From a moment to a point.* Let E R = 1 and E R^a <= A, R = dP/dQ under Q, a > 1. For r > s >= 0 put

    c = 1/(a (r^(a-1) - s^(a-1))),   g = c (a-1) (r^a - s^a).

The convex function f(x) = c x^a - c a s^(a-1) x + c (a-1) s^a of x >= 0 has the tangents x - g at r
and 0 at s, so that (x - g)^+ <= f(x); and the profile H(g) = sup over S of P(S) - g Q(S), which
does not rise in g, is at most

    E f(R) <= c (A + (a-1) s^a - a s^(a-1))   there and beyond.

s = 0 is Proposition 12 of Canonne, Kamath, Steinke (NeurIPS 2020); at the best s some pair of two
outcomes attains it.

*From points to a pair.* H is convex, and that of (P, Q) at 1/g is 1 - 1/g + 1/g times that of
(Q, P) at g, for which the same bounds hold. So H lies below the lower convex hull of what bounds
it at some g and 1/g, from (0, 1) on and flat after the last: the profile of a pair ("connecting
the dots", Doroshenko et al. 2022), which dominates whatever is so bounded, in every list.

Floats choose r and s; what they are worth is told in balls.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from attrs import field, frozen
from flint import arb, ctx
from numpy.typing import NDArray

from ...exact.number import ParameterError, ball, exact
from ...exact.precision import enclose, working_precision
from ...exact.roots import halved
from ...exact.square_root import square_root
from ..bracket import Bracket, Bracketed, RenyiCurve
from ..continuous import ContinuousNoise, Shape
from ..mechanism import Mechanism, RandomizedResponse
from ..pairs.pair import ListedPair, Masses, Steps
from ..sampled import check_neighbours
from .schemes import with_users

KINDS = {
    "pure": ("epsilon",),
    "approx": ("epsilon", "delta"),
    "rdp": ("order", "epsilon"),
    "zcdp": ("rho",),
    "gdp": ("mu",),
}
_WHY = "the worst of all that have the guarantee is not known"
_BITS = 320  # heights and slopes are told apart
_STEPS = 25  # to a standard deviation of the loss, about
_FALL = 0.15  # in steps by which the profile falls less nothing is gained
_LEAST = -58.0  # logarithm of what is left as an infinite loss
_NOTHING = -25.0  # logarithm of an s that is 0, but for rounding
_FARTHEST = 1e12  # level: what is left there counts as an infinite loss
_FINEST = 1e-9  # step: floats tell no finer levels apart
_MOST_PLACES = 2000
_ORDERS, _RATIOS, _DENSITY, _TURNS = 60, 150, 53, 60

_Floats: TypeAlias = NDArray[np.float64]
_Point: TypeAlias = tuple[int, Fraction]
_Corner: TypeAlias = tuple[arb, arb]


@frozen
class ProfilePair(ListedPair):
    """The pair whose profile is h at e^(step k), the same both ways round.

    points: (k, h), k >= 0. It is linear in between; flat after the last.
    """

    step: Fraction
    points: tuple[_Point, ...]

    def masses(self) -> Masses:
        return _masses(self, max(ctx.prec, _BITS))

    def steps(self) -> Steps:
        positive = [k for k, _ in self.points if k]
        centre = [0] if self.points[0][0] == 0 else []
        return Steps(self.step, [None, *(-k for k in reversed(positive)), *centre, *positive, None])

    def swapped(self) -> ProfilePair:
        return self


@lru_cache(maxsize=256)
def _masses(pair: ProfilePair, bits: int) -> Masses:
    """The slope rises at g by the Q-mass there; at 1/g both laws change places."""
    with working_precision(bits):
        corners = _corners(pair.step, pair.points)
        centred, lost = pair.points[0][0] == 0, corners[-1][1]
        slopes = [] if centred else [_crossing(corners[0])]
        slopes += [_slope(left, right) for left, right in pairwise(corners)] + [arb(0)]
        q = [after - before for before, after in pairwise(slopes)]
        p = [mass * g for mass, (g, _) in zip(q, corners[1:] if centred else corners, strict=True)]
        middle = [1 - lost - sum(p, arb(0)) - sum(q, arb(0))] if centred else []
    nothing = arb(0)
    return ([nothing, *reversed(q), *middle, *p, lost], [lost, *reversed(p), *middle, *q, nothing])


@lru_cache(maxsize=64)
def dominating_pair(curve: RenyiCurve) -> ProfilePair:
    """What dominates all pairs whose divergences, both ways round, this curve bounds.

    >>> from fractions import Fraction
    >>> pair = dominating_pair(RenyiCurve(Fraction(1, 10)))
    >>> 0.2 < float(pair.points[0][1]) < 0.21  # delta at its first level, at most
    True
    """
    search = _Search(curve)
    step, chosen = search.chosen()
    with working_precision(_BITS):
        upper: list[_Point] = []
        for k, order, log_r, log_s in chosen:
            height = _height(curve, order, log_r, log_s, (k * ball(step)).exp())
            if height is not None and (not upper or height < upper[-1][1]):
                upper.append((k, height))
        return ProfilePair(step, hull(step, upper))


def _height(
    curve: RenyiCurve, order: Fraction, log_r: Fraction, log_s: Fraction, level: arb
) -> Fraction | None:
    """The bound of H(level) by this moment, r and s; None where these speak of a larger level."""
    a, r, s = ball(order), ball(log_r).exp(), ball(log_s).exp()
    most = curve.at(order)
    if not isinstance(most, Fraction) or not log_s < log_r:
        return None
    far, near = ((a - 1) * ball(log_r)).exp(), ((a - 1) * ball(log_s)).exp()
    c = 1 / (a * (far - near))
    if not c * (a - 1) * (r * far - s * near) <= level:
        return None
    height = c * (((a - 1) * ball(most)).exp() + (a - 1) * s * near - a * near)
    return min(Fraction(enclose(height.upper()).upper), Fraction(1)) if height > 0 else None


def hull(step: Fraction, points: Sequence[_Point]) -> tuple[_Point, ...]:
    """Those that are corners of the lower convex hull of all, and of what mirrors them."""
    kept: list[tuple[_Point, _Corner, arb]] = []  # and the slope that leads to each
    for point, corner in zip(points, _corners(step, points), strict=True):
        slope = _crossing(corner)
        while kept:
            slope = _slope(kept[-1][1], corner)
            if slope > kept[-1][2]:
                break
            kept.pop()
            slope = _crossing(corner)
        kept.append((point, corner, slope))
    return tuple(point for point, _, _ in kept) or ((0, Fraction(1)),)


def _corners(step: Fraction, points: Sequence[_Point]) -> list[_Corner]:
    return [((k * ball(step)).exp(), ball(h)) for k, h in points]


def _slope(left: _Corner, right: _Corner) -> arb:
    return (right[1] - left[1]) / (right[0] - left[0])


def _crossing(corner: _Corner) -> arb:
    """The slope from the point at 1/g that mirrors this one, (1/g, 1 - 1/g + h/g), to it.

    The line is its own mirror image, and passes below the corner of a smaller g just where that is
    none: nothing is computed of 1 - 1/g, which is all but 1.
    """
    g, h = corner
    return -(1 - h) / (g + 1)


class _Search:
    """Which orders, r and s come near to the least bound at each level, in floats."""

    def __init__(self, curve: RenyiCurve) -> None:
        bound = float(curve.bound)
        if curve.order is None:
            self.spread, self.reach = math.sqrt(2 * bound), bound + 2 * math.sqrt(-_LEAST * bound)
            self.bend, self.steepness = 1 / (2 * bound), 0.0  # the best order less 1, at a level
            steepest = self.reach / (2 * bound) + 2
        else:
            self.bend, self.steepness = 0.0, float(curve.order - 1)
            steepest = self.steepness
            self.spread = math.sqrt(2 * bound / float(curve.order))
            self.reach = min(bound - _LEAST / steepest, bound + _FARTHEST)
        self.excess = np.geomspace(min(0.05, steepest / 20), steepest, _ORDERS)  # orders less 1
        orders = [1 + Fraction(excess) for excess in self.excess]
        self.orders = orders if curve.order is None else [min(a, curve.order) for a in orders]
        if curve.order is not None:
            self.orders[-1] = curve.order
        most = [curve.at(a) for a in self.orders]
        self.logs = np.array([m * float(d) for m, d in zip(self.excess, most, strict=True)])

    def chosen(self) -> tuple[Fraction, list[tuple[int, Fraction, Fraction, Fraction]]]:
        """The step, and by its multiples an order, and the logarithms of r and s each."""
        m, log_moment = self.excess[:, None], self.logs[:, None]
        low, high = self.spread / 50, 1.2 * self.reach
        x = np.geomspace(low, high, max(_RATIOS, int(_DENSITY * math.log10(high / low))))[None, :]
        log_p = _weights(m, x, log_moment)
        with np.errstate(all="ignore"):
            log_s = np.log1p(-np.exp(log_p)) - np.log1p(-np.exp(log_p - x))
            free = log_s < _NOTHING  # the moment allows more than these two ratios have
            log_s = np.where(free, -np.inf, log_s)
            log_g = np.log(m / (1 + m)) + x + _log_ratio(m, x - log_s)
            log_h = log_p + np.log(-np.expm1(np.minimum(log_g - x, 0)))
            log_h = np.where(free, log_moment - np.log1p(m) - m * x, log_h)
        step = Fraction(Decimal(f"{max(self.spread / _STEPS, _FINEST):.3g}"))
        places = self._places(float(step))
        levels = np.array([float(k * step) for k in places])
        heights = np.array(
            [np.interp(levels, g, h, math.inf, math.inf) for g, h in zip(log_g, log_h, strict=True)]
        )
        found = []
        for index, (k, row) in enumerate(zip(places, heights.argmin(axis=0), strict=True)):
            best = heights[row, index]
            if math.isfinite(best):
                near = float(np.interp(levels[index], log_g[row], np.maximum(log_s[row], -700)))
                far = _log_r(float(self.excess[row]), float(levels[index]), near)
                found.append((k, self.orders[row], Fraction(far), Fraction(near)))
                if best < _LEAST:
                    break
        return step, found

    def _places(self, step: float) -> list[int]:
        """Multiples of the step: each where two are near, fewer farther out, so many at most."""
        found, least = [0], 1.2 * self.reach / (_MOST_PLACES * step)
        while found[-1] * step < 1.2 * self.reach:
            k = found[-1]
            falls = max(k * step * self.bend, self.steepness, 1e-9)
            found.append(k + max(1, math.floor(min(k / 20, max(least, _FALL / (falls * step))))))
        return found


def _log_r(m: float, level: float, log_s: float) -> float:
    """log r where the bound by order 1 + m speaks of this level, and all above."""
    share = math.log(m / (1 + m))
    left, right = max(level, log_s), level - share + 1e-9

    def speaks_higher(log_r: float) -> bool:
        gap = log_r - log_s
        ratio = math.expm1(-(1 + m) * gap) / math.expm1(-m * gap) if gap else (1 + m) / m
        return not share + log_r + math.log(ratio) <= level

    found = halved(speaks_higher, left, right, _TURNS)[0]
    return found - 1e-13 * max(1.0, found)


def _log_ratio(m: _Floats, gap: _Floats) -> _Floats:
    """log of (1 - e^(-(1 + m) gap))/(1 - e^(-m gap))."""
    with np.errstate(all="ignore"):
        found: _Floats = np.log(np.expm1(-(1 + m) * gap) / np.expm1(-m * gap))
    return found


def _weights(m: _Floats, x: _Floats, log_moment: _Floats) -> _Floats:
    """log p of the two ratios e^x, with probability p under P, and s that have this moment."""
    low, high = np.full(np.broadcast(m, x).shape, -800.0), np.zeros_like(m * x)
    with np.errstate(all="ignore"):
        for _ in range(_TURNS):
            middle = (low + high) / 2
            rest = np.log1p(-np.exp(middle))
            log_s = rest - np.log1p(-np.exp(middle - x))
            logs = np.logaddexp(middle + m * x, rest + m * log_s)
            # a moment near 1, less 1: orders near 1 would lose it in rounding
            gain = np.exp(rest) * np.expm1(m * log_s) + np.where(
                m * x < 1, np.exp(middle) * np.expm1(m * x), np.exp(middle + m * x) - np.exp(middle)
            )
            small = log_moment < 1
            below = np.where(small, gain <= np.expm1(log_moment), logs <= log_moment)
            low, high = np.where(below, middle, low), np.where(below, high, middle)
    return low


def _curve(curve: RenyiCurve) -> RenyiCurve:
    exact(curve.bound, "epsilon" if curve.order else "rho", above=0, at_most=10_000)
    return curve


@frozen
class Guaranteed(Bracketed):
    """Any mechanism whose Rényi divergences this curve bounds, for these neighbours."""

    curve: RenyiCurve = field(converter=_curve)
    neighbours: str = field(default="replace")

    def __attrs_post_init__(self) -> None:
        check_neighbours(self.neighbours, Fraction(1))

    def bracket(self) -> Bracket:
        """A Gaussian that has the guarantee, and what dominates all mechanisms that have it."""
        upper = self.alike(dominating_pair(self.curve))
        return Bracket([self._gaussian()], [upper], curve=self.curve, reason=_WHY)

    def alike(self, pair: Mechanism) -> Mechanism:
        """This pair, which has the guarantee, for the same neighbours."""
        return with_users({"neighbours": self.neighbours}, pair)

    def _gaussian(self) -> Mechanism:
        """N(mu, 1) against N(0, 1) has a mu^2/2 at order a."""
        bound, order = self.curve.bound, self.curve.order
        scale = square_root(1 / (2 * bound) if order is None else order / (2 * bound))
        return ContinuousNoise(Shape.GAUSSIAN, scale, neighbours=self.neighbours)


def read_guarantee(values: Mapping[str, str]) -> Mechanism:
    """The mechanism of `guarantee:KIND:numbers`; claim: KIND:numbers."""
    kind, _, rest = values["claim"].partition(":")
    names, numbers = KINDS.get(kind), rest.split(",")
    if names is None or len(numbers) != len(names):
        forms = ", ".join(f"{one}:{','.join(n.upper() for n in KINDS[one])}" for one in KINDS)
        raise ParameterError(f"claim must be one of {forms}, got {values['claim'][:40]!r}")
    read = {name: number.strip() for name, number in zip(names, numbers, strict=True)}
    if kind in ("pure", "approx"):
        return with_users(values, RandomizedResponse(**read))
    size = {name: exact(number, name, at_least=0) for name, number in read.items()}
    if kind == "gdp":
        if not size["mu"]:
            return with_users(values, RandomizedResponse(0))
        return with_users(values, ContinuousNoise(Shape.GAUSSIAN, Fraction(1), size["mu"]))
    nothing = with_users(values, RandomizedResponse(0))
    if getattr(nothing, "rate", 1) != 1:
        raise ParameterError(
            f"poisson must not be given with {kind}: what it is worth for sampled users does not "
            "follow from it (of pure, approx and gdp it does)"
        )
    order = exact(read["order"], "order", above=1, at_most=10_000) if kind == "rdp" else None
    bound = size["epsilon" if order else "rho"]
    if not bound:
        return nothing
    return Guaranteed(RenyiCurve(bound, order), values.get("neighbours", "replace"))
