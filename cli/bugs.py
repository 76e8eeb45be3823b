"""`exactdp bugs`: known defects of published software, each audited beside its repaired twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Annotated, Any

import typer

from ..common.table import Table
from ..evidence.stated import Bug, chosen, read_bugs, settle
from ..verify import Audit
from .parts import shown
from .result import Line, Part, Result, printed
from .settling import TimeForAll, settled

_Shown = Sequence[tuple[Bug, Audit, Audit]]


@printed
def bugs(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="ids such as flip-defaults; all if none is given"),
    ] = None,
    seconds: TimeForAll = None,
) -> Result:
    """Show known defects of published software, each beside its repaired twin.

    Exit 0: every one is refuted and its twin verified; 3: some stayed open.
    """
    found = audited(ids or [], seconds)
    good = all(wrong.refuted and right.verified for _, wrong, right in found)
    return Result([to_json(*each) for each in found], _told(found), 0 if good else 3)


def audited(ids: Sequence[str] = (), seconds: str | None = None) -> _Shown:
    """Each of these, or all, with what the audits of its claim and of its twin find."""
    rows = chosen(read_bugs(), ids)
    stated = [each for row in rows for each in (row.stated, row.twin)]
    found = settled([(each.claim, partial(settle, each)) for each in stated], seconds)
    return list(zip(rows, found[::2], found[1::2], strict=True))


def to_json(row: Bug, wrong: Audit, right: Audit) -> dict[str, Any]:
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


def _told(found: _Shown) -> Iterator[Part]:
    """One line a defect; all about it where there are few."""
    if len(found) > 3:
        rows = [
            (row.id, row.claim, shown(wrong.measured), wrong.verdict.name, right.verdict.name)
            for row, wrong, right in found
        ]
        yield Table(("id", "stated", "measured", "verdict", "repaired"), rows)
        yield Line("exactdp bugs ID shows one, and its command", style="dim")
        return
    for row, wrong, right in found:
        facts = {"id": row.id, "source": row.source, "defect": row.defect}
        facts |= {"stated": row.claim, "measured": wrong.told, "verdict": wrong.verdict.name}
        facts |= {"command": row.stated.command, "repaired": row.twin.command}
        facts |= {"repaired verdict": right.verdict.name}
        yield facts | ({"note": row.note} if row.note else {})
        yield ""
