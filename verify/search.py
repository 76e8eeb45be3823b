"""Search for counterexamples: is a claimed bound violated anywhere on a grid of parameters?

A family is a grid of exact numbers; a question compares, at each of its points, what is measured
with the bound that is claimed. The search ends at the first certified violation, when the grid is
exhausted, or when its seconds are used up; it says how much of the grid was covered, and claims
nothing beyond. Points are visited in one fixed order that spreads over the grid, so that speed
decides how far it gets and nothing else.

Is a sum of n discrete Gaussians N_Z(0, 1/4) as private as N_Z(0, n/4)? For one unit of sensitivity
that would be a Rényi divergence of at most 2/(2 n/4) at order 2. It is not:

    >>> from exactdp.mechanisms import AdditiveNoise, DiscreteGaussianSum
    >>> from exactdp.verify import RenyiDP
    >>> result = search(
    ...     [whole_numbers("count", 4, 8)],
    ...     claimed(
    ...         lambda at: AdditiveNoise(DiscreteGaussianSum(at["count"], "1/4"), sensitivity=1),
    ...         lambda at: RenyiDP(2, 4 / at["count"]),
    ...     ),
    ...     seconds=60,
    ... )
    >>> result.violation.point["count"], result.violation.ratio.greater_than(1)
    (Fraction(4, 1), True)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from attrs import frozen

from ..accounting.composition.composed import Composition, compose
from ..exact import Enclosure, Endpoint, ExactInput, ParameterError, exact, whole
from ..exact.budget import OutOfTimeError
from ..mechanisms.mechanism import Mechanism
from .guarantee import Guarantee

Point: TypeAlias = Mapping[str, Fraction]
_WIDTHS = (Fraction(1, 10**6), Fraction(1, 10**12), Fraction(1, 10**20))
_LARGEST_GRID = 10**7


@frozen(init=False)
class Axis:
    """A parameter and the exact values that it takes on the grid."""

    name: str
    values: tuple[Fraction, ...]

    def __init__(self, name: str, values: Sequence[ExactInput]) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "values", tuple(exact(value, name) for value in values))
        if not self.values:
            raise ParameterError(f"{name} must take at least one value")


@frozen
class Compared:
    """What was measured at a point, and the bound that is claimed for it."""

    measured: Enclosure
    bound: Enclosure

    @property
    def is_within(self) -> bool | None:
        """Is what was measured at most the bound? None where it cannot be told."""
        if self.measured.at_most(self.bound.lower) is True:
            return True
        return False if self.measured.at_most(self.bound.upper) is False else None

    @property
    def ratio(self) -> Enclosure:
        """measured/bound, both >= 0; infinite where only the bound is 0."""
        return self.measured.over(self.bound)


# Compares at a point; the width is the relative one that `measured` is to have.
Question: TypeAlias = Callable[[Point, Fraction], Compared]


@frozen
class Visited:
    """A point and what was found there."""

    point: Point
    compared: Compared

    @property
    def ratio(self) -> Enclosure:
        """measured/bound."""
        return self.compared.ratio


@frozen
class Search:
    """What a search found.

    violation: the first point met where the bound is certainly exceeded, or None. largest: an
    enclosure of the largest ratio measured/bound over the points covered (None if no point could
    be measured), and closest one of them whose ratio has the largest lower end. undecided: points
    where the two could not be told apart. unmeasured: points that could not be measured, with the
    reasons. covered of total points were visited, these included.
    """

    violation: Visited | None
    closest: Visited | None
    largest: Enclosure | None
    covered: int
    total: int
    undecided: tuple[Visited, ...]
    unmeasured: tuple[tuple[Point, str], ...]

    @property
    def is_exhausted(self) -> bool:
        """Was every point of the grid visited?"""
        return self.covered == self.total


def search(
    axes: Sequence[Axis],
    question: Question,
    seconds: ExactInput,
    clock: Callable[[], float] = time.monotonic,
) -> Search:
    """Look for a violation on the product of the axes, for about so many seconds (>= 0).

    At least one point is visited; one that has been begun is finished. clock: for tests.
    """
    total = math.prod(len(axis.values) for axis in axes)
    if len({axis.name for axis in axes}) != len(axes) or not axes:
        raise ParameterError("axes must be at least one, with distinct names")
    if total > _LARGEST_GRID:
        raise ParameterError(f"the grid must have at most {_LARGEST_GRID} points, got {total}")
    allowed = float(exact(seconds, "seconds", at_least=0))
    end = clock() + allowed
    violation: Visited | None = None
    closest: Visited | None = None
    largest: Enclosure | None = None
    undecided: list[Visited] = []
    unmeasured: list[tuple[Point, str]] = []
    covered = 0
    for index in _spread(total):
        if covered and clock() >= end:
            break
        covered += 1
        point = _point(axes, index)
        try:
            visited = Visited(point, _decided(question, point))
        except (OutOfTimeError, ArithmeticError, NotImplementedError) as error:
            unmeasured.append((point, str(error)))
            continue
        ratio = visited.ratio
        if closest is None or _above(ratio.lower, closest.ratio.lower):
            closest = visited
        largest = ratio if largest is None else largest.maximum(ratio)
        if visited.compared.is_within is None:
            undecided.append(visited)
        elif visited.compared.is_within is False:
            violation = visited
            break
    return Search(violation, closest, largest, covered, total, tuple(undecided), tuple(unmeasured))


def claimed(
    build: Callable[[Point], Mechanism | Composition], claim: Callable[[Point], Guarantee]
) -> Question:
    """Does the mechanism at a point satisfy the claim at that point?"""

    def ask(point: Point, width: Fraction) -> Compared:
        asked = claim(point)
        measured = asked.measure(compose(build(point)), width)
        return Compared(measured, Enclosure.exactly(asked.bound))

    return ask


def whole_numbers(name: str, low: ExactInput, high: ExactInput, step: ExactInput = 1) -> Axis:
    """low, low + step, ..., up to high."""
    start, end = whole(low, f"{name}, low"), whole(high, f"{name}, high")
    return Axis(name, range(start, end + 1, whole(step, "step", at_least=1)))


def between(name: str, low: ExactInput, high: ExactInput, count: ExactInput) -> Axis:
    """`count` >= 2 evenly spaced exact numbers, both ends included."""
    start, end = exact(low, f"{name}, low"), exact(high, f"{name}, high")
    points = whole(count, f"{name}, count", at_least=2)
    if not start < end:
        raise ParameterError(f"{name}, high must be above low, got {start} and {end}")
    return Axis(name, [start + (end - start) * i / (points - 1) for i in range(points)])


def _decided(question: Question, point: Point) -> Compared:
    """Compare at growing precision until the two can be told apart, or no more is to be had."""
    compared = question(point, _WIDTHS[0])
    for width in _WIDTHS[1:]:
        if compared.is_within is not None:
            break
        compared = question(point, width)
    return compared


def _above(one: Endpoint, other: Endpoint) -> bool:
    return Enclosure(one, one).greater_than(other) is True


def _point(axes: Sequence[Axis], index: int) -> Point:
    point: dict[str, Fraction] = {}
    for axis in reversed(axes):
        index, place = divmod(index, len(axis.values))
        point[axis.name] = axis.values[place]
    return {axis.name: point[axis.name] for axis in axes}


def _spread(total: int) -> Iterator[int]:
    """0, ..., total - 1, each once, by reversed binary digits: halves, then quarters, ..."""
    digits = (total - 1).bit_length()
    for i in range(1 << digits):
        index = int(format(i, f"0{digits}b")[::-1], 2) if digits else 0
        if index < total:
            yield index
