"""The losses of one scenario's uses: what dominates them, and a statistic of what is attained.

Where both are the same, what is composed of them is exact. Which pair of several an adversary
chooses is not decided here (`sums.over_choices`): a factor stands for one pair, or for one that
dominates several.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from attrs import frozen
from flint import arb, ctx

from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...losses.cells import Cells, Reals, on_lattice
from ...losses.planning import Sketch, Sketches
from ...mechanisms.allocation import Allocation, allocation
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.pair import Pair, TwoWayPair
from ...mechanisms.shift_pair import ShiftPair
from ..grid.average import AllocatedLoss
from ..grid.blocks import BlockLoss
from ..grid.cells import DividedLoss, TwoWayLoss
from ..grid.dealt import DealtSteps
from ..scenario import Scenario, Use
from .continuous.profile import merged
from .continuous.uses import batch_law, parts_of, plain_law
from .law import Atoms, Lattice, LossLaw
from .listed import dominating
from .product import MOST_TOGETHER, Factor, Product, outcomes

MOST_OUTCOMES = 50_000  # of one use, that are listed; more are divided into blocks
_FEW_PAIRS = 4  # of which one that dominates them all is sought, on a lattice
_FINE = 64  # points in a deviation of it
_CLOSED = (DiscreteLaplace, DiscreteGaussian)  # laws whose losses have closed transforms
_STEEPEST = 1e3  # tilt that a statistic is made for


Parts: TypeAlias = Sequence[tuple[LossLaw, int]]


class Losses(NamedTuple):
    """What dominates, and statistics of what is attained."""

    dominating: Parts = ()
    attained: Parts = ()

    def plus(self, other: Losses) -> Losses:
        """Both together."""
        above = [*self.dominating, *other.dominating]
        return Losses(above, [*self.attained, *other.attained])

    @property
    def is_exact(self) -> bool:
        """Are both the same?"""
        above, below = ([loss for loss, _ in some] for some in self)
        return above == below


@frozen(eq=False)
class Statistic(LossLaw):
    """What the cells of a loss say of a statistic of its outcomes."""

    loss: AllocatedLoss | BlockLoss

    def largest(self) -> arb:
        return self.loss.largest()

    def sketch(self) -> tuple[Reals, Reals]:
        return self.loss.sketch()

    def cells(self, step: arb, tilt: float, points: int) -> Cells:
        cells = self.loss.cells(step, tilt, points)
        assert cells.attained is not None
        return Cells(cells.attained, arb(0), cells.cost)


def losses_of(uses: Scenario, log_delta: float, log_tail: float) -> tuple[Losses, Scenario]:
    """The losses of what has no outcomes to list, and the uses that have.

    log_delta: of the delta where they are looked at, about. log_tail: of the P-mass of all uses
    together that may be left out.
    """
    others, (laws, rest) = list[Use](), parts_of(list(map(Use._make, uses)), alone=False)
    above, below = list[tuple[LossLaw, int]](), list[tuple[LossLaw, int]]()
    dealt = list[tuple[Allocation, int]]()
    share = log_tail - math.log(sum(times for _, times in uses) or 1)
    for use in rest:
        if (one := allocation(use.mechanism)) is not None:
            for steps, groups in one.groups:
                loss = AllocatedLoss(one.scale / one.sensitivity, steps, one.removing, share)
                above.append((loss, groups * use.times))
                if one.taken == 1:
                    below.append((Statistic(loss), use.times))
            if one.taken > 1:
                dealt.append((one, use.times))
        elif (batches := batch_law(use.mechanism)) is not None:
            attained = DividedLoss(plain_law(batches), share)
            above.append((TwoWayLoss(attained), use.times))
            below.append((attained, use.times))
        else:
            others.append(use)
    for law, times in merged(laws):
        above.append((DividedLoss(law, share), times))
        below.append(above[-1])
    if dealt:
        sketches = Sketches(Sketch.of(*loss.sketch(), times) for loss, times in above)
        tilt = min(sketches.saddle(log_delta, None)[0], _STEEPEST)
        for one, times in dealt:
            noise = one.scale / one.sensitivity
            below.append(
                (DealtSteps(noise, one.taken, one.steps, one.removing, share, tilt), times)
            )
    return Losses(above, below), tuple(others)


def has_many(factor: Factor, log_tail: float) -> bool:
    """Are its outcomes more than are listed?"""
    return sum(outcomes(pair, log_tail) for pair in factor.pairs) > MOST_OUTCOMES


def are_many(product: Product, log_tail: float) -> bool:
    """Has some use more outcomes than are listed, and no closed transform that needs none?"""
    return any(
        not _is_closed(one) and has_many(one, product.tail(one, log_tail))
        for one in product.factors
    )


def _is_closed(factor: Factor) -> bool:
    return all(
        isinstance(one, ShiftPair) and isinstance(one.law.simplest(), _CLOSED)
        for one in factor.pairs
    )


def discrete_losses(product: Product, log_tail: float) -> Losses:
    """Of all factors, loss by loss where these are few, else by blocks of outcomes."""
    above = [(_loss(product, one, log_tail), one.times) for one in product.factors]
    below = [
        (Statistic(loss) if isinstance(loss, BlockLoss) else loss, times) for loss, times in above
    ]
    return Losses(above, below)


def is_wide(losses: Losses) -> bool:
    """Are some outcomes in blocks, which take long to make?"""
    return any(isinstance(loss, BlockLoss | TwoWayLoss) for loss, _ in losses.dominating)


def _loss(product: Product, factor: Factor, log_tail: float) -> LossLaw:
    tail, pairs = product.tail(factor, log_tail), factor.pairs
    if not has_many(factor, tail):
        return product.listed(factor, log_tail)
    uses = sum(one.times for one in product.factors)
    some = (_blocks(pair, tail, uses, ctx.prec) for pair in pairs)
    blocks = tuple(loss for loss in some if loss is not None)
    if len(blocks) < len(pairs) or len(pairs) > _FEW_PAIRS:
        if product.outcomes(log_tail) <= MOST_TOGETHER:
            return product.listed(factor, log_tail)
        raise DoesNotApplyError("no shape is known of what has more outcomes than are listed")
    return blocks[0] if len(pairs) == 1 else _dominating(blocks, ctx.prec)


@lru_cache(maxsize=4)
def _dominating(blocks: tuple[BlockLoss | TwoWayLoss, ...], bits: int) -> Atoms:
    """Of blocks moved onto a lattice; kept, as they are by `_blocks`."""
    spread = max(Sketch.of(*one.sketch(), 1).cumulant(0.0)[2] for one in blocks)
    step = Fraction(2) ** math.floor(math.log2(math.sqrt(spread) / _FINE))
    return dominating([moved(one, step) for one in blocks])


@lru_cache(maxsize=16)
def _blocks(pair: Pair, log_tail: float, uses: int, bits: int) -> BlockLoss | TwoWayLoss | None:
    """Kept, since one answer asks for them several times at the same precision."""
    if isinstance(pair, TwoWayPair):
        attained = BlockLoss.of(pair.pair, log_tail, uses)
        return None if attained is None else TwoWayLoss(attained)
    return BlockLoss.of(pair, log_tail, uses)


def moved(loss: LossLaw, step: Fraction) -> Atoms:
    """Losses on a lattice that dominate those of many outcomes. step: a power of two."""
    cells = loss.cells(ball(step), 1.0, 512)
    masses, lost = on_lattice(cells.cells, cells.missing, ball(step))
    places = sorted(masses)
    lattice = Lattice(step, Fraction(0), Fraction(1), None)
    losses = [k * ball(step) for k in places]
    return Atoms([masses[k][0] for k in places], losses, loss.escaping(), lost, lattice)
