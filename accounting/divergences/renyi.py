"""Rényi divergences of a pair, every real order above 1."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import singledispatch

from flint import arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose
from ...mechanisms.laws.closed_forms import RationalRenyi
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussianSum
from ...mechanisms.listed_pair import ListedPair
from ...mechanisms.pair import (
    FinitePair,
    MixturePair,
    Pair,
    Reducible,
    ResponsePair,
    SampledPair,
    TwoWayPair,
)
from ...mechanisms.shift_pair import ShiftPair, WrappedPair
from .by_moments import CLOSE, divergence_bracket, takes_long
from .finite_sums import is_listed, listed, renyi_sums, two_way_sum
from .renyi_sums import RenyiSums, shared_sums
from .wrapped import image_excess, is_enumerable


@singledispatch
def divergences(pair: Pair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """D_order(P || Q) for each order > 1, at the working precision."""
    raise TypeError(f"not a pair of distributions: {type(pair).__name__}")


@divergences.register(FinitePair)
@divergences.register(ListedPair)
@divergences.register(ResponsePair)
def _of_listed(pair: Pair, orders: Sequence[Fraction]) -> list[Enclosure]:
    outcomes = listed(pair)
    return [_from_sum(renyi_sums(outcomes, ball(order))[0], order) for order in orders]


@divergences.register
def _of_sampled(pair: SampledPair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """At most that of the pair that is sampled, by quasi-convexity."""
    if is_listed(pair):
        return _of_listed(pair, orders)
    if not pair.never_wraps:
        return _of_wrapped(pair, orders)
    if pair.reduced is not None:
        pair = pair.unwrapped
    if pair.removing and is_infinite(pair.facing):
        return [Enclosure.infinite() for _ in orders]
    sums = shared_sums(pair, ctx.prec)
    return [_from_sum(sums.at(order), order) for order in orders]


@divergences.register
def _(pair: MixturePair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """e^((a-1) D_a) is the mixture of theirs, which rises in each of them."""
    if is_listed(pair):
        return _of_listed(pair, orders)
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


@divergences.register
def _(pair: TwoWayPair, orders: Sequence[Fraction]) -> list[Enclosure]:
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


@divergences.register
def _of_shift(pair: ShiftPair, orders: Sequence[Fraction]) -> list[Enclosure]:
    law = pair.law
    if is_infinite(pair):
        return [Enclosure.infinite() for _ in orders]
    sums = shared_sums(pair, ctx.prec)
    found = []
    for order in orders:
        known = law.renyi_exact(order, pair.shift) if isinstance(law, RationalRenyi) else None
        if takes_long(pair) and (near := divergence_bracket(pair, order)).is_within(CLOSE):
            found.append(near)
            continue
        found.append(_summed(pair, sums, order) if known is None else Enclosure.exactly(known))
    return found


def _summed(pair: ShiftPair, sums: RenyiSums, order: Fraction) -> Enclosure:
    """The sum; where its terms are too many, what moments and summands of the noise tell."""
    try:
        return _from_sum(sums.at(order), order)
    except ArithmeticError:
        found = divergence_bracket(pair, order)
        if isinstance(pair.law, DiscreteGaussianSum):
            most = pair.law.renyi_of_summands(order, pair.shift)
            found = found.intersection(Enclosure(Fraction(0), most))
        if not found.is_finite():
            raise
    return found.because("the terms of its Rényi sum are too many")


@divergences.register(WrappedPair)
def _of_wrapped(pair: Reducible, orders: Sequence[Fraction]) -> list[Enclosure]:
    """Reduction is post-processing: at most what holds without it."""
    wrapped = pair.reduced
    assert wrapped is not None
    unwrapped = divergences(pair.unwrapped, orders)
    if wrapped.never_wraps:
        return unwrapped
    if is_enumerable(wrapped):
        lower = _of_listed(pair, orders)
    else:
        lower = _below(pair, wrapped, orders)
        lower = [Enclosure(least.lower, Decimal("Infinity")) for least in lower]
    ceilings = [Enclosure(Fraction(0), ceiling.upper) for ceiling in unwrapped]
    return [low.intersection(high) for low, high in zip(lower, ceilings, strict=True)]


def _window(sums: RenyiSums, order: Fraction) -> tuple[int, int, arb] | None:
    """The terms that matter; None where they are too many."""
    with suppress(ArithmeticError):
        return sums.within(order)
    return None


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
        if law.symmetric and (window := _window(sums, order)) is not None:
            low, high, kept = window
            farthest = max(abs(low), abs(high)) + shift
            if 2 * farthest < modulus:
                least = kept * (1 + image_excess(law, modulus, farthest)) ** ball(1 - order)
        found.append(_from_sum(least, order))
    return found
