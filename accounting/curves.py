"""The privacy profile and the trade-off curve, as certified bounds on a grid.

Both say the same of a mechanism: the profile how large delta is at every epsilon, the trade-off
curve how large the errors of an adversary's test of D against D' must be (Dong, Roth, Su, "Gaussian
differential privacy", JRSS B 2022).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar, Protocol

from flint import arb

from ..exact import Enclosure, ExactInput, ParameterError, ball, exact, whole
from ..exact.deadline import OutOfTimeError, time_left, time_limit
from ..exact.precision import enclose, working_precision
from ..exact.rows import Rows
from .convex import Vertex, balls, polygon_below

_BITS = 256
_NARROW = Fraction(1, 10**4)  # relative width of a point, narrower than a picture shows
_LEVELS = ("1e-9", "1e-6", "1e-3", "0.1")  # of delta, down to which the curve is followed
_MOST_POINTS = 100_000
_SHARE, _REST = 0.5, 0.1  # of the time left, for a point; of all of it, when no more is begun
_ONE = Fraction(1)
_ZERO, _PROBABILITY = Enclosure.exactly(0), Enclosure(Fraction(0), _ONE)


@dataclass(frozen=True, repr=False)
class Curve(Rows):
    """Enclosures of a curve at exact places; names: what rows call the place and the value."""

    names: ClassVar[tuple[str, str]]
    places: ClassVar[str]

    def points(self) -> list[tuple[Fraction, Enclosure]]:
        """(place, value), the places rising: the two fields."""
        places, values = (getattr(self, field.name) for field in fields(self))
        return list(zip(places, values, strict=True))

    @abstractmethod
    def _drawn(self, ax: Any) -> Any: ...

    def rows(self) -> list[dict[str, object]]:
        """One row a place: the place and the value there."""
        return [dict(zip(self.names, point, strict=True)) for point in self.points()]

    def plot(self, ax: Any = None) -> Any:
        """Draw it with matplotlib and return the Axes; what lies between the bounds is shaded.

        ax: the matplotlib Axes to draw on, new ones if None. Raises ImportError where matplotlib
        is not installed.
        """
        return self._drawn(ax)

    def __repr__(self) -> str:
        places = [float(place) for place, _ in self.points()]
        ends = f"{places[0]:g} to {places[-1]:g}"
        return f"{type(self).__name__}({len(places)} {self.places} from {ends})"


@dataclass(frozen=True, repr=False)
class Profile(Curve):
    """delta(epsilon), the least delta of (epsilon, delta)-DP, at rising epsilons.

    `epsilons` are exact, `deltas` enclosures of the true values; both without a unit.
    """

    names = ("epsilon", "delta")
    places = "epsilons"

    epsilons: tuple[Fraction, ...]
    deltas: tuple[Enclosure, ...]

    def _drawn(self, ax: Any) -> Any:
        from .plots import plot_profile

        return plot_profile(self.epsilons, self.deltas, ax)


@dataclass(frozen=True, repr=False)
class Tradeoff(Curve):
    """f(alpha), the least type II error of a test of D against D', at rising type I errors alpha.

    `alphas` are exact probabilities, `betas` enclosures of f there. f is the largest convex and
    symmetric function that no test, either way round, goes below (see `tradeoff`).
    """

    names = ("type_1", "type_2")
    places = "type I errors"

    alphas: tuple[Fraction, ...]
    betas: tuple[Enclosure, ...]

    def _drawn(self, ax: Any) -> Any:
        from .plots import plot_tradeoff

        return plot_tradeoff(self.alphas, self.betas, ax)


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

    Inside a `time_limit` that ends before, there are fewer points of its own; of those given, one
    that was not reached is known only to lie between its neighbours.
    """
    if epsilons is None:
        count = whole(points, "points", at_least=2, at_most=_MOST_POINTS)
        top = _top(composition)
        grid = [top * k / (count - 1) for k in range(count)]
    else:
        grid = sorted({exact(epsilon, "epsilon", at_least=0) for epsilon in epsilons})
        if not grid:
            raise ParameterError("epsilons must hold at least one number")
    found: dict[int, Enclosure] = {}
    allowed = time_left()
    for k in _coarse_first(len(grid)):
        if time_left() < _REST * allowed:
            break
        with suppress(OutOfTimeError), time_limit(_SHARE * time_left()):
            found[k] = composition.delta(grid[k], width)
    kept = sorted(found) if epsilons is None and found else range(len(grid))
    deltas = [found.get(k, _PROBABILITY) for k in kept]
    return Profile(tuple(grid[k] for k in kept), tuple(rising(deltas[::-1])[::-1]))


