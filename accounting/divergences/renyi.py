"""Rényi divergences of a pair, every real order above 1; brackets of noise that need no sum.

*From below*, Hölder's inequality with the exponents a and a/(a-1): for any function g

    E_P e^((a-1) g) = E_Q (P/Q) e^((a-1) g) <= (E_Q (P/Q)^a)^(1/a) (E_Q e^(a g))^((a-1)/a),
    D_a >= a/(a-1) log E_P e^((a-1) g) - log E_Q e^(a g)

(Birrell, Dupuis, Katsoulakis, Rey-Bellet, Wang, SIAM J. Math. Data Sci. 2021, Theorem 2.2, with
another proof). With g(x) = s x, P being Q moved by d and K the logarithm of Q's moments,

    D_a >= a s d + a/(a-1) K((a-1) s) - K(a s),   and as a -> 1, where K(0) = 0 is its mean's
    D_1 >= s d - K(s)                             slope 0 for a symmetric law,

which for a Gaussian is met at s = d/variance. rho is at least D_1, as D_a rises in a.

*From above*, a Gaussian: noise of unit parameter mu is mu d-GDP (`laws.gaussian_envelope`), so that
D_a is at most a (mu d)^2/2.

*By the cells of a loss* (`losses.cells`), in little time: (a - 1) D_a = log E e^((a - 1) L). From
above by the coins of the cells: each one's P-mass at its two ends; what no cell holds, at the
largest loss, if that is finite. From below each cell is one outcome, which is post-processing: the
sum of p^a q^(1-a), P-masses rounded down, Q-masses up. It rises as cells are told apart and
outcomes are added to it. Reduced mod m, an event inside one period loses at most the P-mass that
lies outside it, and gains as much of Q (`losses.product`); so do events of pairs with a slack.
"""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from flint import acb, arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.errors import DoesNotApplyError
from ...exact.number import ball
from ...exact.precision import enclose, enclose_between, working_precision
from ...losses.cells import Loss, on_lattice
from ...losses.planning import Sketch
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from ...mechanisms.laws.gaussian_envelope import NoEnvelopeError, unit_parameter
from ...mechanisms.pairs.pair import (
    MixturePair,
    Pair,
    SampledPair,
    ShiftPair,
    TwoWayPair,
    WrappedPair,
)
from ..grid.average import AllocatedLoss
from ..losses.law import Atoms
from ..losses.product import Product, product_of
from ..scenario import Use
from .finite_sums import best_event, image_excess, is_listed, listed, unreduced
from .largest_loss import largest_loss
from .renyi_sums import listed_moments, moments, shared_sums

_BITS = 128
_FINE = 32  # points in a deviation of the losses, tilted
_POINTS = 512
_LEFT_OUT = 40.0  # nats, of what is left out, below what counts
_LEAST = 2.0**-40  # step
CLOSE = Fraction(1, 10**5)  # so narrow, a bracket is taken where sums are long
_LONG = 10**7  # variance from which on those of sums of discrete Gaussians are


def divergence(pair: Pair, order: Fraction) -> Enclosure:
    """D_order(P || Q), order > 1, at the working precision.

    Of a sampled pair at most that of the pair that is sampled, by quasi-convexity.
    """
    if isinstance(pair, TwoWayPair):
        return _of_both_ways(pair, order)
    pair = unreduced(pair)
    if is_listed(pair) and not isinstance(pair, ShiftPair | WrappedPair):
        return _of_listed(pair, order)
    if isinstance(pair, MixturePair):
        return _of_mixture(pair, order)
    assert isinstance(pair, ShiftPair | SampledPair | WrappedPair)
    if isinstance(pair, WrappedPair) or (isinstance(pair, SampledPair) and pair.reduced):
        # reduction is post-processing: at most what holds without it
        most = Enclosure(Fraction(0), divergence(pair.unwrapped, order).upper)
        return (_of_listed if is_listed(pair) else _below)(pair, order).intersection(most)
    if is_infinite(pair):
        return Enclosure.infinite()
    if isinstance(pair, ShiftPair):
        return _of_shift(pair, order)
    return _from_sum(shared_sums(pair, ctx.prec).at(order), order)


def _of_listed(pair: Pair, order: Fraction) -> Enclosure:
    if pair.slack:  # nothing bounds it from above
        least = _from_sum(best_event(listed(pair), ball(order)), order).lower
        return Enclosure(least, Decimal("Infinity"))
    return _from_sum(listed_moments(pair)(order, 0)[0], order)


def _of_mixture(pair: MixturePair, order: Fraction) -> Enclosure:
    """e^((a-1) D_a) is the mixture of theirs, which rises in each of them."""
    low = high = ball(pair.rest)
    for weight, one in pair.parts:
        found = divergence(one, order)
        low += ball(weight) * (ball(order - 1) * ball(found.lower)).exp()
        high += ball(weight) * (ball(order - 1) * ball(found.upper)).exp()
    return Enclosure(_from_sum(low, order).lower, _from_sum(high, order).upper)


