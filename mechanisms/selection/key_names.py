"""Which keys there are, and nothing of their counts: partition selection.

A rule releases the name of a key whose count is n with probability pi(n), rising in n, pi(0) = 0.
A user who adds d <= `step` to a count turns Bernoulli(pi(n)) into Bernoulli(pi(n + d)). Where p >
q, Bernoulli(p) against Bernoulli(q) becomes that of any p', q < p' < p, by a mixture with q alone:
d = step is the worst. So a user costs, key by key, one of the pairs (pi(n + step), pi(n)), n = 0,
1, ...; which n is an adversary's choice.

*Noise and a threshold* (`Noisy`). pi(n) = P(n + Z >= threshold), n >= 1. For discrete Laplace
noise few n count. While n + step <= threshold, pi(n + step) = r pi(n) with one r: the pair (r q, q)
becomes that of a smaller q by dropping what is released now and then, so the largest such n is the
worst. From n >= threshold - 1 on, the same is true of what is not released, with the smallest n.
For other noise every n counts: those up to N, and for all beyond the pair of "released" certainly,
or with probability pi(N), of which they are post-processing (mix both outcomes; 1 - pi(n) <= 1 -
pi(N)). The counts themselves tell more than the names: `Thresholded` bounds the names as well.

*The optimal rule* (`Optimal`) gives each of k keys (epsilon/k, delta/k) and is as large as these
allow: pi(n + 1) = min(e^epsilon pi(n) + delta, 1 - e^-epsilon (1 - pi(n) - delta), 1). Source:
Desfontaines, Voss, Gipson, Mandayam, "Differentially private partition selection", PETS 2022,
Theorem 1. Summed up: with c = delta/(e^epsilon - 1), pi(n) = c (e^(n epsilon) - 1) up to n_1 = 1 +
floor(log((e^epsilon + 2 delta - 1)/((e^epsilon + 1) delta))/epsilon), where the second is the
smaller for the first time, and 1 + c - e^(-m epsilon) (1 + c - pi(n_1)) at n_1 + m, at most 1.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations_with_replacement
from typing import ClassVar, TypeAlias

from attrs import evolve, field, frozen
from flint import arb

from ...exact.number import ExactInput, ParameterError, ball, exact
from ...exact.precision import working_precision
from ..bracket import Bracket, Bracketed, Parts
from ..continuous import Shape
from ..fields import parameters
from ..laws.discrete_laplace import DiscreteLaplace
from ..laws.law import Law
from ..mechanism import AdditiveNoise, Choice, Mechanism, RandomizedResponse
from ..pairs.pair import ListedPair, Masses
from ..sampled import Sampled
from .key_lists import MOST_KEYS, Cell, Chances, WorstCounts, cell, groups
from .threshold import Thresholded, released

_MOST_LISTS = 64
_MOST_CHOICES = 8  # of counts in each of several keys, that an adversary is let play with
_MOST_COUNTS = 300
_MOST_CELLS = 4096  # of counts, among which the worst list is looked for
_MOST_USERS = 10**18  # in one key
_LEAST_EPSILON = Fraction(1, 10**15)  # for a key: of Laplace noise that the rule is compared with
_FAR = {Shape.LAPLACE: 40, Shape.GAUSSIAN: 10}  # scales of continuous noise
CERTAIN = arb(1), arb(0)
_BEYOND = "1e-40"  # about how seldom a key of the largest count that is tried is withheld
_BITS, _MOST_BITS = 128, 1 << 14


@frozen
class Noisy:
    """Names alone of counts that are released from a threshold on."""

    counts: Thresholded

    @property
    def whole(self) -> bool:
        """Are all counts whole numbers? Not where noise is continuous: users add what they like."""
        return isinstance(self.counts.noise, AdditiveNoise)

    @property
    def step(self) -> Fraction | int:
        """The most that one user adds to a count."""
        return self.counts.noise.sensitivity

    def chances(self, count: Fraction | int) -> tuple[arb, arb]:
        """pi(count) and 1 - pi(count)."""
        if count <= 0:
            return arb(0), arb(1)
        return released(self.counts.noise, self.counts.threshold, count)

    def decisive(self) -> tuple[list[int], bool]:
        """Counts of others that matter, and whether no others do."""
        noise, threshold = self.counts.noise, math.ceil(self.counts.threshold)
        if not isinstance(noise, AdditiveNoise):
            near = threshold - noise.sensitivity
            return sorted({0, *(max(1, round(near * k / 4)) for k in range(1, 6))}), False
        first, last = max(1, threshold - noise.sensitivity), max(1, threshold - 1)
        if isinstance(noise.law, DiscreteLaplace) and last - first <= _MOST_COUNTS:
            return [0, *range(first, last + 1)], True
        spread = noise.law.tail_quantile(_BEYOND)
        return list(range(min(threshold + spread, _MOST_COUNTS) + 1)), False

    def cells(self) -> Sequence[Cell]:
        """Of one count each, or of intervals where there are many. Tails of log-concave laws are
        log-concave: p/q and (1 - p)/(1 - q) do not rise in the count.
        """
        if isinstance(self.counts.noise, AdditiveNoise):
            return self._whole_cells(self.counts.noise)
        noise, threshold = self.counts.noise, self.counts.threshold
        size = Fraction(_FAR[noise.shape] * math.ceil(ball(noise.scale).mid()))
        first = max(Fraction(0), threshold - noise.sensitivity - size)
        width = (threshold + size - first) / _MOST_CELLS
        ends = [Fraction(0), *(first + place * width for place in range(1, _MOST_CELLS + 1))]
        pairs = [
            (released(noise, threshold, end + noise.sensitivity), released(noise, threshold, end))
            for end in ends
        ]
        found = [self._alone()]
        for end, before, after in zip(ends[1:], pairs, pairs[1:], strict=False):
            found.append(cell(end, before, after, True))
        return [*found, cell(ends[-1], pairs[-1], (CERTAIN, pairs[-1][1]), True)]

    def _alone(self) -> Cell:
        pair = self.chances(self.step), self.chances(0)
        return cell(0, pair, pair, False)

    def _whole_cells(self, noise: AdditiveNoise) -> Sequence[Cell]:
        spread, step = noise.law.tail_quantile(_BEYOND), noise.sensitivity
        last = math.ceil(self.counts.threshold) + spread
        first = min(max(1, math.floor(self.counts.threshold) - step - spread), last)
        table = self._table(noise.law, first, last + step)
        pairs = list(zip(table[step:], table, strict=False))
        falling, many = noise.law.log_concave is not None, -(-len(pairs) // _MOST_CELLS)
        found = [self._alone()]
        if first > 1:
            found.append(cell(1, (self.chances(1 + step), self.chances(1)), pairs[0], falling))
        for place in range(0, len(pairs), many):
            end = min(place + many, len(pairs)) - 1
            found.append(cell(first + place, pairs[place], pairs[end], falling or many == 1))
        return [*found, cell(last, pairs[-1], (CERTAIN, pairs[-1][1]), falling)]

    def _table(self, law: Law, first: int, last: int) -> list[Chances]:
        """`chances` of whole counts from `first` to `last`, by sums of probabilities."""
        threshold = math.ceil(self.counts.threshold)
        masses = law.balls(threshold - last, threshold - first)
        above = accumulate(masses[::-1], initial=law.upper_tail(threshold - first + 1))
        below = accumulate(masses, initial=law.lower_tail(threshold - last - 1))
        return list(zip(list(above)[1:], list(below)[-2::-1], strict=True))

    def steepest(self) -> tuple[int, ...]:
        """Where names likely cost most, but for a key that nobody else holds."""
        threshold, half = math.floor(self.counts.threshold), math.ceil(self.step / 2)
        return tuple({max(1, threshold - half), max(1, threshold - math.ceil(self.step))})

    def dominating(self, keys: int) -> tuple[Parts, ...]:
        """What tells more than the names of so many keys."""
        return evolve(self.counts, keys=keys).bracket().dominating


def _delta(value: ExactInput) -> Fraction:
    return exact(value, "delta", above=0, below=1)


@frozen
class Optimal:
    """The rule that releases most names among all that are (epsilon, delta)-DP for one key."""

    epsilon: Fraction = field(converter=parameters.epsilon)
    delta: Fraction = field(converter=_delta)

    whole: ClassVar[bool] = True
    step: ClassVar[int] = 1

    def chances(self, count: Fraction | int) -> tuple[arb, arb]:
        """pi(count) and 1 - pi(count)."""
        if count <= 0:
            return arb(0), arb(1)
        turn, last = self.turns()
        if count >= last:
            return arb(1), arb(0)
        epsilon = ball(self.epsilon)
        share = ball(self.delta) / epsilon.expm1()
        early = share * (epsilon * min(int(count), turn)).expm1()
        if count <= turn:
            return early, 1 - early
        withheld = (-epsilon * (int(count) - turn)).exp() * (1 + share - early) - share
        return 1 - withheld, withheld

    def turns(self) -> tuple[int, int]:
        """n_1, and the first count from which on every key is released."""
        return _turns(self.epsilon, self.delta)

    def decisive(self) -> tuple[list[int], bool]:
        """Counts of others that matter, and whether no others do."""
        turn, last = self.turns()
        if last <= _MOST_COUNTS:
            return list(range(last)), True
        return [0, turn // 2, turn - 1, turn, turn + 1, (turn + last) // 2, last - 1], False

    def cells(self) -> Sequence[Cell]:
        """Of one count each, or of as many as a few thousand cells make of all."""
        last = self.turns()[1]
        many = -(-last // _MOST_CELLS)
        ends = [(count, min(count + many, last)) for count in range(0, last, many)]
        return [
            cell(
                count,
                (self.chances(count + 1), self.chances(count)),
                (self.chances(end), self.chances(end - 1)),
                many == 1,
            )
            for count, end in ends
        ]

    def steepest(self) -> tuple[int, ...]:
        """Where names likely cost most, but for a key that nobody else holds."""
        turn = self.turns()[0]
        return turn - 1, turn

    def dominating(self, keys: int) -> tuple[Parts, ...]:
        """What no (epsilon, delta)-DP mechanism is less private than, for each of so many keys."""
        return (((Sampled(RandomizedResponse(self.epsilon, self.delta)), keys),),)


Rule: TypeAlias = Noisy | Optimal


@lru_cache(maxsize=64)
def _turns(epsilon: Fraction, delta: Fraction) -> tuple[int, int]:
    """At a precision that tells the logarithms apart from whole numbers.

    They are none, since e^epsilon is not algebraic, but where the equation holds for all epsilon:
    for delta = 1/2, where pi(1) = 1/2 and pi(2) = 1.
    """
    if delta == Fraction(1, 2):
        return 1, 2

    def turn() -> arb:
        odds, small = ball(epsilon).exp(), ball(delta)
        return ((odds + 2 * small - 1) / ((odds + 1) * small)).log() / ball(epsilon)

    first = max(1, 1 + _floor(turn))

    def last() -> arb:
        rate = ball(epsilon)
        share = ball(delta) / rate.expm1()
        left = 1 + share - share * (rate * first).expm1()
        return (left / share).log() / rate if left > 0 else arb(0)

    return first, first + max(0, 1 + _floor(last))


def _floor(number: Callable[[], arb]) -> int:
    bits = _BITS
    while bits <= _MOST_BITS:
        with working_precision(bits):
            if (found := number().floor().unique_fmpz()) is not None:
                return int(found)
        bits *= 2
    raise ArithmeticError("a logarithm is too near to a whole number")


@frozen
class Counted(ListedPair):
    """A key of which others hold so much: its name with the user, and without."""

    rule: Rule
    others: int

    def masses(self) -> Masses:
        return self.rule.chances(self.others + self.rule.step), self.rule.chances(self.others)

    def name_of(self, outcome: int) -> str:
        return f"a key of count {self.others} + user {('', 'not ')[outcome]}released"


@frozen
class Rest(ListedPair):
    """What dominates all keys of which others hold so much or more."""

    rule: Rule
    others: int

    def masses(self) -> Masses:
        return (arb(1), arb(0)), self.rule.chances(self.others)


@frozen
class KeyNames(Bracketed):
    """The names of keys that a rule releases; a user is in so many."""

    rule: Rule
    keys: int = field(converter=parameters.keys, default=1)
    removing: bool = True

    neighbours: ClassVar[str] = "add-remove"

    def reversed(self) -> Mechanism:
        """With the other dataset first."""
        return evolve(self, removing=not self.removing)

    def bracket(self) -> Bracket:
        """Between any counts that others may hold, and any choice of them at every use."""
        counts, complete = self.rule.decisive()
        chosen, all_of_them = _lists(counts, self.rule.steepest(), self.keys)
        lower = [
            self._way(tuple((Sampled(Counted(self.rule, count)), n) for count, n in one.items()))
            for one in chosen
        ]
        pairs: list[ListedPair] = [Counted(self.rule, count) for count in counts]
        if self.keys == 1 and not all_of_them:
            lower.append(self._any(pairs))
        upper = [self._way(parts) for parts in self.rule.dominating(self.keys)]
        up_to = self.rule.whole and counts == list(range(len(counts)))
        known = complete or up_to  # is every count among the pairs?
        if known and (self.keys == 1 or len(counts) <= _MOST_CHOICES):
            rest = [] if complete else [Rest(self.rule, counts[-1] + 1)]
            upper.append(self._any([*pairs, *rest]))
        elif isinstance(self.rule, Noisy):
            upper.append(self._any(groups(self.rule)))
        why = "which counts the others hold in a user's keys, at each use, is open"
        every, profile = complete and all_of_them, None
        if not every and self.keys <= MOST_KEYS:
            profile = WorstCounts(self.rule, self.keys)
        return Bracket(lower, upper, is_complete=every, profile=profile, reason=why)

    def _any(self, pairs: Sequence[ListedPair]) -> Parts:
        """One of these in each key, which an adversary lets others hold, anew at every use."""
        return self._way(((Choice(tuple(pairs), "add-remove"), self.keys),))

    def _way(self, parts: Parts) -> Parts:
        return parts if self.removing else tuple((part.reversed(), times) for part, times in parts)


def _lists(
    counts: Sequence[int], steepest: Sequence[int], keys: int
) -> tuple[list[Mapping[int, int]], bool]:
    """How many keys of a user have each count of others: all that may be, or some; are they all?"""
    if math.comb(len(counts) + keys - 1, keys) <= _MOST_LISTS:
        return [Counter(one) for one in combinations_with_replacement(counts, keys)], True
    few = [counts[0], *steepest, *counts[1 :: max(1, len(counts) // 4)], counts[-1]]
    return [{count: keys} for count in dict.fromkeys(few)], False


def partition_selection(values: Mapping[str, str]) -> tuple[KeyNames, dict[str, int | str]]:
    """The optimal rule for so many keys together, and from which counts on it tells their names.

    Beside it, the least threshold of discrete Laplace noise of the same epsilon and delta: there
    every other key of that count is told.
    """
    keys = parameters.keys(values.get("keys", "1"))
    rule = Optimal(parameters.epsilon(values["epsilon"]) / keys, _delta(values["delta"]) / keys)
    if rule.epsilon < _LEAST_EPSILON:
        raise ParameterError(f"epsilon must be at least 1e-15 a key, got {values['epsilon'][:40]}")
    last = rule.turns()[1]
    if last > _MOST_USERS:
        raise ParameterError(f"delta must be larger: a key is certain from {last:.1e} users on")
    half = bisect_left(range(last), True, key=lambda count: bool(rule.chances(count)[0] >= 0.5))
    threshold = _laplace_threshold(rule)
    shown: dict[str, int | str] = {
        "half_from": half,
        "certain_from": last,
        "half_from_with_laplace": threshold,
    }
    return KeyNames(rule, keys), shown


def _laplace_threshold(rule: Optimal) -> int:
    """The least threshold at which a key of one user shows with probability delta at most."""
    noise = AdditiveNoise(DiscreteLaplace(1 / rule.epsilon))
    least = bisect_left(
        range(1, 2 * rule.turns()[1] + 2),
        True,
        key=lambda one: bool(released(noise, Fraction(one), 1)[0] <= ball(rule.delta)),
    )
    return 1 + least
