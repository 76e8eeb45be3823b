"""Divergences of a pair that can be listed outcome by outcome, residues mod m among them.

With slack s each column is known up to misplaced mass s, so every event's probability is known up
to s on both sides; what then bounds a divergence from above is said with each function.

*Reduced mod m.* The reduction is post-processing, so what holds without it is an upper bound with
it. A modulus that can be enumerated gives the wrapped law itself. For a larger one the lower bounds
here say how little is lost: W is one period of outcomes around the bulk, and for x in W

    P'(x mod m) >= P(x),    Q'(x mod m) <= Q(x) (1 + e),    e >= sum over k != 0 of Q(x + km)/Q(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np
from flint import acb, arb, ctx

from ...exact.budget import spend
from ...exact.number import ball
from ...exact.precision import working_precision
from ...exact.roots import first_met_near
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from ...mechanisms.pairs.pair import (
    FinitePair,
    ListedPair,
    MixturePair,
    Pair,
    Reducible,
    ResponsePair,
    SampledPair,
    ShiftPair,
    TwoWayPair,
    WrappedPair,
)

_Kinds = TypeVar("_Kinds", bound=Pair)  # of pairs, where these are several
_MOST_RATIOS = 1 << 16
_LARGEST_ENUMERATED = 1 << 16
_MOST_IMAGES = 1 << 21  # outcomes summed directly, before the Fourier sum takes over
_LISTED = 2  # units of work that an outcome takes


class Listed(NamedTuple):
    """Probabilities of each outcome under P and Q, as balls."""

    p: Sequence[arb]
    q: Sequence[arb]
    slack: Fraction = Fraction(0)


def dominating(pair: Pair) -> Sequence[Pair]:
    """Others, the largest of whose divergences is at least this one's, whichever it is.

    By joint quasi-convexity, as nothing tells Q from Q; reduction is post-processing.
    """
    if isinstance(pair, TwoWayPair):
        return (pair.pair.pair,)
    if isinstance(pair, MixturePair):
        return [one for _, one in pair.parts]
    if isinstance(pair, SampledPair):
        return (pair.facing,)
    return (pair.unwrapped,) if isinstance(pair, WrappedPair) else ()


def unreduced(pair: _Kinds) -> _Kinds:
    """The same pair seen whole, where its reduction renames outcomes only."""
    if isinstance(pair, Reducible) and pair.reduced is not None and pair.never_wraps:
        return pair.unwrapped  # type: ignore[return-value]
    return pair


def is_listed(pair: Pair) -> bool:
    """Are its outcomes few enough to be listed, those of equal ratio together?"""
    if isinstance(pair, SampledPair):
        return is_listed(pair.pair)
    if isinstance(pair, MixturePair):
        return all(is_listed(one) for _, one in pair.parts)
    if isinstance(pair, WrappedPair):
        return pair.modulus <= _LARGEST_ENUMERATED
    if isinstance(pair, ShiftPair):
        return isinstance(pair.law.simplest(), DiscreteLaplace) and pair.shift <= _MOST_RATIOS
    return not isinstance(pair, TwoWayPair)


def listed(pair: Pair) -> Listed:
    """The pair's outcomes at the working precision, or what they are merged to by their ratio."""
    return _listed(pair, ctx.prec)


@lru_cache(maxsize=8)
def _listed(pair: Pair, bits: int) -> Listed:
    if isinstance(pair, FinitePair):
        return Listed([ball(p) for p in pair.p], [ball(q) for q in pair.q], pair.slack)
    if isinstance(pair, ListedPair):
        return Listed(*pair.masses())
    if isinstance(pair, WrappedPair):
        spend(_LISTED * pair.modulus)
        p = residues(pair.law, pair.modulus, ctx.prec)
        return Listed(p, [p[(x - pair.shift) % pair.modulus] for x in range(pair.modulus)])
    if isinstance(pair, ResponsePair):
        odds, hidden = ball(pair.epsilon).exp(), ball(1 - pair.delta)
        p = [ball(pair.delta), hidden * odds / (1 + odds), hidden / (1 + odds), arb(0)]
        kept = slice(0 if pair.delta else 1, 4 if pair.delta else 3)
        return Listed(p[kept], p[::-1][kept])
    if isinstance(pair, SampledPair):
        plain, sampling = listed(pair.pair), pair.sampling
        return Listed(*sampling.mixed(*sampling.facing(plain.p, plain.q)))
    if isinstance(pair, MixturePair):
        p, q = ([ball(pair.rest)], [ball(pair.rest)]) if pair.rest else ([], [])
        for weight, one in pair.parts:
            outcomes, share = listed(one), ball(weight)
            p += [share * mass for mass in outcomes.p]
            q += [share * mass for mass in outcomes.q]
        return Listed(p, q)
    assert isinstance(pair, ShiftPair)
    law, shift = pair.law.simplest(), pair.shift
    assert isinstance(law, DiscreteLaplace)  # the ratio is constant on x <= 0 and on x >= shift
    rate = ball(law.loss_limit(1))
    beta = (-rate).exp()
    ends = [1 / (1 + beta), beta**shift / (1 + beta)]
    inner = [(rate / 2).tanh() * beta**j for j in range(1, shift)]
    return Listed([ends[0], *inner, ends[1]], [ends[1], *inner[::-1], ends[0]])


