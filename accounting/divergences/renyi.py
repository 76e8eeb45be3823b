"""Rényi divergences of a pair, every real order above 1; brackets of noise that need no sum.

*From below*, Hölder's inequality with the exponents a and a/(a-1): for any function g

    E_P e^((a-1) g) = E_Q (P/Q) e^((a-1) g) <= (E_Q (P/Q)^a)^(1/a) (E_Q e^(a g))^((a-1)/a),
    D_a >= a/(a-1) log E_P e^((a-1) g) - log E_Q e^(a g)

(Birrell, Dupuis, Katsoulakis, Rey-Bellet, Wang, SIAM J. Math. Data Sci. 2021, Theorem 2.2, with
another proof). With g(x) = s x, P being Q moved by d and K the logarithm of Q's moments,

    D_a >= a s d + a/(a-1) K((a-1) s) - K(a s),   and as a -> 1, where K(0) = 0 is its mean's
    D_1 >= s d - K(s)                             slope 0 for a symmetric law,

which for a Gaussian is met at s = d/variance. rho is at least D_1, as D_a rises in a.

*From above*, a Gaussian: noise of unit parameter mu is mu d-GDP (`accounting.envelope`), so that
D_a is at most a (mu d)^2/2.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

from flint import acb, arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose, enclose_between
from ...mechanisms.laws.closed_forms import RationalRenyi
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from ...mechanisms.pair import (
    MixturePair,
    Pair,
    Reducible,
    SampledPair,
    TwoWayPair,
)
from ...mechanisms.shift_pair import ShiftPair, WrappedPair
from ..envelope import NoEnvelopeError, unit_parameter
from .finite_sums import image_excess, is_listed, listed, renyi_sums, two_way_sum
from .renyi_sums import RenyiSums, shared_sums

CLOSE = Fraction(1, 10**5)  # so narrow, a bracket is taken where sums are long
_LONG = 10**7  # variance from which on those of sums of discrete Gaussians are


def divergences(pair: Pair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """D_order(P || Q) for each order > 1, at the working precision.

    Of a sampled pair at most that of the pair that is sampled, by quasi-convexity.
    """
    if isinstance(pair, TwoWayPair):
        return _of_both_ways(pair, orders)
    if is_listed(pair) and not isinstance(pair, ShiftPair | WrappedPair):
        return _of_listed(pair, orders)
    if isinstance(pair, MixturePair):
        return _of_mixture(pair, orders)
    if isinstance(pair, ShiftPair):
        return _of_shift(pair, orders)
    assert isinstance(pair, SampledPair | WrappedPair)
    if isinstance(pair, WrappedPair) or not pair.never_wraps:
        return _of_wrapped(pair, orders)
    if pair.reduced is not None:
        pair = pair.unwrapped
    if pair.removing and is_infinite(pair.facing):
        return [Enclosure.infinite() for _ in orders]
    sums = shared_sums(pair, ctx.prec)
    return [_from_sum(sums.at(order), order) for order in orders]


def _of_listed(pair: Pair, orders: Sequence[Fraction]) -> list[Enclosure]:
    outcomes = listed(pair)
    return [_from_sum(renyi_sums(outcomes, ball(order))[0], order) for order in orders]


def _of_mixture(pair: MixturePair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """e^((a-1) D_a) is the mixture of theirs, which rises in each of them."""
    curves = [divergences(one, orders) for _, one in pair.parts]
    found = []
    for order, column in zip(orders, zip(*curves, strict=True), strict=True):
        ends = []
        for side in ("lower", "upper"):
            total = ball(pair.rest)
            for (weight, _), value in zip(pair.parts, column, strict=True):
                end = getattr(value, side)
                power = arb.pos_inf() if end == Decimal("Infinity") else ball(Fraction(end))
                total += ball(weight) * (ball(order - 1) * power).exp()
            ends.append(_from_sum(total, order))
        found.append(Enclosure(ends[0].lower, ends[1].upper))
    return found


def _of_both_ways(pair: TwoWayPair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """Between what neighbours attain and the sum over r = P/Q > 1 of Q r^a, Q r^(1-a) and the rest.

    The rest, 1 less the sum of Q r and Q, turns that into 1 + sum of Q (r^a - r)(1 - r^-a).
    """
    found, least = [], divergences(pair.pair, orders)
    largest = divergences(pair.pair.pair, orders)
    for order, low, high in zip(orders, least, largest, strict=True):
        if is_listed(pair.pair):
            total = two_way_sum(listed(pair.pair), ball(order))
        elif is_infinite(pair.pair.facing):
            total = arb.pos_inf()
        else:
            total = shared_sums(pair.pair, ctx.prec).two_way(order)
        both = Enclosure(low.lower, _from_sum(total, order).upper)
        found.append(both.intersection(Enclosure(Fraction(0), high.upper)))
    return found


def _from_sum(total: arb, order: Fraction) -> Enclosure:
    if total == arb.pos_inf():
        return Enclosure.infinite()
    return enclose(total.max(arb(1)).log() / ball(order - 1))


def is_infinite(pair: Pair) -> bool:
    """Has P an outcome that Q has not, at an end of the law's support?"""
    return isinstance(pair, ShiftPair) and pair.law.support[0] is not None


