"""Pure epsilon of a pair: the supremum of log P/Q over all outcomes, by a proof about the tails.

*Shifted, p log-concave:* the loss falls in x, so its supremum is its limit at -infinity, which
the law knows (infinite where the support ends or the tails are lighter than geometric).
*Shifted, log-convex sides:* the loss rises up to x = 0 and falls on 0 <= x <= d, so its supremum
is log p(0)/p(d).
*Wrapped discrete Laplace*, d <= m/2, beta = e^(-1/scale): residues c have P proportional to
cosh((c - m/2)/scale), log-convex on [0, m]; so P(c)/P(c-d) rises on d <= c <= m, P(c)/P(c-d+m)
falls on 0 <= c < d, and both are largest at c = 0: log (1 + beta^m)/(beta^d + beta^(m-d)).
*Sampled:* a rising function of the loss that is sampled.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from flint import arb

from ...exact.budget import spend
from ...exact.enclosure import Enclosure
from ...exact.number import Logarithm, Real, ball
from ...exact.precision import enclose
from ...mechanisms.pairs.pair import (
    FinitePair,
    ListedPair,
    MixturePair,
    Pair,
    ResponsePair,
    SampledPair,
    ShiftPair,
    TwoWayPair,
    WrappedPair,
)
from .finite_sums import Listed, image_excess, is_listed, listed, unreduced

_ZERO = Enclosure.exactly(0)


class LargestLoss(NamedTuple):
    """The supremum, and an outcome that attains it (None where it is only approached)."""

    value: Enclosure
    outcome: str | None


def largest_loss(pair: Pair) -> LargestLoss:
    """sup log P/Q at the working precision."""
    pair = unreduced(pair.pair if isinstance(pair, TwoWayPair) else pair)
    if isinstance(pair, ResponsePair):
        if pair.delta:
            return LargestLoss(Enclosure.infinite(), "the bit revealed for certain")
        return LargestLoss(Enclosure.exactly(pair.epsilon), "the true bit")
    if isinstance(pair, SampledPair):  # the loss rises in that of the pair that it faces
        value, outcome = largest_loss(pair.facing)
        named = pair.sampling.removing or isinstance(
            pair.pair, ResponsePair
        )  # else it is read backwards
        return LargestLoss(pair.sampling.loss_within(value), outcome if named else None)
    if isinstance(pair, MixturePair):
        each = [largest_loss(one) for _, one in pair.parts]
        best = max(each, key=lambda one: one.value.lower)
        value = reduce(Enclosure.maximum, (one.value for one in each), _ZERO)
        return LargestLoss(value, best.outcome)
    if isinstance(pair, ShiftPair):
        return _of_shift(pair)
    if isinstance(pair, WrappedPair):
        return _of_wrapped(pair)
    return _of_finite(pair) if isinstance(pair, FinitePair) else _of_listed(pair)


def _of_shift(pair: ShiftPair) -> LargestLoss:
    law, shift = pair.law, pair.shift
    low, _ = law.support
    if low is not None:  # P(low) > 0 = Q(low)
        return LargestLoss(Enclosure.infinite(), str(low))
    if law.log_convex_sides:
        return LargestLoss(enclose(law.loss(0, shift)), "0")
    limit = law.loss_limit(shift)
    if limit is None:
        return LargestLoss(Enclosure.infinite(), None)
    return LargestLoss(_times(1, limit), "0" if law.attains_limit else None)


def _of_finite(pair: FinitePair) -> LargestLoss:
    """With slack, mass may be missing where Q has none: only a lower bound can be certain."""
    slack, ratios = pair.slack, list[tuple[Fraction, str]]()
    for outcome, p, q in zip(pair.outcomes, pair.p, pair.q, strict=True):
        if p > slack:
            if not q + slack:
                return LargestLoss(Enclosure.infinite(), outcome)
            ratios.append(((p - slack) / (q + slack), outcome))
    ratio, best = max(ratios, default=(Fraction(1), pair.outcomes[0]))
    value = enclose(Logarithm(max(ratio, Fraction(1))).ball())
    return LargestLoss(Enclosure(value.lower, Decimal("Infinity")) if slack else value, best)


def _of_listed(pair: ListedPair) -> LargestLoss:
    p, q = pair.masses()
    if infinite := [x for x, (a, b) in enumerate(zip(p, q, strict=True)) if b == 0 and a != 0]:
        return LargestLoss(Enclosure.infinite(), pair.name_of(infinite[0]))
    if (known := pair.steps()) is None:
        largest, best = _largest_listed(listed(pair))
        return LargestLoss(enclose(largest).maximum(_ZERO), pair.name_of(best))
    multiple, best = max((k, -x) for x, k in enumerate(known.multiples) if k is not None)
    return LargestLoss(_times(max(multiple, 0), known.unit), pair.name_of(-best))


def _times(multiple: int, unit: Real) -> Enclosure:
    if isinstance(unit, Fraction):
        return Enclosure.exactly(multiple * unit)
    return enclose(multiple * ball(unit))


def _of_wrapped(pair: WrappedPair) -> LargestLoss:
    unwrapped = _of_shift(pair.unwrapped)
    if (closed := pair.law.wrapped_loss(pair.shift, pair.modulus)) is not None:
        value, outcome = enclose(closed), "0"
    elif is_listed(pair):
        best, residue = _largest_listed(listed(pair))
        value, outcome = enclose(best), str(residue)
    else:
        return _bracket(pair, unwrapped.value)
    # post-processing: the wrapped loss is at most the unwrapped one, which may be known exactly
    ceiling = Enclosure(_ZERO.lower, unwrapped.value.upper)
    return LargestLoss(value.maximum(_ZERO).intersection(ceiling), outcome)


def _largest_listed(outcomes: Listed) -> tuple[arb, int]:
    """The largest loss of what is not known to have no mass under P, and where it is."""
    spend(len(outcomes.p))
    outcome_masses = enumerate(zip(outcomes.p, outcomes.q, strict=True))
    over = arb.pos_inf()  # 1/0
    ratios = {
        x: p * over if q.is_zero() else p / q for x, (p, q) in outcome_masses if not p.is_zero()
    }
    best = max(ratios, key=lambda x: ratios[x].mid())
    return reduce(arb.max, ratios.values()).log(), best


def _bracket(pair: WrappedPair, unwrapped: Enclosure) -> LargestLoss:
    """Between an outcome's certain loss and what no outcome can exceed (p symmetric, unimodal)."""
    law, shift, modulus = pair.law, pair.shift, pair.modulus
    if not law.symmetric:
        return LargestLoss(Enclosure(Fraction(0), unwrapped.upper), None)
    half = modulus // 2
    least, outcome = _ZERO, 0
    for reach in (max(half - shift, 0) * part // 32 for part in range(32)):
        excess = image_excess(law, modulus, reach + shift)
        found = enclose(law.loss(-reach, shift) - (1 + excess).log())
        if least.at_least(found.lower) is not True:
            least, outcome = found, -reach % modulus
    most = unwrapped.upper
    if law.log_concave:
        # -log p is convex and even: among residues at distances v and at least v - d from 0,
        # v <= m/2, the ratio of their p is largest at v = m/2; P also has its images.
        inner = law.ball(max(half - shift, 0)) / law.ball(half)
        most = min(most, enclose((inner * (1 + image_excess(law, modulus, half))).log()).upper)
    return LargestLoss(Enclosure(least.lower, most), str(outcome))
