"""delta(epsilon) and epsilon(delta) of continuous mechanisms, alone and beside discrete ones.

Losses of independent uses add up whatever their laws. Where no discrete ones stand beside them, one
use has a closed form, and so do Gaussians that are not sampled. Two ways to measure other sums:

*By conditioning*, where the continuous uses have a closed form together, or a series
(`continuous.laplace_sum`), and the discrete losses few values l_i, of probability p_i: with
L = L_c + L_d and (1 - e^(level - L))^+ of the finite losses,

    delta(level) = P(L_d = infinity) + sum of p_i delta_c(level - l_i) [+ at most what is missing].

*By inversion* elsewhere (`continuous.inversion`): the discrete transform is a finite sum, or has a
closed form, so that it multiplies those of the continuous uses (`continuous.discrete`).

Which pairs a discrete use has, what an adversary may pick among, and what is charged besides
(`losses.product`) is as for discrete lists: the proofs speak of the whole list's events.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from flint import arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ball, exact
from ...exact.precision import WIDTH, enclose_between, refine, working_precision
from ..scenario import Scenario
from .composite import NO_LATTICE, Composite, Saddle, saddle_at
from .continuous import composed as smooth
from .continuous.discrete import DiscreteLoss
from .continuous.inversion import Parts, Profile, plan
from .continuous.laplace_sum import LaplaceSum, Series
from .continuous.root import root
from .listed import ListedLoss, count_values
from .product import Charges, Product, product_of
from .sums import (
    FIRST_TAIL,
    LEAST_LOG_DELTA,
    WORK,
    infinite_losses,
    never_below,
    over_choices,
    towards,
)

_MOST_VALUES = 200  # of the discrete loss that are conditioned on
_LITTLE = arb(2) ** -100  # of delta, that finite losses weigh at least where a line is sought

_BY_CLOSED, _BY_SERIES, _BY_INVERSION = "closed form", "series", "inversion of the transform"
_BY_PARTS = "each use by itself"

_Bounds: TypeAlias = Callable[[arb], tuple[arb, arb]]


def delta(
    parts: Parts,
    epsilon: ExactInput,
    width: Fraction = WIDTH,
    work: float = WORK,
    uses: Scenario = (),
) -> Enclosure:
    """The least delta for which these are (epsilon, delta)-DP together, epsilon >= 0.

    parts: the continuous uses, all in one direction. uses: the discrete ones.
    """
    level = exact(epsilon, "epsilon", at_least=0)
    parts, product, log_delta = smooth.merged(parts), product_of(uses, math.inf), 0.0
    if not product.factors:  # nothing is released but by the continuous ones
        if not parts or smooth.beyond(parts, level):
            return Enclosure.exactly(0)
        return _delta(parts, product, level, log_delta, width, work)
    with working_precision(smooth.BITS):
        first = product.fixed(0)
        if not first.composite(FIRST_TAIL).is_void():
            saddle = saddle_at(Composite(_all(parts, first, log_delta)), float(ball(level).mid()))
            log_delta = max(saddle.log_delta, LEAST_LOG_DELTA)
    return over_choices(
        product_of(uses, log_delta),
        lambda product, share: _delta(parts, product, level, log_delta, width, share * work),
        None,
        log_delta,
        width,
    )


def epsilon(
    parts: Parts,
    delta: ExactInput,
    width: Fraction = WIDTH,
    work: float = WORK,
    uses: Scenario = (),
) -> Enclosure:
    """The least epsilon >= 0 for which these are (epsilon, delta)-DP together, 0 < delta <= 1."""
    target = exact(delta, "delta", above=0, at_most=1)
    if target == 1:
        return Enclosure.exactly(0)
    parts, log_delta = smooth.merged(parts), float(ball(target).log().mid())
    product = product_of(uses, log_delta)
    if not product.factors:
        # the total variation distance of one use is at most its rate
        if sum(times * law.rate for law, times in parts) <= target:
            return Enclosure.exactly(0)
        if smooth.is_closed(parts):
            found = refine(lambda: smooth.closed_epsilon(parts, target), width=width)
            return found.found_by(_BY_CLOSED)
        if smooth.total_variation(parts) <= target:
            return Enclosure.exactly(0)
        return _epsilon(parts, product, target, log_delta, width, work)
    return over_choices(
        product,
        lambda product, share: _epsilon(parts, product, target, log_delta, width, share * work),
        None,
        log_delta,
        width,
    )


def _all(parts: Parts, product: Product, log_delta: float) -> Parts:
    """The losses of all uses."""
    share = log_delta - math.log(max(len(product.factors), 1))
    return [*parts, *((DiscreteLoss(one, share), one.times) for one in product.factors)]


def _delta(
    parts: Parts, product: Product, level: Fraction, log_delta: float, width: Fraction, work: float
) -> Enclosure:
    charges = product.charges()
    with working_precision(smooth.BITS):
        discrete = product.composite(FIRST_TAIL)
        if discrete.is_void():
            return infinite_losses(discrete, charges, ball(level).exp())
    if _is_conditioned(parts, product, log_delta):
        return refine(
            lambda: _between(*_closed(parts, product, log_delta)(ball(level))), width=width
        ).found_by(_BY_CLOSED)
    losses = _all(parts, product, log_delta)

    def attempt(log_width: float, found: Enclosure | None) -> tuple[Enclosure, bool]:
        composite, here = Composite(losses), ball(level)
        saddle = saddle_at(composite, float(here.mid()))
        finite = saddle.log_delta if found is None else _log_finite(found, composite, log_delta)
        summed = _in_series(parts, product, saddle, float(level), finite, log_width, work)
        if summed is not None:
            with working_precision(summed.bits):
                found = _between(*_summed(summed, product, finite)(ball(level)))
                return found.found_by(_BY_SERIES), False
        if not smooth.is_within_reach(losses, saddle.c):
            return Enclosure.probability(), True
        profile = Profile(losses, plan(losses, saddle, finite, log_width), work)
        found = _between(*_charged(profile.bounds, charges)(here))
        return found.found_by(_BY_INVERSION), profile.sigma > 0

    found = smooth.attempts(losses, width, attempt).because(NO_LATTICE)
    found = found.intersection(Enclosure.probability())
    if charges.are_none and not found.is_within(width):
        found = found.intersection(smooth.basic_delta(losses, level).found_by(_BY_PARTS))
    return found


def _epsilon(
    parts: Parts, product: Product, delta: Fraction, log_delta: float, width: Fraction, work: float
) -> Enclosure:
    charges = product.charges()
    with working_precision(smooth.BITS):
        discrete, target = product.composite(FIRST_TAIL), ball(delta)
        if discrete.is_void():
            if infinite_losses(discrete, charges, arb(1)).at_most(delta):
                return Enclosure.exactly(0)
            return never_below(discrete, target, charges)
    losses = _all(parts, product, log_delta)

    def attempt(log_width: float, found: Enclosure | None) -> tuple[Enclosure, bool]:
        composite, goal = Composite(losses), ball(delta)
        saddle = towards(composite, goal, charges)
        if saddle is None:
            return never_below(composite, goal, charges), True
        if conditioned:
            bounds = _closed(parts, product, log_delta)
            found = root(bounds, goal, arb(max(saddle.level, 0.0)), saddle.c)
            return found.found_by(_BY_CLOSED), False
        asked = log_width + math.log(min(1.0, saddle.c * max(saddle.level, 1e-3)))
        if found is not None and found.is_finite():
            saddle = saddle._replace(level=float(Fraction(found.upper)))
        finite = float((goal - composite.escaping()).max(goal * _LITTLE).log().mid())
        lowest = 0.0 if found is not None else max(saddle.level, 0.0) / 2
        summed = _in_series(parts, product, saddle, lowest, finite, asked, work)
        if summed is not None:
            with working_precision(summed.bits):
                begin = arb(max(saddle.level, 0.0))
                bounds = _summed(summed, product, finite)
                found = root(bounds, ball(delta), begin, saddle.c)
                return found.found_by(_BY_SERIES), False
        if not smooth.is_within_reach(losses, saddle.c):
            return Enclosure.unknown(), True
        profile = Profile(losses, plan(losses, saddle, finite, asked), work)
        start, slope = smooth.near(profile, saddle, finite)
        bounds = _charged(profile.bounds, charges)
        found = root(bounds, goal, arb(start), slope).found_by(_BY_INVERSION)
        return found, profile.sigma > 0

    conditioned = _is_conditioned(parts, product, log_delta)
    found = smooth.attempts(losses, width, attempt)
    with working_precision(smooth.BITS):
        composite = Composite(losses)
        largest = composite.largest().max(arb(0))
        rest = composite.escaping() + composite.missing() + charges.above(largest.exp())
        if largest.is_finite() and rest <= ball(delta):
            found = found.intersection(enclose_between(arb(0), largest))
    if charges.are_none and not found.is_within(width):
        found = found.intersection(smooth.basic_epsilon(losses, delta).found_by(_BY_PARTS))
    return found.because(NO_LATTICE)


def _charged(bounds: _Bounds, charges: Charges) -> _Bounds:
    def charged(level: arb) -> tuple[arb, arb]:
        (lower, upper), odds = bounds(level), level.exp()
        return (lower - charges.below(odds)).max(arb(0)), upper + charges.above(odds)

    return bounds if charges.are_none else charged


# -- by conditioning ------------------------------------------------------------------------------


def is_conditioned(parts: Parts, uses: Scenario, log_delta: float) -> bool:
    """Are the sums so short that they take no time?"""
    product = product_of(uses, log_delta)
    return product.is_exact and _is_conditioned(parts, product, log_delta)


def _is_conditioned(parts: Parts, product: Product, log_delta: float) -> bool:
    if not smooth.is_closed(parts):
        return False
    with working_precision(smooth.BITS):
        return count_values(product.atoms(_tail(log_delta))) <= _MOST_VALUES


def _closed(parts: Parts, product: Product, log_delta: float) -> _Bounds:
    """Bounds of delta(level), at the working precision."""

    def closed(level: arb) -> tuple[arb, arb]:
        value = smooth.closed_delta(parts, level)
        return value, value

    return _conditioned(closed, product, _tail(log_delta))


def _in_series(
    parts: Parts,
    product: Product,
    saddle: Saddle,
    lowest: float,
    log_delta: float,
    log_width: float,
    work: float,
) -> Series | None:
    """What to sum of the continuous uses to condition on the discrete losses."""
    atoms = product.atoms(_few_tail(log_delta))
    if (count := count_values(atoms)) > _MOST_VALUES:
        return None
    least = lowest - float(Composite(atoms).largest().upper())
    least -= 1e-9 * (bool(atoms) + abs(least))
    return smooth.in_series(parts, saddle, least, log_delta, log_width, work / count)


def _summed(chosen: Series, product: Product, log_delta: float) -> _Bounds:
    """Bounds of delta(level), at the series' precision."""
    return _conditioned(LaplaceSum(chosen).bounds, product, _few_tail(log_delta))