def _of_both_ways(pair: TwoWayPair, order: Fraction) -> Enclosure:
    """Between what neighbours attain and what the pair that has their profile either way has."""
    least, most = divergence(pair.pair, order), divergence(pair.pair.pair, order)
    if is_listed(pair.pair):
        total = _of_listed(pair, order)
    elif is_infinite(pair.pair):
        total = Enclosure.infinite()
    else:
        total = _from_sum(shared_sums(pair.pair, ctx.prec).two_way(order), order)
    return Enclosure(least.lower, min(total.upper, most.upper))


def _from_sum(total: arb, order: Fraction) -> Enclosure:
    if total == arb.pos_inf():
        return Enclosure.infinite()
    return enclose(total.max(arb(1)).log() / ball(order - 1))


def is_infinite(pair: Pair) -> bool:
    """Has P an outcome that Q has not, at an end of the law's support?"""
    if isinstance(pair, SampledPair):
        return pair.sampling.removing and is_infinite(pair.pair)
    return isinstance(pair, ShiftPair) and pair.law.support[0] is not None


def _of_shift(pair: ShiftPair, order: Fraction) -> Enclosure:
    """The sum; where its terms are too many, what moments and summands of the noise tell."""
    law = pair.law
    takes_long = isinstance(law, DiscreteGaussianSum) and law.count * law.sigma2 > _LONG
    if takes_long and (near := bracket(pair, order)).is_within(CLOSE):
        return near
    if (known := law.renyi_exact(order, pair.shift)) is not None:
        return Enclosure.exactly(known)
    try:
        return _from_sum(shared_sums(pair, ctx.prec).at(order), order)
    except ArithmeticError:
        found = bracket(pair, order)
        if isinstance(law, DiscreteGaussianSum):
            most = law.renyi_of_summands(order, pair.shift)
            found = found.intersection(Enclosure(Fraction(0), most))
        if not found.is_finite():
            raise
    return found.because("the terms of its Rényi sum are too many")


def _below(pair: WrappedPair | SampledPair, order: Fraction) -> Enclosure:
    """Lower bounds: sum over a window W of P^a (Q (1 + e))^(1-a) <= the wrapped sum.

    Of a sampled pair as well: residues have at least the mass that a mixture has in W, and at most
    1 + e times it, since both laws of the mixture have.
    """
    wrapped, least = pair.reduced, arb(1)
    assert wrapped is not None
    law, modulus = wrapped.law, wrapped.modulus
    with suppress(ArithmeticError):  # too many terms
        low, high, columns = shared_sums(pair.unwrapped, ctx.prec).window(order)
        kept = moments(*columns, ball(order), 0)[0]
        farthest = max(abs(low), abs(high)) + wrapped.shift
        if law.symmetric and 2 * farthest < modulus:
            least = kept * (1 + image_excess(law, modulus, farthest)) ** ball(1 - order)
    return Enclosure(_from_sum(least, order).lower, Decimal("Infinity"))


# -- brackets without sums -------------------------------------------------------------------------


def bracket(pair: ShiftPair, order: Fraction | None = None) -> Enclosure:
    """Of the Rényi divergence of this order > 1, at the working precision; None: of the supremum of
    D_a/a.
    """
    law, d, least = pair.law, pair.shift, arb(0)
    if law.symmetric and law.mgf_domain == (None, None):
        least = _least(pair, order)
    try:
        unit = ball(unit_parameter(law).upper)
    except NoEnvelopeError:
        return enclose_between(least, arb.pos_inf())
    scale = arb(1) if order is None else ball(order)
    found = enclose_between(least, scale * (unit * d) ** 2 / 2)
    return Enclosure(found.lower, found.upper, by=("moments", "Gaussian envelope"))


def _least(pair: ShiftPair, order: Fraction | None) -> arb:
    d = pair.shift
    s = ball(Fraction(d) / Fraction(pair.law.moments().variance.upper)).mid()

    def moments(t: arb) -> arb:
        return pair.law.cumulant(acb(t)).real

    if order is None:
        found = s * d - moments(s)
    else:
        a = ball(order)
        found = a * s * d + a / (a - 1) * moments((a - 1) * s) - moments(a * s)
    return found if found.is_finite() and found > 0 else arb(0)


# -- by cells --------------------------------------------------------------------------------------


def renyi_by_cells(use: Use, order: Fraction) -> Enclosure:
    """D_a of these uses, all in one direction. Raises ArithmeticError where none are known."""
    return _of_use(Use(use.mechanism, 1), order).times(use.times)


@lru_cache(maxsize=64)
def _of_use(use: Use, order: Fraction) -> Enclosure:
    """Kept, since every figure of little time asks for the same orders."""
    with working_precision(_BITS):
        product = product_of((use,), -math.inf)
        if not (product.factors or product.continuous):
            return Enclosure.exactly(0)
        below = _counted(product.fixed(0), order)
        above = below if product.is_exact else _counted(product, order)
        return Enclosure(below.lower, above.upper)


def _counted(product: Product, order: Fraction) -> Enclosure:
    tilt = float(order) - 1
    here = Sketch.of(*_only(product, -_LEFT_OUT).sketch(), 1).cumulant(0.0)
    # of a Gaussian: as far out as the tilt moves it, and as little
    loss = _only(product, -_LEFT_OUT - tilt**2 * max(here[2], 0.0))
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
