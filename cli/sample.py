"""`exactdp sample`: exact draws of what a mechanism releases, as a stream of lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from ..exact import whole
from ..mechanisms.samplers import RandomBits, SeededBits, SystemBits
from ..mechanisms.samplers.released import release, share_of_noise, simulated_release
from ..mechanisms.spec import parse
from . import output
from .options import option

_CHUNK = 0.05  # seconds of draws that are written at once


def sample(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC", help="NAME:key=value,... or a .toml or .json file")
    ],
    size: Annotated[str, typer.Option(metavar="N", help="how many draws", show_default=False)],
    share_of: Annotated[
        str | None, option("USERS", "what one of so many users adds, instead of the sum")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="S", min=0, help="the same again: for tests, never for a release"),
    ] = None,
) -> None:
    """Draw what a mechanism releases of the query 0, exactly, one draw a line.

    Additive noise: integers, reduced mod m where SPEC has a modulus; randomized-response: the
    answered bit; pmf: outcomes of the column p; theorem3: what a perfect aggregation releases.
    Without --seed the random bits are those of the
    operating system's CSPRNG.
    """
    count = whole(size, "size", at_least=0)
    parsed = parse(spec)
    mechanism = parsed.drawn or parsed.mechanism
    if share_of is not None:
        mechanism = share_of_noise(mechanism, share_of)
    one: Callable[[Any], int | str]
    bits: RandomBits
    if seed is None:
        one, bits = release(mechanism), SystemBits()
    else:
        one, bits = simulated_release(mechanism), SeededBits(seed)
        typer.echo(f"simulation: seed {seed} determines these draws, none is a release", err=True)
    hidden = sys.stdout.isatty()  # draws in a terminal show by themselves
    with output.progress("sampling", count, hidden) as drawn:
        for many, text in _chunks(one, bits, count):
            sys.stdout.write(text)
            drawn(many)
    sys.stdout.flush()


def _chunks(
    one: Callable[[Any], int | str], bits: RandomBits, count: int
) -> Iterator[tuple[int, str]]:
    """How many are drawn at once, and their lines: as many as take a moment."""
    done, many = 0, 1
    while done < count:
        start = time.monotonic()
        many = min(many, count - done)
        lines = "".join(f"{one(bits)}\n" for _ in range(many))
        done += many
        yield many, lines
        many = 2 * many if time.monotonic() - start < _CHUNK else many
