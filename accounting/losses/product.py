"""What is composed: each use by the pair that dominates its neighbours.

Three things are charged for besides the losses:

*Several pairs that count* (an asymmetric law; small moduli): an adversary may pick among them, on
the way. A pair that dominates them all bounds that from above, some of them, used throughout, from
below; `adaptive` plays it out.
*Reduction mod m*, where the residues cannot or need not be listed: what holds without it is an
upper bound. The best event without it, inside one period W, is an event with it, whose P loses at
most P(outside W) and whose Q gains at most Q(outside W), for each use.
*Slack s of a user's pair*: the probability of every event of K uses is off by at most (1+s)^K - 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from attrs import frozen
from flint import arb, ctx

from ...exact import ball, working_precision
from ...losses.choices import Menu
from ...losses.lattice import Charged
from ...mechanisms import AdditiveNoise, Mechanism, Pair, ShiftPair
from ...mechanisms.fixed_size import FixedSize
from ...mechanisms.laws.closed_forms import table_of
from ...mechanisms.mechanism import OnePair
from ...mechanisms.pair import MixturePair, Reducible, SampledPair, TwoWayPair
from ...mechanisms.sampled import likewise, unsampled
from ...mechanisms.shift_pair import WrappedPair
from ..divergences.finite_sums import is_listed, outside_masses
from ..divergences.privacy_profile import Event
from ..scenario import Scenario, Use
from .composite import Together
from .law import Atoms, LossLaw
from .listed import dominating
from .of_pair import listed_law, loss_law, window

_MOST_PAIRS = 1000
_MOST_RESIDUES = 1 << 23  # of all these together, that are listed
MOST_TOGETHER = 2_000_000  # outcomes of different uses that are listed
_BITS = 128
_WRAP_MATTERS = 46  # what lies beyond one period may be e^-46 = 1e-20 times delta


@frozen
class Factor:
    """So many uses of one mechanism, by its pairs: of several, one that dominates them is meant.

    reduced: the pairs after a reduction mod m that is charged for instead of being listed.
    choices: where `pairs` are not what an adversary chooses from but dominate it, some of that.
    """

    pairs: tuple[Pair, ...]
    times: int
    reduced: tuple[Reducible, ...] = ()
    choices: tuple[Pair, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Is there one pair to choose?"""
        return len(self.pairs) == 1 and not self.choices

    def fixed(self, choice: int) -> Factor:
        """The same pair throughout: the first, second ... of them."""
        if self.is_exact:
            return self
        kept = () if self.choices else self.reduced
        return Factor((self.among[min(choice, len(self.among) - 1)],), self.times, kept)

    @property
    def among(self) -> tuple[Pair, ...]:
        """What an adversary certainly may choose from."""
        return self.choices or self.pairs


@frozen
class Charges(Charged):
    """What `Charged` says, for events and levels."""

    def below(self, odds: arb) -> arb:
        """How much less delta may be, odds = e^level."""
        return self.less_p + odds * self.less_q + self.above(odds)

    def above(self, odds: arb) -> arb:
        """How much more delta may be."""
        return self.slack * (1 + odds)

    @property
    def are_none(self) -> bool:
        """Is nothing charged at all?"""
        return bool(self.less_p == 0 and self.less_q == 0 and self.slack == 0)

    def to_event(self, event: Event, level: arb) -> Event:
        """The event with what it may have lost or gained."""
        odds = level.exp()
        return event._replace(
            p=event.p - self.less_p - self.slack,
            q=event.q + self.less_q + self.slack,
            excess=event.excess + self.below(odds) + self.above(odds),
        )


@frozen
class Product:
    """Everything that is composed."""

    factors: tuple[Factor, ...]

    @property
    def is_exact(self) -> bool:
        """Is there one pair for each use?"""
        return all(factor.is_exact for factor in self.factors)

    @property
    def is_listed(self) -> bool:
        """Do the pairs hold all choices, with nothing to charge for besides?"""
        return self.charges().are_none and not any(factor.choices for factor in self.factors)

    def menus(self, log_tail: float) -> list[Menu]:
        """The loss laws that an adversary may choose from, leaving out about e^log_tail."""
        return [
            (
                [listed_law(pair, self.tail(factor, log_tail)) for pair in factor.pairs],
                factor.times,
            )
            for factor in self.factors
        ]

    def fixed(self, choice: int) -> Product:
        """The same pair for all uses of a mechanism."""
        return Product(tuple(factor.fixed(choice) for factor in self.factors))

    def composite(self, log_tail: float) -> Together:
        """The losses of all uses, leaving out P-mass of about e^log_tail altogether."""
        return Together([(self._law(factor, log_tail), factor.times) for factor in self.factors])

    def atoms(self, log_tail: float) -> list[tuple[Atoms, int]]:
        """The same, loss by loss."""
        return [(self.listed(factor, log_tail), factor.times) for factor in self.factors]

    def outcomes(self, log_tail: float) -> int:
        """How many outcomes all different uses have together, about."""
        return sum(
            outcomes(pair, self.tail(factor, log_tail))
            for factor in self.factors
            for pair in factor.pairs[:1]
        )

    def listed(self, factor: Factor, log_tail: float) -> Atoms:
        """The same of one use."""
        tail = self.tail(factor, log_tail)
        if len(factor.pairs) == 1:
            return listed_law(factor.pairs[0], tail)
        return _dominating(factor.pairs, tail, ctx.prec)

    def charges(self) -> Charges:
        """What the losses alone do not count."""
        less_p, less_q, slack = arb(0), arb(0), arb(0)
        for factor in self.factors:
            outside = [outside_masses(pair) for pair in factor.reduced if not pair.never_wraps]
            if outside:
                less_p += factor.times * max(p.upper() for p, _ in outside)
                less_q += factor.times * max(q.upper() for _, q in outside)
            for pair in factor.pairs:
                if pair.slack:
                    slack = (1 + slack) * (1 + ball(pair.slack)) ** factor.times - 1
        return Charges(less_p.upper(), less_q.upper(), slack.upper())

    def _law(self, factor: Factor, log_tail: float) -> LossLaw:
        if len(factor.pairs) == 1:
            return loss_law(factor.pairs[0], self.tail(factor, log_tail))
        return self.listed(factor, log_tail)

    def tail(self, factor: Factor, log_tail: float) -> float:
        """The logarithm of what one use of these may leave out."""
        return log_tail - math.log(factor.times * len(self.factors))


