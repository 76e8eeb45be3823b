"""What a list of parts costs at most: mechanisms, profiles and Rényi bounds (`accountant`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from attrs import evolve
from flint import arb

from ...exact.enclosure import Endpoint
from ...exact.number import ball
from ...exact.precision import enclose, working_precision
from ...mechanisms.continuous import continuous
from ...mechanisms.fixed_size import FixedSize
from ...mechanisms.guaranteed import Guaranteed
from ...mechanisms.mechanism import Mechanism, RandomizedResponse, ways
from ...mechanisms.moment_profile import dominating_pair
from ...mechanisms.sampled import Sampled
from ...mechanisms.vector import vector
from ..composition.composed import Composition, Use
from ..composition.loss_grid import Grid, GridLaw, composed, dominating_laws
from ..divergences import gaussian
from ..losses.continuous.uses import single_law
from .profiles import LossProfile, SampledShift, profile_law, renyi_of
from .reading import Part
from .renyi_bounds import ORDERS, RenyiBound

Parts: TypeAlias = tuple[tuple[Part, int], ...]

_BITS = 256
_STEP, _COARSER, _MOST_POINTS = Fraction(1, 10**4), 4, 1 << 18
_TAIL = Fraction(1, 10**24)  # of all uses, by what may be taken for an infinite loss
_LEFT_OUT = Fraction(1, 10**9)  # of delta, likewise
_WIDTH = Fraction(1, 10**9)
_ROUGH = Fraction(1, 10**7)
_INFINITY = Decimal("Infinity")
_ZERO, _ONE = Fraction(0), Fraction(1)


def epsilon_at(parts: Parts, delta: Fraction) -> Endpoint:
    """Epsilon at this delta, at most."""
    if any(part is None for part, _ in parts):
        return _INFINITY
    if not parts or delta == 1:
        return _ZERO
    known: Endpoint = _INFINITY
    if (listed := _composition(parts)) is not None:
        value = listed.epsilon(delta, _WIDTH)
        if delta == 0 or value.is_within(_ROUGH):
            return value.upper
        known = value.upper  # a grid of losses may tell more
    if delta == 0:
        return _INFINITY
    with working_precision(_BITS):
        level = ball(delta)
        if any(isinstance(part, RenyiBound) for part, _ in parts):
            curve, lost = _curve(parts)
            if not lost < level:
                return _INFINITY
            log_left = (level - lost).log()
            found = [
                curve[a] + ball((a - 1) / a).log() - (log_left + ball(a).log()) / ball(a - 1)
                for a in ORDERS
            ]
            return _least(found)
        laws = _laws(parts, min(_TAIL, delta * _LEFT_OUT))
        return min(known, max(law.epsilon(level) for law in laws))


def delta_at(parts: Parts, epsilon: Fraction) -> Endpoint:
    """Delta at this epsilon >= 0, at most."""
    if any(part is None for part, _ in parts):
        return Fraction(1)
    if not parts:
        return _ZERO
    known: Endpoint = _ONE
    if (listed := _composition(parts)) is not None:
        value = listed.delta(epsilon, _WIDTH)
        if value.is_within(_ROUGH) or value.upper < _TAIL:
            return value.upper
        known = value.upper
    with working_precision(_BITS):
        level = ball(epsilon)
        if any(isinstance(part, RenyiBound) for part, _ in parts):
            curve, lost = _curve(parts)
            left = _least(
                [
                    (ball(a - 1) * (curve[a] - level)).exp()
                    / ball(a - 1)
                    * ball(1 - 1 / a) ** ball(a)
                    for a in ORDERS
                ]
            )
            return min(enclose(lost + ball(Fraction(min(left, _ONE)))).upper, _ONE)
        laws = _laws(parts, _TAIL)
        return min(known, max(enclose(law.delta(level)).upper for law in laws))


def _composition(parts: Parts) -> Composition | None:
    """The parts as uses of mechanisms, where all are; without what releases nothing."""
    uses = [Use(part, times) for part, times in parts if not isinstance(part, _Bounds) and part]
    return Composition(uses) if len(uses) == len(parts) else None


_Bounds = LossProfile | RenyiBound


# -- by a grid of losses --------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _laws(parts: Parts, tail: Fraction) -> list[GridLaw]:
    """Laws of all together, in one direction or in both; of which the largest counts."""
    counted = Counter[Part]()
    for part, times in parts:
        counted[part] += times
    total, step = sum(counted.values()), _STEP
    while True:
        grid = Grid(step)
        each = [(_grid_laws(part, grid, tail / total), times) for part, times in counted.items()]
        if max(len(_span(law)) for laws, _ in each for law in laws) <= _MOST_POINTS:
            break
        step *= _COARSER
    return [
        composed([(laws[min(way, len(laws) - 1)], n) for laws, n in each], tail, _MOST_POINTS)
        for way in range(max(len(laws) for laws, _ in each))
    ]


def _span(law: GridLaw) -> range:
    return range(min(law.masses, default=0), max(law.masses, default=0) + 1)


def _grid_laws(part: Part, grid: Grid, tail: Fraction) -> list[GridLaw]:
    """Of one use; two where the directions differ."""
    if isinstance(part, LossProfile):
        ways_round = (False,) if part.two_way else (False, True)
        return [profile_law(part.at_most, grid, tail, back) for back in ways_round]
    assert part is not None and not isinstance(part, RenyiBound)
    if isinstance(part, FixedSize) and (noise := continuous(part.mechanism)):
        return _grid_laws(SampledShift(part.rate, _square(noise.move), True), grid, tail)
    if isinstance(part, Guaranteed):
        return dominating_laws(part.alike(dominating_pair(part.curve)), grid, tail)
    if vector(part) is not None:  # its Gaussian envelope
        mu = Fraction(Composition([Use(part, 1)]).gdp(_ROUGH).upper)
        return [profile_law(lambda level: gaussian.delta(ball(mu), level), grid, tail)]
    if continuous(part) is not None:
        return [profile_law(single_law(way).profile, grid, tail) for way in ways(part)]
    return dominating_laws(part, grid, tail)


def _square(move: object) -> Fraction:
    return Fraction(move * move)  # type: ignore[operator]


# -- by Rényi divergences -------------------------------------------------------------------------


@lru_cache(maxsize=32)
def _curve(parts: Parts) -> tuple[dict[Fraction, arb], arb]:
    """Rényi divergences at `ORDERS` at most, without losses of a total probability, and this.

    Those that are infinite, each with all of its P-mass: the sums of order a are of the others.
    """
    kept, mechanisms = arb(1), []
    total = dict.fromkeys(ORDERS, arb(0))
    for part, times in parts:
        if isinstance(part, RenyiBound):
            for order in ORDERS:
                total[order] += times * part.at_most(order, _renyi, _delta)
        elif isinstance(part, LossProfile):
            laws = _laws(((part, 1),), _TAIL / times)
            kept *= (1 - max((law.infinite.upper() for law in laws), key=float)) ** times
            for order in ORDERS:
                total[order] += times * max(
                    (renyi_of(law, order).upper() for law in laws), key=float
                )
        else:
            plain, lost = _without_delta(part)
            kept *= ball(1 - lost) ** times
            mechanisms.append(Use(plain, times))
    if mechanisms:
        known = Composition(mechanisms).renyi_curve(ORDERS, _ROUGH)
        for order, value in zip(ORDERS, known, strict=True):
            total[order] += ball(Fraction(value.upper)) if value.is_finite() else arb.pos_inf()
    return total, 1 - kept


def _without_delta(part: Part) -> tuple[Mechanism, Fraction]:
    """(epsilon, delta)-DP tells all with probability delta, and is epsilon-DP otherwise."""
    inner = part.mechanism if isinstance(part, Sampled) and part.rate == 1 else part
    if isinstance(inner, RandomizedResponse) and inner.delta:
        pure = evolve(inner, delta=_ZERO)
        return (evolve(part, mechanism=pure) if isinstance(part, Sampled) else pure), inner.delta
    return part, _ZERO  # type: ignore[return-value]


def _renyi(inner: Parts, order: Fraction) -> arb:
    if any(part is None for part, _ in inner):
        return arb.pos_inf()
    curve, lost = _curve(inner)
    return curve[order] if lost == 0 else arb.pos_inf()


def _delta(inner: Parts, order: Fraction) -> arb:
    """delta at a level that is at most log(1 + 1/(order - 1))."""
    level = enclose(ball(1 / (order - 1)).log1p()).lower
    return ball(Fraction(delta_at(inner, Fraction(level))))


def _least(found: Sequence[arb]) -> Endpoint:
    ends = [enclose(one.max(arb(0))).upper for one in found if one.is_finite()]
    return min(ends, default=_INFINITY)
