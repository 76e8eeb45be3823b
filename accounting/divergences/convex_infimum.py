"""inf over x > 0 of f(x) + tilt x + h(x), with h(x) = x log x - (1 + x) log(1 + x).

f >= 0 is convex and monotone, and known at points only. Both ways between a Rényi curve and
(epsilon, delta) are of this form (`conversion`).

*Above*: the value at any point.
*Below*: a convex f lies above the line through two of its points, outside the stretch between
them. So on the stretch between two neighbouring points it is above a line from the left and a line
from the right, nearly equal to it where the points are close together. For a line the infimum is
known: h is convex with h' = -log(1 + 1/x), so s x + h(x) is least at x = 1/(e^s - 1), where it is
log(1 - e^-s), if s > 0, and falls for ever if s <= 0.

Where to look next is chosen in floats: a poor choice costs time or width, never soundness.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from flint import arb

from ...exact import Enclosure, ball
from ...exact.roots import float_root

_MOST_ROUNDS = 100
_PATIENCE = 6  # rounds that do not halve the gap: then f is not known well enough
_STRIDE = 64.0  # how far beyond all points the next one may lie
_FARTHEST = 2.0**120
_NEAREST = Fraction(1, 1 << 46)  # points are kept apart by this much of their size
_INFINITE = Decimal("Infinity")

Values: TypeAlias = Callable[[Sequence[Fraction]], Sequence[Enclosure]]
_Steepest: TypeAlias = Callable[[Sequence[Fraction]], Fraction]  # max or min


class Infimum(NamedTuple):
    """lower <= infimum <= upper, which is the value at x (None: finite nowhere it was tried)."""

    lower: arb
    upper: arb
    x: Fraction | None


class _Point(NamedTuple):
    """low <= f(x) <= high; high is None where f is not known to be finite."""

    x: Fraction
    low: Fraction
    high: Fraction | None


class _Line(NamedTuple):
    """y + slope (. - x), below f on the stretch that it was drawn for."""

    x: Fraction
    y: Fraction
    slope: Fraction

    def at(self, x: Fraction) -> Fraction:
        return self.y + self.slope * (x - self.x)


_ZERO = _Line(Fraction(0), Fraction(0), Fraction(0))  # f >= 0


class _Bound(NamedTuple):
    """A lower bound of the objective (an exact number or -inf), and about where it is attained:
    at x, on the stretch [low, high] between neighbouring points.
    """

    value: arb
    x: float
    low: float = 0.0
    high: float = math.inf


def infimum(
    values: Values,
    tilt: arb,
    *,
    falls: bool,
    at_zero: Enclosure | None,
    tolerance: Callable[[arb], arb],
) -> Infimum:
    """Enclose the infimum at the working precision.

    values: enclosures of f at exact points x > 0; falls: f is non-increasing (otherwise it is
    non-decreasing); at_zero: its limit there, where known; tolerance: given the upper end, how far
    below it the lower end may be. The result is wider where f is not known well enough.
    """
    search = _Search(tilt, falls)
    if at_zero is not None:
        search.add(Fraction(0), at_zero)
    fresh, best, gap, slow = [Fraction(1)], arb.neg_inf(), arb.pos_inf(), 0
    for _ in range(_MOST_ROUNDS):
        for x, value in zip(fresh, values(fresh), strict=True):
            search.add(x, value)
        allowed, lower = tolerance(search.upper).max(search.blur()), search.lower()
        best = best.max(lower.value)
        before, gap = gap, search.upper - best
        slow = slow + 1 if gap.is_finite() and not 2 * gap < before else 0
        if search.best is not None and gap <= allowed:
            break
        wanted = [search.next_points(lower, float(allowed), thorough) for thorough in (False, True)]
        fresh = (not slow and search.unknown(wanted[0])) or search.unknown(wanted[1])
        if slow > _PATIENCE or not fresh:
            break
    return Infimum(best.min(search.upper), search.upper, search.best)


class _Search:
    """The points known so far, and the bounds that follow from them."""

    points: list[_Point]
    infinite: list[Fraction]
    best: Fraction | None

    def __init__(self, tilt: arb, falls: bool) -> None:
        self.tilt, self.falls = tilt, falls
        self.points, self.infinite = [], []
        self.upper, self.best = arb.pos_inf(), None

    def add(self, x: Fraction, value: Enclosure) -> None:
        if value.lower == _INFINITE:
            self.infinite.append(x)
            return
        high = None if value.upper == _INFINITE else Fraction(value.upper)
        self.points.append(_Point(x, Fraction(value.lower), high))
        self.points.sort(key=lambda point: point.x)
        if high is not None:
            found = ball(high) + self.tilt * ball(x) + _h(x)
            if found.is_finite() and found.upper() < self.upper:
                self.upper, self.best = found.upper(), x

    def blur(self) -> arb:
        """A gap that more points would hardly narrow: three times that of f at the best one."""
        widths = [p.high - p.low for p in self.points if p.high is not None and p.x == self.best]
        return 3 * ball(max(widths, default=Fraction(0)))

    def unknown(self, wanted: Iterable[Fraction]) -> list[Fraction]:
        """Those that are not known already, or nearly."""
        known = [*(point.x for point in self.points), *self.infinite]
        fresh: list[Fraction] = []
        for x in wanted:
            if all(abs(x - y) > _NEAREST * x for y in (*known, *fresh)):
                fresh.append(x)
        return fresh

    def domain(self) -> tuple[Fraction, Fraction | None]:
        """Outside of it f is infinite: by monotony beyond any point where it is."""
        if self.falls:
            return max(self.infinite, default=Fraction(0)), None
        return Fraction(0), min(self.infinite, default=None)

    def lower(self) -> _Bound:
        """The least bound over all stretches, the two at the ends of the domain included."""
        first, last = self.domain()
        least: _Bound | None = None
        for index in range(len(self.points) + 1):
            before, after = self.points[:index], self.points[index:]
            low = before[-1].x if before else first
            high = after[0].x if after else last
            if high is not None and high <= low:
                continue
            bound = self._between(before, after, low, high)
            if least is None or bound.value < least.value:
                least = bound._replace(
                    low=float(low), high=math.inf if high is None else float(high)
                )
        return least if least is not None else _Bound(arb.neg_inf(), 1.0)

    def _between(
        self,
        before: Sequence[_Point],
        after: Sequence[_Point],
        low: Fraction,
        high: Fraction | None,
    ) -> _Bound:
        """Bound the objective on [low, high] by two lines, each where it is the higher one."""
        left = self._line(before[::-1], max, not self.falls)
        right = self._line(after, min, self.falls)
        one, other = (_least(line, self.tilt, low, high) for line in (left, right))
        best = other if one.value < other.value else one
        if high is None or left.slope == right.slope:
            return best
        crossing = low + _rounded((left.at(low) - right.at(low)) / (right.slope - left.slope))
        if not low < crossing < high:
            return best
        one = _least(left, self.tilt, low, crossing)
        other = _least(right, self.tilt, crossing, high)
        lesser = one if one.value < other.value else other
        return lesser if best.value < lesser.value else best

    def _line(self, near: Sequence[_Point], steepest: _Steepest, is_flat_above: bool) -> _Line:
        """Below f, through the lower end of the nearest point, away from all of these points.

        near: from the nearest one on. Of its lines through the upper ends of the others the
        steepest; without enclosures that would be the one with the next point. is_flat_above: the
        line at its own height is below f as well.
        """
        if not near:
            return _ZERO
        x, y, _ = near[0]
        slopes = [(y - p.high) / (x - p.x) for p in _some(near[1:]) if p.high is not None]
        slopes += [Fraction(0)] * is_flat_above
        return _Line(x, y, steepest(slopes)) if slopes else _ZERO

    def next_points(self, lower: _Bound, allowed: float, thorough: bool) -> list[Fraction]:
        """Around the minimum of a model of f, and where the lower bound is least.

        thorough: halve the stretches that matter as well, where the model does not serve.
        """
        finite = [point for point in self.points if point.high is not None and point.x]
        if not finite:
            return self._nearer_to_finite()
        index = min(range(len(finite)), key=lambda i: abs(finite[i].x - (self.best or 0)))
        here = float(finite[index].x)
        low, high = self._bracket(finite, index)
        near = finite[max(0, min(index - 1, len(finite) - 3)) :][:3]
        model = Model.through([(point.x, _middle(point)) for point in near], self.falls)
        tilt = float(self.tilt)
        x = math.exp(
            float_root(
                lambda log_x: model.slope(math.exp(log_x)) + tilt - math.log1p(math.exp(-log_x)),
                math.log(low),
                math.log(high),
            )
        )
        side = x / 4
        if len(finite) > 1:
            side = min(side, max(model.spacing(x, allowed), abs(x - here) / 8))
        edges = [float(finite[0].x) / 4, 4 * float(finite[-1].x)]
        wanted = [x - side, x, x + side, min(max(lower.x, edges[0]), edges[1])]
        if thorough or len(finite) == 2:
            wanted += [(low + here) / 2, (here + high) / 2, (lower.low + lower.high) / 2]
        low, high = min(low, lower.low), max(high, lower.high)
        return [Fraction(x) for x in wanted if low < x < min(high, _FARTHEST)]

    def _nearer_to_finite(self) -> list[Fraction]:
        known = [*self.infinite, *(point.x for point in self.points if point.x)]
        if len(known) > _PATIENCE:
            return []
        stride = Fraction(_STRIDE)
        return [max(known) * stride if self.falls else min(known) / stride]

    def _bracket(self, finite: Sequence[_Point], index: int) -> tuple[float, float]:
        """The neighbours of the best point, or how far beyond all points to go."""
        first, last = self.domain()
        x = float(finite[index].x)
        stride = _STRIDE if len(finite) > 1 else _FARTHEST
        low = float(finite[index - 1].x) if index else max(float(first), x / stride)
        if index + 1 < len(finite):
            high = float(finite[index + 1].x)
        else:
            high = x * stride if last is None else min(float(last), x * stride)
        return max(low, 1 / _FARTHEST), min(high, _FARTHEST)


def _least(line: _Line, tilt: arb, low: Fraction, high: Fraction | None) -> _Bound:
    """Bound line(x) + tilt x + h(x) from below on [low, high]."""

    def at(x: Fraction) -> _Bound:
        return _Bound(_floor(ball(line.at(x)) + tilt * ball(x) + _h(x)), float(x))

    total = tilt + ball(line.slope)
    if total > 0:
        where = 1 / total.expm1()
        if where < ball(low):
            return at(low)
        if high is not None and where > ball(high):
            return at(high)
        free = ball(line.at(Fraction(0))) + (-(-total).expm1()).log()
        return _Bound(_floor(free), float(where))
    if high is None:
        return _Bound(arb.neg_inf(), _FARTHEST)
    if total <= 0:
        return at(high)
    # The line and h, which falls, are each at least what they are at an end.
    ends = [ball(line.at(x)) + tilt * ball(x) for x in (low, high)]
    return _Bound(_floor(ends[0].min(ends[1]) + _h(high)), float(high))


def _h(x: Fraction) -> arb:
    """x log x - (1 + x) log(1 + x), continued by 0."""
    if x == 0:
        return arb(0)
    return -ball(x).log1p() - ball(x) * ball(1 / x).log1p()


def _floor(value: arb) -> arb:
    return value.lower() if value.is_finite() else arb.neg_inf()


def _some(points: Sequence[_Point]) -> list[_Point]:
    """The nearest ones, and fewer and fewer of those farther away."""
    return [points[i] for i in (0, 1, 2, 4, 8, 16, 32) if i < len(points)]


def _middle(point: _Point) -> Fraction:
    return point.low if point.high is None else (point.low + point.high) / 2


def _rounded(value: Fraction) -> Fraction:
    """A number near to it with few digits."""
    return Fraction(float(value))


class Model(NamedTuple):
    """f near a few points: a + b x + c/x where f falls, a + b x + c x^2 where it rises.

    For the functions that come from a Rényi curve (`conversion`) this is right for Gaussian noise,
    and for bounded losses at large orders.
    """

    falls: bool
    b: float
    c: float

    @staticmethod
    def through(points: Sequence[tuple[Fraction, Fraction]], falls: bool) -> Model:
        """Through one, two or three (x, f(x)), x > 0."""
        # x -> x f(1/x) takes one case to the other
        at = [1 / x if falls else x for x, _ in points]
        values = [y / x if falls else y for x, y in points]
        if len(points) == 1:  # as for Gaussian noise: proportional to 1 + 1/x or x + x^2
            scale = float(values[0] / (at[0] + at[0] ** 2))
            return Model(falls, scale, scale)
        first = (values[1] - values[0]) / (at[1] - at[0])
        second = Fraction(0)
        if len(points) == 3:
            second = ((values[2] - values[1]) / (at[2] - at[1]) - first) / (at[2] - at[0])
            second = max(second, Fraction(0))
        linear = first - second * (at[0] + at[1])
        if falls:
            linear = values[0] - at[0] * (linear + second * at[0])
        return Model(falls, float(linear), float(second))

    def slope(self, x: float) -> float:
        return self.b - self.c / (x * x) if self.falls else self.b + 2 * self.c * x

    def spacing(self, x: float, allowed: float) -> float:
        """How far apart points near x may lie for lines through them to be off by `allowed`."""
        half_bend = self.c / x**3 if self.falls else self.c
        return math.sqrt(allowed / (4 * half_bend)) if half_bend > 0 else math.inf
