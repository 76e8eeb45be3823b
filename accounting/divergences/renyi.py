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
"""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

from flint import acb, arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose, enclose_between
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from ...mechanisms.laws.gaussian_envelope import NoEnvelopeError, unit_parameter
from ...mechanisms.pairs.pair import MixturePair, Pair, SampledPair, TwoWayPair
from ...mechanisms.pairs.shift_pair import ShiftPair, WrappedPair
from .finite_sums import (
    best_event,
    image_excess,
    is_listed,
    listed,
    unreduced,
)
from .renyi_sums import listed_moments, moments, shared_sums

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
        return pair.removing and is_infinite(pair.facing)
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
