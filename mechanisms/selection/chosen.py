"""Exact draws of who is chosen, and of which queries are above a threshold: integers, no floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ...exact.number import ExactInput, ParameterError, is_list, whole
from ..laws.discrete_laplace import DiscreteLaplace
from ..samplers.bits import RandomBits
from ..samplers.coins import below, coin_exp
from .candidates import Exponential, NoisyMax, PermuteAndFlip
from .sparse_vector import SparseVector

_MOST = 10**6  # candidates that are listed, and queries


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
