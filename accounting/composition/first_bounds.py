"""What little time tells of Rényi divergences, rho and mu of any list, from both sides.

From above a Gaussian: uses that are mu_i-GDP are mu-GDP together with mu^2 = sum of mu_i^2
(`composed_gdp`), whose rho is mu^2/2 and whose divergences are a mu^2/2; sampled or not, since who
takes part is the same on both sides. The mu of one use is that of the law's envelope
(`accounting.envelope`), or what its pure epsilon allows. From both sides by cells (`grid.orders`):
divergences of uses add up, rho is the supremum of D_a/a, and rho <= mu^2/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial

from ...exact.budget import QUICK, quickly
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ball
from ...exact.precision import enclose
from ...mechanisms.mechanism import Mechanism, OnePair, OneWay
from ...mechanisms.sampled import unsampled
from ..divergences.gaussian_dp import of_pure, root_of
from ..envelope import NoEnvelopeError
from ..figure import Figure
from ..grid.orders import renyi_by_cells
from ..scenario import Scenario, Use, dearest
from . import divergence
from .from_above import distance_of, enveloped
from .one_use import without_outcomes

_EACH = QUICK  # units of work for each use and order
_ROUGHLY = Fraction(1, 10**6)
_NARROW = Fraction(1, 100)
_CAP = 256  # bits
_ORDERS = tuple(map(Fraction, ("1.1", "1.3", "1.7", "2.5", "4", "7", "12", "20")))
_FEW = (Fraction(2), Fraction(16))
_MOST = 3  # orders at which cells are counted
_ZERO, _INFINITY = Fraction(0), Decimal("Infinity")
_LARGEST = 1000  # pure epsilon of which a Gaussian is sought


def first_bounds(uses: Scenario, figure: Figure) -> Enclosure:
    """Bounds of "zcdp" or "gdp" of these uses."""
    square = _square(uses)
    rho = _rho(uses, _FEW if square is not None else _ORDERS)
    rho = rho if square is None else _at_most(rho, square / 2)
    if figure.quantity == "zcdp":
        return rho
    least = root_of(rho.times(2)).lower
    most = Enclosure.unknown() if square is None else root_of(Enclosure.exactly(square))
    return Enclosure(least, most.upper)


def first_curve(uses: Scenario, orders: Sequence[Fraction]) -> list[Enclosure]:
    """Bounds of the divergences at these orders: by cells at the first ones, and by a Gaussian."""
    square, found = _square(uses), list[Enclosure]()
    told: dict[Fraction, Endpoint] = {}  # divergences rise with the order
    for index, order in enumerate(orders):
        known = Enclosure.unknown()
        if index < _MOST:
            known = _renyi(uses, order)
            if not known.lower and order > 2:  # it took too long
                told[Fraction(2)] = _renyi(uses, Fraction(2)).lower
            told[order] = known.lower
        least = max((end for lower, end in told.items() if lower <= order), default=_ZERO)
        known = known.intersection(Enclosure(least, _INFINITY))
        known = known if square is None else _at_most(known, order * square / 2)
        if index < _MOST and not known.is_within(_NARROW):
            known = _sampled(uses, order, known)
        found.append(known)
    return found


def _at_most(known: Enclosure, most: Endpoint) -> Enclosure:
    return known.intersection(Enclosure(_ZERO, most, by=("Gaussian envelope",)))


def _square(uses: Scenario) -> Fraction | None:
    """mu^2, at most; None where some use has none that is known quickly."""
    total = _ZERO
    for mechanism, times in uses:
        found: Fraction | None = None
        with suppress(ArithmeticError):
            found = quickly(partial(_mu, mechanism), None, _EACH)
        if found is None:
            return None
        total += times * found**2
    return total


def _mu(mechanism: Mechanism) -> Fraction | None:
    if (own := without_outcomes(mechanism)) is not None:
        most = own.gdp(_ROUGHLY, _CAP)
        return Fraction(most.upper) if most.is_finite() else None
    with suppress(NoEnvelopeError):
        return distance_of(unsampled(mechanism))
    if isinstance(mechanism, OneWay | OnePair):  # the other way round it may cost more
        return None
    pure = divergence.pure_epsilon(mechanism, _ROUGHLY)
    if not pure.is_finite() or pure.upper > _LARGEST:
        return None
    return Fraction(enclose(of_pure(ball(Fraction(pure.upper)))).upper)


def _sampled(uses: Scenario, order: Fraction, before: Enclosure) -> Enclosure:
    """By Gaussians: what dominates a mechanism of which nobody is sampled does so sampled alike."""

    def measured() -> Enclosure:
        most = Enclosure.exactly(0)
        for scenario in dearest(uses):
            each = (
                divergence.renyi_divergence(one, order, _ROUGHLY).times(times)
                for one, times in enveloped(scenario)
            )
            most = most.maximum(Enclosure.total(each))
        return _at_most(before, most.upper)

    with suppress(ArithmeticError, NoEnvelopeError):
        return quickly(measured, before, _EACH)
    return before


def _renyi(uses: Scenario, order: Fraction) -> Enclosure:
    best = Enclosure.exactly(0)
    for scenario in dearest(uses):
        best = best.maximum(Enclosure.total(_of_use(use, order) for use in scenario))
    return best


def _of_use(use: Use, order: Fraction) -> Enclosure:
    unknown = Enclosure.unknown()
    with suppress(ArithmeticError):
        found = quickly(partial(renyi_by_cells, use, order), unknown, _EACH)
        return found.found_by("cells of the losses")
    return unknown


def _rho(uses: Scenario, orders: tuple[Fraction, ...]) -> Enclosure:
    """Divergences rise with their order: between two, D_a/a is at most the later one's over a."""
    curve, least = list[Enclosure](), _ZERO
    for order in orders:
        curve.append(_renyi(uses, order))
        least = max(least, Fraction(curve[-1].lower) / order)
        if not (curve[-1].lower or curve[-1].is_finite()):  # the others take as long
            break
    pure = Enclosure.unknown()
    if all(one.is_finite() for one in curve):
        with suppress(ArithmeticError):
            pure = Enclosure.total(
                quickly(partial(divergence.pure_epsilon, one, _ROUGHLY), pure, _EACH).times(k)
                for one, k in uses
            )
    if not pure.is_finite():
        return Enclosure(least, Enclosure.unknown().upper)
    ends = [*(Fraction(one.upper) for one in curve), Fraction(pure.upper)]
    most = max(end / a for end, a in zip(ends, (Fraction(1), *orders), strict=True))
    return Enclosure(least, most)