def split(outcomes: Listed, odds: arb) -> tuple[arb, arb, arb]:
    """P(S), Q(S) and excess, for S about {P > odds Q}.

    P(S) - odds Q(S) is a lower bound of the hockey-stick divergence, and excess is what an upper
    bound adds: the positive parts of outcomes whose side is not certain, and the slack, which
    moves P(S) and odds Q(S) by at most s and odds s.
    """
    spend(len(outcomes.p))
    p_mass, q_mass, excess = arb(0), arb(0), arb(0)
    for p, q in zip(outcomes.p, outcomes.q, strict=True):
        gain = p - odds * q
        if gain > 0:
            p_mass, q_mass = p_mass + p, q_mass + q
        elif not gain <= 0:
            excess += gain.abs_upper()
    slack = ball(outcomes.slack)
    return p_mass - slack, q_mass + slack, excess + 2 * slack * (1 + odds)


def best_event(outcomes: Listed, order: arb) -> arb:
    """sum P^order Q^(1-order) at least, with slack: of the best event, told by one bit."""
    slack = ball(outcomes.slack)
    best = arb(1)
    for p, q in zip(outcomes.p, outcomes.q, strict=True):
        less, more = p - slack, q + slack
        if less > more and more < 1:
            rest = ((1 - less) / (1 - more)) ** order * (1 - more) if less < 1 else arb(0)
            best = best.max((less / more) ** order * more + rest)
    return best.lower()


# -- reduced mod m ---------------------------------------------------------------------------------


def outside_masses(pair: Reducible) -> tuple[arb, arb]:
    """P and Q of the outcomes outside one period W, centred between the two laws."""
    if isinstance(pair, MixturePair):
        each = [(ball(weight), outside_masses(one)) for weight, one in pair.parts]  # type: ignore[arg-type]
        return tuple(sum((w * ends[k] for w, ends in each), arb(0)) for k in (0, 1))  # type: ignore[return-value]
    if isinstance(pair, SampledPair):
        assert isinstance(pair.pair, WrappedPair)
        a, b = pair.sampling.facing(*outside_masses(pair.pair))
        (p,), (q,) = pair.sampling.mixed([a], [b])
        return p, q
    return _outside(pair, ctx.prec)


@lru_cache(maxsize=32)
def _outside(pair: WrappedPair, bits: int) -> tuple[arb, arb]:
    """Kept, since one answer asks for it several times at the same precision."""
    law, d = pair.law, pair.shift
    centre = 0 if law.symmetric else round(float(law.moments().mean.lower))
    first = centre + (d - pair.modulus) // 2
    last = first + pair.modulus - 1
    return (
        law.lower_tail(first - 1) + law.upper_tail(last + 1),
        law.lower_tail(first - 1 - d) + law.upper_tail(last + 1 - d),
    )


def image_excess(law: Law, modulus: int, farthest: int) -> arb:
    """Bound e for |x| <= farthest < m/2, for a symmetric unimodal law.

    The images of x lie at distance at least m - farthest from 0, on each side at most one in m
    outcomes: their mass is at most P(|X| >= m - farthest), and p(x) >= p(farthest).
    """
    return 2 * law.upper_tail(modulus - farthest) / law.ball(farthest)


@lru_cache(maxsize=4)
def residues(law: Law, modulus: int, bits: int) -> list[arb]:
    """Enclose P(X = c mod m) for c = 0, ..., m - 1. Kept: other shifts have the same."""
    if (reach := _reach(law, modulus, bits)) is None:
        return _fourier(law, modulus)
    beyond = arb(0).union(law.upper_tail(reach + 1) + law.lower_tail(-reach - 1))
    totals = [beyond] * modulus
    for x, mass in zip(range(-reach, reach + 1), law.balls(-reach, reach), strict=True):
        totals[x % modulus] += mass
    return totals


def _reach(law: Law, modulus: int, bits: int) -> int | None:
    """A distance beyond which nothing matters at this precision, if it is near enough to sum.

    Found in floats: a bad guess costs width, since what lies beyond is added as an enclosure.
    """
    low, high = law.support
    if low is not None and high is not None:
        return max(abs(low), abs(high)) if high - low <= _MOST_IMAGES else None
    centre = round(float(law.moments().mean.lower))
    least = float(law.log_pmf(np.array([centre + modulus // 2 + 1]))[0]) - 0.7 * bits
    reach = first_met_near(
        lambda r: bool(law.log_pmf(np.array([centre + r]))[0] <= least), modulus, 0
    )
    return abs(centre) + reach if 2 * reach <= _MOST_IMAGES else None


def _fourier(law: Law, modulus: int) -> list[arb]:
    """P(X = c mod m) = (1/m) sum over j of M(2 pi i j/m) e^(-2 pi i j c/m), a finite sum."""
    with working_precision(ctx.prec + 2 * modulus.bit_length() + 20):
        step = 2 * arb.pi() / modulus
        transforms = (law.transform(acb(0, step * j), False) for j in range(modulus))
        values = [exponent.exp() * factor for exponent, factor in transforms]
        return [value.real / modulus for value in acb.dft(values)]
