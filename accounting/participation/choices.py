"""What a user may spend who takes part in so many of the batches on offer, whichever these are.

The account is a supremum over every way to choose so many of the uses on offer, for each quantity
by itself: what is dearest by one of them need not be so by another.

*What adds up* (pure epsilon, the Rényi divergence of one order, upper bounds of rho): the sum of
the largest, each as often as it is on offer.

*epsilon(delta)*. Put the offers in any order, and lay out their uses in it, in slots 1, 2, ...: the
first offer fills as many as it may be used, then the second. Sort a choice in the same order; its
k-th use is of the offer in slot k or of a later one, since those before it have too few uses for k.
So a pair for each slot that dominates this offer and all later ones gives, composed, a pair that
dominates every choice, and also one that is made on the way (`filters`). Hence

*exactly*, where the offer in each slot itself dominates the later ones: filling the slots is then a
choice, and the dearest. Certified are these: an offer of pure epsilon e whose pair is randomized
response, for others of at most e (Kairouz, Oh, Viswanath, "The composition theorem for differential
privacy", ICML 2015); one discrete Laplace pair for others of the same limit. The profile of the
first is linear in e^epsilon between its losses, the other one's convex: it is enough to compare
them at these losses. Beyond the limits all profiles that can occur agree, and at -epsilon both say
the same as at epsilon, the pairs being symmetric. At its losses limit (d - 2x)/d, 0 <= x <= d, that
of sensitivity d is 1 - e^((epsilon - limit)/2) whatever d (with a = e^(-1/scale), P(X <= x) = 1 -
a^(x+1)/(1+a) less e^epsilon P(X <= x - d) = e^epsilon a^(d-x)/(1+a), both a power of the same
size). So of one limit d dominates each of its multiples, whose losses include all of its own.

*from both sides* elsewhere: above by the pairs with the largest profiles, on a grid of losses
(`loss_grid`); below by what filling the slots costs, in the best of some orders. That is narrow
where the profiles are alike, and wide where they cross far from each other.

*What is released* may be post-processing of what is composed here (a reduction mod m): then the
above bounds it from above, and from below what it costs itself, in a choice and for a pair of
neighbours that attain it. No epsilon(delta) of it is above its pure epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from attrs import field, frozen
from flint import arb

from ...exact import Enclosure, Endpoint, ExactInput, ParameterError, ball
from ...exact.budget import OutOfTimeError, spend
from ...exact.precision import WIDTH, enclose, working_precision
from ...mechanisms import AdditiveNoise, Mechanism, RandomizedResponse
from ...mechanisms.fields import parameters
from ..composition import divergence
from ..composition.composed import Composition, Use
from ..composition.loss_grid import GridPLD, composed, composition_laws, on_grid
from ..composition.tradeoff import one_pair
from ..figure import PURE, read_failure
from ..losses.listed import dominating
from ..scenario import neighbours

_BITS = 192
_ROUGH = Fraction(1, 10**5)  # relative width asked of the lower bound where no choice is dearest
_ROUGH_WORK = 1.0  # and its seconds, about
_FINER = 9  # bits by which the grid's step is finer than the losses spread
_TAIL = Fraction(1, 10**12)  # of delta
_TRIED = 2  # orders


@frozen
class Offer:
    """What one batch releases, and in how many batches a user may meet it.

    processed: what is released, where that is post-processing of `composition`.
    """

    composition: Composition
    times: int
    processed: Composition | None = None

    @property
    def released(self) -> Composition:
        """What costs count of."""
        return self.processed or self.composition


def _listed(offers: Sequence[Offer]) -> tuple[Offer, ...]:
    return tuple(offers)


@frozen
class Choices:
    """All ways to take part `count` times in what is on offer, at most so often in each.

    Raises ParameterError where less is on offer, or for offers of different neighbours.
    """

    offers: tuple[Offer, ...] = field(converter=_listed)
    count: int = field(converter=parameters.count)

    def __attrs_post_init__(self) -> None:
        most = sum(offer.times for offer in self.offers)
        if self.count > most:
            raise ParameterError(
                f"count must be at most what is on offer, {most}, got {self.count}"
            )
        neighbours([use for offer in self.offers for use in offer.composition.uses])

    def pure(self) -> Enclosure:
        """The largest pure epsilon."""
        return self.largest_sum([offer.released.pure() for offer in self.offers])

    def zcdp(self) -> Enclosure:
        """At most this rho."""
        total = self.largest_sum([offer.released.zcdp() for offer in self.offers])
        return total if self.count == 1 else Enclosure(Fraction(0), total.upper)

    def largest_sum(self, costs: Sequence[Enclosure]) -> Enclosure:
        """The largest sum of one cost of each offer, for as many uses: each end by itself."""
        ends = []
        for end in ("lower", "upper"):
            order = sorted(range(len(costs)), key=lambda i: getattr(costs[i], end), reverse=True)
            ends.append(Enclosure.total(costs[i].times(times) for i, times in self.filled(order)))
        return Enclosure(ends[0].lower, ends[1].upper)

    def filled(self, order: Sequence[int]) -> list[tuple[int, int]]:
        """Slots filled in this order: (index of an offer, how often)."""
        found, left = [], self.count
        for index in order:
            times = min(left, self.offers[index].times)
            if times:
                found.append((index, times))
            left -= times
        return found

    def epsilon(self, delta: ExactInput, width: Fraction = WIDTH) -> Enclosure:
        """The least epsilon for which every choice is (epsilon, delta)-DP, 0 < delta < 1.

        Also for choices that are made on the way. width: where one choice is proved the dearest.
        """
        level = read_failure(delta)
        with working_precision(_BITS):
            menu = self._on_a_grid(level)
            order = self._ranked(menu)
        if self._is_dearest(order):
            found = self._chosen(order).epsilon(level, width)
        else:
            lower: Endpoint = Fraction(0)
            for first in order[:_TRIED]:
                one = self._chosen([first, *(index for index in order if index != first)])
                lower = max(lower, one.epsilon(level, max(width, _ROUGH), work=_ROUGH_WORK).lower)
            with working_precision(_BITS):
                found = Enclosure(lower, self._above(menu, order))
        if any(offer.processed for offer in self.offers):
            found = Enclosure(self._attained(order, level), found.upper)
        with suppress(OutOfTimeError):
            found = found.intersection(Enclosure(Fraction(0), self.pure().upper))
        return found

    def _attained(self, order: Sequence[int], delta: Fraction) -> Endpoint:
        """What is released, post-processing of what is composed, costs at least; 0 out of time."""
        uses = self._uses(order, [offer.released for offer in self.offers])
        pairs = [(one_pair(mechanism), times) for mechanism, times in uses]
        attained = [Use(pair[0], times) for pair, times in pairs if pair is not None]
        with suppress(OutOfTimeError):
            if attained:
                return Composition(attained).epsilon(delta, _ROUGH, work=_ROUGH_WORK).lower
        return Fraction(0)

    def _chosen(self, order: Sequence[int]) -> Composition:
        return Composition(self._uses(order, [offer.composition for offer in self.offers]))

    def _uses(self, order: Sequence[int], each: Sequence[Composition]) -> list[Use]:
        return [
            Use(use.mechanism, use.times * times)
            for index, times in self.filled(order)
            for use in each[index].uses
        ]

    def _on_a_grid(self, delta: Fraction) -> _Menu:
        """Laws that dominate each offer, on a grid that suits how far losses spread."""
        spread = max(float(offer.composition.renyi(2, _ROUGH).upper) for offer in self.offers)
        power = math.frexp(math.sqrt(spread))[1] if 0 < spread < math.inf else 0
        step, tail = Fraction(2) ** (power - _FINER), delta * _TAIL / self.count
        laws = [composition_laws(offer.composition, step, tail) for offer in self.offers]
        return _Menu(laws, step, delta)

    def _ranked(self, menu: _Menu) -> list[int]:
        """Dearest first, about: by as many uses of each alone as are chosen."""
        costs = [max(menu.epsilon([(law, self.count)]) for law in laws) for laws in menu.laws]
        return sorted(range(len(costs)), key=lambda index: costs[index], reverse=True)

    def _is_dearest(self, order: Sequence[int]) -> bool:
        """Does the offer in each slot certainly dominate all later ones?"""
        used = [index for index, _ in self.filled(order)]
        return all(
            _dominates(self.offers[index].composition, self.offers[later].composition)
            for place, index in enumerate(used)
            for later in order[place + 1 :]
        )

    def _above(self, menu: _Menu, order: Sequence[int]) -> Endpoint:
        """An epsilon that no choice exceeds, by pairs that dominate each slot."""
        times, found = dict(self.filled(order)), []
        for way in range(max(map(len, menu.laws))):
            slots, behind = list[tuple[GridPLD, int]](), list[GridPLD]()
            for index in reversed(order):
                spend()
                laws = [menu.laws[index][way % len(menu.laws[index])], *behind]
                if len(laws) > 1:
                    laws = [on_grid(dominating([law.listed(menu.step) for law in laws]), menu.step)]
                behind = laws
                if index in times:
                    slots.append((behind[0], times[index]))
            found.append(menu.epsilon(slots))
        return max(found)


class _Menu(NamedTuple):
    """Laws of each offer on a grid of this step, one or two; and where they are compared."""

    laws: list[list[GridPLD]]
    step: Fraction
    delta: Fraction

    def epsilon(self, parts: Sequence[tuple[GridPLD, int]]) -> Endpoint:
        """At this delta, of these together; rounded up."""
        law, delta = composed(parts, self.step, self.delta * _TAIL), ball(self.delta)
        p, q = law.infinite, arb(0)  # of the losses above
        if not p <= delta:
            return Decimal("Infinity")
        for k, mass in reversed(law.masses.items()):
            odds = (k * ball(self.step)).exp()
            if k < 0 or not p - odds * q <= delta:
                break
            p, q = p + mass, q + mass / odds
        return enclose(((p - delta) / q).log().max(arb(0))).upper if p > delta else Fraction(0)


def _dominates(one: Composition, other: Composition) -> bool:
    """Is the profile of the first certainly nowhere below the other one's?"""
    if one == other:
        return True
    (*rest, first), (*same, second) = _by_name(one), _by_name(other)
    if rest != same or first.times != 1 or second.times != 1:
        return False  # what both release besides may stay, as the one pair for all later uses
    return _pair_dominates(first.mechanism, second.mechanism)


def _by_name(composition: Composition) -> list[Use]:
    """Additive noise last."""
    return sorted(composition.uses, key=lambda use: isinstance(use.mechanism, AdditiveNoise))


def _pair_dominates(one: Mechanism, other: Mechanism) -> bool:
    top = _limit(one)
    if top is None:
        return False
    if not divergence.figure_of(other, PURE).at_most(top):
        return False
    if isinstance(one, RandomizedResponse) or one.sensitivity == 1:  # type: ignore[attr-defined]
        return True
    assert isinstance(one, AdditiveNoise)
    limit = _limit(other)
    if limit is None or not isinstance(other, AdditiveNoise):
        return False
    return limit == top and other.sensitivity % one.sensitivity == 0


def _limit(mechanism: Mechanism) -> Fraction | None:
    """The largest loss of a symmetric pair that it attains, where that is known exactly."""
    if isinstance(mechanism, RandomizedResponse):
        return mechanism.epsilon if mechanism.delta == 0 else None
    if not isinstance(mechanism, AdditiveNoise) or mechanism.modulus is not None:
        return None
    law, limit = mechanism.law, mechanism.law.loss_limit(mechanism.sensitivity)
    return limit if law.attains_limit and isinstance(limit, Fraction) else None