def _of_shift(pair: ShiftPair, orders: Sequence[Fraction]) -> list[Enclosure]:
    law = pair.law
    if is_infinite(pair):
        return [Enclosure.infinite() for _ in orders]
    sums = shared_sums(pair, ctx.prec)
    found = []
    for order in orders:
        known = law.renyi_exact(order, pair.shift) if isinstance(law, RationalRenyi) else None
        if takes_long(pair) and (near := bracket(pair, order)).is_within(CLOSE):
            found.append(near)
            continue
        found.append(_summed(pair, sums, order) if known is None else Enclosure.exactly(known))
    return found


def _summed(pair: ShiftPair, sums: RenyiSums, order: Fraction) -> Enclosure:
    """The sum; where its terms are too many, what moments and summands of the noise tell."""
    try:
        return _from_sum(sums.at(order), order)
    except ArithmeticError:
        found = bracket(pair, order)
        if isinstance(pair.law, DiscreteGaussianSum):
            most = pair.law.renyi_of_summands(order, pair.shift)
            found = found.intersection(Enclosure(Fraction(0), most))
        if not found.is_finite():
            raise
    return found.because("the terms of its Rényi sum are too many")


def _of_wrapped(pair: Reducible, orders: Sequence[Fraction]) -> list[Enclosure]:
    """Reduction is post-processing: at most what holds without it."""
    wrapped = pair.reduced
    assert wrapped is not None
    unwrapped = divergences(pair.unwrapped, orders)
    if wrapped.never_wraps:
        return unwrapped
    lower = _of_listed(pair, orders) if is_listed(pair) else _below(pair, wrapped, orders)
    ceilings = [Enclosure(Fraction(0), ceiling.upper) for ceiling in unwrapped]
    return [low.intersection(high) for low, high in zip(lower, ceilings, strict=True)]


def _below(pair: Reducible, wrapped: WrappedPair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """Lower bounds: sum over a window W of P^a (Q (1 + e))^(1-a) <= the wrapped sum.

    Of a sampled pair as well: residues have at least the mass that a mixture has in W, and at most
    1 + e times it, since both laws of the mixture have.
    """
    law, shift, modulus = wrapped.law, wrapped.shift, wrapped.modulus
    found = []
    plain = pair.unwrapped
    assert not isinstance(plain, MixturePair)
    sums = shared_sums(plain, ctx.prec)
    for order in orders:
        least = arb(1)
        with suppress(ArithmeticError):  # too many terms
            low, high, kept = sums.within(order)
            farthest = max(abs(low), abs(high)) + shift
            if law.symmetric and 2 * farthest < modulus:
                least = kept * (1 + image_excess(law, modulus, farthest)) ** ball(1 - order)
        found.append(Enclosure(_from_sum(least, order).lower, Decimal("Infinity")))
    return found


# -- brackets without sums -------------------------------------------------------------------------


def takes_long(pair: ShiftPair) -> bool:
    """Is a sum over the outcomes out of reach?"""
    law = pair.law
    return isinstance(law, DiscreteGaussianSum) and law.count * law.sigma2 > _LONG


def bracket(pair: ShiftPair, order: Fraction | None = None) -> Enclosure:
    """Of the Rényi divergence of this order > 1, at the working precision; None: of the supremum of
    D_a/a, which of sums of discrete Gaussians is at least the limit at infinity
    (`DiscreteGaussianSum.zcdp_closed`).
    """
    law, d, known = pair.law, pair.shift, Fraction(0)
    if order is None and isinstance(law, DiscreteGaussianSum):
        known = law.gaussian_rho(d)
    least = ball(known)
    if law.symmetric and law.mgf_domain == (None, None):
        least = least.max(_least(pair, order))
    try:
        unit = ball(Fraction(unit_parameter(law).upper))
    except NoEnvelopeError:
        return Enclosure(enclose_between(least, least).lower, Decimal("Infinity"))
    scale = arb(1) if order is None else ball(order)
    found = enclose_between(least, scale * (unit * d) ** 2 / 2)
    return Enclosure(max(found.lower, known), found.upper, by=("moments", "Gaussian envelope"))


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
