"""delta(epsilon) of composed mechanisms, and its inverse epsilon(delta).

Each use is replaced by the pair that dominates its neighbours, and the losses of the pairs add up
(see `losses`). Three things are charged for besides:

*Several pairs that count* (an asymmetric law; small moduli): an adversary may pick among them, on
the way. A pair that dominates them all bounds that from above, the best of them, used throughout,
from below. (A user's own pair of laws has two datasets only: both directions, each throughout.)
*Reduction mod m*, where the residues cannot or need not be listed: what holds without it is an
upper bound. The best event without it, inside one period W, is an event with it, whose P loses at
most P(outside W) and whose Q gains at most Q(outside W), for each use.
*Slack s of a user's pair*: the probability of every event of K uses is off by at most (1+s)^K - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from flint import arb, ctx

from ..exact.enclosure import Enclosure
from ..exact.number import ball
from ..exact.precision import enclose, refine, working_precision
from ..mechanisms.mechanism import AdditiveNoise
from ..mechanisms.pair import FinitePair, Pair, ShiftPair, WrappedPair
from .losses.composite import Composite, Saddle, saddle_at, saddle_for
from .losses.dominating import dominating
from .losses.lattice import LatticeTail
from .losses.law import Atoms, LossLaw
from .losses.listed import ListedLoss, count_values
from .losses.of_pair import listed_law, loss_law
from .losses.smoothed import SmoothedProfile
from .privacy_profile import Event, root_near, value_at
from .wrapped import is_enumerable, never_wraps, outside_masses

if TYPE_CHECKING:
    from .budget import Use

__all__ = ["WORK", "composed_delta", "composed_epsilon"]

WORK = 4.0  # about how many seconds losses off a lattice may take where the width asks for more
_MOST_LISTED = 100_000  # values of a composed loss that are listed
_MOST_PAIRS = 1000
_SMOOTHED_BITS = 128
_FIRST_TAIL = -150.0  # the logarithm of the mass left out before delta is known, about
_CANDIDATES = 2  # of several pairs, so many are tried for the lower bound

_LEAST_LOG_DELTA = -1e5
_NEAR_ZERO = 0.01  # below this level it is checked whether epsilon is 0
_MOST_STEPS = 40
_ATTEMPTS = 3
_WRAP_MATTERS = 46  # what lies beyond one period may be e^-46 = 1e-20 times delta


def composed_delta(
    uses: Sequence[Use], epsilon: Fraction, width: Fraction, cap: int, work: float = WORK
) -> Enclosure:
    """The least delta for which these uses together are (epsilon, delta)-DP."""
    with working_precision(_SMOOTHED_BITS):
        level = float(ball(epsilon).mid())
        plain = next(_directions(uses, math.inf)).fixed(0).composite(_FIRST_TAIL)
        log_delta = max(saddle_at(plain, level).log_delta, _LEAST_LOG_DELTA)
    return _worst(
        uses, log_delta, lambda product: _delta(product, epsilon, log_delta, width, cap, work)
    )


def composed_epsilon(
    uses: Sequence[Use], delta: Fraction, width: Fraction, cap: int, work: float = WORK
) -> Enclosure:
    """The least epsilon >= 0 for which these uses together are (epsilon, delta)-DP, delta > 0."""
    if delta == 1:
        return Enclosure.exactly(0)
    log_delta = float(ball(delta).log().mid())
    return _worst(
        uses, log_delta, lambda product: _epsilon(product, delta, log_delta, width, cap, work)
    )


# -- what counts ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Factor:
    """So many uses of one mechanism, by its pairs: of several, one that dominates them is meant.

    reduced: the pairs after a reduction mod m that is charged for instead of being listed.
    """

    pairs: tuple[Pair, ...]
    times: int
    reduced: tuple[WrappedPair, ...] = ()

    def fixed(self, choice: int) -> _Factor:
        """The same pair throughout: the first, second ... of them."""
        return replace(self, pairs=(self.pairs[min(choice, len(self.pairs) - 1)],))

    def swapped(self) -> _Factor:
        """The other direction of a user's own pair."""
        swapped = (p.swapped() if isinstance(p, FinitePair) else p for p in self.pairs)
        return replace(self, pairs=tuple(swapped))


