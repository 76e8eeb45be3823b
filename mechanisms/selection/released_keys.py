"""Exact draws of counts that reach a threshold, and of the names of keys alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...exact.number import ParameterError, is_list, whole
from ..mechanism import AdditiveNoise
from ..samplers.bits import NoSamplerError, RandomBits
from ..samplers.reals import Chance
from .key_names import KeyNames, Noisy, Optimal
from .threshold import Thresholded

WITHHELD, RELEASED = "withheld", "released"
_MOST = 10**6  # keys

One: TypeAlias = Callable[[RandomBits], int | str]
ByKey: TypeAlias = Callable[[RandomBits], dict[str, Any]]
Several: TypeAlias = Callable[[RandomBits], int | str | tuple[int | str, ...] | dict[str, int]]


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
