"""Schemes of sampling by the keys that name them in specs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ...exact.number import ParameterError
from ..mechanism import Mechanism
from ..sampled import Poisson, check_neighbours
from .allocation import allocated
from .fixed_size import FixedSize


class NamedScheme(NamedTuple):
    """Whose neighbours are these and, as it says why, no others; what a mechanism becomes by it."""

    neighbours: str
    why: str
    of: Callable[[Mechanism, str], Mechanism]


SCHEMES = {
    "poisson": NamedScheme(
        Poisson.neighbours, Poisson.why, lambda base, rate: Poisson(rate).of(base)
    ),
    "fixed-size": NamedScheme(
        "replace",
        "all datasets have as many users",
        lambda base, text: FixedSize(base, *_read_share(text, "fixed-size", "SIZE/POPULATION")),
    ),
    "allocation": NamedScheme(
        "add-remove",
        "each user takes part in so many of all steps, chosen at random",
        lambda base, text: allocated(base, *_read_share(text, "allocation", "K/STEPS")),
    ),
}
_ALL = Poisson(1)  # everybody takes part


def with_users(values: Mapping[str, str], mechanism: Mechanism) -> Mechanism:
    """The mechanism for the neighbours that a spec's keys name, its users sampled if so said."""
    neighbours = values.get("neighbours", "replace")
    check_neighbours(neighbours)
    named = [key for key in SCHEMES if key in values]
    if "poisson" in named and Poisson(values["poisson"]) == _ALL:
        named.remove("poisson")
    if len(named) > 1:
        first, second = named[:2]
        raise ParameterError(f"{second} takes no {first}: users are sampled in one way")
    for key in named:
        if neighbours != SCHEMES[key].neighbours:
            raise ParameterError(
                f"{key} needs neighbours={SCHEMES[key].neighbours}: {SCHEMES[key].why}"
            )
        return SCHEMES[key].of(mechanism, values[key])
    return mechanism if neighbours == "replace" else _ALL.of(mechanism)


def _read_share(text: str, named: str, form: str) -> tuple[str, str]:
    """A and B of A/B; ParameterError by this name for anything else."""
    first, slash, second = text.partition("/")
    if not slash:
        raise ParameterError(f"{named} must read {form}, got {text[:40]!r}")
    return first, second