@dataclass(frozen=True)
class _Product:
    """Everything that is composed."""

    factors: tuple[_Factor, ...]

    @property
    def is_exact(self) -> bool:
        """Is there one pair for each use?"""
        return all(len(factor.pairs) == 1 for factor in self.factors)

    def fixed(self, choice: int) -> _Product:
        """The same pair for all uses of a mechanism."""
        return _Product(tuple(factor.fixed(choice) for factor in self.factors))

    def composite(self, log_tail: float) -> Composite:
        """The losses of all uses, leaving out P-mass of about e^log_tail altogether."""
        return Composite([(self._law(factor, log_tail), factor.times) for factor in self.factors])

    def atoms(self, log_tail: float) -> list[tuple[Atoms, int]]:
        """The same, loss by loss."""
        found = []
        for factor in self.factors:
            law = self._law(factor, log_tail)
            if not isinstance(law, Atoms):
                law = listed_law(factor.pairs[0], self._tail(factor, log_tail))
            found.append((law, factor.times))
        return found

    def _law(self, factor: _Factor, log_tail: float) -> LossLaw:
        tail = self._tail(factor, log_tail)
        if len(factor.pairs) == 1:
            return loss_law(factor.pairs[0], tail)
        return dominating([listed_law(pair, tail) for pair in factor.pairs])

    def _tail(self, factor: _Factor, log_tail: float) -> float:
        return log_tail - math.log(factor.times * len(self.factors))


def _worst(
    uses: Sequence[Use], log_delta: float, measure: Callable[[_Product], Enclosure]
) -> Enclosure:
    """The largest over both directions; of several pairs, between fixed and adaptive choices."""
    best = Enclosure.exactly(0)
    for product in _directions(uses, log_delta):
        if product.is_exact:
            found = measure(product)
        else:
            found = measure(product.fixed(0))
            for choice in range(1, _CANDIDATES):
                found = found.maximum(measure(product.fixed(choice)))
            found = Enclosure(found.lower, measure(product).upper)
        best = best.maximum(found)
    return best


def _directions(uses: Sequence[Use], log_delta: float) -> Iterator[_Product]:
    """D against D', and the reverse where a user's own pair tells them apart."""
    factors = [_factor(use, log_delta) for use in uses]
    factors = [factor for factor in factors if factor.pairs]  # none: nothing is released
    yield _Product(tuple(factors))
    if any(isinstance(use.mechanism, FinitePair) for use in uses):
        yield _Product(tuple(factor.swapped() for factor in factors))


def _factor(use: Use, log_delta: float) -> _Factor:
    """The pairs to pick among, the worst ones first as far as that is known."""
    mechanism, times = use
    if isinstance(mechanism, FinitePair):
        return _Factor((mechanism,), times)
    pairs = tuple(islice(mechanism.pairs(), _MOST_PAIRS + 1))
    if isinstance(mechanism, AdditiveNoise) and pairs and isinstance(pairs[0], WrappedPair):
        # the full sensitivity, in both directions of an asymmetric law, comes first
        plain = tuple(AdditiveNoise(mechanism.law, mechanism.sensitivity).pairs())
        reduced = tuple(pair for pair in pairs[: len(plain)] if isinstance(pair, WrappedPair))
        if pairs[0].shift == mechanism.sensitivity and _hardly_wraps(reduced, times, log_delta):
            return _Factor(plain, times, reduced)
    if len(pairs) > _MOST_PAIRS:
        raise ArithmeticError(
            f"the worst of more than {_MOST_PAIRS} pairs is not known to be one of them"
        )
    if len(pairs) > 1 and not isinstance(pairs[0], ShiftPair):
        with working_precision(_SMOOTHED_BITS):
            means = [listed_law(pair, _FIRST_TAIL).mean() for pair in pairs]
        order = sorted(range(len(pairs)), key=lambda index: -means[index])
        pairs = tuple(pairs[index] for index in order)
    return _Factor(pairs, times)


def _hardly_wraps(pairs: Sequence[WrappedPair], times: int, log_delta: float) -> bool:
    """Is too little beyond one period to matter, or are there too many residues to list?"""
    if all(never_wraps(pair) or not is_enumerable(pair) for pair in pairs):
        return True
    with working_precision(_SMOOTHED_BITS):
        least = (arb(log_delta) - _WRAP_MATTERS).exp() / times
        return all(sum(outside_masses(pair), arb(0)) < least for pair in pairs)


