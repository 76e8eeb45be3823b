"""Schemes of sampling by the keys that name them in specs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Protocol

from ...exact.number import ParameterError
from ..mechanism import Mechanism
from ..sampled import Poisson, Scheme, check_neighbours
from .allocation import RandomAllocation
from .fixed_size import WithoutReplacement


class NamedScheme(Scheme, Protocol):
    """One of which specs know who its neighbours are, and why they are no others."""

    neighbours: ClassVar[str]
    why: ClassVar[str]


SCHEMES: dict[str, Callable[[str], NamedScheme]] = {
    "poisson": Poisson,
    "fixed-size": WithoutReplacement.read,
    "allocation": RandomAllocation.read,
}
_ALL = Poisson(1)  # everybody takes part


def with_users(values: Mapping[str, str], mechanism: Mechanism) -> Mechanism:
    """The mechanism for the neighbours that a spec's keys name, its users sampled if so said."""
    neighbours = values.get("neighbours", "replace")
    check_neighbours(neighbours)
    read = {key: SCHEMES[key](values[key]) for key in SCHEMES if key in values}
    given = {key: scheme for key, scheme in read.items() if scheme != _ALL}
    if len(given) > 1:
        first, second = list(given)[:2]
        raise ParameterError(f"{second} takes no {first}: users are sampled in one way")
    for key, scheme in given.items():
        if neighbours != scheme.neighbours:
            raise ParameterError(f"{key} needs neighbours={scheme.neighbours}: {scheme.why}")
        return scheme.of(mechanism)
    return mechanism if neighbours == "replace" else _ALL.of(mechanism)
