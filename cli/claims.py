"""`exactdp claims`: the papers' statements, each checked, with verdict, evidence and correction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from ..common.table import Table
from ..evidence.claims import Settled, available_workers, read_claims, settle
from ..evidence.stated import chosen
from . import output
from .options import option, read_time
from .result import Line, Part, Result, printed

_SCOPES = {"witness": "a certified counterexample"}


@printed
def claims(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="ids such as D-lem4; all if none is given"),
    ] = None,
    workers: Annotated[int | None, option("N", "processes; as many as there are cores")] = None,
    seconds: Annotated[
        str | None,
        typer.Option("--time", metavar="S", help="seconds for all; what is open by then stays so"),
    ] = None,
) -> Result:
    """Check what the papers say: holds, holds with a correction, or fails.

    A failing statement is a result, not an error.
    """
    allowed = math.inf if seconds is None else read_time(seconds)
    rows = read_claims()
    named = {row.id for row in chosen(rows, ids or [])}
    wanted = [row for row in rows if row.id in named]
    crew = available_workers() if workers is None else workers
    with output.progress("checking", len(wanted)) as done:
        found = settle(wanted, crew, lambda claim: done(1, claim.id), allowed)
    code = 0 if all(each.evidence is not None for each in found) else 3
    return Result([to_json(each) for each in found], told(found), code)


def to_json(settled: Settled) -> dict[str, Any]:
    """One statement as in the contract; the verdict is UNDECIDED where it stayed open."""
    claim, is_open = settled.claim, settled.evidence is None
    return {
        "id": claim.id,
        "source": claim.source,
        "statement": claim.statement,
        "verdict": "UNDECIDED" if is_open else claim.verdict,
        "scope": None if is_open else claim.scope,
        "correction": None if is_open else claim.correction,
        "evidence": {"undecided": settled.note} if is_open else settled.evidence,
    }


def told(found: Sequence[Settled]) -> Iterator[Part]:
    """One line a statement; with its evidence where there are few."""
    rows = [to_json(each) for each in found]
    for row in rows:
        row["scope"] = scope_of(row)
    if len(found) > 3:
        columns = ("id", "verdict", "scope", "statement")
        cells = [
            (*(str(row[name]) for name in columns[:3]), _shortened(str(row["statement"])))
            for row in rows
        ]
        yield Table(columns, cells)
        yield Line("exactdp claims ID shows the evidence", style="dim")
        return
    for row in rows:
        evidence = row.pop("evidence")
        yield {name: value for name, value in row.items() if name != "correction" or value}
        for name, value in evidence.items():
            yield Line(value, strong=f"{name}: ", indent=2)
        yield ""


def scope_of(row: Mapping[str, Any]) -> str:
    """How far the evidence of a statement in JSON reaches, in words; nothing where it is open."""
    return _SCOPES.get(row["scope"], row["scope"] or "")


def _shortened(statement: str, length: int = 90) -> str:
    return statement if len(statement) <= length else f"{statement[: length - 3]}..."
