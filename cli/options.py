"""What several commands read alike: uses of mechanisms, and how long they may take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..accounting import scenario
from ..accounting.composition.composed import Composition, compose
from ..accounting.scenario import Use, neighbours, orientation, sampled_users
from ..exact.budget import SECOND
from ..exact.number import ParameterError, exact, located, whole
from ..mechanisms.pairs.pair_file import read_text
from ..mechanisms.specs.spec import Spec, parse_use

# Where neither limit is typed, work ends a command; seconds stop what is not counted well.
DEFAULT_TIME, CHECKING_TIME = "600", "60"
_LONGEST = 10**6  # seconds


def option(metavar: str, help: str) -> Any:
    """An option that takes a value."""
    return typer.Option(metavar=metavar, help=help)


Uses: TypeAlias = Sequence[tuple[Spec, int]]
Specs: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="SPEC[*K]",
        help="NAME:key=value,... (`exactdp list` shows each NAME: gaussian, discrete-laplace, "
        "federated, ...) or a .toml or .json file; released K times; @FILE for a list",
    ),
]
AnySpecs: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SPEC[*K]]...",
        help="NAME:key=value,... (`exactdp list` shows each NAME: gaussian, discrete-laplace, "
        "federated, ...) or a .toml or .json file; released K times; @FILE for a list",
    ),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="print one JSON value")]
Form: TypeAlias = Annotated[
    str, typer.Option("--format", metavar="F", help="table, json (as --json), csv or html")
]
Time: TypeAlias = Annotated[
    str,
    typer.Option(
        "--time", metavar="S", help="seconds it may take; then it answers with what it knows"
    ),
]
Budget: TypeAlias = Annotated[
    str | None,
    option(
        "UNITS",
        "units of work it may do, about 1e6 a second; it ends at the same step on every machine "
        "(3e7, more with a longer --time)",
    ),
]
Note: TypeAlias = Annotated[
    str | None, option("TEXT", "a line for the certificate to hold; nothing proves it")
]


def read_note(text: str | None, certificate: object) -> str | None:
    """Read --note. Raises ParameterError for what is no single line, or where nothing holds it."""
    if text is None:
        return None
    if not certificate:
        raise ParameterError("--note is of a certificate, and none is asked for")
    from ..verify.certificate import read_note

    with located("--note"):
        return read_note(text)


def read_time(text: str) -> float:
    """Read --time, seconds above 0 and at most a million."""
    return float(exact(text, "--time", above=0, at_most=_LONGEST))


def read_budget(text: str | None, seconds: str, usual: str) -> tuple[float, str, float]:
    """Read --budget, units of work, beside --time: units, seconds, and seconds after which it ends
    where no --time is typed, so that nothing but work is shared out.

    Without both, what a twentieth of the usual seconds is enough for; with --time half of them, if
    that is more.
    """
    typed = seconds != usual
    if text is None:
        units = SECOND * max(read_time(usual) / 20, read_time(seconds) / 2 if typed else 0.0)
    else:
        units = float(exact(text, "--budget", at_least=1, at_most=SECOND * _LONGEST))
    if typed:
        return units, seconds, math.inf
    return units, str(_LONGEST), math.inf if text is not None else read_time(usual)


def read_dropouts(texts: Sequence[str], users: int, usual: Sequence[str]) -> list[int]:
    """How many drop out, at least one and not all; where nobody says, the usual shares of them."""
    if texts:
        return [whole(each, "--dropout", at_least=1, at_most=users - 1) for each in texts]
    return sorted({math.ceil(users * Fraction(share)) for share in usual} - {users})


def how_many(text: str, name: str, users: int) -> int:
    """A share of the users below 1, or how many."""
    share = exact(text, name, at_least=0)
    if share < 1:
        return math.ceil(share * users) if name == "floor" else int(share * users)
    return whole(text, name, at_least=0, at_most=users)


def read_uses(texts: Sequence[str]) -> list[tuple[Spec, int]]:
    """SPEC*K as the mechanism and K, which is 1 where it is not given; each of these.

    @FILE stands for its lines, but for blank ones and those that begin with #.
    """
    found: list[tuple[Spec, int]] = []
    for text in texts:
        if not text.startswith("@"):
            found.append(parse_use(text))
            continue
        for number, line in enumerate(read_text(Path(text[1:])).splitlines(), start=1):
            if line.strip() and not line.startswith("#"):
                with located(f"{text[1:]}, line {number}"):
                    found.append(parse_use(line.strip()))
    if texts and not found:
        raise ParameterError(f"SPEC must be given: there is none in {', '.join(texts)}")
    return found


def composed(uses: Uses) -> Composition:
    """All of these uses together."""
    return compose(*((spec.mechanism, times) for spec, times in uses))


def adjacency(uses: Uses) -> str:
    """Which datasets are neighbours, in which directions, and how users are sampled, in words."""
    listed = [Use(spec.mechanism, times) for spec, times in uses]
    sampling = sampled_users(listed)
    return scenario.adjacency(listed) + ("" if sampling is None else f"; {sampling}")


def neighbourhood(uses: Uses) -> dict[str, str]:
    """Which datasets are neighbours, and which way round they may be, as every result says it."""
    listed = [Use(spec.mechanism, times) for spec, times in uses]
    named = {"neighbours": neighbours(listed), "orientation": orientation(listed)}
    if (sampling := sampled_users(listed)) is not None:
        named["sampling"] = sampling
    return named