# -- what is charged ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Charges:
    """delta(level) may be off: less by less_p + e^level less_q, either way by the slack."""

    less_p: arb
    less_q: arb
    slack: arb

    def below(self, odds: arb) -> arb:
        """How much less delta may be, odds = e^level."""
        return self.less_p + odds * self.less_q + self.above(odds)

    def above(self, odds: arb) -> arb:
        """How much more delta may be."""
        return self.slack * (1 + odds)

    def to_event(self, event: Event, level: arb) -> Event:
        """The event with what it may have lost or gained."""
        odds = level.exp()
        return event._replace(
            p=event.p - self.less_p - self.slack,
            q=event.q + self.less_q + self.slack,
            excess=event.excess + self.below(odds) + self.above(odds),
        )


def _charges(product: _Product) -> _Charges:
    less_p, less_q, slack = arb(0), arb(0), arb(0)
    for factor in product.factors:
        outside = [outside_masses(pair) for pair in factor.reduced if not never_wraps(pair)]
        if outside:
            less_p += factor.times * max(p.upper() for p, _ in outside)
            less_q += factor.times * max(q.upper() for _, q in outside)
        for pair in factor.pairs:
            if isinstance(pair, FinitePair) and pair.slack:
                slack = (1 + slack) * (1 + ball(pair.slack)) ** factor.times - 1
    return _Charges(less_p.upper(), less_q.upper(), slack.upper())


# -- which way ------------------------------------------------------------------------------------

_Exceeding: TypeAlias = Callable[[arb, "Fraction | None"], Event]
_Events: TypeAlias = Callable[[_Product, float, Saddle], _Exceeding]


def _events(product: _Product, log_delta: float) -> _Events | None:
    """How events {L > level} are measured exactly; None where the loss must be smoothed."""
    with working_precision(_SMOOTHED_BITS):
        tail = _log_tail(log_delta)
        if product.composite(tail).lattice() is not None:
            return _on_lattice
        return _in_list if count_values(product.atoms(tail)) <= _MOST_LISTED else None


def _on_lattice(product: _Product, log_tail: float, saddle: Saddle) -> _Exceeding:
    composite = product.composite(log_tail)
    lattice = composite.lattice()
    assert lattice is not None
    return LatticeTail(composite, lattice, saddle).exceeding


def _in_list(product: _Product, log_tail: float, saddle: Saddle) -> _Exceeding:
    parts = product.atoms(log_tail)
    composite, values = Composite(parts), ListedLoss(parts)
    escaping, missing = composite.escaping(), composite.missing().upper()

    def exceeding(level: arb, exact_level: Fraction | None = None) -> Event:
        event = values.exceeding(level)
        return event._replace(p=event.p + escaping, excess=event.excess + missing)

    return exceeding


def _log_tail(log_delta: float) -> float:
    """The logarithm of the P-mass that may be left out at the working precision."""
    return log_delta - 0.7 * ctx.prec - 10


# -- delta(level) ---------------------------------------------------------------------------------


def _delta(
    product: _Product, epsilon: Fraction, log_delta: float, width: Fraction, cap: int, work: float
) -> Enclosure:
    events = _events(product, log_delta)
    if events is None:
        return _smoothed_delta(product, epsilon, log_delta, width, work)

    def exact() -> Enclosure:
        tail, here = _log_tail(log_delta), ball(epsilon)
        saddle = saddle_at(product.composite(tail), float(here.mid()))
        event = events(product, tail, saddle)(here, epsilon)
        return enclose(value_at(here, _charges(product).to_event(event, here)))

    return refine(exact, width=width, cap=cap)


def _smoothed_delta(
    product: _Product, epsilon: Fraction, log_delta: float, width: Fraction, work: float
) -> Enclosure:
    with working_precision(_SMOOTHED_BITS):
        parts, here = product.atoms(_log_tail(log_delta)), ball(epsilon)
        composite, charges = Composite(parts), _charges(product)
        if here >= composite.largest():
            rest = composite.escaping()
            lower, upper = rest, rest + composite.missing()
        else:
            saddle = saddle_at(composite, float(here.mid()))
            sigma = math.sqrt(0.9 * float(width) / (saddle.c * (saddle.c + 1)))
            lower, upper = SmoothedProfile(parts, saddle, sigma, work).bounds(here)
        odds = here.exp()
        lower, upper = lower - charges.below(odds), upper + charges.above(odds)
        return enclose(lower.max(arb(0)).min(arb(1)).union(upper.max(arb(0)).min(arb(1))))


