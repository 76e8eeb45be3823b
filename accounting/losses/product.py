"""What is composed: the losses of all uses of one scenario, from above and from below.

Each use counts by the pair that dominates its neighbours, or by what is known of its loss. Three
things are charged for besides the losses:

*Several pairs that count* (an asymmetric law; small moduli): an adversary may pick among them, on
the way. From above, a pair that dominates them all bounds that; from below, one of them that is
used throughout.
*Reduction mod m*, where the residues cannot or need not be listed: what holds without it is an
upper bound. The best event without it, inside one period W, is an event with it, whose P loses at
most P(outside W) and whose Q gains at most Q(outside W), for each use.
*Slack s of a user's pair*: the probability of every event of K uses is off by at most (1+s)^K - 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

from attrs import evolve, frozen
from flint import arb, ctx

from ...exact import ball, working_precision
from ...exact.errors import DoesNotApplyError
from ...losses.cells import on_lattice
from ...losses.lattice import Charged
from ...losses.planning import Sketch, Sketches
from ...mechanisms import AdditiveNoise, Mechanism, Pair, ShiftPair
from ...mechanisms.mechanism import Choice
from ...mechanisms.pairs.pair import MixturePair, Reducible, SampledPair, TwoWayPair, WrappedPair
from ...mechanisms.sampled import likewise, unsampled
from ...mechanisms.sampling.allocation import Allocation
from ...mechanisms.sampling.fixed_size import TwoWay
from ..divergences.finite_sums import is_listed, outside_masses
from ..grid.average import AllocatedLoss
from ..grid.blocks import BlockLoss
from ..grid.cells import DividedLoss, TwoWayLoss
from ..grid.dealt import DealtSteps
from ..scenario import Scenario, Use
from .composite import Together
from .continuous.profile import Continuous, continuous_loss, merged, plain_law
from .continuous.sampled_noise import LineLaw
from .law import Atoms, LossLaw
from .listed import dominating
from .of_pair import closed_law, listed_law, window

_MOST_PAIRS = 1000
_MOST_RESIDUES = 1 << 23  # of all these together, that are listed
MOST_OUTCOMES = 50_000  # of one use, that are listed; more are divided into blocks
_MOST_LISTED = 2_000_000  # where they cannot be divided
_FEW_PAIRS = 4  # of which one that dominates them all is sought, on a lattice
_FINE = 64  # points in a deviation of it
_STEEPEST = 1e3  # tilt that a statistic is made for
_BITS = 128
_WRAP_MATTERS = 46  # what lies beyond one period may be e^-46 = 1e-20 times delta

Parts: TypeAlias = Sequence[tuple[LossLaw, int]]


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

    def has_many(self, log_tail: float) -> bool:
        """Are its outcomes more than are listed?"""
        return sum(outcomes(pair, log_tail) for pair in self.pairs) > MOST_OUTCOMES

    @property
    def closed(self) -> LossLaw | None:
        """The loss of one use where it has a closed transform, whatever its outcomes."""
        return closed_law(self.pairs[0]) if len(self.pairs) == 1 else None

    def loss(self, log_tail: float, uses: int) -> LossLaw:
        """The loss of one use, loss by loss where these are few, else by blocks of outcomes."""
        if self.has_many(log_tail):
            blocks = _blocks(self.pairs, log_tail, uses, ctx.prec)
            if blocks is not None:
                return blocks
            if outcomes(self.pairs[0], log_tail) > _MOST_LISTED:
                raise DoesNotApplyError("no shape is known of what has more outcomes than listed")
        return self.listed(log_tail)

    def listed(self, log_tail: float) -> Atoms:
        """The same loss by loss."""
        return _listed(self.pairs, log_tail, ctx.prec)


@frozen
class Product:
    """Everything that is composed."""

    factors: tuple[Factor, ...]
    continuous: tuple[tuple[Continuous, int], ...] = ()

    @property
    def is_exact(self) -> bool:
        """Is there one pair for each use?"""
        return all(factor.is_exact for factor in self.factors)

    @property
    def is_played(self) -> bool:
        """Do listed pairs hold all choices, with nothing to charge for besides?"""
        choices = any(factor.choices for factor in self.factors)
        return not (self.continuous or choices) and self.charges().are_none

    def fixed(self, choice: int) -> Product:
        """The same pair for all uses of a mechanism."""
        return evolve(self, factors=tuple(factor.fixed(choice) for factor in self.factors))

    def composite(self, log_tail: float) -> Together:
        """The losses of all uses by their transforms, in closed form where they have one."""
        return Together(self.losses(log_tail, closed=True), self.charges())

    def losses(self, log_tail: float, tilt: float | None = None, closed: bool = False) -> Parts:
        """The losses of all uses, leaving out P-mass of about e^log_tail altogether.

        tilt: for this, what several steps of an epoch tell (`grid.dealt`) in place of what
        dominates them. closed: whether those of a closed transform need no cells.
        """
        uses = sum(factor.times for factor in self.factors)
        laws = [
            ((one.closed if closed else None) or one.loss(tail, uses), one.times)
            for one, tail in self.tails(log_tail)
        ]
        return [*self._continuous(log_tail, tilt), *laws]

    def attained(self, losses: Parts, log_tail: float, log_delta: float) -> Parts | None:
        """Of whose statistics the lower end is; None where the losses that dominate are attained.

        log_delta: of the delta where they are looked at, about.
        """
        if all(loss.is_exact for loss, _ in losses):
            return None
        if not any(isinstance(one, Allocation) and one.taken > 1 for one, _ in self.continuous):
            return losses
        sketches = Sketches(Sketch.of(*loss.sketch(), times) for loss, times in losses)
        return self.losses(log_tail, min(sketches.saddle(log_delta, None).c, _STEEPEST))

    def charges(self) -> Charged:
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
        return Charged((less_p + slack).upper(), (less_q + slack).upper(), slack.upper())

    def _tail(self, log_tail: float, times: int) -> float:
        """The logarithm of what one of so many uses may leave out."""
        return log_tail - math.log(times * (len(self.factors) + len(self.continuous)))

    def tails(self, log_tail: float) -> Iterator[tuple[Factor, float]]:
        """What is listed, and the logarithm of the P-mass that one of its uses may leave out."""
        for factor in self.factors:
            yield factor, self._tail(log_tail, factor.times)

    def _continuous(
        self, log_tail: float, tilt: float | None = None
    ) -> Iterator[tuple[LossLaw, int]]:
        for one, times in self.continuous:
            tail = self._tail(log_tail, times)
            if isinstance(one, Allocation):
                noise = one.scale / one.sensitivity
                if tilt is not None and one.taken > 1:
                    yield DealtSteps(noise, one.taken, one.steps, one.removing, tail, tilt), times
                    continue
                for steps, groups in one.groups:
                    yield AllocatedLoss(noise, steps, one.removing, tail), groups * times
            elif isinstance(one, TwoWay):
                yield TwoWayLoss(DividedLoss(plain_law(one), tail)), times
            else:
                yield DividedLoss(one, tail, times * one.sampling.rate < 1), times


@lru_cache(maxsize=64)
def _listed(pairs: tuple[Pair, ...], log_tail: float, bits: int) -> Atoms:
    """Kept, since one answer asks for it several times at the same precision."""
    laws = [listed_law(pair, log_tail) for pair in pairs]
    return dominating(laws) if len(laws) > 1 else laws[0]


@lru_cache(maxsize=16)
def _blocks(
    pairs: tuple[Pair, ...], log_tail: float, uses: int, bits: int
) -> BlockLoss | TwoWayLoss | Atoms | None:
    """By the shape of the noise; None where none is known. Kept as well."""
    blocks = list[BlockLoss | TwoWayLoss]()
    for pair in pairs:
        one = BlockLoss.of(pair.pair if isinstance(pair, TwoWayPair) else pair, log_tail, uses)
        if one is None or len(pairs) > _FEW_PAIRS:
            return None
        blocks.append(TwoWayLoss(one) if isinstance(pair, TwoWayPair) else one)
    if len(blocks) == 1:
        return blocks[0]
    spread = max(Sketch.of(*one.sketch(), 1).cumulant(0.0)[2] for one in blocks)
    step = Fraction(2) ** math.floor(math.log2(math.sqrt(spread) / _FINE))
    return dominating([moved(one, step) for one in blocks])


def moved(loss: LossLaw, step: Fraction) -> Atoms:
    """Losses on a lattice that dominate those of many outcomes. step: a power of two."""
    cells = loss.cells(ball(step), 1.0, 512)
    masses = sorted(on_lattice(cells.cells, ball(step)).items())
    losses, some = [k * ball(step) for k, _ in masses], [mass for _, (mass, _) in masses]
    return Atoms(some, losses, loss.escaping(), cells.missing)


@lru_cache(maxsize=16)
def product_of(uses: Scenario, log_delta: float) -> Product:
    """What is composed in this scenario; nothing where nothing is released.

    log_delta: where delta is, about. Kept, since one answer asks for it several times.
    """
    factors, continuous, laws = list[Factor](), list[tuple[Continuous, int]](), []
    for use in uses:
        one = continuous_loss(use.mechanism)
        if isinstance(one, LineLaw):
            laws.append((one, use.times))
        elif one is not None:
            continuous.append((one, use.times))
        elif (factor := _factor(use, log_delta)).pairs:
            factors.append(factor)
    return Product(tuple(factors), (*continuous, *merged(laws)))


def _factor(use: Use, log_delta: float) -> Factor:
    """The pairs to pick among, the worst ones first as far as that is known."""
    mechanism, times = use
    inner = unsampled(mechanism)
    if isinstance(inner, Choice) and len(inner.among) == 1:
        (pair,) = inner.among
        # reduced mod m, is it charged for rather than listed?
        if (
            isinstance(pair, Reducible)
            and pair.reduced
            and _hardly_wraps((pair,), times, log_delta)
        ):
            return Factor((pair.unwrapped,), times, (pair,))
        return Factor((pair,), times)
    if isinstance(inner, AdditiveNoise) and inner.modulus and inner.law.shape_is_proved:
        law, farthest, modulus = inner.law, inner.farthest, inner.modulus
        if farthest == 0 or law.listed() is not None:
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
