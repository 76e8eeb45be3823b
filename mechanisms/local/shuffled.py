"""Shuffled reports: the analyst sees the multiset of what n users report, nothing else.

Neighbours replace one user's value, x by x'. Let g = e^epsilon, and v sub-probabilities of reports.

*From below: all others hold z*, v = R_z. The density of the reports (w_1, ..., w_n) with respect to
v^n is (1/n) sum of R_x(w_i)/v(w_i), as each place is the user's as often; the multiset is
sufficient. With X = (R_x(w) - g R_x'(w))/v(w), w drawn from v,

    delta(epsilon) = (1/n) E(X_1 + ... + X_n)^+.

*From above: the blanket* (Balle, Bell, Gascon, Nissim, CRYPTO 2019, Lemma 5.3). Let v(y) be at most
every value's R(y), c its sum. Each other user's report is drawn from v/c with probability c, and
otherwise from something else; an adversary is told who drew something else, and what. Left are the
user's report and M ~ Bin(n-1, c) draws of v/c: given M = m - 1 the excess is, as above, (c/m) E(X_1
+ ... + X_m)^+ over draws of v/c, and C(n-1, m-1) c^(m-1) (1-c)^(n-m) c/m = C(n, m) c^m (1-c)^(n-m)
/n: the same as below with X = 0 where nothing of v is drawn. The largest over (x, x') bounds *all*
neighbouring datasets.

*Reports with v(y) = 0* are the user's: they add (R_x(y) - g R_x'(y))^+, and tell nothing of others.

*Pure epsilon* is that of one report: shuffling is post-processing of all of them, and where all
others hold x', what she reports with the largest ratio may be what everybody reports.

*What others hold* is looked at where there are two values and two reports (`shuffled_bits`), or
categories of which few are reported by chance (`shuffled_counts`).

*Several uses* are composed by pairs of laws. Above: the profile is convex, so that bounds of delta
at some levels are those of a pair which dominates (`guaranteed`). Below: some tests are
attained, with known power and level, and so are all mixtures of them: the upper hull of these
points, of (0, 0) and of (1, 1), is that of a pair whose outcomes are its edges, and which
neighbours' outputs dominate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, TypeAlias, cast

from attrs import field, frozen
from flint import arb, ctx

from ...exact.budget import spend
from ...exact.enclosure import Endpoint
from ...exact.number import ExactInput, ParameterError, ball, whole
from ...exact.precision import enclose, enclose_between, lower_float, upper_float, working_precision
from ...exact.roots import halved
from ..bracket import Bracket, Bracketed
from ..mechanism import Mechanism, RandomizedResponse
from ..pairs.pair import ListedPair, Masses, Swapped
from ..sampling.guaranteed import ProfilePair, hull
from . import shuffled_bits, shuffled_counts
from .local_families import Categories
from .randomizer import LocalRandomizer
from .shuffled_bits import Rates
from .shuffled_crowd import Crowd, costliest, crowds

MOST_USERS = 10**9
_MOST_REPORTS = 200  # that are told apart
_MOST_SCENES = 200  # pairs of values, times what others hold
_BITS = 128
_ROUGH = 1e-2
_NEAR = 1.02  # times what is attained
_MOST_QUICK, _QUICK_TURNS = 10_000, 48  # users of bits whose bound is asked at once
_HELD = 1e150  # odds that floats hold, and their square
_LARGEST = 1000  # pure epsilon that is worth a bound
_FEW = 8  # one of so many levels is measured first: nearly as much is known of Rényi divergences
_DOTS, _LEAST = 64, -46.0  # levels up to where delta is e^_LEAST; few are measured beyond
_MOST_NEAR = 40  # levels of which every other one is measured by what others hold
_WIDTH = 1e-3  # of what is measured at a level
_TRIES = 24

_Point: TypeAlias = tuple[Fraction, Fraction]  # level and power of a test


def _users(value: ExactInput) -> int:
    return whole(value, "shuffled", at_least=1, at_most=MOST_USERS)


@frozen
class Shuffled(Bracketed):
    """The multiset of the reports of so many users, each by this local randomizer."""

    local: LocalRandomizer
    users: int = field(converter=_users)

    neighbours: ClassVar[str] = "replace"

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.local, LocalRandomizer):
            raise ParameterError(
                "shuffled takes one report of each user, got a " + type(self.local).__name__
            )
        scenes = self.local.scenes(True)
        ways = sum(1 + len(scene.others) for scene in scenes)
        if ways > _MOST_SCENES or any(len(scene.names) > _MOST_REPORTS for scene in scenes):
            raise ParameterError(
                f"shuffled: at most {_MOST_REPORTS} kinds of reports and {_MOST_SCENES} choices of "
                "three values are compared"
            )

    def crowds(self) -> tuple[tuple[Crowd, ...], tuple[Crowd, ...]]:
        """Those that are attained, and blankets, at the working precision."""
        return crowds(self.local, ctx.prec)

    def delta_at_least(self, epsilon: Fraction, width: float) -> Endpoint:
        """What some neighbours attain at this epsilon >= 0, to about this relative width."""
        with working_precision(_BITS):
            return enclose_between(self._attained(ball(epsilon).exp(), width), arb(1)).lower

    def delta_at_most(self, epsilon: Fraction, width: float) -> Endpoint:
        """What bounds all neighbours there."""
        with working_precision(_BITS):
            found = enclose_between(arb(0), self._bound(ball(epsilon).exp(), width)).upper
            return found if found <= 1 else Fraction(1)

    def costs_at_most(self, epsilon: Fraction, delta: Fraction) -> bool:
        """Is delta(epsilon) at most this, whichever values the others hold? As far as is found."""
        with working_precision(_BITS):
            goal = ball(delta)
            return bool(self._looked_at and self._held(ball(epsilon).exp(), goal) <= goal)

    @property
    def _looked_at(self) -> bool:
        """Is more than the blanket known, by what others hold?"""
        return bool(self._ways() or self._counted)

    @property
    def _counted(self) -> Categories | None:
        """Categories of which few are reported by chance."""
        local = self.local
        fits = isinstance(local, Categories) and shuffled_counts.fits(local, self.users)
        return local if isinstance(local, Categories) and fits else None

    def _held(self, odds: arb, goal: arb, turns: int = shuffled_bits.MOST_TURNS) -> arb:
        """A bound by what others hold, as near to the goal as that is found in so many turns."""
        if ways := self._ways():
            return shuffled_bits.bound(ways, self.users - 1, odds, goal, turns)
        top, least, local = self.largest_odds(), lower_float(goal), self._counted
        if not (local and least > 0 and top is not None and top < _HELD):
            return arb(1)
        return arb(shuffled_counts.bound(local, self.users, odds, least))

    def near_most(self, odds: arb, width: float) -> arb:
        """As `at_most`, or little more than is attained, where that bounds all as well."""
        known, near = self.at_most(odds, width), self._attained(odds, width) * _NEAR
        return known.min(self._held(odds, near)).upper() if near < known else known

    def _attained(self, odds: arb, width: float) -> arb:
        if ways := self._ways():
            return shuffled_bits.attained(ways, self.users - 1, odds)
        found = self.worst_attained(odds).measured(self.users, odds, width).attained(odds)
        if local := self._counted:
            half = (self.users - 1) // 2  # of both kinds, where neither is the worst
            crowd = shuffled_counts.Holders(half, 0, self.users - 1 - half)
            found = found.max(arb(shuffled_counts.attained(local, crowd, odds, float(found))))
        return found

    def _bound(self, odds: arb, width: float) -> arb:
        if not self._ways() or self.users > _MOST_QUICK:
            return self.at_most(odds, width)
        goal = self._attained(odds, width)
        return self.at_most(odds, _ROUGH).min(self._held(odds, goal, _QUICK_TURNS))

    def _ways(self) -> list[Rates]:
        """Of two values that report one of two things: the rates of what x reports more often."""
        crowds = self.crowds()[1]
        if any(len(scene.others) != 2 for scene in self.local.scenes(True)) or len(crowds) > 2:
            return []
        found = []
        for crowd in crowds:
            reports = [(q, p) for p, q, v in zip(*crowd[:3], strict=True) if not p == q == v == 0]
            if len(reports) != 2 or any(mass == 0 for pair in reports for mass in pair):
                return []
            found.append(Rates(*reports[0 if reports[0][1] > reports[0][0] else 1]))
        return found

    def worst_attained(self, odds: arb, mirrored: bool = False) -> Crowd:
        """Of those that are attained, the dearest at e^epsilon = odds, as far as can be told.

        mirrored: of those only that are the same with the two values exchanged.
        """
        crowds = [crowd for crowd in self.crowds()[0] if crowd.mirrored or not mirrored]
        return costliest(crowds, self.users, odds)[0][1]

    @property
    def mirrored(self) -> bool:
        """Are some datasets attained that are the same with the two values exchanged?"""
        with working_precision(_BITS):
            return any(crowd.mirrored for crowd in self.crowds()[0])

    def at_most(self, odds: arb, width: float) -> arb:
        """What dominates all neighbours costs at most this at e^epsilon = odds."""
        upper = arb(0)
        for most, crowd in costliest(self.crowds()[1], self.users, odds):
            if not most <= upper:
                upper = upper.max(crowd.measured(self.users, odds, width).bound(odds))
        return upper.min(self._alone(odds))

    def largest_odds(self) -> arb | None:
        """At least the largest ratio of what two values report; None where it is infinite."""
        most = arb(1)
        for crowd in self.crowds()[1]:
            for p, q in zip(crowd.p, crowd.q, strict=True):
                if p == 0:
                    continue
                if q == 0:
                    return None
                most = most.max(p / q)
        return most.upper()

    def _alone(self, odds: arb) -> arb:
        """delta of a single report, which shuffling does not raise: at most."""
        most = arb(0)
        for crowd in self.crowds()[1]:
            each = zip(crowd.p, crowd.q, strict=True)
            most = most.max(sum(((p - odds * q).max(arb(0)) for p, q in each), arb(0)))
        return most.upper()

    def bracket(self) -> Bracket:
        """Pairs that lie below and above the profile, where several uses are composed."""
        below, above = (
            [ShuffledPair(self, side, every=some) for some in (_FEW, 1)] for side in (False, True)
        )
        near = [ShuffledPair(self, True, near=True)] if self._looked_at else []
        return Bracket(
            below,
            [above[0], *self._one_report(), above[1], *near],
            pure=((self.local, 1),),
            reason="which values the others hold in the worst case is open",
        )

    def _one_report(self) -> list[Mechanism]:
        """What dominates a report: its own pair; where it has several, what its epsilon allows."""
        pairs = self.local.pairs()
        if len(pairs) == 1:
            return [cast(Mechanism, pairs[0])]
        with working_precision(_BITS):
            top = self.largest_odds()
            if top is None or not top.log() < _LARGEST:
                return []
            return [RandomizedResponse(Fraction(upper_float(top.log())))]


@frozen
class ShuffledPair(ListedPair):
    """One use of shuffled reports, from above or from below.

    near: with what takes longer. every: of the levels where delta is measured, one of so many.
    """

    shuffled: Shuffled
    above: bool
    near: bool = False
    every: int = 1

    def masses(self) -> Masses:
        if self.above:
            each = [one for one in zip(*_dominating(self).masses(), strict=True) if any(one)]
            return [p for p, _ in each], [q for _, q in each]
        edges = list(pairwise(_corners(self)))
        return [ball(b[1] - a[1]) for a, b in edges], [ball(b[0] - a[0]) for a, b in edges]

    def name_of(self, outcome: int) -> str:
        return f"so many reports that the loss is that of line {outcome + 1} of a list"

    def swapped(self) -> ListedPair:
        """Itself where the profile is the same for both ways round."""
        return self if self.above or self.shuffled.mirrored else Swapped(self)


@lru_cache(maxsize=32)
def _dominating(pair: ShuffledPair) -> ProfilePair:
    step, multiples = _levels(pair.shuffled)
    points = list[tuple[int, Fraction]]()
    for at, k in enumerate(multiples):
        if at % pair.every == 0 or k == multiples[-1]:
            near = pair.near and at < _MOST_NEAR and at % 2 == 0
            height = _height(pair.shuffled, k * step, near)
            if not points or height < points[-1][1]:
                points.append((k, height))
    with working_precision(_BITS):
        return ProfilePair(step, hull(step, points))


@lru_cache(maxsize=32)
def _corners(pair: ShuffledPair) -> list[_Point]:
    """Those of the upper hull of tests of two datasets, and of others with these exchanged."""
    step, multiples = _levels(pair.shuffled)
    points = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]
    for k in multiples[:: pair.every]:
        points += _tests(pair.shuffled, k * step)
    kept: list[_Point] = []
    for q, p in sorted(set(points)):
        while len(kept) >= 2:
            (q_1, p_1), (q_2, p_2) = kept[-2:]
            if (p_2 - p_1) * (q - q_2) > (p - p_2) * (q_2 - q_1):
                break
            kept.pop()
        kept.append((q, p))
    return kept


@lru_cache(maxsize=16)
def _levels(shuffled: Shuffled) -> tuple[Fraction, list[int]]:
    """Epsilons, as multiples of a step: dense where delta counts, sparse up to pure epsilon."""
    with working_precision(_BITS):
        top = shuffled.largest_odds()
        last = Fraction(50) if top is None else Fraction(upper_float(top.log()))
        end = halved(lambda epsilon: _is_small(shuffled, epsilon), Fraction(0), last, _TRIES)[1]
    count, found = math.ceil(_DOTS * last / end), list(range(_DOTS + 1))
    while found[-1] < count:
        found.append(min(found[-1] * 5 // 4, count))
    return last / count, found


@lru_cache(maxsize=256)  # what ends early goes on from here
def _is_small(shuffled: Shuffled, epsilon: Fraction) -> bool:
    upper = shuffled.at_most(ball(epsilon).exp(), _ROUGH)
    return not upper > 0 or float(upper.log().mid()) < _LEAST


@lru_cache(maxsize=1024)
def _height(shuffled: Shuffled, epsilon: Fraction, near: bool) -> Fraction:
    """delta at most; 0 where no report has a larger ratio."""
    spend()
    with working_precision(_BITS):
        odds, top = ball(epsilon).exp(), shuffled.largest_odds()
        if top is not None and odds >= top:
            return Fraction(0)
        return _up((shuffled.near_most if near else shuffled.at_most)(odds, _WIDTH))


@lru_cache(maxsize=1024)
def _tests(shuffled: Shuffled, epsilon: Fraction) -> list[_Point]:
    """Of the datasets that are about the dearest at a level in the middle."""
    spend()
    with working_precision(_BITS):
        crowd, found = _worst(shuffled), list[_Point]()
        for one in (crowd, crowd.swapped()):
            test = one.measured(shuffled.users, ball(epsilon).exp(), _WIDTH)
            level, power = _up(test.level), -_up(-test.power)
            if power > level:
                found.append((level, power) if one is crowd else (1 - power, 1 - level))
    return found


@lru_cache(maxsize=16)
def _worst(shuffled: Shuffled) -> Crowd:
    step, multiples = _levels(shuffled)
    middle = multiples[min(_DOTS // 4, len(multiples) - 1)]
    return shuffled.worst_attained(ball(middle * step).exp(), shuffled.mirrored)


def _up(value: arb) -> Fraction:
    """Not below the ball."""
    return Fraction(enclose(value).upper)


def by_keys(mechanism: Mechanism, given: Mapping[str, str]) -> Mechanism:
    """The mechanism where the analyst sees the reports of so many users, shuffled."""
    for key in ("delta", "neighbours", "poisson", "fixed-size", "reports"):
        if key in given and (key, given[key]) not in (("neighbours", "replace"), ("reports", "1")):
            raise ParameterError(f"{key} must not be given with shuffled, which replaces users")
    if isinstance(mechanism, RandomizedResponse):
        mechanism = Categories(mechanism.epsilon, 2)
    if not isinstance(mechanism, LocalRandomizer):
        raise ParameterError("shuffled takes one report of each user")
    return Shuffled(mechanism, whole(given["shuffled"], "shuffled", at_least=2))
