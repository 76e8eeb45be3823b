"""Counts per key that are told from a threshold on, and which keys there are.

A user is in at most `keys` keys and adds at most d, the sensitivity, to each count; neighbours add
or remove her. Keys are independent given the counts. A count is told, with its noise, where count +
Z >= threshold; keys that nobody holds never are.

*A key that she alone holds* is told with probability T = P(d + Z >= threshold), or less where she
adds less (forget now and then what was told), and never without her: (T, 1-T) against (0, 1).

*A key that others hold too*: post-processing of count + Z, whose pair is worst at d; and as the
count grows the pair tends to that one. So one key is one or other of two pairs, both of which are
attained, or limits of what is; sampled, mixtures of them. Where the losses of the second are e at
most, both are (e, T)-DP, so that randomized response of these numbers dominates both.

*Names alone.* A key of which others hold n is told with probability pi(n + d) or pi(n), pi rising,
pi(0) = 0: Bernoulli laws, of which n is open; of p > q that of p becomes that of less by mixing.
    noise      pi(n) = P(n + Z >= threshold), n >= 1. Listed are the counts up to one; all larger
               ones are post-processing of (1, 0) against pi there: mix both outcomes. Of discrete
               Laplace noise pi(n + d) = r pi(n), with one r, up to n + d = threshold: the largest
               such n is the worst, the others' pairs being that one where what is told is dropped
               now and then; and so are 1 - pi from n = threshold - 1 on, where the least n is.
    optimal    the largest rule that is (epsilon, delta)-DP for each key: pi(n + 1) = min(e^epsilon
               pi(n) + delta, 1 - e^-epsilon (1 - pi(n) - delta), 1) (Desfontaines, Voss, Gipson,
               Mandayam, PETS 2022, Theorem 1), of which randomized response of these numbers
               dominates every key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

from mpmath import iv

from .arithmetic import (
    INFINITY,
    End,
    Interval,
    OpenError,
    certainly,
    exp,
    hull,
    interval,
    power,
    precision,
    value,
)
from .laws import DiscreteLaplace, SymmetricLaw
from .mechanisms import Additive, Continuous, Family, Finite, Key, Outcomes, Parts, Response
from .normal import cdf
from .pmf import FARTHEST, reach_where
from .shape import number_text, taking_part

_Chance: TypeAlias = tuple[Interval, Interval]  # that a key is told, and that it is not
_Pair: TypeAlias = tuple[_Chance, _Chance]

_MOST_COUNTS = 400
_BITS = 320
_FAR = 92  # nats: a key of the largest count that is listed is told but for so little


def seen(key: Key) -> Interval:
    """T."""
    noise, short = key.noise, key.unseen
    if isinstance(noise, Additive):
        assert isinstance(noise.law, SymmetricLaw)
        return tails(noise.law, int(short), int(short), iv.prec)[0]
    if noise.is_gaussian:
        return cdf(-interval(short / noise.sensitivity) / noise.size())
    return exp(interval(-short / noise.scale)) / 2


@lru_cache(maxsize=16)
def tails(law: SymmetricLaw, first: int, last: int, bits: int) -> list[Interval]:
    """P(Z >= k), first <= k <= last, with small relative errors for k >= 0."""
    if first < 0:  # P(Z >= -k) = 1 - P(Z >= k + 1)
        high = tails(law, 0, max(1 - first, last), bits)
        return [high[k] if k >= 0 else 1 - high[1 - k] for k in range(first, last + 1)]
    if isinstance(law, DiscreteLaplace):
        beta = law.beta()
        return [power(beta, k) / (1 + beta) for k in range(first, last + 1)]
    enough = 0.75 * bits + 20 + law.rough(last)
    pmf = law.pmf(max(reach_where(lambda k: law.rough(k) > enough), last + 8))
    masses = [pmf.at(k) for k in range(pmf.high, first - 1, -1)]
    rising = list(accumulate(masses, initial=hull(iv.mpf(0), pmf.beyond)))[1:]
    return rising[::-1][: last - first + 1]


@dataclass(frozen=True)
class Names(Finite):
    """Whether a key is told, of any count of others; noise and threshold, or the optimal rule."""

    rule: Thresholded | Optimal
    removing: bool = True

    neighbours = "add-remove"
    has_a_side = True

    def attained(self) -> Sequence[Outcomes]:
        return [_told(*both) for both in self.rule.told()[0]]

    def dominating(self) -> Sequence[Outcomes]:
        pairs, rest = self.rule.told()
        beyond = [_told((iv.mpf(1), iv.mpf(0)), rest)] if rest else []
        return [*(_told(*both) for both in pairs), *beyond]


def _told(with_her: _Chance, without: _Chance) -> Outcomes:
    kept = [both for both in zip(with_her, without, strict=True) if both != (0, 0)]
    return Outcomes([p for p, _ in kept], [q for _, q in kept])


def _moved(told: Sequence[_Chance], counts: Iterable[int], step: int, near: int) -> list[_Pair]:
    """Of these counts of others, those that likely cost most first."""
    order = sorted(counts, key=lambda n: (n > 0, abs(n - near)))
    return [(told[n + step], told[n]) for n in order]


@dataclass(frozen=True)
class Thresholded(Family):
    """Noisy counts of so many keys, or the names alone, from a threshold on."""

    noise: Additive | Continuous
    threshold: Fraction
    keys: int
    names: bool
    rate: Fraction

    neighbours = "add-remove"
    has_a_side = True

    def described(self) -> str:
        told = "which of them reach" if self.names else "each told where it reaches"
        return (
            f"counts of keys, a user in {self.keys:,} of them, each {self.noise.described()}; "
            f"{told} {number_text(self.threshold)}{taking_part(self.rate)}"
        )

    def above(self) -> Sequence[Parts]:
        counts = ((self._key(), self.keys),)
        exact = not self.names or isinstance(self.noise, Additive)
        found = [*self.below(), counts] if self.names and exact else [counts]
        return found[: 1 if exact and self.keys == 1 else None] + self._either()

    def below(self, hint: Sequence[int] = ()) -> Sequence[Parts]:
        return [((Names(self) if self.names else self._key(), self.keys),)]

    def _key(self) -> Key:
        return Key(self.noise, self.threshold - self.noise.sensitivity, self.rate)

    def _either(self) -> list[Parts]:
        """Of several keys and Laplace noise: randomized response, of both kinds at once."""
        noise, key = self.noise, self._key()
        if isinstance(noise, Continuous):
            most: End = INFINITY if noise.is_gaussian else 1 / noise.noise
        else:
            assert isinstance(noise.law, SymmetricLaw)
            most = noise.law.largest_loss(noise.sensitivity)[1]
        if self.keys == 1 or most == INFINITY:
            return []
        with precision(_BITS):
            return [((Response(Fraction(most), Fraction(value(seen(key))[1])), self.keys),)]

    def told(self) -> tuple[list[_Pair], _Chance | None]:
        """Pairs of pi and 1 - pi, with her and without; and pi(n) of all larger n."""
        noise, nothing = self.noise, (iv.mpf(0), iv.mpf(1))
        if isinstance(noise, Continuous):  # some of them
            far, half = self.threshold - noise.sensitivity, noise.sensitivity / 2
            one, two = (seen(Key(noise, short, self.rate)) for short in (far, half))
            alone = (one, 1 - one), nothing
            return [alone, ((1 - two, two), (two, 1 - two))], None  # among others
        threshold, step, law = int(self.threshold), noise.sensitivity, noise.law
        assert isinstance(law, SymmetricLaw)
        if isinstance(law, DiscreteLaplace):
            last, counts = threshold - 1 + step, range(max(1, threshold - step), threshold)
        else:
            last = threshold + step + reach_where(lambda k: law.rough(k) > _FAR)
            counts = range(1, last - step + 1)
        if len(counts) > _MOST_COUNTS or last > FARTHEST:
            raise OpenError("the counts that matter are too many to list")
        above = tails(law, threshold - last, threshold - 1, iv.prec)[::-1]
        others = tails(law, 2 - threshold, last - threshold + 1, iv.prec)
        told = [nothing, *zip(above, others, strict=True)]
        pairs = _moved(told, (0, *counts), step, threshold - (step + 1) // 2)
        return pairs, None if isinstance(law, DiscreteLaplace) else told[-1]


@dataclass(frozen=True)
class Optimal(Family):
    """The names of so many keys by the optimal rule, each key of this epsilon and delta."""

    words = "the names of keys by the optimal rule"

    epsilon: Fraction
    delta: Fraction
    keys: int

    neighbours = "add-remove"
    has_a_side = True

    def above(self) -> Sequence[Parts]:
        return [((Response(self.epsilon, self.delta), self.keys),), *self.below()]

    def below(self, hint: Sequence[int] = ()) -> Sequence[Parts]:
        return [((Names(self), self.keys),)]

    def told(self) -> tuple[list[_Pair], _Chance | None]:
        """Pairs of pi and 1 - pi, with her and without; of larger n all are told."""
        odds, small = exp(interval(self.epsilon)), interval(self.delta)
        told, turn = [(iv.mpf(0), iv.mpf(1))], 0
        while not certainly(told[-1][1] <= 0):
            if len(told) > _MOST_COUNTS:
                raise OpenError("the counts that matter are too many to list")
            here, left = told[-1]
            early, late = odds * here + small, (left - small) / odds
            if turn == 0 and certainly(early <= 1 - late):
                told.append((early, 1 - early))
                continue
            if turn == 0 and not certainly(early >= 1 - late):
                raise OpenError("where the optimal rule turns is not certain")
            turn = turn or len(told)
            if certainly(late <= 0):
                late = iv.mpf(0)
            elif not certainly(late > 0):
                raise OpenError("from where on the optimal rule tells all keys is not certain")
            told.append((1 - late, late))
        return _moved(told, range(len(told) - 1), 1, turn - 1), None