# -- epsilon(delta) -------------------------------------------------------------------------------


def _epsilon(
    product: _Product, delta: Fraction, log_delta: float, width: Fraction, cap: int, work: float
) -> Enclosure:
    events = _events(product, log_delta)
    if events is None:
        asked = float(width)
        for _ in range(_ATTEMPTS):
            found, limited = _smoothed_epsilon(product, delta, log_delta, asked, work)
            if limited or found.is_within(width):
                break
            asked /= 2.5
        return found

    def exact() -> Enclosure:
        target, tail, charges = ball(delta), _log_tail(log_delta), _charges(product)
        saddle = _towards(product.composite(tail), target, charges)
        if saddle is None:
            return Enclosure.infinite()
        measured = events(product, tail, saddle)

        def exceeding(level: arb) -> Event:
            return charges.to_event(measured(level, None), level)

        if saddle.level < _NEAR_ZERO and value_at(arb(0), exceeding(arb(0))) <= target:
            return Enclosure.exactly(0)
        return enclose(root_near(arb(saddle.level), target, exceeding, Enclosure.infinite()))

    return refine(exact, width=width, cap=cap)


def _towards(composite: Composite, target: arb, charges: _Charges) -> Saddle | None:
    """The saddle point where delta(level) is about the target; None if it never falls so low."""
    rest = composite.escaping() - charges.slack
    if rest > target:
        return None
    finite = (target - rest).mid().max(target.mid() * arb(2) ** -ctx.prec)
    saddle = saddle_for(composite, float(finite.log().mid()))
    return saddle if saddle.level > 0 else saddle_at(composite, 0.0)


def _smoothed_epsilon(
    product: _Product, delta: Fraction, log_delta: float, width: float, work: float
) -> tuple[Enclosure, bool]:
    """The enclosure, and whether the work allowed is what made it no narrower."""
    with working_precision(_SMOOTHED_BITS):
        parts, target, charges = product.atoms(_log_tail(log_delta)), ball(delta), _charges(product)
        saddle = _towards(Composite(parts), target, charges)
        if saddle is None:
            return Enclosure.infinite(), True
        spread = width * max(saddle.level, _NEAR_ZERO)
        profile = SmoothedProfile(parts, saddle, math.sqrt(0.9 * spread / (saddle.c + 1)), work)

        def bounds(level: arb) -> tuple[arb, arb]:
            lower, upper = profile.bounds(level)
            return lower - charges.below(level.exp()), upper + charges.above(level.exp())

        if saddle.level < _NEAR_ZERO and bounds(arb(0))[1] <= target:
            return Enclosure.exactly(0), True
        level, slope = _rough_root(profile, saddle, log_delta)
        gap = math.exp(profile.roughly(level)[1] - log_delta) / slope
        above = _stepped(level, 1, 1e-14 * (1 + level), lambda at: bounds(at)[1] <= target)
        below = _stepped(
            level, -1, 1.001 * gap + 1e-14 * (1 + level), lambda at: bounds(at)[0] >= target
        )
        lowest = arb(0) if below is None else below
        found = enclose(lowest.union(arb.pos_inf() if above is None else above))
        return found, profile.limited


def _rough_root(profile: SmoothedProfile, saddle: Saddle, log_delta: float) -> tuple[float, float]:
    """About where delta(level) is e^log_delta, and how fast its logarithm falls there."""
    level, slope = saddle.level, saddle.c
    height = profile.roughly(level)[0] - log_delta
    for _ in range(12):
        step = height / slope
        if abs(step) < 1e-15 * (1 + level):
            break
        there = max(level + step, 0.0)
        found = profile.roughly(there)[0] - log_delta
        if there != level and (height - found) / (there - level) > 0:
            slope = (height - found) / (there - level)
        level, height = there, found
    return level, slope


def _stepped(level: float, sign: int, step: float, holds: Callable[[arb], bool]) -> arb | None:
    """The first point at which it holds, step by growing step from the level; None: none near."""
    for _ in range(_MOST_STEPS):
        at = (arb(level) + sign * step).max(arb(0))
        if holds(at):
            return at
        step *= 2
    return None