def _coarse_first(count: int) -> list[int]:
    """0, ..., count - 1 from both ends on by halves, so that any beginning is spread out."""
    step = 1 << count.bit_length()
    order = dict.fromkeys((count - 1, 0))
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
            with time_limit(time_left() / (8 - k)):
                high = composition.epsilon(level, _NARROW).upper
        except OutOfTimeError:
            break
        if not (isinstance(high, Decimal) and high.is_infinite()):
            up = Context(prec=2, rounding=ROUND_CEILING)
            most = Fraction(high) * (1 if k == 0 else 2)  # delta stays above 1e-9: show how
            return Fraction(up.divide(Decimal(most.numerator), Decimal(most.denominator))) or _ONE
    return _ONE


def tradeoff(known: Profile, alphas: Sequence[ExactInput] | None, points: ExactInput) -> Tradeoff:
    """The trade-off curve that a profile stands for, at these type I errors.

    None: 0, ..., 1 in `points` steps that are finer near 0, where the curve is steep.

    *What is enclosed.* A mechanism is (epsilon, delta(epsilon))-DP for all epsilon >= 0 if and only
    if no test of D against D', nor of D' against D, of type I error alpha has a type II error below

        f(alpha) = sup over epsilon >= 0 of max(0, 1 - delta - e^epsilon alpha,
                                                e^-epsilon (1 - delta - alpha))

    (Wasserman and Zhou, JASA 2010, Theorem 2.4; Dong, Roth, Su, Proposition 2.5), and f is the
    largest convex and symmetric function of which that is true.

    *Lower bound.* Every epsilon of the grid, with an upper bound of its delta, gives a value below.

    *Upper bound.* All epsilon count, also those between. With g = e^epsilon, delta is convex in g
    and does not rise: it is a supremum of P(E) - g Q(E) over events E and neighbours. So it lies
    above a polygon (`polygon_below`). Along an edge of the polygon, delta = a - b g, both
    1 - a + (b - alpha) g and (1 - a - alpha)/g + b are monotone in g: the supremum is attained at a
    vertex. Beyond the grid the last chord goes on until delta would be 0; there both fall in g.
    No test is worse than guessing: f(alpha) <= 1 - alpha.
    """
    if alphas is None:
        count = whole(points, "points", at_least=1, at_most=_MOST_POINTS)
        grid = [Fraction(k * k, count * count) for k in range(count + 1)]
    else:
        grid = sorted({exact(alpha, "alpha", at_least=0, at_most=1) for alpha in alphas})
        if not grid:
            raise ParameterError("alphas must hold at least one number")
    with working_precision(_BITS):
        odds = [ball(epsilon).exp() for epsilon in known.epsilons]
        bounds = [balls(delta) for delta in known.deltas]
        attained = [(g, high) for g, (_, high) in zip(odds, bounds, strict=True)]
        beyond = _vertices(odds, bounds)
        betas = tuple(_between(alpha, attained, beyond) for alpha in grid)
    return Tradeoff(tuple(grid), betas)


def _between(alpha: Fraction, attained: list[Vertex], beyond: list[Vertex]) -> Enclosure:
    low, high = enclose(_supremum(alpha, attained)).lower, enclose(_supremum(alpha, beyond)).upper
    least = Enclosure(low, 1 - alpha).maximum(_ZERO)
    return least.intersection(Enclosure(Fraction(0), high))


def _supremum(alpha: Fraction, points: list[Vertex]) -> arb:
    a = ball(alpha)
    found = arb(0)
    for g, delta in points:
        rest = 1 - delta
        found = found.max(rest - g * a).max((rest - a) / g)
    return found


def _vertices(odds: list[arb], bounds: list[tuple[arb, arb]]) -> list[Vertex]:
    """Of a polygon below delta, from 1 on and beyond the last of the odds.

    Left of 1, delta goes on as a convex function of g: (P - Q/g)+ sums to 1 - 1/g + (Q - gP)+/g,
    and neighbours count both ways round, so that delta at 1/g is 1 - (1 - delta(g))/g.
    """
    if odds[0] == 1 and len(odds) > 1:
        g, mirrored = odds[1], bounds[1]
        first = (1 - (1 - mirrored[0]) / g, 1 - (1 - mirrored[1]) / g)
        vertices = polygon_below([1 / g, *odds], [first, *bounds])[2:]  # those from 1 on
    else:  # between 1 and the first of the odds, nothing is known but that delta does not rise
        vertices = [(arb(1), bounds[0][0]), *polygon_below(odds, bounds)]
    end, low = odds[-1], bounds[-1][0]
    if len(odds) > 1:
        slope = (low - bounds[-2][1]) / (end - odds[-2])
        if slope >= 0:  # so delta stays where it is
            return vertices
        if slope < 0:
            return [*vertices, (end - low / slope, arb(0))]
    return [*vertices, (end, arb(0))]
