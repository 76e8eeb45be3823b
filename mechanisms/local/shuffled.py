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

*Two values, two reports*: others hold one of the two values; see `shuffled_bits`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, cast

from attrs import field, frozen
from flint import arb, ctx

from ...exact.enclosure import Endpoint
from ...exact.number import ExactInput, ParameterError, ball, whole
from ...exact.precision import enclose_between, lower_float, upper_float, working_precision
from ..bracket import Bracket, Bracketed, Parts
from ..mechanism import Mechanism, RandomizedResponse
from . import shuffled_bits, shuffled_counts, shuffled_many_bits
from .local_families import Categories
from .randomizer import LocalRandomizer, Row, Weight, probabilities, total
from .shuffled_bits import Rates, bound_bits
from .shuffled_crowd import Crowd
from .shuffled_pairs import ProfilePair

MOST_USERS = 10**9
_MOST_REPORTS = 200  # that are told apart
_MOST_SCENES = 200  # pairs of values, times what others hold
_BITS = 128
_ROUGH = 1e-2
_NEAR = 1.02  # times what is attained
_FEW = 8  # one of so many places is measured first: nearly as much is known of Rényi divergences
_HELD = 1e150  # odds that floats hold, and their square
_LARGEST = 1000  # pure epsilon that is worth a bound


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
        return _crowds(self.local, ctx.prec)

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
            return self._costs_at_most(ball(epsilon).exp(), ball(delta))

    def _costs_at_most(self, odds: arb, goal: arb) -> bool:
        top = self.largest_odds()
        if not (goal > 0 and (top is None or top < _HELD) and self._looked_at):
            return False
        if (rates := self.rates()) is not None:
            return shuffled_many_bits.costs_at_most(rates, self.users, odds, goal)
        known, least = upper_float(self.at_most(odds, _ROUGH)), lower_float(goal)
        assert isinstance(self.local, Categories)
        return shuffled_counts.costs_at_most(self.local, self.users, odds, least, known)

    @property
    def _looked_at(self) -> bool:
        """Is more than the blanket known, by what others hold?"""
        if self.rates() is not None:
            return True
        return isinstance(self.local, Categories) and shuffled_counts.fits(self.local, self.users)

    def near_most(self, odds: arb, width: float) -> arb:
        """As `at_most`, or little more than is attained, where that bounds all as well."""
        known = self.at_most(odds, width)
        if not self._looked_at:
            return known
        near = self._attained(odds, width) * _NEAR
        return near.upper() if near < known and self._costs_at_most(odds, near) else known

    def at(self, odds: arb, width: float) -> tuple[arb, arb]:
        """Both bounds at e^epsilon = odds, at the working precision."""
        return self._attained(odds, width), self._bound(odds, width)

    def _attained(self, odds: arb, width: float) -> arb:
        if (rates := self.rates()) is not None:
            few = self.users <= shuffled_bits.MOST_USERS
            measure = shuffled_bits.attained_bits if few else shuffled_many_bits.attained_bits
            return measure(rates, self.users, odds, self._about(odds))
        found = self.worst_attained(odds).measured(self.users, odds, width).lower
        if isinstance(self.local, Categories) and shuffled_counts.fits(self.local, self.users):
            half = (self.users - 1) // 2  # of both kinds, where neither is the worst
            crowd = shuffled_counts.Holders(half, 0, self.users - 1 - half)
            found = found.max(arb(shuffled_counts.attained(self.local, crowd, odds, float(found))))
        return found

    def _bound(self, odds: arb, width: float) -> arb:
        rates = self.rates()
        if rates is None or self.users > shuffled_bits.MOST_USERS:
            return self.at_most(odds, width)
        bound = bound_bits(rates, self.users, odds, self._about(odds))
        return bound.min(self.at_most(odds, _ROUGH))

    def _about(self, odds: arb) -> float:
        """The logarithm of delta, about: of what bounds it."""
        blanket = self.at_most(odds, _ROUGH)
        return max(float(blanket.log().mid()), -1000.0) if blanket > 0 else 0.0

    def rates(self) -> Rates | None:
        """Of two values that report one of two things."""
        crowds = self.crowds()[1]
        shown = [(p, q) for p, q, v in zip(*crowds[0][:3], strict=True) if not p == q == v == 0]
        two = all(len(scene.others) == 2 for scene in self.local.scenes(True))
        if len(crowds) > 2 or len(shown) != 2 or not two:
            return None
        if any(mass == 0 for pair in shown for mass in pair):
            return None
        return Rates(shown[1][1], shown[1][0])

    def worst_attained(self, odds: arb, mirrored: bool = False) -> Crowd:
        """Of those that are attained, the dearest at e^epsilon = odds, as far as can be told.

        mirrored: of those only that are the same with the two values exchanged.
        """
        crowds = [crowd for crowd in self.crowds()[0] if crowd.mirrored or not mirrored]
        return _dearest(crowds, self.users, odds)[0][1]

    @property
    def mirrored(self) -> bool:
        """Are some datasets attained that are the same with the two values exchanged?"""
        with working_precision(_BITS):
            return any(crowd.mirrored for crowd in self.crowds()[0])

    def at_most(self, odds: arb, width: float) -> arb:
        """What dominates all neighbours costs at most this at e^epsilon = odds."""
        upper = arb(0)
        for most, crowd in _dearest(self.crowds()[1], self.users, odds):
            if not most <= upper:
                upper = upper.max(crowd.measured(self.users, odds, width).upper)
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
            tuple(((ProfilePair(self, side, every=some), 1),) for some in (_FEW, 1))
            for side in (False, True)
        )
        near = (((ProfilePair(self, True, near=True), 1),),) if self._looked_at else ()
        return Bracket(
            below,
            (above[0], *self._one_report(), above[1], *near),
            pure=((self.local, 1),),
            reason="which values the others hold in the worst case is open",
        )

    def _one_report(self) -> tuple[Parts, ...]:
        """What dominates a report: its own pair; where it has several, what its epsilon allows."""
        pairs = self.local.pairs()
        if len(pairs) == 1:
            return (cast(Parts, ((pairs[0], 1),)),)
        with working_precision(_BITS):
            top = self.largest_odds()
            if top is None or not top.log() < _LARGEST:
                return ()
            return (((RandomizedResponse(Fraction(upper_float(top.log()))), 1),),)


