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

from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import enclose_between, working_precision
from ...losses.cells import Loss, on_lattice
from ...losses.planning import Sketch
from ..divergences.largest_loss import largest_loss
from ..losses.bracket import Losses, discrete_losses, losses_of
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
    one = (Use(use.mechanism, 1),)
    with working_precision(_BITS):
        _, others = losses_of(one, -math.inf, -_CLOSE)
        product = product_of(others, -math.inf)
        if others and not product.factors:
            return Enclosure.exactly(0)
        below = _measured(one, product if product.is_exact else product.fixed(0), order)
        above = below if product.is_exact else _measured(one, product, order)
        return Enclosure(below.lower, above.upper).times(use.times)


def _measured(one: tuple[Use, ...], product: Product, order: Fraction) -> Enclosure:
    def losses(tail: float) -> Losses:
        beside, _ = losses_of(one, -math.inf, tail)
        return beside if beside.dominating else discrete_losses(product, tail)

    tilt = float(order) - 1
    here = Sketch.of(*_only(losses(-_CLOSE)).sketch(), 1).cumulant(0.0)
    # of a Gaussian: as far out as the tilt moves it, and as little
    found = losses(-_CLOSE - tilt**2 * max(here[2], 0.0))
    loss = _only(found)
    curvature = max(float(Sketch.of(*loss.sketch(), 1).cumulant(tilt)[2]), 0.0)
    if not math.isfinite(curvature):
        raise DoesNotApplyError("how far the losses spread is not known in floats")
    step = ball(Fraction(2) ** math.floor(math.log2(max(math.sqrt(curvature) / _FINE, _LEAST))))
    cells, charges = loss.cells(step, tilt, _POINTS), product.charges()
    less, more = charges.less_p + charges.slack, charges.less_q + charges.slack
    a, above, below = ball(order), arb(0), arb(0)
    moved = on_lattice(cells.cells, cells.missing, step)
    for k, (mass, _) in moved.masses.items():
        above += mass * ((a - 1) * k * step).exp()
    attained = cells.cells if cells.attained is None else cells.attained
    if not found.is_exact and cells.attained is None:
        attained = found.attained[0][0].cells(step, tilt, _POINTS).cells
    for cell in attained:
        p, q = cell.p.lower() - less, cell.q.upper() + more
        if p > 0 and q > 0:
            below += (a * p.log() + (1 - a) * q.log()).exp()
    if charges.slack > 0 or not loss.escaping() <= 0:
        above = arb.pos_inf()
    elif not moved.lost <= 0:
        above += moved.lost.upper() * ((a - 1) * _largest(product, loss)).exp()
    lower, upper = below.log() / (a - 1) if below > 1 else arb(0), above.log() / (a - 1)
    return enclose_between(lower.max(arb(0)), upper.max(arb(0)))


def _largest(product: Product, loss: Loss) -> arb:
    """No loss is above this."""
    pairs = [pair for factor in product.factors for pair in factor.pairs]
    ends = [largest_loss(pair).value.upper for pair in pairs]
    if not ends:
        return loss.largest()
    return ball(max(ends))


def _only(losses: Losses) -> Loss:
    (loss, _), *others = losses.dominating
    if others or isinstance(loss, AllocatedLoss):
        raise DoesNotApplyError("it is not one loss whose cells are known")
    if isinstance(loss, Atoms) and not len(loss):
        raise DoesNotApplyError("no loss is finite")
    return loss
