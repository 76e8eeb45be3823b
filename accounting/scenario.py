"""Scenarios: what neighbours may do over all uses. Every quantity is a supremum over the same ones.

Two neighbouring datasets (D, D') are the same two throughout. In every use an adversary may choose
among the mechanism's pairs; which dataset is D she chooses once. So there are two scenarios, one
for each way round, or one, where no use can tell the ways apart.

Within a scenario the choices of different uses are independent. For pure epsilon and for each Rényi
order the worst choice does not depend on the others, and costs add up. For epsilon(delta) the worst
sequence of choices is neither: see `losses.sums`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from ..exact.enclosure import Enclosure
from ..exact.number import ParameterError
from ..mechanisms.mechanism import Mechanism, OneWay, ways
from ..mechanisms.sampled import dearest_ways, sampling_of

_Way = TypeVar("_Way")

_ADJACENCIES = {"replace": "replace-one", "add-remove": "add-or-remove-one"}


class Use(NamedTuple):
    """One mechanism, used so many times."""

    mechanism: Mechanism
    times: int


Scenario: TypeAlias = tuple[Use, ...]  # of mechanisms for which both ways round are the same


def neighbours(uses: Sequence[Use]) -> str:
    """How neighbouring datasets differ: replace (one user's data), or add-remove (one user).

    Whatever adds up or compares what uses cost asks here: one user's data replaced and one user
    more are different notions of privacy, and a sum over both would be about neither. Raises
    ParameterError where the uses do not agree.
    """
    named = {getattr(mechanism, "neighbours", "replace") for mechanism, _ in uses}
    if len(named) > 1:
        raise ParameterError(
            "neighbours must be the same for all releases, got " + " and ".join(sorted(named))
        )
    return named.pop()


def scenarios(uses: Sequence[Use]) -> tuple[Scenario, ...]:
    """The scenarios of these uses together; at most two."""
    neighbours(uses)
    each = [ways(mechanism) for mechanism, _ in uses]
    count = max(map(len, each))
    return tuple(
        tuple(Use(way[turn % len(way)], use.times) for way, use in zip(each, uses, strict=True))
        for turn in range(count)
    )


def dearest(uses: Sequence[Use]) -> tuple[Scenario, ...]:
    """The scenarios that can be the worst for what adds up over uses, and for a single use.

    Those in which every use that tells the datasets apart is sampled, and dearer with the user in
    the first one: no other scenario is needed where that is the same dataset for all of them.
    """
    found, sides = [], set()
    for mechanism, times in uses:
        ways_left = dearest_ways(mechanism)
        if len(ways_left) > 1:
            return scenarios(uses)
        if mechanism.reversed() != mechanism:
            sides.add(ways_left[0] == mechanism)
            mechanism = OneWay(ways_left[0])
        found.append(Use(mechanism, times))
    neighbours(uses)
    return (tuple(found),) if len(sides) < 2 else scenarios(uses)


def worst(
    among: Sequence[_Way],
    measure: Callable[[_Way], Enclosure],
    roughly: Callable[[_Way], Enclosure] | None = None,
) -> Enclosure:
    """The largest of what is measured in these scenarios, or of one mechanism's ways round.

    roughly: a quicker and wider measure, which may show that another one costs less.
    """
    first, *others = among
    found = measure(first)
    for way in others:
        if not found.is_finite() and found.lower == found.upper:  # nothing is larger
            break
        if roughly is None or found.at_least(roughly(way).upper) is not True:
            found = found.maximum(measure(way))
    return found


def is_one_way(uses: Sequence[Use]) -> bool:
    """Is D fixed beforehand in some use, so that what is measured may hold of that way alone?"""
    return any(isinstance(use.mechanism, OneWay) for use in uses)


def is_oriented(uses: Sequence[Use]) -> bool:
    """Do some uses tell which of the two datasets is which? Then it is the same one throughout."""
    return len(scenarios(uses)) > 1


def orientation(uses: Sequence[Use]) -> str:
    """How the ways round are treated, in words."""
    if is_oriented(uses):
        return "the same way round in every use, the worse of the two"
    return "either way round at every use"


def adjacency(uses: Sequence[Use]) -> str:
    """Which datasets are neighbours, and in which directions they are compared, in words."""
    named = neighbours(uses)
    directions = "both directions"
    if is_oriented(uses):
        both = "add and remove" if named == "add-remove" else directions
        directions = f"the larger of {both}"
    return f"{_ADJACENCIES.get(named, named)}; {directions}"


def sampled_users(uses: Sequence[Use]) -> str | None:
    """How users are sampled, in words; None where all of them always take part."""
    said = dict.fromkeys(sampling_of(mechanism) or "all users take part" for mechanism, _ in uses)
    return None if set(said) == {"all users take part"} else "; ".join(said)