@lru_cache(maxsize=16)
def _crowds(local: LocalRandomizer, bits: int) -> tuple[tuple[Crowd, ...], tuple[Crowd, ...]]:
    attained, blankets = dict[object, Crowd](), dict[object, Crowd]()
    for scene in local.scenes(True):
        for first, second in ((scene.first, scene.second), (scene.second, scene.first)):
            p, q = probabilities(first), probabilities(second)
            for other in scene.others:
                key = _kinds(first, second, other)
                if key not in attained:
                    mirrored = key == _kinds(second, first, other)
                    attained[key] = Crowd(p, q, probabilities(other), mirrored)
            rows = scene.others if scene.least is None else (scene.least,)
            columns = [tuple(sorted(column, key=_terms)) for column in zip(*rows, strict=True)]
            key = _kinds(first, second, columns)
            if key not in blankets:
                mirrored = key == _kinds(second, first, columns)
                blankets[key] = Crowd(p, q, scene.blanket(), mirrored)
    return tuple(attained.values()), tuple(blankets.values())


def _kinds(first: Row, second: Row, others: Sequence[object]) -> object:
    """The same for rows that differ in the order of their reports only."""
    each = Counter(zip(first, second, others, strict=True))
    return total(first), total(second), frozenset(each.items())


def _terms(weight: Weight) -> tuple[tuple[Fraction, Fraction], ...]:
    return weight.terms


def _dearest(crowds: Sequence[Crowd], users: int, odds: arb) -> list[tuple[arb, Crowd]]:
    """With what each costs at most, roughly measured: the dearest first."""
    if len(crowds) == 1:
        return [(arb(1), crowds[0])]
    rough = [(crowd.measured(users, odds, _ROUGH).upper, crowd) for crowd in crowds]
    return sorted(rough, key=lambda each: -float(each[0].log().mid()) if each[0] > 0 else 1e9)


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
