"""The hockey-stick divergence delta(epsilon) of a pair, and its inverse epsilon(delta).

delta(epsilon) = max over events S of P(S) - e^epsilon Q(S), attained by S = {loss > epsilon}. Any
S gives a lower bound. For a shifted pair S is a half-line (p log-concave, the loss falls in x) or
an interval around 0 (`log_convex_sides`; see `AdditiveNoise.pairs`), so that two or four tail
probabilities are all it takes. If the chosen S differs from the best one, then only by outcomes
whose loss lies between epsilon and the loss at the ends of S, for which
|P - e^epsilon Q| <= P |1 - e^(epsilon - loss)|: that is the excess of an upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
from flint import arb, ctx

from ...exact.enclosure import Enclosure
from ...exact.number import Logarithm, ball
from ...exact.precision import enclose, enclose_between, working_precision
from ...exact.roots import first_met_near, float_root, met_between, met_near
from ...mechanisms.pairs.pair import (
    FinitePair,
    MixturePair,
    Pair,
    ResponsePair,
    SampledPair,
    ShiftPair,
    TwoWayPair,
    WrappedPair,
)
from .finite_sums import is_listed, listed, outside_masses, split, unreduced
from .largest_loss import largest_loss

_MOST_STEPS = 20
_LEAST, _LARGEST = 1e-9, 1e12  # levels that are looked at
_FEW = 2000  # outcomes whose exact sums are quick
_HIGH, _FAR = 30, 1 << 64  # at levels above this, no loss that counts may be nearer than 2^64


class Event(NamedTuple):
    """An event S: delta(level) lies in [p - e^level q, p - e^level q + excess]."""

    p: arb
    q: arb
    excess: arb
    low: int | None = None  # the outcomes of S, where they are low, ..., high
    high: int | None = None


_NOTHING = Event(arb(0), arb(0), arb(0))


def delta_of(pair: Pair, level: arb, exact_level: Fraction | None = None) -> arb:
    """delta(level) at the working precision, level >= 0."""
    return value_at(level, exceeding(pair, level, exact_level))


def value_at(level: arb, event: Event) -> arb:
    """delta(level), from the event {loss > level}."""
    least = event.p - level.exp() * event.q
    return least.union(least + event.excess).max(arb(0)).min(arb(1))


def exceeding(pair: Pair, level: arb, exact_level: Fraction | None = None) -> Event:
    """The event {loss > level}, as far as it can be told at the working precision.

    Of several pairs the events of all together: what tells nothing has no loss above the level.
    """
    pair = unreduced(pair.pair if isinstance(pair, TwoWayPair) else pair)
    if isinstance(pair, SampledPair):
        return _of_sampled(pair, level, exact_level)
    if isinstance(pair, ShiftPair):
        return _of_shift(pair, level, exact_level)
    if isinstance(pair, ResponsePair) and exact_level is not None and exact_level >= pair.epsilon:
        return Event(ball(pair.delta), arb(0), arb(0))
    if is_listed(pair):
        return Event(*split(listed(pair), level.exp()))
    if isinstance(pair, MixturePair):
        found = _NOTHING
        for weight, one in pair.parts:
            p, q, excess, *_ = exceeding(one, level, exact_level)
            share = ball(weight)
            found = Event(found.p + share * p, found.q + share * q, found.excess + share * excess)
        return found
    assert isinstance(pair, WrappedPair)
    event = exceeding(pair.unwrapped, level, exact_level)
    p_out, q_out = outside_masses(pair)
    lost = p_out + level.exp() * q_out
    return event._replace(p=event.p - p_out, q=event.q + q_out, excess=event.excess + lost)


def _of_sampled(pair: SampledPair, level: arb, exact_level: Fraction | None) -> Event:
    """An event of the pair that is faced, at another level >= 0 (`pairs.sampling`)."""
    rate, same = ball(pair.sampling.rate), Fraction(0) if exact_level == 0 else None
    if pair.sampling.removing:
        event = exceeding(pair.facing, (level.expm1() / rate).log1p(), same)
        p, q = (1 - rate) * event.q + rate * event.p, event.q
        return event._replace(p=p, q=q, excess=rate * event.excess)
    rest = 1 - level.exp() * (1 - rate)
    if not rest > 0:  # no loss is above -log(1 - rate)
        return _NOTHING._replace(excess=rest.upper().max(arb(0)))
    event = exceeding(pair.facing, level + (rate / rest).log(), same)
    return Event(event.p, (1 - rate) * event.p + rate * event.q, rest * event.excess)


def _of_shift(pair: ShiftPair, level: arb, exact_level: Fraction | None) -> Event:
    if pair.is_disjoint:
        return Event(arb(1), arb(0), arb(0))
    law, shift = pair.law, pair.shift
    limit = law.loss_limit(shift)
    above: Fraction | arb = arb.nan()  # how far the level is above the limit, if it has one
    if isinstance(limit, Fraction) and exact_level is not None:
        above = exact_level - limit
    elif limit is not None:
        above = level - ball(limit)
    inside: int | None
    outside: int | None
    if law.log_convex_sides:
        summit = law.loss(0, shift)
        if not level < summit:
            return _NOTHING._replace(excess=overlooked(level, summit))
        inside, outside = 0, shift  # of the losses +-summit, summit > level >= 0
    else:
        if above >= 0:
            return _NOTHING
        # Below low + shift the loss is infinite, above high it is minus infinity.
        low, high = law.support
        is_far = low is None and level > _HIGH and law.log_concave
        if is_far and law.loss(-_FAR, shift) <= level:  # losses fall: larger ones are below -FAR
            return _NOTHING._replace(excess=law.lower_tail(-_FAR))
        inside = None if low is None else low + shift - 1
        outside = None if high is None else high + 1
    last, first = last_above(pair, level, inside, outside), None
    p, q, excess = law.lower_tail(last), law.lower_tail(last - shift), arb(0)
    if law.log_convex_sides and not above < 0:
        # On x <= 0 the loss rises: read it backwards, loss(-y) falls in y >= 0.
        first = -last_above(pair, level, 0, None, mirrored=True)
        p, q = p - law.lower_tail(first - 1), q - law.lower_tail(first - 1 - shift)
        excess += shortfall(p, level, law.loss(first, shift))
        excess += overlooked(level, law.loss(first - 1, shift))
    if last != inside:
        excess += shortfall(p, level, law.loss(last, shift))
    if last + 1 != outside:
        excess += overlooked(level, law.loss(last + 1, shift))
    return Event(p, q, excess, first, last)


def epsilon_of(pair: Pair, delta: Fraction) -> Enclosure:
    """The smallest level >= 0 with delta(level) <= delta, at the working precision."""
    if isinstance(pair, ResponsePair):
        # delta(level) = d + (1-d)(e^epsilon - e^level)/(1 + e^epsilon), d = pair.delta, solved
        if delta < pair.delta:
            return Enclosure.infinite()
        share = (delta - pair.delta) / (1 - pair.delta)
        odds = ball(1 - share) * ball(pair.epsilon).exp() - ball(share)
        return enclose(odds.max(arb(1)).log())
    if isinstance(pair, FinitePair) and not pair.slack and len(pair.p) <= _FEW:
        return _of_few(pair, delta)
    if isinstance(pair, TwoWayPair):
        pair = pair.pair
    if isinstance(pair, SampledPair) and pair.sampling.removing:
        # rate delta(level') of the pair that is sampled, at a level' that rises with the level
        if delta >= pair.sampling.rate:
            return Enclosure.exactly(0)
        return pair.sampling.loss_within(epsilon_of(pair.pair, delta / pair.sampling.rate))
    if pair.escaping() > ball(delta):
        return Enclosure.infinite()
    found = least_level(partial(exceeding, pair), delta, largest_loss(pair).value)
    if not (pair.slack and found.is_finite()):
        return found
    target = ball(delta)
    # the upper end of delta, the profile plus slack (1 + e^level), is a bound wherever it is met
    ends = ball(found.lower), ball(found.upper)
    high = met_between(lambda at: bool(delta_of(pair, at) <= target), *ends)[1]
    return enclose_between(ends[0], high)


def least_level(
    exceeding: Callable[[arb], Event], delta: Fraction, largest: Enclosure
) -> Enclosure:
    """The smallest level >= 0 with delta(level) <= delta. largest: beyond it delta(level) = 0."""
    target, zero = ball(delta), arb(0)
    if value_at(zero, exceeding(zero)) <= target:
        return Enclosure.exactly(0)
    with working_precision(64):
        level = _sought(exceeding, target, arb(0.5))
    return root_near(level, target, exceeding, largest)


def root_near(
    level: arb, target: arb, exceeding: Callable[[arb], Event], largest: Enclosure
) -> Enclosure:
    """The smallest level >= 0 with delta(level) <= target, sought from a level nearby.

    exceeding: the event {loss > level}. largest: beyond it delta(level) = 0.
    """
    best, moved, is_sought = arb(0), arb.pos_inf(), False
    for _ in range(_MOST_STEPS):  # Dinkelbach: each event's own root, which rises to the largest
        event = exceeding(level)
        root = ((event.p - target) / event.q).log()
        if root.is_finite():
            best = root.lower().max(best)
            step = abs(root.mid() - level)
            if step < abs(level) * arb(2) ** -(ctx.prec - 16):
                break
            if is_sought or 4 * step < moved:
                level, moved = root.mid().max(arb(0)), step
                continue
        elif is_sought:
            break
        level, is_sought = _sought(exceeding, target, level), True  # it came from too far away
    level, cap = level.max(best), ball(largest.upper).upper()

    def met(above: arb) -> bool:
        return bool(above >= cap or value_at(above, exceeding(above)) <= target)

    # near 0 what is gained by a step has to show against the rounding of delta itself
    step = arb(2) ** -(ctx.prec - 24) * (abs(level) + arb(2) ** -16)
    found = met_near(met, level, step, growth=16, most=ctx.prec // 2)
    return enclose_between(best, cap if found is None else found.min(cap))


def _sought(exceeding: Callable[[arb], Event], target: arb, level: arb) -> arb:
    """About where delta(level) is the target, from 0 on."""

    def height(at: float) -> float:
        share = value_at(arb(at), exceeding(arb(at))).mid() / target
        return float(share.log().mid()) if share > 0 else -math.inf

    high = max(2 * float(level.mid()), _LEAST)
    while height(high) > 0 and high < _LARGEST:
        high *= 2
    return arb(float_root(height, 0.0, high, 1e-5))


def _of_few(pair: FinitePair, delta: Fraction) -> Enclosure:
    """The same from exact sums, so that also a delta on a plateau is met.

    Between neighbouring ratios r = P/Q the profile is linear in gamma = e^level: P(S) - gamma Q(S),
    S the outcomes of larger ratio.
    """
    p_mass = sum((p for p, q in zip(pair.p, pair.q, strict=True) if not q), Fraction(0))
    q_mass = Fraction(0)
    if p_mass > delta:
        return Enclosure.infinite()
    finite = [(p / q, p, q) for p, q in zip(pair.p, pair.q, strict=True) if q and p > q]
    for ratio, p, q in sorted(finite, reverse=True):
        if p_mass - ratio * q_mass > delta:
            break
        p_mass, q_mass = p_mass + p, q_mass + q
    if p_mass - q_mass <= delta:
        return Enclosure.exactly(0)
    return enclose(Logarithm((p_mass - delta) / q_mass).ball())


def shortfall(p: arb, level: arb, loss: arb) -> arb:
    """What outcomes of S whose loss is below the level may cost, the least being `loss`."""
    return (p * ((level - loss).exp() - 1)).max(arb(0)).upper()


def overlooked(level: arb, loss: arb) -> arb:
    """What outcomes outside S whose loss is above the level may add, the largest being `loss`."""
    return (1 - (level - loss).exp()).max(arb(0)).upper()


def last_above(
    pair: ShiftPair, level: arb, inside: int | None, outside: int | None, mirrored: bool = False
) -> int:
    """The last x with loss(x) > level, where the loss falls from `inside` to `outside`.

    mirrored: for loss(-x). Guessed in floats, then corrected with balls; what these cannot tell
    is left to the excess.
    """
    law, shift, sign = pair.law, pair.shift, -1 if mirrored else 1
    goal = float(level.mid())

    def guess(x: int) -> float:
        p, q = law.log_pmf(np.array([sign * x, sign * x - shift]))
        return float(p - q) - goal

    def above(x: int) -> bool | None:
        loss = law.loss(sign * x, shift)
        return True if loss > level else False if loss < level else None

    start = inside if inside is not None else outside if outside is not None else shift
    near = first_met_near(lambda x: guess(x) <= 0, start, inside, outside)

    def below(x: int) -> bool | None:  # what cannot be told stays on the side of the guess
        answer = above(x)
        return answer is not True if x >= near else answer is False

    return first_met_near(below, near, inside, outside) - 1
