"""`exactdp deployments`: what is published of real deployments, derived again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from ..common.table import Table
from ..evidence.census import read_census
from ..evidence.stated import Deployment, chosen, read_deployments, settle
from ..verify import Audit
from .options import option
from .parts import shown
from .result import Line, Part, Result, printed
from .settling import TimeForAll, settled

_Shown = Sequence[tuple[Deployment, Audit | None]]
_UNKNOWN = "UNKNOWN"


@printed
def deployments(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="ids such as apple-emoji; all if none is given"),
    ] = None,
    census: Annotated[
        Path | None,
        option("DIR", "instead, the configurations that the Census Bureau published, in DIR"),
    ] = None,
    seconds: TimeForAll = None,
) -> Result:
    """Derive again what published deployments state, from what is published of their noise.

    A statement that is refuted is a result, not an error. Exit 3: some stayed open.
    """
    found = audited(ids or [], census, seconds)
    left_open = [a for _, a in found if a is not None and not (a.verified or a.refuted)]
    return Result([to_json(*each) for each in found], _told(found), 3 if left_open else 0)


def audited(
    ids: Sequence[str] = (), census: Path | None = None, seconds: str | None = None
) -> _Shown:
    """Each of these, or all, with what an audit finds; None where no noise is published."""
    rows = chosen(read_deployments() if census is None else read_census(census), ids)
    stated = [row.stated for row in rows]
    jobs = [(each.claim, partial(settle, each)) for each in stated if each is not None]
    found = iter(settled(jobs, seconds))
    return [(row, None if row.stated is None else next(found)) for row in rows]


def to_json(row: Deployment, audit: Audit | None) -> dict[str, Any]:
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


def _told(found: _Shown) -> Iterator[Part]:
    """One line a deployment; all about it where there are few."""
    if len(found) > 3:
        rows = [(row.id, row.claim, measured_of(audit), verdict_of(audit)) for row, audit in found]
        yield Table(("id", "stated", "measured", "verdict"), rows)
        yield Line("exactdp deployments ID shows one, and what is assumed", style="dim")
        return
    for row, audit in found:
        facts = {"id": row.id, "source": row.source}
        facts |= {"deployment": row.deployment, "stated": row.claim}
        if audit is not None and row.stated is not None:
            facts |= {"measured": audit.told, "command": row.stated.command}
        yield facts | {"verdict": verdict_of(audit), "assumed": "; ".join(row.assumed)}
        yield ""


def measured_of(audit: Audit | None) -> str:
    """What was measured, briefly; nothing where nothing is known."""
    return "" if audit is None else shown(audit.measured)


def verdict_of(audit: Audit | None) -> str:
    """Its name, or UNKNOWN."""
    return _UNKNOWN if audit is None else audit.verdict.name