@lru_cache(maxsize=4)
def _dominating(pairs: tuple[Pair, ...], log_tail: float, bits: int) -> Atoms:
    """Kept, since one answer asks for it several times at the same precision."""
    return dominating([listed_law(pair, log_tail) for pair in pairs])


def product_of(uses: Scenario, log_delta: float) -> Product:
    """What is composed in this scenario; no factors where nothing is released."""
    return _product_of(tuple(uses), log_delta)


@lru_cache(maxsize=16)
def _product_of(uses: Scenario, log_delta: float) -> Product:
    """Kept, since one answer asks for it several times."""
    factors = (_factor(use, log_delta) for use in uses)
    return Product(tuple(factor for factor in factors if factor.pairs))


def _factor(use: Use, log_delta: float) -> Factor:
    """The pairs to pick among, the worst ones first as far as that is known."""
    mechanism, times = use
    inner = unsampled(mechanism)
    if isinstance(inner, OnePair):
        seen = inner.pair
        if isinstance(seen, Reducible) and _settled(seen, times, log_delta):
            return Factor((seen.unwrapped,), times, (seen,))
        return Factor((seen,), times)
    if isinstance(inner, FixedSize) and inner.rate != 1:
        return Factor(tuple(inner.pairs()), times, choices=tuple(inner.attained()))
    if isinstance(inner, AdditiveNoise) and inner.modulus and inner.law.shape_is_proved:
        law, farthest, modulus = inner.law, inner.farthest, inner.modulus
        if farthest == 0 or table_of(law) is not None:
            return _ranked(mechanism, times)
        # every pair is post-processing of one of these
        plain = tuple(likewise(mechanism, AdditiveNoise(law, farthest)).pairs())
        reduced = tuple(
            pair.wrapped(modulus)
            for pair in plain
            if isinstance(pair, ShiftPair | SampledPair | MixturePair)
        )
        if _hardly_wraps(reduced, times, log_delta):
            return Factor(plain, times, reduced)
        count = farthest * len(plain)
        if count > _MOST_PAIRS or count * modulus > _MOST_RESIDUES:
            return Factor(plain, times, choices=reduced)
    return _ranked(mechanism, times)


def _settled(pair: Reducible, times: int, log_delta: float) -> bool:
    """Is it reduced mod m, in a way that is charged for rather than listed?"""
    return pair.reduced is not None and _hardly_wraps((pair,), times, log_delta)


def _ranked(mechanism: Mechanism, times: int) -> Factor:
    """All pairs."""
    pairs = tuple(islice(mechanism.pairs(), _MOST_PAIRS + 1))
    if len(pairs) > _MOST_PAIRS:
        raise ArithmeticError(
            f"the worst of more than {_MOST_PAIRS} pairs is not known to be one of them"
        )
    return Factor(pairs, times)


def _hardly_wraps(pairs: Sequence[Reducible], times: int, log_delta: float) -> bool:
    """Is too little beyond one period to matter, or are there too many residues to list?"""
    if all(pair.never_wraps or not is_listed(pair) for pair in pairs):
        return True
    with working_precision(_BITS):
        least = (arb(log_delta) - _WRAP_MATTERS).exp() / times
        return all(sum(outside_masses(pair), arb(0)) < least for pair in pairs)


def outcomes(pair: Pair, log_tail: float) -> int:
    """How many outcomes it has, about, that are listed."""
    if isinstance(pair, SampledPair | TwoWayPair):
        return outcomes(pair.pair, log_tail)
    if isinstance(pair, MixturePair):
        return sum(outcomes(one, log_tail) for _, one in pair.parts)
    if isinstance(pair, ShiftPair) and not is_listed(pair):
        low, high = window(pair.law, log_tail)
        return high - low
    if isinstance(pair, WrappedPair):
        return pair.modulus
    return pair.shift if isinstance(pair, ShiftPair) else 0
