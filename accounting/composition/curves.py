"""Curves with certified bounds on a grid, and the privacy profile: delta at every epsilon.

*Between the points* of a grid the bounds are those of every convex function that does not rise,
within the bounds there: the privacy profile, as a function of e^epsilon, and the trade-off curve
are such. Chords lie above, `polygon_below` below; and none is below what the next point is known to
be at least. Pictures shade what lies between, in floats, far finer than a pixel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, Protocol

import numpy as np
from attrs import fields, frozen
from flint import arb
from numpy.typing import NDArray

from ...common.extra import bring
from ...common.rows import Rows
from ...exact import Enclosure, ExactInput, ParameterError, ball, exact, whole, working_precision
from ...exact.budget import OutOfTimeError, spend
from ...exact.rounding import float_above, float_below

_NARROW = Fraction(1, 10**4)  # relative width of a point, narrower than a picture shows
_LEVELS = ("1e-9", "1e-6", "1e-3", "0.1")  # of delta, down to which the curve is followed
MOST_POINTS = 100_000
_NARROW_BAND = 0.01  # decades: less than a pixel
_FINE = 2000  # places where bounds are drawn
_BITS = 256
_FLOOR = 1e-300  # where a logarithmic axis ends at the latest, that floats hold
_ONE = Fraction(1)
_PROBABILITY = Enclosure(Fraction(0), _ONE)

Vertex = tuple[arb, arb]
_Floats = NDArray[np.float64]


@frozen(repr=False)
class Curve(Rows):
    """Enclosures of a curve at exact places; names: what rows call the place and the value.

    The first two fields are the places and the values."""

    names: ClassVar[tuple[str, str]]
    places: ClassVar[str]

    def points(self) -> list[tuple[Fraction, Enclosure]]:
        """(place, value), the places rising."""
        places, values = (getattr(self, field.name) for field in fields(type(self))[:2])
        return list(zip(places, values, strict=True))

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """With the bounds between its points."""

    def rows(self) -> list[dict[str, object]]:
        """One row a place: the place and the value there."""
        return [dict(zip(self.names, point, strict=True)) for point in self.points()]

    def plot(self, ax: Any = None) -> Any:
        """Draw it with matplotlib and return the Axes; what lies between the bounds is shaded.

        ax: the matplotlib Axes to draw on, new ones if None. Raises ImportError where matplotlib
        is not installed.
        """
        axes = bring("matplotlib.pyplot", "figures").subplots()[1] if ax is None else ax
        with working_precision(_BITS):
            self._draw(axes)
        return axes

    def __repr__(self) -> str:
        places = [float(place) for place, _ in self.points()]
        ends = f"{places[0]:g} to {places[-1]:g}"
        return f"{type(self).__name__}({len(places)} {self.places} from {ends})"


@frozen(repr=False)
class Profile(Curve):
    """delta(epsilon), the least delta of (epsilon, delta)-DP, at rising epsilons.

    `epsilons` are exact, `deltas` enclosures of the true values; both without a unit.

    epsilons, deltas: the places, and what is known there.

    >>> import exactdp
    >>> curve = exactdp.mechanism("gaussian:sigma=1").profile(["0", "1"])
    >>> [f"{delta:.4f}" for delta in curve.deltas]
    ['0.3830', '0.1270']
    """

    names = ("epsilon", "delta")
    places = "epsilons"

    epsilons: tuple[Fraction, ...]
    deltas: tuple[Enclosure, ...]

    def band(self) -> tuple[_Floats, _Floats, _Floats]:
        """Epsilons, and between which bounds delta lies there; odds relative to the largest."""
        top = self.epsilons[-1]
        odds = [(ball(epsilon) - ball(top)).exp() for epsilon in self.epsilons]
        at = np.linspace(float(self.epsilons[0]), float(top), _FINE)
        return at, *bounds_between(np.exp(at - float(top)), odds, self.deltas)

    def _draw(self, ax: Any) -> None:
        """delta, on a logarithmic axis, against epsilon."""
        at, low, high = self.band()
        seen = [float_above(delta.upper) for delta in self.deltas if delta.upper > 0]
        ax.set_yscale("log")
        ax.set_ylim(max(min(seen, default=1.0) / 10, _FLOOR), 1)
        shade(ax, at, np.maximum(low, _FLOOR), np.maximum(high, _FLOOR))
        ax.set_xlabel("ε")
        ax.set_ylabel("δ")


class Composed(Protocol):
    """What a profile is made of (`Composition`)."""

    def delta(self, epsilon: ExactInput, width: Fraction) -> Enclosure: ...

    def epsilon(self, delta: ExactInput, width: Fraction) -> Enclosure: ...


def profile(
    composition: Composed,
    epsilons: Sequence[ExactInput] | None,
    points: ExactInput,
    width: Fraction,
) -> Profile:
    """delta at these epsilons; None: `points` of them, from 0 to where delta has all but vanished.

    Inside a `time_limit` that ends before, a point that was not reached is known only to lie
    between its neighbours.
    """
    if epsilons is None:
        count = whole(points, "points", at_least=2, at_most=MOST_POINTS)
        top = _ONE
        with suppress(OutOfTimeError):
            top = _top(composition)
        grid = [top * k / (count - 1) for k in range(count)]
    else:
        grid = sorted({exact(epsilon, "epsilon", at_least=0) for epsilon in epsilons})
        if not grid:
            raise ParameterError("epsilons must hold at least one number")
    deltas = falling(lambda epsilon: composition.delta(epsilon, width), grid, _PROBABILITY)
    return Profile(tuple(grid), tuple(rising(deltas[::-1])[::-1]))


def falling(
    ask: Callable[[Fraction], Enclosure], places: Sequence[Fraction], nothing: Enclosure
) -> list[Enclosure]:
    """A figure that does not rise, at these places in any order.

    Inside a `time_limit` that ends before, one that was not reached is known only to lie between
    its neighbours. nothing: what is true of it anywhere.
    """
    grid, found = sorted({*places}), dict[Fraction, Enclosure]()
    for k in _coarse_first(len(grid)):
        with suppress(OutOfTimeError):
            spend()
            found[grid[k]] = ask(grid[k])
    known = [found.get(x, nothing) for x in grid]
    if len(found) < len(grid):
        known = rising(known[::-1])[::-1]
    at = dict(zip(grid, known, strict=True))
    return [at[place] for place in places]


def refined(composition: Composed, curve: Profile, points: int, width: Fraction) -> Profile:
    """The same with so many points more: each where the bounds between two points part most.

    That is on a logarithmic scale, as profiles are drawn. Inside a `time_limit` that ends before,
    there are fewer.
    """
    with suppress(OutOfTimeError):
        for _ in range(points):
            if (at := _widest(curve)) is None:
                break
            spend()
            found = dict(curve.points()) | {at: composition.delta(at, width)}
            epsilons = sorted(found)
            deltas = rising([found[epsilon] for epsilon in reversed(epsilons)])[::-1]
            curve = Profile(tuple(epsilons), tuple(deltas))
    return curve


def _widest(curve: Profile) -> Fraction | None:
    """The middle of the two points between which delta is known worst; None: well known anywhere.

    In floats: they only say where to look.
    """
    with working_precision(_BITS):
        at, low, high = curve.band()
    floor = max(high[-1] / 10, _FLOOR)  # where a picture ends
    gaps = np.log10(np.maximum(high, floor) / np.maximum(low, floor))
    if gaps.max() < _NARROW_BAND:
        return None
    epsilons = [float(epsilon) for epsilon in curve.epsilons]
    after = max(int(np.searchsorted(epsilons, at[gaps.argmax()])), 1)
    return (curve.epsilons[after - 1] + curve.epsilons[after]) / 2


def _coarse_first(count: int) -> list[int]:
    """0, ..., count - 1 from both ends on by halves, so that any beginning is spread out."""
    step = 1 << count.bit_length()
    order = dict.fromkeys((count - 1, 0) if count else ())
    while step := step // 2:
        order |= dict.fromkeys(range(0, count, step))
    return list(order)


def rising(values: Sequence[Enclosure]) -> list[Enclosure]:
    """What is known of each, given that none is below the one before it."""
    least = accumulate(values, Enclosure.maximum)
    most = [*accumulate(reversed(values), Enclosure.minimum)][::-1]
    each = zip(values, least, most, strict=True)
    return [Enclosure(low.lower, high.upper, why=value.why) for value, low, high in each]


def _top(composition: Composed) -> Fraction:
    """Where delta is about 1e-9, or as small as it gets, in two digits rounded up."""
    for k, level in enumerate(_LEVELS):
        try:
            high = composition.epsilon(level, _NARROW).upper
        except OutOfTimeError:
            break
        if high != Decimal("Infinity"):
            up = Context(prec=2, rounding=ROUND_CEILING)
            most = Fraction(high) * (1 if k == 0 else 2)  # delta stays above 1e-9: show how
            return Fraction(up.divide(Decimal(most.numerator), Decimal(most.denominator))) or _ONE
    return _ONE


# -- between the points ---------------------------------------------------------------------------


def balls(value: Enclosure) -> tuple[arb, arb]:
    """Both ends of a finite enclosure."""
    return ball(value.lower), ball(value.upper)


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


def bounds_between(
    at: _Floats, xs: Sequence[arb], ys: Sequence[Enclosure]
) -> tuple[_Floats, _Floats]:
    """The lower and the upper bound, at these places, of what is convex and does not rise."""
    middles = [float(x.mid()) for x in xs]
    corners = polygon_below(xs, [balls(y) for y in ys])
    low = np.interp(
        at, [float(x.mid()) for x, _ in corners], [float(y.lower()) for _, y in corners]
    )
    after = np.minimum(np.searchsorted(middles, at), len(xs) - 1)
    low = np.maximum(low, np.array([float_below(y.lower) for y in ys])[after])
    high = np.interp(at, middles, [float_above(y.upper) for y in ys])
    return np.minimum(low, high), high


def shade(ax: Any, at: _Floats, low: _Floats, high: _Floats) -> None:
    """The region between the bounds, with both as its edges, so that a narrow one is seen."""
    ax.fill_between(at, low, high, alpha=0.3, linewidth=0, label="certified to lie between")
    colour = ax.collections[-1].get_facecolor()[0][:3]
    for edge in (low, high):
        ax.plot(at, edge, color=colour, linewidth=0.8)
