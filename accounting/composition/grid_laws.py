"""The privacy losses of mechanisms on a grid: laws that dominate all their neighbours.

Loss by loss (`losses.of_pair`) where outcomes are few, and by blocks of them (`grid.blocks`) where
they are many: what is spread is the same as elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from flint import arb

from ...exact.number import ball
from ...exact.precision import floor_of
from ...losses.planning import Sketch
from ...mechanisms.laws.closed_forms import table_of
from ...mechanisms.mechanism import AdditiveNoise, Mechanism, ways
from ...mechanisms.pair import Pair
from ...mechanisms.sampled import likewise, unsampled
from ..divergences.wrapped import is_enumerable
from ..grid.blocks import BlockLoss
from ..losses.bracket import moved
from ..losses.law import Lattice
from ..losses.of_pair import listed_law
from ..losses.product import outcomes
from .loss_grid import Grid, GridLaw, largest, with_slack

_MOST_LISTED = 1 << 21  # of all residues and shifts together
_FEW = 1 << 16  # outcomes of one pair, of which each is listed
_MOST_SCATTERED = 1000  # points; of more than these also the gaps between them are stored
_FINE = 512  # times finer than the losses spread blocks are, at least


def dominating_laws(mechanism: Mechanism, grid: Grid, tail: Fraction) -> list[GridLaw]:
    """The loss law that dominates all neighbours; for a user's pair the laws of both directions.

    Every use of a `FinitePair` compares the same two datasets the same way round, so that its
    directions compose apart. Elsewhere neighbours may be met another way each time. Outcomes
    beyond the P-mass `tail` on each side get the largest loss that they may have. At the working
    precision.
    """
    found, log_tail = [], float(ball(tail).log().mid())
    for way in ways(mechanism):
        laws = [_of_pair(pair, grid, log_tail) for pair in _pairs(way)]
        if len(laws) != 1:  # none: nothing tells neighbours apart
            laws = [largest(laws)] if laws else [GridLaw(grid, {0: arb(1)})]
        found += laws
    return [law.trimmed(tail) if len(law.masses) > _MOST_SCATTERED else law for law in found]


def _pairs(mechanism: Mechanism) -> Iterable[Pair]:
    inner = unsampled(mechanism)
    noise = inner if isinstance(inner, AdditiveNoise) and table_of(inner.law) is None else None
    if noise is not None and noise.farthest * (noise.modulus or 0) > _MOST_LISTED:
        # the reduction is post-processing
        return likewise(mechanism, AdditiveNoise(noise.law, noise.farthest)).pairs()
    return mechanism.pairs()


def _of_pair(pair: Pair, grid: Grid, log_tail: float) -> GridLaw:
    wrapped, blocks = pair.reduced, None
    if wrapped is not None and not is_enumerable(wrapped):
        pair = pair.unwrapped  # type: ignore[union-attr]
    if outcomes(pair, log_tail) > _FEW:
        blocks = BlockLoss.of(pair, log_tail, 1)
    if blocks is None:
        atoms = listed_law(pair, log_tail)
    else:
        spread = math.sqrt(Sketch.of(*blocks.sketch(), 1).cumulant(0.0)[2])
        step = Fraction(2) ** math.floor(math.log2(min(spread / _FINE, float(grid.step) / 8)))
        atoms = moved(blocks, step)
    law = GridLaw(grid, infinite=atoms.escaping() + atoms.missing())
    for mass, loss in zip(atoms.masses, atoms.losses, strict=True):
        law.spread(mass, mass * (-loss).exp(), _exact(loss, atoms.lattice))
    return with_slack(law, ball(pair.slack)) if pair.slack else law


def _exact(loss: arb, lattice: Lattice | None) -> Fraction | arb:
    """As an exact number, where all losses are known to be such."""
    if lattice is None or not isinstance(lattice.unit, Fraction):
        return loss
    first, step = lattice.unit * lattice.origin, lattice.unit * lattice.step
    steps = floor_of(((loss - ball(first)) / ball(step)).mid() + arb(0.5)) if step else 0
    return first + step * steps
