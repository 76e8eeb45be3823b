"""What is known of a composition by now: every figure once, and what one tells of the others.

Figures that stand side by side are of one thing, so that each bounds the others: epsilon falls as
delta grows and delta as epsilon does, Rényi divergences rise with their order up to the pure
epsilon, rho is the supremum of D(a)/a, and what is dominated by randomized response (pure epsilon)
or by a Gaussian (mu) costs at most what these cost. Whoever shows several figures learns them all
here first, and shows what this gives back: never less than what follows from another line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from ...exact import Enclosure, Endpoint, OutOfTimeError, budget
from ...mechanisms.continuous import ContinuousNoise, Shape
from ...mechanisms.mechanism import Mechanism, RandomizedResponse
from ..divergences.conversion import Conversion, zcdp_to_delta, zcdp_to_epsilon
from ..figure import Figure, meeting
from ..scenario import Scenario, Use, is_one_way
from .from_above import ORDERS, delta_of, epsilon_of

Cost: TypeAlias = Callable[[Scenario, Figure], Enclosure]

_INFINITY = Decimal("Infinity")
_ZERO = Fraction(0)
_ROUGHLY = Fraction(1, 10**6)  # of what is converted
_NARROW = Fraction(1, 10**4)  # so well known, no conversion helps
_LARGEST_RESPONSE = 1000  # pure epsilon; beyond, its randomized response tells nothing
_MOST, _LEAST = 10**4, Fraction(1, 10**6)  # mu of a Gaussian that is asked what it costs
_SHIFT = 10**20  # digits of a root
_EACH = 50_000  # units of work


class Known:
    """Figures of one composition, each an enclosure of its true value.

    What a pure epsilon implies of rho, and that randomized response dominates, holds where it is of
    both orders of the two datasets: of one, (1, 0) against (1/2, 1/2) has the pure epsilon log 2,
    and that is its rho too.

    scenario: the uses. cost: what others cost together.
    """

    def __init__(self, scenario: Scenario, cost: Cost) -> None:
        self._scenario, self._cost, self._one_way = scenario, cost, is_one_way(scenario)
        self._held: dict[Figure, Enclosure] = {}

    def learn(self, figure: Figure, value: Enclosure) -> None:
        """Keep what both this and what is known already leave of it."""
        self._held[figure] = meeting(figure, self._held.get(figure, figure.trivial), value)

    def of(self, figure: Figure) -> Enclosure:
        """All that follows of this figure; `why` as it was learnt.

        Conversions are made in the time that is left; none that would take longer counts.
        """
        found = self._held.get(figure, figure.trivial)
        for bound in self._ordered(figure):
            found = meeting(figure, found, bound)
        if not found.is_within(_NARROW):
            for convert in self._conversions(figure):
                with suppress(OutOfTimeError):
                    bound = Enclosure(_ZERO, convert(), by=("another figure",))
                    found = meeting(figure, found, bound)
        return found

    def close(self, figures: Iterable[Figure]) -> None:
        """Learn all that follows of these figures."""
        for figure in figures:
            self.learn(figure, self.of(figure))

    def _each(self, quantity: str) -> list[tuple[Fraction, Enclosure]]:
        return [
            (figure.at, value)
            for figure, value in self._held.items()
            if figure.quantity == quantity and figure.at is not None
        ]

    def _ordered(self, figure: Figure) -> Iterator[Enclosure]:
        """What order alone tells."""
        at, pure = figure.at, self._held.get(Figure("epsilon", _ZERO), Enclosure.unknown())
        if figure.quantity in ("epsilon", "delta") and at is not None:
            inverse = "delta" if figure.quantity == "epsilon" else "epsilon"
            yield from _falling(at, self._each(figure.quantity))
            yield from _inverted(at, self._each(inverse))
            if figure == ("epsilon", _ZERO):
                yield from (_from(value.lower) for _, value in self._each("renyi"))
        elif figure.quantity == "renyi" and at is not None:
            yield _to(pure.upper)
            for order, value in self._each("renyi"):
                yield _to(value.upper) if order >= at else _from(value.lower)
            yield _to(self._rho().times(at).upper)
        elif figure.quantity == "zcdp":
            yield self._rho()
        elif figure.quantity == "gdp":
            yield _from(_root(self._rho().times(2).lower))

    def _rho(self) -> Enclosure:
        """The supremum of D(a)/a; at most mu^2/2 (a Gaussian's), and epsilon^2/2 of a pure epsilon
        (Bun and Steinke, TCC 2016, Proposition 1.4).
        """
        found = self._held.get(Figure("zcdp"), Enclosure.unknown())
        for order, value in self._each("renyi"):
            found = meeting(Figure("zcdp"), found, _from(value.times(1 / order).lower))
        for figure in (Figure("gdp"), *([] if self._one_way else [Figure("epsilon", _ZERO)])):
            high = self._held.get(figure, Enclosure.unknown()).upper
            if high != _INFINITY:
                found = meeting(Figure("zcdp"), found, _to(Fraction(high) ** 2 / 2))
        return found

    def _conversions(self, figure: Figure) -> Iterator[Callable[[], Endpoint]]:
        """Upper bounds that have to be computed."""
        at = figure.at
        for dominating in self._dominating(figure):
            yield lambda other=dominating: self._cost(other, figure).upper  # type: ignore[misc]
        rho = self._rho().upper
        orders = [each for each in self._each("renyi") if each[1].is_finite()]
        if figure.quantity == "epsilon" and at:
            yield partial(_of_rho, zcdp_to_epsilon, rho, at)
            yield from (partial(epsilon_of, order, value.upper, at) for order, value in orders)
        if figure.quantity == "delta" and at is not None:
            yield partial(_of_rho, zcdp_to_delta, rho, at)
            yield from (partial(delta_of, order, value.upper, at) for order, value in orders)

    def _dominating(self, figure: Figure) -> Iterator[Scenario]:
        """Other mechanisms than which this one is not less private."""
        pure = self._held.get(Figure("epsilon", _ZERO), Enclosure.unknown()).upper
        mu = self._held.get(Figure("gdp"), Enclosure.unknown()).upper
        others: list[Mechanism] = []
        if 0 < pure <= _LARGEST_RESPONSE and figure != ("epsilon", _ZERO) and not self._one_way:
            others.append(RandomizedResponse(Fraction(pure)))
        if _LEAST <= mu <= _MOST and figure.quantity != "gdp":
            others.append(ContinuousNoise(Shape.GAUSSIAN, 1 / Fraction(mu)))
        return (
            other for other in ((Use(noise, 1),) for noise in others) if other != self._scenario
        )


def quick_figures(scenario: Scenario, cost: Cost, orders: Sequence[Fraction] = ORDERS) -> Known:
    """What a few milliseconds tell of most mechanisms, whatever time is left."""
    found = Known(scenario, cost)
    for figure in (Figure("epsilon", _ZERO), *(Figure("renyi", order) for order in orders)):
        ask = partial(cost, scenario, figure)
        found.learn(figure, budget.quickly(ask, Enclosure.unknown(), _EACH))
    return found


def _to(upper: Endpoint) -> Enclosure:
    return Enclosure(_ZERO, upper)


def _from(lower: Endpoint) -> Enclosure:
    return Enclosure(lower, _INFINITY)


def _falling(at: Fraction, points: list[tuple[Fraction, Enclosure]]) -> Iterator[Enclosure]:
    for place, value in points:
        yield _to(value.upper) if place <= at else _from(value.lower)


def _inverted(at: Fraction, points: list[tuple[Fraction, Enclosure]]) -> Iterator[Enclosure]:
    """(place, value) holds; so do all with more of either. With less than value, nothing does."""
    for place, value in points:
        if value.at_most(at) is True:
            yield _to(place)
        elif value.greater_than(at) is True:
            yield _from(place)


def _of_rho(convert: Callable[..., Conversion], rho: Endpoint, at: Fraction) -> Endpoint:
    return rho if rho == _INFINITY else convert(Fraction(rho), at, _ROUGHLY).value.upper


def _root(square: Endpoint) -> Endpoint:
    """At most the root."""
    if square == _INFINITY:
        return square
    return Fraction(math.isqrt(math.floor(Fraction(square) * _SHIFT**2)), _SHIFT)
