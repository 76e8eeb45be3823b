"""What random allocation costs: P = average over sets A of k of t steps of N(mu 1_A, I) against Q =
N(0, I), in one direction (`mechanisms.sampling.allocation`), composed over epochs.

*k = 1.* dP/dQ = S, the `average` of t likelihood ratios under Q, so that with G(x) = E_Q (x - S)^+

    remove: H_g(P, Q) = E_Q (S - g)^+ = 1 - g + G(g),   add: H_g(Q, P) = E_Q (1 - g S)^+ = g G(1/g),

exact for one epoch. Several epochs are composed on a lattice, from above and below
(`grid.average`), and so is one with too little noise.

*k > 1, from above.* Deal the steps at random to k groups of t/k steps, rounded down or up, then
choose one step in each: by symmetry all sets of k steps are as likely. Given the groups that is k
uses of 1 of t/k, the same Q; divergences of averages are at most the largest one (joint convexity).
*From below*, for any k: the sum of all steps is post-processing, N(k mu, t) against N(0, t), and so
is that of any function of each (`grid.dealt`). *From above*, too: by convexity as the mechanism
with the same steps throughout, k uses of the Gaussian. Different epochs are independent.

*Rényi.* D_a(P, Q) (a - 1) = log E S^a, D_a(Q, P) (a - 1) = log E S^(1-a). log E S^a is convex in a
(and 0 at 0 and 1): between whole orders it lies below the chord and above the neighbouring ones
prolonged. Since (sum of R_i)^a >= sum of R_i^a, D_a(P, Q) >= a mu^2/2 - log t. Since S is at least
the geometric mean, D_a(Q, P) <= mu^2/2 + (a - 1) mu^2/(2t).

*rho* is k mu^2/2: at most that by convexity; at least, in the limit of large orders, since P has at
least 1/C times the density of one set's law, C sets (remove).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from flint import arb

from ....exact.budget import OutOfTimeError
from ....exact.enclosure import Enclosure
from ....exact.errors import DoesNotApplyError
from ....exact.number import ball
from ....exact.precision import WIDTH, enclose_between, refine, working_precision
from ....exact.square_root import square_root
from ....losses.planning import Sketch, Sketches
from ....mechanisms.sampling.allocation import Allocation
from ...figure import Figure
from ...grid.average import AllocatedLoss
from . import profile
from .average import Average, Below
from .inversion import Bounds, root
from .sampled_gaussian import SampledGaussian

Parts: TypeAlias = Sequence[tuple[Allocation, int]]

SEVERAL = "each user in several steps of an epoch: bounded by as many uses of one step each"
FAR = "random allocation with so little noise is bounded by closed forms only"
BETWEEN = "Rényi divergences of random allocation between whole orders are interpolated"

_BITS = 128
_NAT = math.log(2)
_MOST_ORDER = 400
_SPARE, _MORE = 1.1, 0.1  # times and above the level that floats expect, levels are looked at
_FIRST_TAIL, _LAST_TAIL = -46.0, -2000.0


def measured(parts: Parts, figure: Figure, width: Fraction = WIDTH) -> Enclosure:
    """delta at an epsilon >= 0, or the least epsilon >= 0 at a delta in (0, 1), in one direction.

    Exact for one epoch, but for too little noise; else between two Gaussian pairs: by the sum of
    all steps, and by the same ones always.
    """
    at, is_delta = figure.at, figure.quantity == "delta"
    assert at is not None
    squares = [((part.sensitivity / part.scale) ** 2 * part.taken * n, part) for part, n in parts]
    most = sum((square for square, _ in squares), Fraction(0))
    least = sum((square * part.taken / part.steps for square, part in squares), Fraction(0))
    plain = (SampledGaussian(square_root(1 / mu2)) for mu2 in (least, most))
    low, high = (profile.measured([(law, 1)], figure, width) for law in plain)
    bracket = Enclosure(low.lower, high.upper)
    is_one_epoch = len(parts) == 1 and parts[0][1] == 1 and parts[0][0].taken == 1
    if bracket.is_within(width) or not is_one_epoch:  # or all take part in all steps
        return bracket
    epoch, tail = parts[0][0], _FIRST_TAIL
    try:
        if not is_delta:
            return bracket.intersection(_level(epoch, at, float(bracket.upper)))
        while not bracket.is_within(width) and tail > _LAST_TAIL:
            with working_precision(_precision(tail)):
                bounds = _profile(epoch, float(at), tail)
                bracket = bracket.intersection(enclose_between(*bounds(ball(at))))
            tail *= 2
        return bracket
    except (ArithmeticError, OutOfTimeError):  # too many nodes
        return bracket.because(FAR)


def _level(epoch: Allocation, target: Fraction, most: float) -> Enclosure:
    """The least level >= 0 with this delta, of one epoch; it is at most `most`."""
    goal = ball(target)
    log_delta = float(goal.log().mid())
    loss = AllocatedLoss(epoch.scale / epoch.sensitivity, epoch.steps, epoch.removing, log_delta)
    about = Sketches([Sketch.of(*loss.sketch(), 1)]).saddle(log_delta, None).level
    highest, tail = min(_SPARE * about + _MORE, most), log_delta - 45
    with working_precision(_precision(tail)):
        return root(_profile(epoch, highest, tail), goal, arb(min(about, highest)))


def allocated_renyi(one: Allocation, order: Fraction, width: Fraction = WIDTH) -> Enclosure:
    """The Rényi divergence of one use at this order > 1."""
    mu2 = (one.sensitivity / one.scale) ** 2
    known = Enclosure(order * mu2 * one.taken**2 / one.steps / 2, order * mu2 * one.taken / 2)
    if one.taken == one.steps:
        return known
    measure = _removed if one.removing else _added
    try:
        each = [
            measure(Average(one.scale / one.sensitivity, steps), order, width).times(count)
            for steps, count in one.groups
        ]
    except OutOfTimeError:
        return known.because(FAR)
    found = Enclosure.total(each)
    if one.taken > 1:
        return known.intersection(Enclosure(Fraction(0), found.upper)).because(SEVERAL)
    return known.intersection(found)


# -- one epoch ------------------------------------------------------------------------------------


def _precision(tail: float) -> int:
    return _BITS + math.ceil(-2 * tail / _NAT)


def _profile(one: Allocation, highest: float, tail: float) -> Bounds:
    """delta(level) of one epoch, k = 1, up to this level, at the working precision."""
    average = Average(one.scale / one.sensitivity, one.steps)
    if one.removing:
        below = Below(average, math.exp(highest) * (1 + 1e-9), tail)
    else:
        below = Below(average, 1.0, tail - highest)

    def bounds(level: arb) -> tuple[arb, arb]:
        odds = level.exp()
        value = 1 - odds + below(odds) if one.removing else odds * below(1 / odds)
        value = value.max(arb(0))
        return value.lower(), value.upper()

    return bounds


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
    except DoesNotApplyError:
        mu2 = 1 / average.noise**2
        return Enclosure(Fraction(0), mu2 / 2 + b * mu2 / (2 * average.steps)).because(FAR)