def _conditioned(continuous: _Bounds, product: Product, tail: float) -> _Bounds:
    atoms = product.atoms(tail)
    values, composite, charges = ListedLoss(atoms), Composite(atoms), product.charges()
    escaping, missing = composite.escaping(), composite.missing()

    def bounds(level: arb) -> tuple[arb, arb]:
        lower = upper = escaping
        for mass, loss in zip(values.masses, values.losses, strict=True):
            low, high = continuous(level - loss)
            lower, upper = lower + mass * low, upper + mass * high
        return lower.max(arb(0)).lower(), (upper + missing).min(arb(1)).upper()

    return _charged(bounds, charges)


def _tail(log_delta: float) -> float:
    """The logarithm of the P-mass that may be left out at the working precision."""
    return log_delta - 0.7 * ctx.prec - 10


def _few_tail(log_delta: float) -> float:
    """The same where the working precision is higher than what is asked needs."""
    return log_delta - 0.7 * smooth.BITS - 10


# -- by inversion ---------------------------------------------------------------------------------


def _log_finite(found: Enclosure, composite: Composite, log_delta: float) -> float:
    """The logarithm of what finite losses add to the delta that is enclosed, about."""
    middle = ball((Fraction(found.lower) + Fraction(found.upper)) / 2) - composite.escaping()
    return float(middle.mid().log().mid()) if middle > 0 else log_delta


def _between(lower: arb, upper: arb) -> Enclosure:
    return enclose_between(lower.max(arb(0)), upper.min(arb(1)))
