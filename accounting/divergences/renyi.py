"""Rényi divergences of a pair, every real order above 1."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from flint import arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose
from ...mechanisms.pair import FinitePair, Pair, ResponsePair, ShiftPair, WrappedPair
from .finite_sums import listed, renyi_sums
from .renyi_sums import shared_sums
from .wrapped import image_excess, is_enumerable, never_wraps

__all__ = ["divergences"]


def divergences(pair: Pair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """D_order(P || Q) for each order > 1, at the working precision."""
    if isinstance(pair, FinitePair | ResponsePair):
        outcomes = listed(pair)
        return [_from_sum(renyi_sums(outcomes, ball(order))[0], order) for order in orders]
    if isinstance(pair, ShiftPair):
        return _of_shift(pair, orders)
    return _of_wrapped(pair, orders)


def _from_sum(total: arb, order: Fraction) -> Enclosure:
    if total == arb.pos_inf():
        return Enclosure.infinite()
    return enclose(total.max(arb(1)).log() / ball(order - 1))


def _of_shift(pair: ShiftPair, orders: Sequence[Fraction]) -> list[Enclosure]:
    law = pair.law
    if law.support[0] is not None:  # P has mass where Q has none
        return [Enclosure.infinite() for _ in orders]
    sums = shared_sums(pair, ctx.prec)
    found = []
    for order in orders:
        known = law.renyi_exact(order, pair.shift)
        found.append(
            _from_sum(sums.at(order), order) if known is None else Enclosure.exactly(known)
        )
    return found


def _of_wrapped(pair: WrappedPair, orders: Sequence[Fraction]) -> list[Enclosure]:
    unwrapped = _of_shift(pair.unwrapped, orders)
    if never_wraps(pair):
        return unwrapped
    if is_enumerable(pair):
        outcomes = listed(pair)
        lower = [_from_sum(renyi_sums(outcomes, ball(order))[0], order) for order in orders]
    else:
        lower = _below(pair, orders)
        lower = [Enclosure(least.lower, Decimal("Infinity")) for least in lower]
    ceilings = [Enclosure(Fraction(0), ceiling.upper) for ceiling in unwrapped]
    return [low.intersection(high) for low, high in zip(lower, ceilings, strict=True)]


def _below(pair: WrappedPair, orders: Sequence[Fraction]) -> list[Enclosure]:
    """Lower bounds: sum over a window W of P^a (Q (1 + e))^(1-a) <= the wrapped sum."""
    law, shift, modulus = pair.law, pair.shift, pair.modulus
    found = []
    sums = shared_sums(pair.unwrapped, ctx.prec)
    for order in orders:
        least = arb(1)
        if law.symmetric:
            low, high, kept = sums.within(order)
            farthest = max(abs(low), abs(high)) + shift
            if 2 * farthest < modulus:
                least = kept * (1 + image_excess(law, modulus, farthest)) ** ball(1 - order)
        found.append(_from_sum(least, order))
    return found
