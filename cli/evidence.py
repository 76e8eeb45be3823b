"""`exactdp claims`, `bugs` and `deployments`: what others state, checked again; data of `evidence`.

Of papers' statements, of known defects beside their repaired twins, and of published deployments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

import typer

from ..common.table import Table
from ..evidence.census import read_census
from ..evidence.claims import Settled, available_workers, read_claims, settle
from ..evidence.stated import Bug, Deployment, Stated, chosen, read_bugs, read_deployments
from ..evidence.stated import settle as settle_stated
from ..exact import whole
from ..verify import Audit
from . import output
from .options import option, read_time
from .parts import shown
from .result import Line, Part, Result, printed
from .settling import TimeForAll, settled

_Row = TypeVar("_Row")
Ids: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="[ID]...", help="what the list names; all if none is given"),
]
_SCOPES = {"witness": "a certified counterexample"}
_FEW = 3  # are shown with all that is known of them


@printed
def claims(
    ids: Ids = None,
    workers: Annotated[str | None, option("N", "processes; as many as there are cores")] = None,
    seconds: Annotated[
        str | None,
        typer.Option("--time", metavar="S", help="seconds for all; what is open by then stays so"),
    ] = None,
) -> Result:
    """Check what the papers say: holds, holds with a correction, or fails.

    A failing statement is a result, not an error.
    """
    crew = None if workers is None else whole(workers, "--workers", at_least=1, at_most=1024)
    allowed = math.inf if seconds is None else read_time(seconds)
    rows = read_claims()
    named = {row.id for row in chosen(rows, ids or [])}
    wanted = [row for row in rows if row.id in named]
    with output.progress("checking", len(wanted)) as done:
        found = settle(
            wanted, crew or available_workers(), lambda claim: done(1, claim.id), allowed
        )
    data = [claim_json(each) for each in found]
    code = 0 if all(each.evidence is not None for each in found) else 3
    columns = ("id", "verdict", "scope", "statement")
    parts = _listed(data, columns, _claim_cells, _claim_parts, "exactdp claims ID: the evidence")
    return Result(data, parts, code)


@printed
def bugs(ids: Ids = None, seconds: TimeForAll = None) -> Result:
    """Show known defects of published software, each beside its repaired twin.

    Exit 0: every one is refuted and its twin verified; 3: some stayed open.
    """
    found = audited_bugs(ids or [], seconds)
    good = all(wrong.refuted and right.verified for _, wrong, right in found)
    columns = ("id", "stated", "measured", "verdict", "repaired")
    parts = _listed(found, columns, _bug_cells, _bug_parts, "exactdp bugs ID: its command")
    return Result([bug_json(*each) for each in found], parts, 0 if good else 3)


@printed
def deployments(
    ids: Ids = None,
    census: Annotated[
        Path | None,
        option("DIR", "instead, the configurations that the Census Bureau published, in DIR"),
    ] = None,
    seconds: TimeForAll = None,
) -> Result:
    """Derive again what published deployments state, from what is published of their noise.

    A statement that is refuted is a result, not an error. Exit 3: some stayed open.
    """
    found = audited_deployments(ids or [], census, seconds)
    left_open = [a for _, a in found if a is not None and not (a.verified or a.refuted)]
    columns = ("id", "stated", "measured", "verdict")
    hint = "exactdp deployments ID: what is assumed"
    parts = _listed(found, columns, _deployment_cells, _deployment_parts, hint)
    return Result([deployment_json(*each) for each in found], parts, 3 if left_open else 0)


def _listed(
    rows: Sequence[_Row],
    columns: Sequence[str],
    cells: Callable[[_Row], tuple[str, ...]],
    about: Callable[[_Row], Iterator[Part]],
    hint: str,
) -> Iterator[Part]:
    """One line each; all about it where there are few."""
    if len(rows) > _FEW:
        yield Table(columns, [cells(row) for row in rows])
        yield Line(hint, style="dim")
        return
    for row in rows:
        yield from about(row)
        yield ""


def claim_json(settled: Settled) -> dict[str, Any]:
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


def scope_of(row: Mapping[str, Any]) -> str:
    """How far the evidence of a statement in JSON reaches, in words; nothing where it is open."""
    return _SCOPES.get(row["scope"], row["scope"] or "")


def _claim_cells(row: Mapping[str, Any], length: int = 90) -> tuple[str, ...]:
    statement = row["statement"]
    brief = statement if len(statement) <= length else f"{statement[: length - 3]}..."
    return row["id"], row["verdict"], scope_of(row), brief


def _claim_parts(row: Mapping[str, Any]) -> Iterator[Part]:
    facts = {**row, "scope": scope_of(row)}
    evidence = facts.pop("evidence")
    yield {name: value for name, value in facts.items() if name != "correction" or value}
    for name, value in evidence.items():
        yield Line(value, strong=f"{name}: ", indent=2)


def audited_bugs(
    ids: Sequence[str] = (), seconds: str | None = None
) -> list[tuple[Bug, Audit, Audit]]:
    """Each of these, or all, with what the audits of its claim and of its twin find."""
    rows = chosen(read_bugs(), ids)
    found = _audits([each for row in rows for each in (row.stated, row.twin)], seconds)
    return list(zip(rows, found[::2], found[1::2], strict=True))


def _audits(stated: Sequence[Stated], seconds: str | None) -> list[Audit]:
    return settled([(each.claim, partial(settle_stated, each)) for each in stated], seconds)


def bug_json(row: Bug, wrong: Audit, right: Audit) -> dict[str, Any]:
    """One defect as in the contract."""
    return {
        "id": row.id,
        "source": row.source,
        "defect": row.defect,
        "stated": row.claim,
        "measured": wrong.measured,
        "verdict": wrong.verdict.name,
        "command": row.stated.command,
        "repaired": {
            "command": row.twin.command,
            "stated": row.twin.claim,
            "measured": right.measured,
            "verdict": right.verdict.name,
        },
        "note": row.note,
    }


def _bug_cells(found: tuple[Bug, Audit, Audit]) -> tuple[str, ...]:
    row, wrong, right = found
    return row.id, row.claim, shown(wrong.measured), wrong.verdict.name, right.verdict.name


def _bug_parts(found: tuple[Bug, Audit, Audit]) -> Iterator[Part]:
    row, wrong, right = found
    facts = {"id": row.id, "source": row.source, "defect": row.defect, "stated": row.claim}
    facts |= {"measured": wrong.told, "verdict": wrong.verdict.name}
    facts |= {"command": row.stated.command, "repaired": row.twin.command}
    facts |= {"repaired verdict": right.verdict.name}
    yield facts | ({"note": row.note} if row.note else {})


def audited_deployments(
    ids: Sequence[str] = (), census: Path | None = None, seconds: str | None = None
) -> list[tuple[Deployment, Audit | None]]:
    """Each of these, or all, with what an audit finds; None where no noise is published."""
    rows = chosen(read_deployments() if census is None else read_census(census), ids)
    found = iter(_audits([row.stated for row in rows if row.stated is not None], seconds))
    return [(row, None if row.stated is None else next(found)) for row in rows]


def deployment_json(row: Deployment, audit: Audit | None) -> dict[str, Any]:
    """One deployment as in the contract."""
    return {
        "id": row.id,
        "source": row.source,
        "deployment": row.deployment,
        "mechanism": list(row.spec) or None,
        "stated": row.claim,
        "measured": None if audit is None else audit.measured,
        "verdict": verdict_of(audit),
        "command": None if row.stated is None else row.stated.command,
        "assumed": list(row.assumed),
    }


def _deployment_cells(found: tuple[Deployment, Audit | None]) -> tuple[str, ...]:
    row, audit = found
    return row.id, row.claim, measured_of(audit), verdict_of(audit)


def _deployment_parts(found: tuple[Deployment, Audit | None]) -> Iterator[Part]:
    row, audit = found
    facts = {"id": row.id, "source": row.source, "deployment": row.deployment, "stated": row.claim}
    if audit is not None and row.stated is not None:
        facts |= {"measured": audit.told, "command": row.stated.command}
    yield facts | {"verdict": verdict_of(audit), "assumed": "; ".join(row.assumed)}


def measured_of(audit: Audit | None) -> str:
    """What was measured, briefly; nothing where nothing is known."""
    return "" if audit is None else shown(audit.measured)


def verdict_of(audit: Audit | None) -> str:
    """Its name, or UNKNOWN."""
    return "UNKNOWN" if audit is None else audit.verdict.name
