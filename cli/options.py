"""What several commands read alike: uses of mechanisms, and how long they may take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from .spec import Spec

__all__ = ["DEFAULT_TIME", "AnySpecs", "Specs", "Time", "neighbourhood", "read_time", "read_uses"]

DEFAULT_TIME = "60"

Specs: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="SPEC[*K]", help="NAME:key=value,... or a .toml or .json file; used K times"
    ),
]
AnySpecs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SPEC[*K]]...",
        help="NAME:key=value,... or a .toml or .json file; used K times",
    ),
]
Time: TypeAlias = Annotated[
    str,
    typer.Option(
        "--time", metavar="S", help="seconds it may take; then it answers with what it knows"
    ),
]


def read_time(text: str) -> float:
    """Read --time, seconds above 0 and at most a million."""
    from ..exact import exact

    return float(exact(text, "--time", above=0, at_most=10**6))


def read_uses(texts: Sequence[str]) -> list[tuple[Spec, int]]:
    """SPEC*K as the mechanism and K, which is 1 where it is not given; each of these."""
    from .spec import parse_use

    return [parse_use(text) for text in texts]


def neighbourhood(uses: Sequence[tuple[Spec, int]]) -> dict[str, str]:
    """Which datasets are neighbours, and which way round they may be, as every result says it."""
    from ..accounting.scenario import Use, neighbours, orientation

    listed = [Use(spec.mechanism, times) for spec, times in uses]
    return {"neighbours": neighbours(listed), "orientation": orientation(listed)}
