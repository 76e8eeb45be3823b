"""`exactdp claims`: the papers' statements, each checked, with verdict, evidence and correction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from ..common.table import Table
from ..verify.claims.registry import find
from ..verify.claims.settle import Settled, available_workers, settle
from . import output
from .options import option, read_time
from .result import Line, Part, Result, printed

SCOPES = {"witness": "a certified counterexample"}


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
    wanted = find(ids or [])
    crew = available_workers() if workers is None else workers
    with output.progress("checking", len(wanted)) as done:
        found = settle(wanted, crew, lambda claim: done(1, claim.id), allowed)
    code = 0 if all(each.finding is not None for each in found) else 3
    return Result([to_json(each) for each in found], told(found), code)


def to_json(settled: Settled) -> dict[str, object]:
    """One statement as in the contract; the verdict is UNDECIDED where it stayed open."""
    claim, finding = settled.claim, settled.finding
    return {
        "id": claim.id,
        "source": claim.source,
        "statement": claim.statement,
        "verdict": _verdict(settled),
        "scope": None if finding is None else finding.scope.value,
        "correction": None if finding is None else finding.correction,
        "evidence": {"undecided": settled.note} if finding is None else dict(finding.evidence),
    }


def told(found: Sequence[Settled]) -> Iterator[Part]:
    """One line a statement; with its evidence where there are few."""
    if len(found) > 3:
        rows = [
            (each.claim.id, _verdict(each), _scope(each), _shortened(each.claim.statement))
            for each in found
        ]
        yield Table(("id", "verdict", "scope", "statement"), rows)
        yield Line("exactdp claims ID shows the evidence", style="dim")
        return
    for each in found:
        facts = {
            "id": each.claim.id,
            "source": each.claim.source,
            "statement": each.claim.statement,
            "verdict": _verdict(each),
            "scope": _scope(each),
        }
        if each.finding is not None and each.finding.correction:
            facts["correction"] = each.finding.correction
        yield facts
        for name, value in _evidence(each).items():
            yield Line(value, strong=f"{name}: ", indent=2)
        yield ""


def _evidence(each: Settled) -> dict[str, str]:
    return {"undecided": each.note or ""} if each.finding is None else dict(each.finding.evidence)


def _verdict(each: Settled) -> str:
    return "UNDECIDED" if each.finding is None else each.finding.truth.value


def _scope(each: Settled) -> str:
    scope = "" if each.finding is None else each.finding.scope.value
    return SCOPES.get(scope, scope)


def _shortened(statement: str, length: int = 90) -> str:
    return statement if len(statement) <= length else f"{statement[: length - 3]}..."
