"""What random allocation costs: P = average over sets A of k of t steps of N(mu 1_A, I) against Q =
N(0, I), in one direction (`mechanisms.allocation`), composed over epochs.

*k = 1.* dP/dQ = S, the `average` of t likelihood ratios under Q, so that with G(x) = E_Q (x - S)^+

    remove: H_g(P, Q) = E_Q (S - g)^+ = 1 - g + G(g),   add: H_g(Q, P) = E_Q (1 - g S)^+ = g G(1/g),

exact for one epoch. Several epochs are composed on a lattice, from above and below (`dots`).

*k > 1, from above.* Deal floor(t/k) of the steps to each of k groups at random (what is left over
remains unused), then choose one step in each: by symmetry all sets of k steps are as likely. Given
the groups that is k uses of 1 of floor(t/k), the same Q; divergences of averages are at most the
largest one (joint convexity). *From below*, for any k: the sum of all steps is post-processing,
N(k mu, t) against N(0, t). *From above*, too: by convexity as the mechanism with the same steps
throughout, k uses of the Gaussian. Different epochs are independent.

*Rényi.* D_a(P, Q) (a - 1) = log E S^a, D_a(Q, P) (a - 1) = log E S^(1-a). log E S^a is convex in a
(and 0 at 0 and 1): between whole orders it lies below the chord and above the neighbouring ones
prolonged. Since (sum of R_i)^a >= sum of R_i^a, D_a(P, Q) >= a mu^2/2 - log t. Since S is at least
the geometric mean, D_a(Q, P) <= mu^2/2 + (a - 1) mu^2/(2t).

*rho* is k mu^2/2: at most that by convexity; at least, in the limit of large orders, since P has at
least 1/C times the density of one set's law, C sets (remove).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from flint import arb

from ...exact.deadline import OutOfTimeError
from ...exact.enclosure import Enclosure
from ...exact.number import ParameterError, ball
from ...exact.precision import WIDTH, enclose_between, refine, working_precision
from ...exact.roots import first_met_near
from ...mechanisms.allocation import Allocation, allocation
from ..losses.dots import Dots, above, below, together
from ..scenario import Use
from . import gaussian
from .average import Average, Below, TooManyNodesError
from .root import between, root

Parts: TypeAlias = Sequence[tuple[Allocation, int]]

SEVERAL = "each user in several steps of an epoch: bounded by as many uses of one step each"
GRID = "epochs of random allocation are composed on a lattice"
FAR = "random allocation with so little noise is bounded by closed forms only"
BETWEEN = "Rényi divergences of random allocation between whole orders are interpolated"

_BITS = 128
_NAT = math.log(2)
_FINE, _ROUGH = 48, 12  # steps of the lattice in one deviation of the loss
_MOST_LEVELS = 20_000
_MOST_ORDER = 400
_ORDERS, _FEW_ORDERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 100), (2, 4, 8, 64)
_COARSE = Fraction(1, 10**6)
_FIRST_TAIL, _LAST_TAIL = -46.0, -2000.0


def allocations_of(uses: Sequence[Use]) -> Parts | None:
    """These uses, where all are random allocations; None where none is.

    Raises ParameterError for a list of both.
    """
    found = [(each, times) for each, times in ((allocation(m), k) for m, k in uses) if each]
    if found and len(found) < len(uses):
        raise ParameterError(
            "a list that mixes random allocation with other mechanisms has no epsilon(delta) here: "
            "ask for Rényi divergences"
        )
    return found or None


def allocated_delta(parts: Parts, level: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """delta(level), level >= 0, of these uses together, all in one direction."""
    with working_precision(_BITS):
        low, high = (gaussian.delta(mu, ball(level)) for mu in _gaussians(parts))
        known = enclose_between(low, high)
    if _is_closed(parts):
        return refine(lambda: gaussian.delta(_gaussians(parts)[0], ball(level)), width=width)

    def measured(bounds: _Bounds) -> Enclosure:
        return between(*bounds(ball(level)))

    def converted() -> Enclosure:
        def delta(c: arb, loss: arb) -> arb:
            return (c * (loss - ball(level)) + _log_share(c)).exp()

        return enclose_between(arb(0), _by_renyi(parts, delta))

    tail, found = _FIRST_TAIL, known
    while True:
        found, reached = _measured(parts, tail, width, found, measured, converted)
        if not reached or found.is_within(width) or found.upper == 0 or tail < _LAST_TAIL:
            return found
        size = float(ball(Fraction(found.upper)).log().mid())
        if size > tail + 40 or tail < 2 * size:  # it is not for the tail that it is wide
            return found
        tail = 1.5 * size - 45


def allocated_epsilon(parts: Parts, target: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The least epsilon >= 0 for this delta, 0 < target < 1."""
    with working_precision(_BITS):
        low, high = (_gaussian_epsilon(mu, ball(target)) for mu in _gaussians(parts))
        known = Enclosure(low.lower, high.upper)
    if _is_closed(parts):
        return known
    log_delta = float(ball(target).log().mid())

    def measured(bounds: _Bounds) -> Enclosure:
        goal = ball(target)
        if len(parts) == parts[0][1] == 1:
            bounds(arb(_far(parts, log_delta)))  # one integral for all levels up to there
        if bounds(arb(0))[1] <= goal:
            return Enclosure.exactly(0)
        start, slope = _near(bounds, goal, float(known.upper))
        return root(bounds, goal, arb(start), slope)

    def converted() -> Enclosure:
        def epsilon(c: arb, loss: arb) -> arb:
            return loss + (_log_share(c) - ball(target).log()) / c

        return enclose_between(arb(0), _by_renyi(parts, epsilon).max(arb(0)))

    return _measured(parts, log_delta - 45, width, known, measured, converted)[0]


