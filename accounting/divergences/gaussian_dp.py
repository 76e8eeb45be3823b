"""mu of Gaussian DP: the least mu at which N(mu, 1) is told from N(0, 1) as well as P from Q is.

A pair is mu-GDP if its trade-off function is at least G_mu, that of N(mu, 1) against N(0, 1); that
says it of both ways round, since G_mu is its own inverse (Dong, Roth, Su, "Gaussian differential
privacy", JRSS B 2022). With z = Phi^-1, an event S separates the two laws by z(P(S)) - z(Q(S)), and
mu is the largest separation of any event: a test of level a = Q(S) and power P(S) lies on or above
G_mu(a) = Phi(z(1 - a) - mu) just where it separates by at most mu.

*Vertices suffice.* The trade-off function is convex, and linear between the Neyman-Pearson events,
the outcomes in the order of falling P/Q. A chord between two points on or above the graph of the
convex G_mu lies above it. So mu is the largest separation of these events; it is infinite where
some outcome has mass under one law only.

*Outcomes whose order cannot be told*, with ratios in [r, R] and the masses p and q together: the
trade-off function falls there by at most R a unit of level and at least r. So it lies above the
chord from where they begin to the point below their end that has the power R q more; and above the
chord to their end from the point of its own level with the power r q less.

*Pure epsilon.* No pair of that is less private than randomized response, which is 2 z(e^epsilon/(1
+ e^epsilon))-GDP: its only vertex.

*Shifted laws* with `curvature_falls`: `accounting.envelope.unit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import reduce, singledispatch
from itertools import accumulate
from typing import NamedTuple

from flint import arb

from ...exact.budget import spend
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose, enclose_between
from ...mechanisms.listed_pair import ListedPair
from ...mechanisms.pair import FinitePair, MixturePair, Pair, ResponsePair, SampledPair, TwoWayPair
from ...mechanisms.shift_pair import ShiftPair, WrappedPair
from ..envelope import NoEnvelopeError, unit_parameter
from ..envelope.unit import largest_window
from .finite_sums import Listed, is_listed, listed
from .largest_loss import largest_loss
from .privacy_profile import exceeding
from .wrapped import is_enumerable

_EVENT = 60  # units of work
_INFINITY = Decimal("Infinity")
_ZERO = Enclosure.exactly(0)
_OPEN = "which test tells most is open"


@singledispatch
def gaussian_mu(pair: Pair) -> Enclosure:
    """Enclose mu of this pair at the working precision: from two sides only where none is known."""
    raise TypeError(f"not a pair of distributions: {type(pair).__name__}")


@gaussian_mu.register
def _(pair: ResponsePair) -> Enclosure:
    if pair.delta:
        return Enclosure.infinite()
    return enclose(of_pure(ball(pair.epsilon))) if pair.epsilon else _ZERO


@gaussian_mu.register
def _(pair: FinitePair) -> Enclosure:
    if pair.slack:  # some pair within the slack has outcomes of one law only
        return Enclosure(_at_events(pair).lower, _INFINITY).because("the slack allows any mu")
    return _of_listed(listed(pair))


@gaussian_mu.register
def _(pair: ListedPair) -> Enclosure:
    return _of_listed(listed(pair))


@gaussian_mu.register
def _(pair: ShiftPair) -> Enclosure:
    if any(end is not None for end in pair.law.support):
        return Enclosure.infinite()
    if is_listed(pair):
        return _of_listed(listed(pair))
    if pair.law.curvature_falls:
        return largest_window(pair.law, pair.shift)
    found = _between(pair)
    with suppress(NoEnvelopeError):
        most = unit_parameter(pair.law).times(pair.shift).upper
        found = found.intersection(Enclosure(Fraction(0), most))
    return found


@gaussian_mu.register
def _(pair: WrappedPair) -> Enclosure:
    if is_enumerable(pair):
        return _of_listed(listed(pair))
    plain = gaussian_mu(pair.unwrapped)
    if pair.never_wraps:
        return plain
    return Enclosure(_at_events(pair).lower, plain.upper, why=plain.why).because(_OPEN)


@gaussian_mu.register
def _(pair: SampledPair) -> Enclosure:
    """At most that of the pair that is sampled: to put a draw from Q, with probability 1 - rate, in
    place of the output turns (P, Q) into this pair, or into the swapped one.
    """
    if is_listed(pair):
        return _of_listed(listed(pair))
    plain = pair.pair
    if isinstance(plain, ShiftPair) and any(end is not None for end in plain.law.support):
        return Enclosure.infinite()  # P has outcomes without Q, and rate of them remain
    most = gaussian_mu(plain).upper
    return _between(pair).intersection(Enclosure(Fraction(0), most))


@gaussian_mu.register
def _(pair: MixturePair) -> Enclosure:
    """At most the largest of all parts: the trade-off function of what tells the part is convex."""
    if is_listed(pair):
        return _of_listed(listed(pair))
    most = max(gaussian_mu(one).upper for _, one in pair.parts)
    return Enclosure(Fraction(0), most).because(_OPEN)


@gaussian_mu.register
def _(pair: TwoWayPair) -> Enclosure:
    """Between what neighbours attain, and that of the pair without sampling."""
    least, most = gaussian_mu(pair.pair), gaussian_mu(pair.pair.pair)
    return Enclosure(least.lower, most.upper, why=(*least.why, *most.why)).because(_OPEN)


def of_pure(epsilon: arb) -> arb:
    """mu of randomized response, 2 z(e^epsilon/(1 + e^epsilon)): the largest of any such pair."""
    return 2 * _quantile(1 / (1 + (-epsilon).exp()), 1 / (1 + epsilon.exp()))


def of_laplace(epsilon: arb) -> arb:
    """mu of continuous Laplace noise, epsilon = sensitivity/scale: 2 z(1 - e^(-epsilon/2)/2).

    P(X > x) = Phi(-t(x)) with t' = P(X > x)/phi(t) for x >= 0, the Mills ratio, which falls as t
    rises; t is odd. The half-lines separate by t(x) - t(x - epsilon), the integral of the even and
    unimodal t' over a window: widest in the middle, 2 t(epsilon/2).
    """
    tail = (-epsilon / 2).exp() / 2
    return 2 * _quantile(1 - tail, tail)


def separation(p: arb, p_rest: arb, q: arb, q_rest: arb) -> arb:
    """z(P(S)) - z(Q(S)), from the probabilities of S and of what is left."""
    return _quantile(p, p_rest) - _quantile(q, q_rest)


def _quantile(mass: arb, rest: arb) -> arb:
    """Phi^-1, from whichever of the two is smaller."""
    root = arb(2).sqrt()
    return -root * (2 * mass).erfcinv() if mass.mid() < rest.mid() else root * (2 * rest).erfcinv()


# -- events ----------------------------------------------------------------------------------------


def _between(pair: ShiftPair | SampledPair) -> Enclosure:
    """From below by an event, from above by the pure epsilon of both ways round."""
    least = _at_events(pair)
    most = Fraction(0)
    for way in (pair, pair.swapped()):
        largest = largest_loss(way).value.upper
        if largest == _INFINITY:
            return Enclosure(least.lower, _INFINITY).because(_OPEN)
        most = max(most, Fraction(largest))
    return Enclosure(least.lower, enclose(of_pure(ball(most))).upper).because(_OPEN)


def _at_events(pair: Pair) -> Enclosure:
    """What the event {P > Q} separates by, at least: total variation in other words."""
    event = exceeding(pair, arb(0), Fraction(0))
    p, q = event.p.lower(), event.q.upper()
    if not (p > q and q > 0 and p < 1):
        return Enclosure.unknown()
    return enclose(separation(p, 1 - p, q, 1 - q)).maximum(_ZERO)


class _Event(NamedTuple):
    """The masses of an event and of what is left."""

    p: arb
    p_rest: arb
    q: arb
    q_rest: arb


def _of_listed(outcomes: Listed) -> Enclosure:
    """By all events along the outcomes in the order of P/Q, as far as that can be told."""
    each = [(p, q) for p, q in zip(outcomes.p, outcomes.q, strict=True) if not p == q == 0]
    if any((p == 0) != (q == 0) and (p > 0 or q > 0) for p, q in each):
        return Enclosure.infinite()
    each.sort(key=lambda pair: -_about(*pair))
    ratios = [_ratio(p, q) for p, q in each]
    events = _events(each)
    lower = upper = arb(0)
    for event in events[1:-1]:
        spend(_EVENT)
        if (found := separation(*event).lower()) > lower:
            lower = found
    largest = smallest = arb(1)
    for first, last in _groups(ratios):
        low = reduce(arb.min, (low for low, _ in ratios[first:last]))
        high = reduce(arb.max, (high for _, high in ratios[first:last]))
        largest, smallest = _larger(largest, high), smallest.min(low)
        start, end = events[first], events[last]
        if last < len(each):
            upper = _larger(upper, separation(*end).upper())
        if last - first > 1:
            q = sum((q for _, q in each[first:last]), arb(0))
            upper = _larger(upper, _inside(start, end, low, high, q).upper())
    pure = _larger(largest.log(), -smallest.log())
    if pure.is_finite() and pure >= 0:
        upper = upper.min(of_pure(pure.upper()).upper())
    return enclose_between(lower, upper)


def _inside(start: _Event, end: _Event, low: arb, high: arb, q: arb) -> arb:
    """What events between these two separate by, at most, beyond what the two themselves do."""
    p = end.p - start.p
    if end.p_rest > start.p:
        more = high * q
        return separation(start.p + more, end.p_rest - (more - p), end.q, end.q_rest)
    less = low * q
    return separation(end.p - less, end.p_rest + less, start.q, start.q_rest)


def _events(each: Sequence[tuple[arb, arb]]) -> list[_Event]:
    """The first k outcomes, for each k from 0 on."""
    columns = []
    for column in zip(*each, strict=True):
        columns.append(list(accumulate(column, initial=arb(0))))
        columns.append(list(accumulate(column[::-1], initial=arb(0)))[::-1])
    return [_Event(*event) for event in zip(*columns, strict=True)]


def _groups(ratios: Sequence[tuple[arb, arb]]) -> list[tuple[int, int]]:
    """Where the outcomes can be cut for certain into those of larger and of smaller ratio."""
    after = list(accumulate((high for _, high in ratios[::-1]), _larger))[::-1]
    cuts, least = [0], arb.pos_inf()
    for index, (low, _) in enumerate(ratios[:-1]):
        least = least.min(low)
        if least > after[index + 1]:
            cuts.append(index + 1)
    return list(zip(cuts, [*cuts[1:], len(ratios)], strict=True))


def _about(p: arb, q: arb) -> float:
    """log P/Q in floats; what is not told apart by it costs width, nothing else."""
    if not q.mid() > 0:
        return float("inf")
    if not p.mid() > 0:
        return -float("inf")
    return float((p.mid() / q.mid()).log().mid())


def _ratio(p: arb, q: arb) -> tuple[arb, arb]:
    """Bounds of P/Q."""
    low = (p.lower().max(arb(0)) / q.upper()).lower() if q.upper() > 0 else arb(0)
    high = (p.upper() / q.lower()).upper() if q.lower() > 0 else arb.pos_inf()
    return low, high


def _larger(one: arb, other: arb) -> arb:
    """The larger of two bounds; what is no number is no bound."""
    if one.is_nan() or other.is_nan():
        return arb.pos_inf()
    return one.max(other)
