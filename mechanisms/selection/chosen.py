"""Exact draws of selections, in integers: who is chosen, which queries or counts reach a threshold,
and the names of keys alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ...exact.number import ExactInput, ParameterError, is_list, whole
from ..laws.discrete_laplace import DiscreteLaplace
from ..mechanism import AdditiveNoise
from ..samplers.bits import NoSamplerError, RandomBits
from ..samplers.coins import Chance, below, coin_exp
from .candidates import Exponential, NoisyMax, PermuteAndFlip
from .key_names import KeyNames, Noisy, Optimal
from .sparse_vector import SparseVector
from .threshold import Thresholded

_MOST = 10**6  # candidates that are listed, queries, and keys
WITHHELD, RELEASED = "withheld", "released"

One: TypeAlias = Callable[[RandomBits], int | str]
ByKey: TypeAlias = Callable[[RandomBits], dict[str, Any]]
Several: TypeAlias = Callable[[RandomBits], int | str | tuple[int | str, ...] | dict[str, int]]


def largest(mechanism: NoisyMax, query: Any) -> Callable[[RandomBits], int]:
    """Who has the largest score with noise, the first of these; counted from 0."""
    if query in (0, "0") and mechanism.candidates <= _MOST:
        query = [0] * mechanism.candidates
    scores = _scores(query)
    if len(scores) != mechanism.candidates:
        raise ParameterError(
            f"query must hold {mechanism.candidates} scores, one a candidate, got {len(scores)}"
        )
    noise = DiscreteLaplace(mechanism.scale).sampler()

    def draw(bits: RandomBits) -> int:
        noisy = [score + noise(bits) for score in scores]
        return noisy.index(max(noisy))

    return draw


def exponential(mechanism: Exponential, query: Any) -> Callable[[RandomBits], int]:
    """Who is chosen with probability in proportion to e^(epsilon score/2), counted from 0.

    A candidate drawn uniformly is taken with probability e^(-epsilon (best - score)/2), or all is
    begun anew: what is taken has these proportions.
    """
    rates = _rates(mechanism.epsilon, _scores(query))

    def draw(bits: RandomBits) -> int:
        while True:
            one = below(len(rates), bits)
            if coin_exp(rates[one].numerator, rates[one].denominator, bits):
                return one

    return draw


def flipped(mechanism: PermuteAndFlip, query: Any) -> Callable[[RandomBits], int]:
    """Who is taken first, in random order, with probability e^(-epsilon (best - score)/2)."""
    rates = _rates(mechanism.epsilon, _scores(query))

    def draw(bits: RandomBits) -> int:
        left = list(range(len(rates)))
        while True:  # the best of all is taken for certain
            one = left.pop(below(len(left), bits))
            if coin_exp(rates[one].numerator, rates[one].denominator, bits):
                return one

    return draw


def _rates(epsilon: Fraction, scores: Sequence[int]) -> list[Fraction]:
    best = max(scores)
    return [epsilon * (best - score) / 2 for score in scores]


def _scores(query: Any) -> list[int]:
    if not is_list(query) or not 1 <= len(query) <= _MOST:
        raise ParameterError(f"query must be a list of 1 to {_MOST} whole numbers, one each")
    return [whole(score, "a score") for score in query]


class AboveThreshold:
    """One run of the sparse vector technique: ask one query after the other.

    mechanism: a `SparseVector`, of any variant. bits: `SystemBits()` for a release. Only variants 1
    and 2 have the epsilon that they state.

    >>> from exactdp.mechanisms.samplers import SystemBits
    >>> from exactdp.mechanisms.selection.sparse_vector import SparseVector
    >>> run = AboveThreshold(SparseVector(epsilon=1), SystemBits())
    >>> run.ask(-10_000), run.ask(10_000), run.over
    ('below', 'above', True)
    """

    def __init__(self, mechanism: SparseVector, bits: RandomBits) -> None:
        threshold, query = (DiscreteLaplace(scale).sampler() for scale in mechanism.scales)
        self._variant, self._bits = mechanism.variant, bits
        self._of_threshold, self._of_query = threshold, query
        self._left = mechanism.answers
        self._level = threshold(bits)

    @property
    def over(self) -> bool:
        """Has it said "above" as often as it may? Variants 5 and 6 know no end."""
        return self._left == 0 and self._variant not in (5, 6)

    def ask(self, value: ExactInput) -> int | str:
        """Is the query whose answer is so much more than its threshold above it, with noise?

        "above" or "below"; in variant 3 the number itself where it is above. Raises ParameterError
        where the run is over.
        """
        if self.over:
            raise ParameterError("no query can be asked: the run has given all its answers")
        seen = whole(value, "query") + (0 if self._variant == 5 else self._of_query(self._bits))
        if seen < self._level:
            return "below"
        self._left = max(self._left - 1, 0)
        if self._variant == 2 and not self.over:
            self._level = self._of_threshold(self._bits)
        return seen if self._variant == 3 else "above"


def answered(mechanism: SparseVector, query: Any) -> Callable[[RandomBits], tuple[int | str, ...]]:
    """What a run says of these queries, one after the other, until it is over."""
    if not is_list(query):
        query = [query]
    values = _scores(query)

    def draw(bits: RandomBits) -> tuple[int | str, ...]:
        run = AboveThreshold(mechanism, bits)
        return tuple(run.ask(value) for value in values if not run.over)

    return draw


def counts(mechanism: Thresholded, query: Any) -> Several:
    """Counts with their noise, or `WITHHELD`, as always where nobody holds the key."""
    return _of_each(query, lambda count: _reached(mechanism, count))


def names(mechanism: KeyNames, query: Any) -> Several:
    """`RELEASED` or `WITHHELD`; of counts by key, the names that are released."""
    rule = mechanism.rule

    def one(count: int) -> One:
        if isinstance(rule, Noisy):
            seen = _reached(rule.counts, count)
            return lambda bits: WITHHELD if seen(bits) == WITHHELD else RELEASED
        assert isinstance(rule, Optimal)
        chance = Chance(lambda: rule.chances(count)[0])
        return lambda bits: RELEASED if chance.draw(bits) else WITHHELD

    if isinstance(query, Mapping):
        drawn = _by_key(query, one)
        return lambda bits: tuple(drawn(bits))
    return _of_each(query, one)


def _reached(mechanism: Thresholded, count: int) -> One:
    if not isinstance(mechanism.noise, AdditiveNoise):
        raise NoSamplerError(
            f"{mechanism.noise.shape.value} noise is for accounting only: give discrete noise"
        )
    noise, threshold = mechanism.noise.law.sampler(), mechanism.threshold

    def draw(bits: RandomBits) -> int | str:
        seen = count + noise(bits)
        return seen if count and seen >= threshold else WITHHELD

    return draw


def _of_each(query: Any, one: Callable[[int], One]) -> Several:
    """Of one count, of each in a list, or by key, in alphabetical order."""
    if isinstance(query, Mapping):
        return _by_key(query, one)
    if not is_list(query):
        return one(_count(query))
    _check_length(query)
    each = [one(_count(count)) for count in query]
    return lambda bits: tuple(draw(bits) for draw in each)


def _by_key(query: Mapping[str, Any], one: Callable[[int], One]) -> ByKey:
    _check_length(query)
    for key in query:
        if not isinstance(key, str):
            raise ParameterError(f"keys of query must be text, got {key!r:.40}")
    by_key = {key: one(_count(query[key])) for key in sorted(query)}

    def draw(bits: RandomBits) -> dict[str, Any]:
        drawn = ((key, draw(bits)) for key, draw in by_key.items())
        return {key: value for key, value in drawn if value != WITHHELD}

    return draw


def _check_length(query: Sequence[Any] | Mapping[str, Any]) -> None:
    if len(query) > _MOST:
        raise ParameterError(f"query must hold at most {_MOST} counts, got {len(query)}")


def _count(count: Any) -> int:
    return whole(count, "query", at_least=0)