def allocated_renyi(one: Allocation, order: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The Rényi divergence of one use at this order > 1."""
    mu2 = (one.sensitivity / one.scale) ** 2
    known = Enclosure(order * mu2 * one.taken**2 / one.steps / 2, order * mu2 * one.taken / 2)
    if one.taken == one.steps:
        return known
    average = Average(one.scale / one.sensitivity, one.steps // one.taken)
    try:
        found = (_removed if one.removing else _added)(average, order, width)
    except OutOfTimeError:
        return known.because(FAR)
    if one.taken > 1:
        return known.intersection(Enclosure(Fraction(0), found.times(one.taken).upper)).because(
            SEVERAL
        )
    return known.intersection(found)


def allocated_rho(one: Allocation) -> Enclosure:
    """rho of one use, the user removed; what it is at most if added."""
    return Enclosure.exactly((one.sensitivity / one.scale) ** 2 * one.taken / 2)


# -- Gaussians that dominate and are dominated ----------------------------------------------------


def _gaussians(parts: Parts) -> tuple[arb, arb]:
    """The distances of two Gaussian pairs: by the sum of all steps, and of the same ones always."""
    least = most = arb(0)
    for one, times in parts:
        mu2 = (ball(one.sensitivity) / ball(one.scale)) ** 2
        least += times * mu2 * one.taken**2 / one.steps
        most += times * mu2 * one.taken
    return least.sqrt(), most.sqrt()


def _is_closed(parts: Parts) -> bool:
    return all(one.taken == one.steps for one, _ in parts)


def _gaussian_epsilon(mu: arb, goal: arb) -> Enclosure:
    def bounds(level: arb) -> tuple[arb, arb]:
        value = gaussian.delta(mu, level)
        return value.lower(), value.upper()

    if bounds(arb(0))[1] <= goal:
        return Enclosure.exactly(0)
    start, slope = _near(bounds, goal, 1.0)
    return root(bounds, goal, arb(start), slope)


def _by_renyi(parts: Parts, convert: Callable[[arb, arb], arb]) -> arb:
    """The least of what each order gives: convert takes order - 1 and the divergence."""
    best = arb.pos_inf()
    for order in _ORDERS if parts[0][0].removing else _FEW_ORDERS:
        loss = arb(0)
        for one, times in parts:
            try:
                upper = allocated_renyi(one, Fraction(order), _COARSE).upper
            except OutOfTimeError:
                return best
            loss += times * ball(Fraction(upper))
        best = best.min(convert(arb(order - 1), loss).upper())
    return best


def _log_share(c: arb) -> arb:
    """log of (a-1)^(a-1)/a^a, a = c + 1: delta(level) <= that times e^(c (D_a - level)).

    For x = dP/dQ and g = e^level: (x - g)^+ <= x^a g^(1-a) (a-1)^(a-1)/a^a.
    """
    return c * c.log() - (c + 1) * (c + 1).log()


# -- one epoch, and several -----------------------------------------------------------------------

_Bounds: TypeAlias = Callable[[arb], tuple[arb, arb]]


def _measured(
    parts: Parts,
    tail: float,
    width: Fraction,
    known: Enclosure,
    measure: Callable[[_Bounds], Enclosure],
    instead: Callable[[], Enclosure],
) -> tuple[Enclosure, bool]:
    """What is measured by exact bounds; what is known anyway, where these take too long."""
    alone = len(parts) == 1 and parts[0][1] == 1 and parts[0][0].taken == 1
    several = any(one.taken > 1 for one, _ in parts)
    try:
        with working_precision(_BITS + math.ceil(-2 * tail / _NAT)):
            bounds = _one(parts[0][0], tail) if alone else _lattice(parts, tail, width)
            found = measure(bounds)
            if several:  # these bound k of t from above only
                found = Enclosure(Fraction(0), found.upper)
    except ArithmeticError:  # too many nodes, or out of time
        with working_precision(_BITS), suppress(OutOfTimeError):
            known = known.intersection(instead())
        return known.because(FAR), False
    why = [] if alone else [GRID, SEVERAL] if several else [GRID]
    return known.intersection(found).because(*why), True


def _one(one: Allocation, tail: float) -> _Bounds:
    """The profile of one epoch, k = 1; integrals are made anew where a level is farther out."""
    average = Average(one.scale / one.sensitivity, one.steps)
    made: list[tuple[float, Below]] = []

    def bounds(level: arb) -> tuple[arb, arb]:
        odds = level.exp()
        here = float(level.mid())
        if one.removing:
            if not made or made[-1][0] < here:
                made.append((here, Below(average, math.exp(here) * (1 + 1e-9), tail)))
            value = 1 - odds + made[-1][1](odds)
        else:
            if not made or made[-1][0] < here:
                made.append((here + 4, Below(average, 1.0, tail - here - 4)))
            value = odds * made[-1][1](1 / odds)
        value = value.max(arb(0))
        return value.lower(), value.upper()

    return bounds


def _lattice(parts: Parts, tail: float, width: Fraction) -> _Bounds:
    """All epochs, composed on a lattice: bounds from below and above.

    Of k > 1 steps both are from above.
    """
    fine = _ROUGH if width >= Fraction(1, 100) else _FINE
    factors = [
        (Average(one.scale / one.sensitivity, one.steps // one.taken), times * one.taken)
        for one, times in parts
    ]
    spread = min(_spread(average) for average, _ in factors)
    step = Fraction(1, 1 << max(0, math.ceil(math.log2(fine / spread))))
    uses = sum(times for _, times in factors)
    reach, rest = tail + 34 - math.log(uses), arb(tail + 30 - math.log(64 * uses)).exp()
    removing = parts[0][0].removing
    tables = [(_heights(average, step, reach), times) for average, times in factors]

    def law(made: Callable[..., Dots], rising: bool) -> Dots:
        each = [(made(step, first, g, removing), times) for (first, g), times in tables]
        return together(each, rest, rising)

    upper = law(above, True)
    lower = law(below, False) if all(one.taken == 1 for one, _ in parts) else upper

    def bounds(level: arb) -> tuple[arb, arb]:
        return lower.delta(level).lower(), upper.delta(level).upper()

    return bounds


def _spread(average: Average) -> float:
    """The deviation of log S, about."""
    mu2 = float(1 / average.noise) ** 2
    return math.sqrt(min(math.log1p(math.expm1(min(mu2, 50.0)) / average.steps), 1.0))


@lru_cache(maxsize=16)
def _heights(average: Average, step: Fraction, tail: float) -> tuple[int, list[arb]]:
    """The first index and G on the lattice, as far as losses have more than e^tail of mass."""
    h = float(step)
    high = first_met_near(lambda i: bool(average.log_above(i * h) <= tail), 1, 0)
    low = -first_met_near(lambda i: bool(average.log_below(math.exp(-i * h)) + i * h <= tail), 1, 0)
    if high - low > _MOST_LEVELS:
        raise TooManyNodesError("a lattice of too many levels")
    levels = [ball(step) * i for i in range(low - 1, high + 2)]
    points = [level.exp() for level in levels]
    if average.steps == 1:
        return low - 1, [
            gaussian.delta(average.mu, level) - 1 + point
            for level, point in zip(levels, points, strict=True)
        ]
    error = tail + low * h + math.log(h) - math.log(4 * len(points)) - 6
    inverted = Below(average, float(points[-1].upper()) * (1 + 1e-9), error)
    found: list[arb] = []
    for first in range(0, len(points), 500):
        found += inverted.many(points[first : first + 500])
    return low - 1, found


def _far(parts: Parts, log_delta: float) -> float:
    """A level beyond which one epoch, the user removed, has less than this delta, about."""
    one = parts[0][0]
    average = Average(one.scale / one.sensitivity, one.steps // one.taken)
    return first_met_near(lambda i: bool(average.log_above(i / 64) <= log_delta), 1, 0) / 64


def _near(bounds: _Bounds, goal: arb, scale: float) -> tuple[float, float]:
    """About where the bounds reach the goal, and minus the slope of their logarithm there."""

    def height(level: float) -> float:
        value = bounds(arb(level))[1]
        return float((value / goal).log().mid()) if value > 0 else -math.inf

    low, high = 0.0, min(max(scale, 1e-9), 1 / 16)
    while height(high) > 0:
        low, high = high, 2 * high
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if height(middle) > 0 else (low, middle)
    gap = max(high * 1e-4, 1e-12)
    slope = (height(max(low - gap, 0.0)) - height(low)) / gap
    return low, slope if math.isfinite(slope) and slope > 0 else 1.0


# -- Rényi ----------------------------------------------------------------------------------------


def _removed(average: Average, order: Fraction, width: Fraction) -> Enclosure:
    mu2 = (1 / average.noise) ** 2
    if order > _MOST_ORDER:
        loss = refine(lambda: ball(order * mu2) / 2 - arb(average.steps).log(), width=width)
        least = Enclosure.exactly(0).maximum(loss)
        return Enclosure(least.lower, order * mu2 / 2).because(FAR)
    whole, c = order.denominator == 1, ball(order - 1)

    def compute() -> arb | Enclosure:
        below = math.floor(order)
        logs = [moment.log() for moment in average.moments(below + 3)]
        if whole:
            return logs[below] / (below - 1)
        share = ball(order - below)
        chord = logs[below] + share * (logs[below + 1] - logs[below])
        left = logs[below] + share * (logs[below] - logs[below - 1])
        right = logs[below + 1] - (1 - share) * (logs[below + 2] - logs[below + 1])
        return enclose_between(left.max(right).max(arb(0)).lower() / c, chord.upper() / c)

    found = refine(compute, width=width)
    return found if whole else found.because(BETWEEN)


def _added(average: Average, order: Fraction, width: Fraction) -> Enclosure:
    b = order - 1
    try:
        return refine(lambda: average.inverse_moment(ball(b)).log() / ball(b), width=width)
    except TooManyNodesError:
        mu2 = 1 / average.noise**2
        return Enclosure(Fraction(0), mu2 / 2 + b * mu2 / (2 * average.steps)).because(FAR)
