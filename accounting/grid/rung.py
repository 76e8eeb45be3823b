"""delta(epsilon) and epsilon(delta) from both sides by a coarse grid: a first answer, quickly.

What is measured is what `composed_profile` measures of the uses of one scenario, with the same
pairs, charges and choices (`losses.product`): several pairs that an adversary may choose among at
every use, on the way, are bounded from above by one pair that dominates them all, from below by
one of them throughout. Only how the sum is measured differs (`sides`): alike for all laws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from flint import arb, ctx

from ...exact.deadline import OutOfTimeError, time_left, where_possible
from ...exact.enclosure import Enclosure
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import working_precision
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.pair import Pair, SampledPair, TwoWayPair
from ...mechanisms.shift_pair import ShiftPair, WrappedPair
from ..figure import Figure
from ..losses.composite import Composite, saddle_at
from ..losses.continuous.composed import is_closed
from ..losses.continuous.mixture import MixtureLoss
from ..losses.continuous.sampled_gaussian import SampledGaussian
from ..losses.continuous.uses import parts_of
from ..losses.dominating import dominating
from ..losses.law import Atoms
from ..losses.mixed import is_conditioned
from ..losses.product import Factor, Product, outcomes, product_of
from ..losses.sums import (
    FIRST_TAIL,
    LEAST_LOG_DELTA,
    infinite_losses,
    largest_level,
    never_below,
    over_choices,
)
from ..scenario import Scenario, Use
from .blocks import BlockLoss
from .bounds import grid
from .cells import CellLaw, Continuous, Parts
from .own import is_own, own_parts
from .sides import moved
from .tilt import seen, tilt_at, tilt_for
from .two_way import TwoWayLoss

_BITS = 128
_MOST_OUTCOMES = 50_000
_MOST_TOGETHER = 100_000  # of all uses of a list, in little time
_CLOSE, _EVERY = 35.0, 20.0  # so far below delta, in its logarithm, is what is left out; steps
_PER_POINT = 8e-6  # seconds, of the sum and of each product on the way
_PER_OUTCOME = 1e-6  # seconds, of each that is listed
_LITTLE = 0.2  # seconds
_SMALLEST, _LARGEST = 512, 2048  # points, in little time
_FINEST_BOUNDED = 4096  # where what is between two laws stays open, or takes the points' square
_FINER = 8  # times as many points are tried next
_ANY = -50.0  # logarithm of a delta that is not known yet
_NO_WIDTH = Fraction(0)
_FEW_PAIRS = 4  # of which one that dominates them all is sought, on a lattice
_FINE = 64  # points in a deviation of it
_CLOSED = (DiscreteLaplace, DiscreteGaussian)  # laws whose losses have closed transforms


def takes_long(uses: Scenario, figure: Figure) -> bool:
    """Does the figure itself take longer than the coarse grid, and that tell something?"""
    if figure.at is None or (figure.quantity == "epsilon" and not 0 < figure.at < 1):
        return False
    if is_own(uses):
        return sum(use.times for use in uses) > 1
    parts, others = parts_of(uses)
    if parts and not others:
        return not is_closed(parts) and not all(
            isinstance(law, SampledGaussian) for law, _ in parts
        )
    log_delta = _ANY if figure.quantity == "delta" else float(ball(figure.at).log().mid())
    if others and (_are_many(others, log_delta) or sum(map(_listed, others)) > _MOST_TOGETHER):
        return True
    return bool(parts) and not is_conditioned(parts, others, log_delta)


def coarse(uses: Scenario, figure: Figure) -> Enclosure:
    """delta at an epsilon, or epsilon at a delta, on as fine a lattice as takes little time.

    Raises as `grid_delta`, and OutOfTimeError where listing the outcomes alone takes too long.
    """
    if _PER_OUTCOME * sum(map(_listed, uses)) > time_left():
        raise OutOfTimeError("the time allowed is too little for so many outcomes")
    return _measured(uses, figure, _few(uses))


def dearest_few(uses: Scenario) -> Scenario:
    """The uses of fewest outcomes, so of least noise, of a list that takes long: it costs more."""
    few, total = list[Use](), 0
    for count, index in sorted((_listed(use), index) for index, use in enumerate(uses)):
        total += count
        if few and total > _MOST_TOGETHER:
            break
        few.append(uses[index])
    return tuple(few)


def _listed(use: Use) -> int:
    if is_own([use]) or not parts_of([use])[1]:
        return 0
    pairs = islice(use.mechanism.pairs(), _FEW_PAIRS)
    with where_possible():
        return sum(min(outcomes(pair, _ANY), _MOST_OUTCOMES) for pair in pairs)
    return _MOST_OUTCOMES  # more than anybody lists


def narrowed(uses: Scenario, figure: Figure, width: Fraction, work: float) -> Enclosure:
    """The same as narrow as asked, or as so many seconds allow, by finer and finer lattices."""
    points, most = _few(uses), min(_affordable(uses, work / 2), _FINEST_BOUNDED)
    found = _measured(uses, figure, points)
    with suppress(ArithmeticError):  # out of time, or too fine
        while not found.is_within(width) and points < most:
            points = min(_FINER * points, most)
            found = found.intersection(_measured(uses, figure, points))
    return found


def _few(uses: Scenario) -> int:
    return max(min(_affordable(uses, _LITTLE), _LARGEST), _SMALLEST)


def _affordable(uses: Scenario, work: float) -> int:
    """How many points of the sum so many seconds allow, about."""
    products = sum(times.bit_length() + times.bit_count() for _, times in uses)
    return 1 << max(int(work / (_PER_POINT * products)), 1).bit_length() - 1


@lru_cache(maxsize=32)
def _measured(uses: Scenario, figure: Figure, points: int) -> Enclosure:
    assert figure.at is not None
    measured = grid_delta if figure.quantity == "delta" else grid_epsilon
    return measured(uses, figure.at, points).found_by("coarse grid")


def grid_delta(uses: Scenario, epsilon: Fraction, points: int) -> Enclosure:
    """Bounds of the least delta for which these uses are (epsilon, delta)-DP in this scenario.

    points: about how many the lattice of the sum has. Raises DoesNotApplyError for mechanisms that
    are not bounded by pairs of laws here, or by too many outcomes.
    """
    level, log_delta = float(ball(epsilon).mid()), 0.0
    parts, product = composed_of(uses, math.inf)
    with working_precision(_BITS):
        first = Composite(laws_of(parts, product.fixed(0), FIRST_TAIL))
        if not first.is_void():
            log_delta = max(saddle_at(first, level).log_delta, LEAST_LOG_DELTA)
    parts, product = composed_of(uses, log_delta)

    def measured(product: Product, share: float) -> Enclosure:
        with working_precision(_BITS):
            here, charges, tail = ball(epsilon), product.charges(), _tail(log_delta)
            laws = laws_of(parts, product, tail)
            composite = Composite(laws)
            if composite.is_void() or composite.largest() <= here:
                return infinite_losses(composite, charges, here.exp())
            return grid(laws, charges, tilt_at(seen(laws, tail), level), tail, points).delta(here)

    return _over_choices(parts, product, measured, log_delta, Enclosure.probability())


def grid_epsilon(uses: Scenario, delta: Fraction, points: int) -> Enclosure:
    """Bounds of the least epsilon >= 0 for which they are (epsilon, delta)-DP, 0 < delta < 1.

    As `grid_delta`.
    """
    log_delta = float(ball(delta).log().mid())
    parts, product = composed_of(uses, log_delta)

    def measured(product: Product, share: float) -> Enclosure:
        with working_precision(_BITS):
            target, charges, tail = ball(delta), product.charges(), _tail(log_delta)
            laws = laws_of(parts, product, tail)
            composite = Composite(laws)
            most = largest_level(composite, charges, delta)
            if composite.is_void():
                return Enclosure(Fraction(0), most.upper)
            rest = composite.escaping() - charges.less_p - charges.slack
            if not rest < target:
                return never_below(composite, target, charges)
            tilt = tilt_for(seen(laws, tail), float((target - rest.max(arb(0))).log().mid()))
            found = grid(laws, charges, tilt, tail, points).epsilon(target)
            return found.intersection(Enclosure(Fraction(0), most.upper))

    return _over_choices(parts, product, measured, log_delta, Enclosure.unknown())


def _tail(log_delta: float) -> float:
    """The logarithm of the P-mass that is left out: the same for figures near each other."""
    return _EVERY * math.floor((log_delta - _CLOSE) / _EVERY)


# -- what is composed -----------------------------------------------------------------------------


def composed_of(uses: Scenario, log_delta: float) -> tuple[Parts, Product]:
    """The continuous uses, and what is composed of the others."""
    own, rest = own_parts(uses)
    parts, others = parts_of(rest)
    known = [(law, times) for law, times in parts if isinstance(law, Continuous | MixtureLoss)]
    assert len(known) == len(parts)
    product = product_of(others, log_delta)
    return [*own, *known], Product(tuple(map(_by_residues, product.factors)))


def _by_residues(factor: Factor) -> Factor:
    """By blocks of residues where those can be told, instead of charging for a reduction mod m."""
    if not factor.reduced or len(factor.pairs) > 1 or factor.choices:
        return factor
    (pair,) = factor.reduced
    told = isinstance(pair, WrappedPair | SampledPair) and BlockLoss.of(pair, _ANY, 1) is not None
    return Factor((pair,), factor.times) if told and _has_many(factor, _ANY) else factor


def _has_many(factor: Factor, log_tail: float) -> bool:
    """Are its outcomes more than are listed in little time?"""
    return sum(outcomes(pair, log_tail) for pair in factor.pairs) > _MOST_OUTCOMES


def _are_many(uses: Scenario, log_delta: float) -> bool:
    """Are there more outcomes than are listed in little time? No closed form needs them."""
    product = product_of(uses, log_delta)
    pairs = [pair for factor in product.factors for pair in factor.pairs]
    if all(isinstance(one, ShiftPair) and isinstance(one.law.simplest(), _CLOSED) for one in pairs):
        return False
    tail = _tail(log_delta)
    return any(_has_many(factor, product.tail(factor, tail)) for factor in product.factors)


def _over_choices(
    parts: Parts,
    product: Product,
    measure: Callable[[Product, float], Enclosure],
    log_delta: float,
    nothing: Enclosure,
) -> Enclosure:
    if parts and not product.factors:
        return measure(product, 1.0)
    if product.is_exact:
        return over_choices(product, measure, None, log_delta, _NO_WIDTH)
    ends: list[Enclosure] = []

    def known(product: Product, share: float) -> Enclosure:
        try:
            ends.append(measure(product, share))
        except DoesNotApplyError:  # the other end may be known still
            return nothing
        except OutOfTimeError:
            if not ends:
                raise
            return nothing
        return ends[-1]

    found = over_choices(product, known, None, log_delta, _NO_WIDTH)
    if not ends:
        raise DoesNotApplyError("no choice of pairs is put on a grid")
    return found


def laws_of(parts: Parts, product: Product, log_tail: float) -> Parts:
    """The losses of all uses, leaving out P-mass of about e^log_tail altogether."""
    return [*parts, *((_law(product, one, log_tail), one.times) for one in product.factors)]


def _law(product: Product, factor: Factor, log_tail: float) -> CellLaw:
    """The loss of one use, loss by loss where these are few."""
    tail, pairs = product.tail(factor, log_tail), factor.pairs
    if not _has_many(factor, tail):
        return product.listed(factor, log_tail)
    uses = sum(one.times for one in product.factors)
    blocks = [found for one in pairs if (found := _blocks(one, tail, uses, ctx.prec)) is not None]
    if len(blocks) < len(pairs) or len(pairs) > _FEW_PAIRS:
        raise DoesNotApplyError("no shape is known of what has more outcomes than are listed")
    return blocks[0] if len(pairs) == 1 else _dominating(pairs, tail, uses, ctx.prec)


@lru_cache(maxsize=4)
def _dominating(pairs: tuple[Pair, ...], log_tail: float, uses: int, bits: int) -> Atoms:
    """Of blocks moved onto a lattice."""
    each = (_blocks(one, log_tail, uses, bits) for one in pairs)
    blocks = [found for found in each if found is not None]
    spread = max(one.cumulant(0.0).curvature for one in blocks)
    step = Fraction(2) ** math.floor(math.log2(math.sqrt(spread) / _FINE))
    return dominating([moved(one, step, log_tail) for one in blocks])


@lru_cache(maxsize=16)
def _blocks(pair: Pair, log_tail: float, uses: int, bits: int) -> BlockLoss | TwoWayLoss | None:
    """Kept, since one answer asks for them several times at the same precision."""
    if isinstance(pair, TwoWayPair):
        attained = BlockLoss.of(pair.pair, log_tail, uses)
        return None if attained is None else TwoWayLoss(attained)
    return BlockLoss.of(pair, log_tail, uses)
