"""Rényi divergences of one use from both sides by its cells, in little time.

(a - 1) D_a = log E e^((a - 1) L). *From above* by the coins of its cells (`losses.cells`): each
cell's P-mass at its two ends; what no cell holds, at the largest loss, if that is finite. *From
below* each cell is one outcome, which is post-processing: the sum of p^a q^(1-a), P-masses rounded
down, Q-masses up. It rises as cells are told apart and outcomes are added to it. Reduced mod m, an
event inside one period loses at most the P-mass that lies outside it, and gains as much of Q
(`losses.product`); so do events of pairs with a slack.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import enclose_between, working_precision
from ...losses.cells import Loss, on_lattice
from ...losses.planning import Sketch
from ..divergences.largest_loss import largest_loss
from ..losses.law import Atoms
from ..losses.product import Product, product_of
from ..scenario import Use
from .average import AllocatedLoss

_BITS = 128
_FINE = 32  # points in a deviation of the losses, tilted
_POINTS = 512
_CLOSE = 40.0  # nats, of what is left out, below what counts
_LEAST = 2.0**-40  # step


def renyi_by_cells(use: Use, order: Fraction) -> Enclosure:
    """D_a of these uses, all in one direction. Raises ArithmeticError where none are known."""
    return _of_one(Use(use.mechanism, 1), order).times(use.times)


@lru_cache(maxsize=64)
def _of_one(use: Use, order: Fraction) -> Enclosure:
    """Kept, since every figure of little time asks for the same orders."""
    with working_precision(_BITS):
        product = product_of((use,), -math.inf)
        if not (product.factors or product.continuous):
            return Enclosure.exactly(0)
        below = _measured(product.fixed(0), order)
        above = below if product.is_exact else _measured(product, order)
        return Enclosure(below.lower, above.upper)


def _measured(product: Product, order: Fraction) -> Enclosure:
    tilt = float(order) - 1
    here = Sketch.of(*_only(product, -_CLOSE).sketch(), 1).cumulant(0.0)
    # of a Gaussian: as far out as the tilt moves it, and as little
    loss = _only(product, -_CLOSE - tilt**2 * max(here[2], 0.0))
    curvature = max(float(Sketch.of(*loss.sketch(), 1).cumulant(tilt)[2]), 0.0)
    if not math.isfinite(curvature):
        raise DoesNotApplyError("how far the losses spread is not known in floats")
    step = ball(Fraction(2) ** math.floor(math.log2(max(math.sqrt(curvature) / _FINE, _LEAST))))
    cells, charges = loss.cells(step, tilt, _POINTS), product.charges()
    a, above, below = ball(order), arb(0), arb(0)
    for k, (mass, _) in on_lattice(cells.cells, step).items():
        above += mass * ((a - 1) * k * step).exp()
    for cell in cells.cells if cells.attained is None else cells.attained:
        p, q = cell.p.lower() - charges.p, cell.q.upper() + charges.q
        if p > 0 and q > 0:
            below += (a * p.log() + (1 - a) * q.log()).exp()
    if charges.slack > 0 or not loss.escaping() <= 0:
        above = arb.pos_inf()
    elif not cells.missing <= 0:  # no loss is above the largest
        pairs = [pair for factor in product.factors for pair in factor.pairs]
        ends = [ball(largest_loss(pair).value.upper) for pair in pairs] or [loss.largest()]
        above += cells.missing.upper() * ((a - 1) * max(ends)).exp()
    lower, upper = below.log() / (a - 1) if below > 1 else arb(0), above.log() / (a - 1)
    return enclose_between(lower.max(arb(0)), upper.max(arb(0)))


def _only(product: Product, log_tail: float) -> Loss:
    (loss, _), *others = product.losses(log_tail)
    if others or isinstance(loss, AllocatedLoss):
        raise DoesNotApplyError("it is not one loss whose cells are known")
    if isinstance(loss, Atoms) and not len(loss):
        raise DoesNotApplyError("no loss is finite")
    return loss
