"""What is known of a composition with little work, and what one figure tells of the others.

Figures that stand side by side are of one thing, so that each bounds the others: epsilon falls as
delta grows and delta as epsilon does, Rényi divergences rise with their order up to the pure
epsilon, rho is the supremum of D(a)/a, and what is dominated by randomized response (pure epsilon)
or by a Gaussian (mu) costs at most what these cost. Whoever shows several figures learns them all
here first, and shows what this gives back: never less than what follows from another line.

*By Rényi divergences.* Those of one order add up over uses. For every a > 1, D the divergence of
order a (Canonne, Kamath, Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
Proposition 12),

    epsilon <= D + log(1/(a delta))/(a-1) + log(1 - 1/a),
    delta <= e^((a-1)(D - epsilon)) (a-1)^(a-1) / a^a.

*By a Gaussian.* Noise that a Gaussian dominates (`laws.gaussian_envelope`) still does when its
users are sampled, and in every list: post-processing passes through mixtures and products. Also
where it is reduced mod m. Uses that are mu_i-GDP are mu-GDP together with mu^2 = sum of mu_i^2
(`together`), whose rho is mu^2/2 and whose divergences are a mu^2/2; sampled or not, since who
takes part is the same on both sides.

*By cells* (`divergences.renyi`) divergences are known from both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from flint import arb

from ...exact.budget import OutOfTimeError, quickly, spend
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ball
from ...exact.precision import enclose, refine
from ...mechanisms.continuous import ContinuousNoise, Shape, dominating_gaussian
from ...mechanisms.laws.gaussian_envelope import NoEnvelopeError
from ...mechanisms.mechanism import AdditiveNoise, Mechanism, OneWay, RandomizedResponse
from ...mechanisms.sampled import likewise, unsampled
from ..divergences.conversion import zcdp_to_delta, zcdp_to_epsilon
from ..divergences.gaussian_dp import of_pure, root_of, squared
from ..divergences.renyi import renyi_by_cells
from ..figure import MU, PURE, RHO, Figure, meeting
from ..losses.continuous.profile import parts_of
from ..losses.sums import of_noise
from ..scenario import Scenario, Use, dearest, is_one_way, worst
from . import divergence
from .divergence import added_up

Cost: TypeAlias = Callable[[Scenario, Figure], Enclosure]

ORDERS = (*map(Fraction, (8, 2, 32, 16, 4, 64, 12, 6, 24, 3, 256)), Fraction(3, 2))  # best first
_RISING = tuple(map(Fraction, ("1.1", "1.3", "1.7", "2.5", "4", "7", "12", "20")))
_FEW = (Fraction(2), Fraction(16))
_MOST_ORDERS = 3  # at which cells are counted
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")
_ROUGHLY = Fraction(1, 10**6)  # of what is converted
_NARROW, _NARROW_CELLS = Fraction(1, 10**4), Fraction(1, 100)  # so well known, no more helps
_LARGEST = 1000  # pure epsilon; beyond, its randomized response and its Gaussian tell nothing
_MOST, _LEAST = 10**4, Fraction(1, 10**6)  # mu of a Gaussian that is asked what it costs
_EACH = 50_000  # units of work
_CAP = 256  # bits


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
                    spend(0)  # out of time, `cost` would give what is quick, not raise
                    bound = Enclosure(_ZERO, convert(), by=("another figure",))
                    found = meeting(figure, found, bound)
        return found

    def close(self, figures: Iterable[Figure]) -> None:
        """Learn all that follows of these figures."""
        for figure in figures:
            self.learn(figure, self.of(figure))

    def _at(self, quantity: str) -> list[tuple[Fraction, Enclosure]]:
        """What was learnt of it, by what it is at, rising."""
        return sorted(
            (
                (figure.at, value)
                for figure, value in self._held.items()
                if figure.quantity == quantity and figure.at is not None
            ),
            key=lambda point: point[0],
        )

    def _end(self, figure: Figure) -> Endpoint:
        return self._held.get(figure, Enclosure.unknown()).upper

    def _ordered(self, figure: Figure) -> Iterator[Enclosure]:
        """What order alone tells."""
        at = figure.at
        if figure.quantity in ("epsilon", "delta") and at is not None:
            for here, value in self._at(figure.quantity):
                yield _to(value) if here <= at else _from(value)
            for here, value in self._at("delta" if figure.quantity == "epsilon" else "epsilon"):
                # (here, value) holds, with more of either too; with less than value, nothing does
                if value.at_most(at) is True:
                    yield Enclosure(_ZERO, here)
                elif value.greater_than(at) is True:
                    yield Enclosure(here, _INFINITY)
            if figure == PURE:
                yield from (_from(value) for _, value in self._at("renyi"))
        elif figure.quantity == "renyi" and at is not None:
            yield Enclosure(_ZERO, self._end(PURE))
            for order, value in self._at("renyi"):
                yield _to(value) if order >= at else _from(value)
            yield _to(self._rho().times(at))
        elif figure == RHO:
            yield self._rho()
        elif figure == MU:
            yield _from(root_of(self._rho().times(2)))

    def _rho(self) -> Enclosure:
        """The supremum of D(a)/a; at most mu^2/2 (a Gaussian's), and epsilon^2/2 of a pure epsilon
        (Bun and Steinke, TCC 2016, Proposition 1.4).

        Divergences rise with their order: between two of these, D(a)/a is at most the later one
        over the earlier order, below all of them at most the first one, as a > 1, and above all at
        most the pure epsilon over the last order.
        """
        found, curve = self._held.get(RHO, Enclosure.unknown()), self._at("renyi")
        for order, value in curve:
            found = meeting(RHO, found, _from(value.times(1 / order)))
        ends = [*(value.upper for _, value in curve), self._end(PURE)]
        if _INFINITY not in ends:
            orders = (Fraction(1), *(order for order, _ in curve))
            most = max(Fraction(end) / order for end, order in zip(ends, orders, strict=True))
            found = meeting(RHO, found, Enclosure(_ZERO, most))
        for figure in (MU, *([] if self._one_way else [PURE])):
            if (high := self._end(figure)) != _INFINITY:
                most = Fraction(high) ** 2 / 2
                by = self._held[figure].by if figure == MU else ()
                found = meeting(RHO, found, Enclosure(_ZERO, most, by=by))
        return found

    def _conversions(self, figure: Figure) -> Iterator[Callable[[], Endpoint]]:
        """Upper bounds that have to be computed."""
        at, pure, mu = figure.at, self._end(PURE), self._end(MU)
        others: list[Mechanism] = []  # than which this is not less private
        if 0 < pure <= _LARGEST and figure != PURE and not self._one_way:
            others.append(RandomizedResponse(Fraction(pure)))
        if _LEAST <= mu <= _MOST and figure != MU:
            others.append(ContinuousNoise(Shape.GAUSSIAN, 1 / Fraction(mu)))
        for other in ((Use(noise, 1),) for noise in others):
            if other != self._scenario:
                yield lambda uses=other: self._cost(uses, figure).upper  # type: ignore[misc]
        if (figure.quantity == "epsilon" and at) or (figure.quantity == "delta" and at is not None):
            bound, convert = (
                (epsilon_of, zcdp_to_epsilon)
                if figure.quantity == "epsilon"
                else (delta_of, zcdp_to_delta)
            )
            if (rho := self._rho().upper) != _INFINITY:
                yield lambda: convert(Fraction(rho), at, _ROUGHLY).value.upper
            for order, value in self._at("renyi"):
                if value.is_finite():
                    yield partial(bound, order, value.upper, at)


def _to(value: Enclosure) -> Enclosure:
    return Enclosure(_ZERO, value.upper, by=value.by)


def _from(value: Enclosure) -> Enclosure:
    return Enclosure(value.lower, _INFINITY, by=value.by)


# -- with little work -----------------------------------------------------------------------------


def quick_figures(scenario: Scenario, cost: Cost, orders: Sequence[Fraction] = ORDERS) -> Known:
    """What a few milliseconds tell of most mechanisms, whatever time is left."""
    found = Known(scenario, cost)
    for figure in (PURE, *(Figure("renyi", order) for order in orders)):
        ask = partial(cost, scenario, figure)
        found.learn(figure, quickly(ask, Enclosure.unknown(), _EACH))
    return found


def first_bounds(uses: Scenario, cost: Cost, orders: Sequence[Fraction] = ()) -> Known:
    """Rényi divergences, rho and mu of any list, by a Gaussian and by cells.

    orders: at which divergences are asked for; none where it is rho or mu.
    """
    found, unknown = Known(uses, cost), Enclosure.unknown()
    square = Enclosure.total(
        squared(quickly(partial(_mu, one), unknown)).times(times) for one, times in uses
    )
    if square.is_finite():
        for figure, most in ((MU, root_of(square)), (RHO, square.times(Fraction(1, 2)))):
            found.learn(figure, Enclosure(_ZERO, most.upper, by=("Gaussian envelope",)))
    least = [Fraction(2)] if max(orders, default=_ZERO) > 2 else []
    counted = sorted({*orders[:_MOST_ORDERS], *least}) if orders else None
    for order in counted or (_FEW if square.is_finite() else _RISING):
        value = worst(dearest(uses), partial(_by_cells, order))
        if orders and not value.is_within(_NARROW_CELLS):
            value = value.intersection(_sampled(uses, order))
        found.learn(Figure("renyi", order), value)
        if not (value.lower or value.is_finite()):  # the others take as long
            return found
    with suppress(ArithmeticError):
        pure = partial(divergence.figure_of, figure=PURE, width=_ROUGHLY)
        ends = (quickly(partial(pure, one), unknown).times(times) for one, times in uses)
        found.learn(PURE, _to(Enclosure.total(ends)))
    return found


def _mu(mechanism: Mechanism) -> Enclosure:
    """At most, by the law's envelope, or by what its pure epsilon allows."""
    with suppress(ArithmeticError):
        if (most := divergence.without_outcomes(mechanism, MU, _ROUGHLY, _CAP)) is not None:
            return _to(most)
        with suppress(NoEnvelopeError):
            return Enclosure(_ZERO, _around(unsampled(mechanism)).sensitivity)
        if not isinstance(mechanism, OneWay):  # the other way round it may cost more
            pure = divergence.figure_of(mechanism, PURE, _ROUGHLY)
            if pure.is_finite() and pure.upper <= _LARGEST:
                return Enclosure(_ZERO, enclose(of_pure(ball(pure.upper))).upper)
    return Enclosure.unknown()


def _by_cells(order: Fraction, uses: Scenario) -> Enclosure:
    def one(use: Use) -> Enclosure:
        with suppress(ArithmeticError):
            return quickly(partial(renyi_by_cells, use, order), Enclosure.unknown())
        return Enclosure.unknown()

    return Enclosure.total(map(one, uses)).found_by("cells of the losses")


def _sampled(uses: Scenario, order: Fraction) -> Enclosure:
    """By Gaussians: what dominates a mechanism of which nobody is sampled does so sampled alike."""

    def measured() -> Enclosure:
        figure = Figure("renyi", order)
        each = (added_up(_enveloped(scenario), figure, _ROUGHLY) for scenario in dearest(uses))
        most = max(one.upper for one in each)
        return Enclosure(_ZERO, most, by=("Gaussian envelope",))

    with suppress(ArithmeticError, NoEnvelopeError):
        return quickly(measured, Enclosure.unknown())
    return Enclosure.unknown()


# -- epsilon and delta of one scenario, from above ------------------------------------------------


def by_envelope(uses: Scenario, figure: Figure) -> Enclosure:
    """Bounds of epsilon at a delta above 0, or of delta at an epsilon; anything if it has none."""
    with suppress(NoEnvelopeError):
        if (parts := parts_of(_enveloped(uses))) is not None:
            most = of_noise(parts, figure, _ROUGHLY).upper
            return Enclosure(_ZERO, most, by=("Gaussian envelope",))
    return figure.trivial


def _enveloped(uses: Sequence[Use]) -> list[Use]:
    """The Gaussians that dominate them, the same way round. Raises NoEnvelopeError."""
    return [Use(_gaussian(mechanism), times) for mechanism, times in uses]


def _gaussian(mechanism: Mechanism) -> Mechanism:
    """The Gaussian that dominates it, the same way round. Raises NoEnvelopeError."""
    inner = unsampled(mechanism)
    if isinstance(inner, ContinuousNoise) and inner.shape is Shape.GAUSSIAN:
        return mechanism
    return likewise(mechanism, _around(inner))


def _around(noise: Mechanism) -> ContinuousNoise:
    """The Gaussian that dominates noise on a number, nobody sampled. Raises NoEnvelopeError."""
    if not isinstance(noise, AdditiveNoise) or noise.farthest == 0:
        raise NoEnvelopeError("only noise on a number has the Gaussian envelope")
    return dominating_gaussian(noise.law, noise.farthest**2)


def surcharge(order: Fraction, delta: Fraction) -> arb:
    """What an (order, r)-RDP bound has to be raised by to be the epsilon of (epsilon, delta)-DP."""
    a = ball(order)
    return -(a * ball(delta)).log() / (a - 1) + (1 - 1 / a).log()


def epsilon_of(order: Fraction, renyi: Endpoint, delta: Fraction) -> Endpoint:
    """At most this epsilon at this delta, by a finite divergence of this order."""
    bound = refine(lambda: ball(renyi) + surcharge(order, delta), width=_ROUGHLY)
    return max(bound.upper, _ZERO)


def delta_of(order: Fraction, renyi: Endpoint, epsilon: Fraction) -> Endpoint:
    """At most this delta at this epsilon."""

    def bound() -> arb:
        a = ball(order)
        gap = ball(Fraction(renyi) - epsilon)
        return ((a - 1) * (gap + (a - 1).log()) - a * a.log()).exp()

    return min(refine(bound, width=_ROUGHLY).upper, Fraction(1))
