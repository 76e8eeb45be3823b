"""`exactdp sample`: exact draws of what a mechanism releases, as a stream of lines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from ..exact import ParameterError, whole
from ..mechanisms.samplers import RandomBits, SeededBits, SystemBits
from ..mechanisms.specs.released import Drawn, release, share_of_noise, simulated_release
from ..mechanisms.specs.spec import parse
from . import output
from .options import option

_MOST = 10**12  # draws: months of them
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
    query: Annotated[
        str | None, option("Q", "of this query instead of 0: a number, or several as 3,5,2")
    ] = None,
    ledger: Annotated[
        str | None, option("URL", "charge this ledger first: no bit is drawn without its permit")
    ] = None,
    user: Annotated[list[str] | None, option("U", "whom it is charged to; repeats")] = None,
    key: Annotated[str | None, option("KEY", "of this release alone, in the ledger")] = None,
) -> None:
    """Draw what a mechanism releases of a query, exactly, one draw a line.

    Numbers and vectors with their noise, reduced mod m where SPEC has a modulus; counts from a
    threshold on; who is chosen; what users report, shuffled or not; all prefix sums of a tree
    or a matrix;
    pmf: outcomes of the column p; theorem3: what a perfect aggregation releases.
    Without --seed the random bits are those of the
    operating system's CSPRNG. With --ledger each draw is charged to every --user; exit 1 if that
    does not fit, and nothing is drawn.
    """
    count = whole(size, "--size", at_least=0, at_most=_MOST)
    parsed = parse(spec)
    mechanism: Any = parsed.drawn or parsed.mechanism
    asked = _read_query(query)
    if share_of is not None:
        if query is not None:
            raise ParameterError("--query must not be given with --share-of: shares are of noise")
        mechanism = share_of_noise(mechanism, share_of)
    one = release(mechanism, asked) if seed is None else simulated_release(mechanism, asked)
    if ledger is None:
        if user or key is not None:
            raise ParameterError("--user and --key are of a ledger: --ledger URL is missing")
        _write(one, seed, count)
        return
    if not user or key is None:
        raise ParameterError("--ledger needs --user and --key: who is charged, and under which key")
    if seed is not None or share_of is not None or not count:
        raise ParameterError("--ledger is of releases: it takes no --seed, --share-of or --size 0")
    from ..ledger.book import Ledger
    from ..ledger.errors import LedgerError, RefusedError, UnavailableError

    try:
        with Ledger.open(ledger) as opened, opened.permit((parsed, count), user, key):
            _write(one, None, count)
    except RefusedError as error:
        typer.echo(f"exactdp: {error}", err=True)
        raise typer.Exit(1) from None
    except UnavailableError as error:
        raise ParameterError(f"--ledger: {error}") from error
    except LedgerError as error:
        raise ParameterError(str(error)) from error


def _read_query(text: str | None) -> str | list[str]:
    """One number, or several."""
    if text is None or "," not in text:
        return "0" if text is None else text
    return text.split(",")


def _line(drawn: Drawn) -> str:
    """A vector's numbers one after the other, rows of several joined by commas; counts as JSON."""
    if isinstance(drawn, dict):
        return json.dumps(drawn)
    if isinstance(drawn, tuple):
        rows = (each if isinstance(each, tuple) else (each,) for each in drawn)
        return " ".join(",".join(map(str, row)) for row in rows)
    return str(drawn)


def _write(one: Callable[[Any], Drawn], seed: int | None, count: int) -> None:
    bits: RandomBits
    if seed is None:
        bits = SystemBits()
    else:
        bits = SeededBits(seed)
        typer.echo(f"simulation: seed {seed} determines these draws, none is a release", err=True)
    hidden = sys.stdout.isatty()  # draws in a terminal show by themselves
    with output.progress("sampling", count, hidden) as drawn:
        for many, text in _chunks(one, bits, count):
            sys.stdout.write(text)
            drawn(many)
    sys.stdout.flush()


def _chunks(one: Callable[[Any], Drawn], bits: RandomBits, count: int) -> Iterator[tuple[int, str]]:
    """How many are drawn at once, and their lines: as many as take a moment."""
    done, many = 0, 1
    while done < count:
        start = time.monotonic()
        many = min(many, count - done)
        lines = "".join(f"{_line(one(bits))}\n" for _ in range(many))
        done += many
        yield many, lines
        many = 2 * many if time.monotonic() - start < _CHUNK else many
