"""mu of Gaussian DP: the least mu at which N(mu, 1) is told from N(0, 1) as well as P from Q is.

*N(mu, 1) against N(0, 1)* is Gaussian noise with mu = sensitivity/sigma, also in Euclidean norm.
With Phi the normal distribution function (Balle and Wang 2018, Theorem 8; Dong, Roth, Su, "Gaussian
differential privacy", JRSS B 2022):

    delta(level) = Phi(mu/2 - level/mu) - e^level Phi(-mu/2 - level/mu)
    Renyi        = order mu^2/2, hence rho = mu^2/2; pure epsilon is infinite
    trade-off    = Phi(Phi^-1(1 - a) - mu)

The loss is N(mu^2/2, mu^2), and independent losses add up: K uses are one of mu sqrt(K). The pair
is symmetric under reflection, so both directions cost the same.

A pair is mu-GDP if its trade-off function is at least this G_mu; that says it of both ways round,
since G_mu is its own inverse. With z = Phi^-1, an event S separates the two laws by z(P(S)) -
z(Q(S)), and mu is the largest separation of any event: a test of level a = Q(S) and power P(S) lies
on or above G_mu(a) = Phi(z(1 - a) - mu) just where it separates by at most mu.

*Vertices suffice.* The trade-off function is convex, and linear between the Neyman-Pearson events,
the outcomes in the order of falling P/Q. A chord between two points on or above the graph of the
convex G_mu lies above it. So mu is the largest separation of these events; it is infinite where
some outcome has mass under one law only.

*Outcomes whose order cannot be told*, with ratios in [r, R] and the mass q together, between two
events whose order can: from the first one on the power rises by at most R a unit of level, and up
to the last one by at least r. In any order the events in between have at most (R - r) q less than
what is possible at their level: with that much more power their chords lie above it, the first and
the last ones too, as these are then at least as steep as R, and at most as r.

*Pure epsilon.* No pair of that is less private than randomized response, which is 2 z(e^epsilon/(1
+ e^epsilon))-GDP: its only vertex.

*Shifted laws* with `curvature_falls`: `mechanisms.laws.gaussian_envelope`.

*From the privacy profile*, where nothing else tells mu: delta(epsilon) of a mechanism, the larger
of both ways round, against that of N(mu, 1) and N(0, 1).

*From below.* What is mu-GDP has delta(epsilon) at most as above at every epsilon, which rises in
mu: no mu below the root of any of these will do. And the Rényi divergence of order a is at most
a mu^2/2 (post-processing): mu >= sqrt(2 rho) for the rho of zCDP. That is met where Gaussian noise
is sampled, however rarely.

*From above.* delta(epsilon) says that every event S of Q-mass a has P(S) <= delta + e^epsilon a,
either way round. At finitely many epsilon >= 0, and with no delta at the pure epsilon, these lines
bound the power by a concave polygon, whose mirror image (the line of epsilon = 0 is its own) bounds
it from there on. Each chord lies on the safe side of the concave power of G_mu if its ends do: mu
is at most the largest separation of the polygon's vertices, where two neighbouring lines meet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from heapq import heappop, heappush
from itertools import accumulate, pairwise

from flint import arb

from ...exact.budget import OutOfTimeError, spend
from ...exact.enclosure import Enclosure, Endpoint
from ...exact.number import ball
from ...exact.precision import enclose, enclose_between, upper_float, working_precision
from ...exact.roots import halved
from ...exact.rounding import is_infinite
from ...exact.square_root import SquareRoot, square_root
from ...mechanisms.laws.gaussian_envelope import NoEnvelopeError, largest_window, unit_parameter
from ...mechanisms.laws.normal import quantile, upper
from ...mechanisms.pairs.pair import Pair, ResponsePair, ShiftPair, TwoWayPair
from ..figure import PURE, RHO, Figure
from .finite_sums import Listed, dominating, is_listed, listed, unreduced
from .largest_loss import largest_loss
from .privacy_profile import exceeding

_EVENT = 60  # units of work
_ENOUGH = 1 + 2.0**-44  # of events whose bound is not more above the best, none is looked at
_INFINITY = Decimal("Infinity")
_ZERO = Enclosure.exactly(0)
_OPEN = "which test tells most is open"
_BITS = 192
_SMALLEST, _HALVINGS = 2.0**-60, 64
_POINTS = 24  # levels at which the profile is asked
_FEW = 6  # where it only bounds from below
_MOST_PURE = 10**6
_NOT_TOLD = (OutOfTimeError, ArithmeticError, NotImplementedError)
_BY_PROFILE = "mu is told by the profile at some levels and by rho only"


def gaussian_delta(mu: arb, level: arb) -> arb:
    """delta(level) of N(mu, 1) against N(0, 1), also at a negative level; mu > 0."""
    near, far = upper(level / mu - mu / 2), upper(level / mu + mu / 2)
    return (near - level.exp() * far).max(arb(0)).min(arb(1))


def gaussian_mu(pair: Pair) -> Enclosure:
    """Enclose mu of this pair at the working precision: from two sides only where none is known.

    From below by an event, from above by the pure epsilon of both ways round, by the law's
    envelope, and by what dominates (`dominating`; what is post-processing of it costs no more).
    """
    if isinstance(pair, TwoWayPair):  # what neighbours attain, and the pair without sampling
        least, plain = gaussian_mu(pair.pair), gaussian_mu(pair.pair.pair)
        return Enclosure(least.lower, plain.upper, why=(*least.why, *plain.why)).because(_OPEN)
    pair = unreduced(pair)
    if pair == ResponsePair(Fraction(0)):
        return _ZERO
    if is_listed(pair) and not pair.slack:
        return _of_listed(listed(pair))
    shifted = pair.shifted
    if pair.reduced is None and shifted and any(end is not None for end in shifted.law.support):
        return Enclosure.infinite()  # P or Q has outcomes of its own, of which sampling leaves some
    if isinstance(pair, ShiftPair) and pair.law.curvature_falls:
        return largest_window(pair.law, pair.shift)
    event, least = exceeding(pair, arb(0), Fraction(0)), Enclosure.unknown()  # P > Q
    p, q = event.p.lower(), event.q.upper()
    if p > q and q > 0 and p < 1:
        least = enclose(separation(p, 1 - p, q, 1 - q)).maximum(_ZERO)
    if pair.slack:  # some pair within the slack has outcomes of one law only
        return Enclosure(least.lower, _INFINITY).because("the slack allows any mu")
    each = [gaussian_mu(one) for one in dominating(pair)]
    most = max((one.upper for one in each), default=_INFINITY)
    if isinstance(pair, ShiftPair):
        with suppress(NoEnvelopeError):
            most = unit_parameter(pair.law).times(pair.shift).upper
    largest = max(largest_loss(way).value.upper for way in (pair, pair.swapped()))
    why = tuple(reason for one in each for reason in one.why)
    return Enclosure(least.lower, min(most, _of_largest(largest)), why=why).because(_OPEN)


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
    return -quantile(mass) if mass.mid() < rest.mid() else quantile(rest)


# -- events ----------------------------------------------------------------------------------------


def _of_largest(loss: Endpoint) -> Endpoint:
    """At most mu where no loss is above this, either way round."""
    return loss if is_infinite(loss) else enclose(of_pure(ball(loss))).upper


def _of_listed(outcomes: Listed) -> Enclosure:
    """By all events along the outcomes in the order of P/Q, as far as that can be told."""
    masses = [(p, q) for p, q in zip(outcomes.p, outcomes.q, strict=True) if not p == q == 0]
    if any((p == 0) != (q == 0) and (p > 0 or q > 0) for p, q in masses):
        return Enclosure.infinite()
    masses.sort(key=lambda pair: -(pair[0] / pair[1]).mid())
    ratios = [p / q for p, q in masses]
    columns = []  # P and Q of the first k outcomes, each with that of the rest, for k from 0 on
    for column in zip(*masses, strict=True):
        columns.append(list(accumulate(column, initial=arb(0))))
        columns.append(list(accumulate(column[::-1], initial=arb(0)))[::-1])
    events = list(zip(*columns, strict=True))
    lows = list(accumulate((one.lower() for one in ratios), arb.min))
    highs = list(accumulate((one.upper() for one in reversed(ratios)), arb.max))[::-1]
    cuts = [k for k in range(1, len(masses)) if lows[k - 1] > highs[k]]
    raised = [arb(0)] * len(events)  # more power, of those whose order cannot be told
    for first, last in pairwise([0, *cuts, len(masses)]):
        if last - first > 1:
            more = (highs[first] - lows[last - 1]) * (events[last][2] - events[first][2])
            raised[first + 1 : last] = [more] * (last - first - 1)
    return _largest_separation(events, raised)


def _largest_separation(events: Sequence[Sequence[arb]], raised: Sequence[arb]) -> Enclosure:
    """Of P and Q of growing events, each with that of the rest; raised: the power that each may
    have besides, which counts from above.

    Between the i-th and the j-th, events separate by at most z(P of the j-th) - z(Q of the i-th):
    where that is largest, the one in the middle is looked at next.
    """
    lower = upper = arb(0)
    quantiles: dict[int, tuple[arb, arb]] = {}
    waiting: list[tuple[float, int, int]] = []  # events between two, by minus their bound
    is_blurred = not all(more.is_zero() for more in raised)

    def power(k: int, more: arb) -> arb:
        """z(P), with so much more."""
        if more.is_zero() and k in quantiles:
            return quantiles[k][0]
        return _quantile(events[k][0] + more, events[k][1] - more)

    def look(k: int) -> None:
        nonlocal lower, upper
        spend(_EVENT)
        quantiles[k] = power(k, arb(0)), _quantile(*events[k][2:])
        least = (quantiles[k][0] - quantiles[k][1]).lower()
        lower = least if least > lower else lower
        upper = _larger(upper, power(k, raised[k]) - quantiles[k][1])

    def wait(i: int, j: int) -> None:
        if j - i > 1:
            more = reduce(arb.max, raised[i + 1 : j]) if is_blurred else arb(0)
            bound = _larger(arb(0), power(j, more) - quantiles[i][1])
            heappush(waiting, (-upper_float(bound), i, j))

    first, last = 1, len(events) - 2
    if first <= last:
        for k in {first, last}:
            look(k)
        wait(first, last)
    while waiting and arb(-waiting[0][0]) > lower * _ENOUGH:
        _, i, j = heappop(waiting)
        middle = (i + j) // 2
        look(middle)
        wait(i, middle)
        wait(middle, j)
    rest = arb(-waiting[0][0]) if waiting else arb(0)
    return enclose_between(lower, _larger(upper, rest))


def _larger(bound: arb, value: arb) -> arb:
    """An upper bound of both, infinite where one is not known."""
    return arb.pos_inf() if value.is_nan() else bound.max(value).upper()


# -- from the privacy profile ----------------------------------------------------------------------


def bounded_mu(known: Enclosure, ask: Callable[[Figure], Enclosure], width: Fraction) -> Enclosure:
    """What rho and the profile leave of mu, which is known to be in `known`.

    ask: for another figure, of the larger of both ways round. width: a relative one that is narrow
    enough.
    """
    found = known
    largest: Endpoint = _INFINITY
    with suppress(*_NOT_TOLD):
        found = found.intersection(Enclosure(root_of(ask(RHO).times(2)).lower, _INFINITY))
    if found.is_within(width):
        return found
    profile: dict[Fraction, Enclosure] = {}
    with suppress(*_NOT_TOLD):
        largest = ask(PURE).upper
    with suppress(*_NOT_TOLD):
        for level in _levels(found.upper, largest):
            profile[level] = ask(Figure("delta", level))
            least = largest_mu(level, Fraction(profile[level].lower))
            found = found.intersection(Enclosure(least, _INFINITY))
    with working_precision(_BITS):
        found = found.intersection(Enclosure(Fraction(0), _most(profile, largest)))
    return found if found.is_within(width) else found.because(_BY_PROFILE)


def largest_mu(level: Fraction, delta: Fraction) -> Endpoint:
    """The mu at which N(mu, 1) against N(0, 1) has delta(level) = delta, rounded down."""
    if not 0 < delta < 1:
        return _INFINITY if delta else Fraction(0)
    with working_precision(_BITS):
        target, at = ball(delta), ball(level)
        if level == 0:
            return max(enclose(arb(8).sqrt() * target.erfinv()).lower, Fraction(0))

        def met(mu: float) -> bool:
            return bool(gaussian_delta(arb(mu), at) <= target)

        high = _SMALLEST
        while met(high):
            high *= 2
        return Fraction(halved(met, high, 0.0, _HALVINGS)[1])


def root_of(square: Enclosure) -> Enclosure:
    """The root of a number >= 0: exact where both ends are squares of rationals."""

    def root(end: Endpoint) -> Enclosure:
        found = square_root(Fraction(end)) if end and not is_infinite(end) else end
        if not isinstance(found, SquareRoot):
            return Enclosure(found, found)
        with working_precision(_BITS):
            return enclose(found.ball())

    return Enclosure(root(square.lower).lower, root(square.upper).upper, why=square.why)


def squared(number: Enclosure) -> Enclosure:
    """The square of a number >= 0."""
    ends = (end if is_infinite(end) else Fraction(end) ** 2 for end in (number.lower, number.upper))
    return Enclosure(*ends, why=number.why)


def _levels(most: Endpoint, largest: Endpoint) -> list[Fraction]:
    """From 0 to where delta has all but vanished; the middle ones first."""
    top, count = Fraction(8), _FEW
    if not is_infinite(most):
        mu = Fraction(most).limit_denominator(10**6)
        top = mu * mu / 2 + 6 * mu
    if not is_infinite(largest):
        top, count = min(top, Fraction(largest)), _POINTS
    grid = [(top * k / count).limit_denominator(10**9) for k in range(count)]
    return sorted(set(grid), key=lambda level: (level != 0, grid.index(level) % 4, level))


def _most(profile: dict[Fraction, Enclosure], largest: Endpoint) -> Endpoint:
    """The largest separation of the polygon's vertices, and at most what pure epsilon allows."""
    if is_infinite(largest) or Fraction(largest) > _MOST_PURE:
        return _INFINITY
    ceiling = _of_largest(largest)
    if Fraction(0) not in profile or not largest:
        return ceiling if largest else Fraction(0)
    lines = [(ball(level).exp(), ball(profile[level].upper)) for level in sorted(profile)]
    lines.append((ball(largest).exp(), arb(0)))
    most, before = arb(0), arb(1)
    for (slope, start), (steeper, lower) in pairwise(_hull(lines)):
        level = (start - lower) / (steeper - slope)
        power = start + slope * level
        if not (level < before and level > 0 and power < 1):
            return ceiling
        before = level
        most = most.max(separation(power, 1 - power, level, 1 - level).upper())
    found = enclose(most).upper
    return min(found, ceiling)


def _hull(lines: list[tuple[arb, arb]]) -> list[tuple[arb, arb]]:
    """Those lines, the steeper later, that are lowest somewhere; leaving any out is safe."""
    kept: list[tuple[arb, arb]] = []
    for line in lines:
        while len(kept) > 1 and not _meet(kept[-1], line) < _meet(kept[-2], kept[-1]):
            kept.pop()
        kept.append(line)
    return kept


def _meet(one: tuple[arb, arb], other: tuple[arb, arb]) -> arb:
    return (one[1] - other[1]) / (other[0] - one[0])
