"""The page of known defects: a table, then each with its source and its commands."""

from __future__ import annotations

from exactdp.cli.evidence import audited_bugs
from exactdp.cli.parts import shown

from .page import link, table

_INTRODUCTION = """\
# Known defects, shown

Written by `make pages`; run it again to check every figure here. Each is one
claim about one spec, rounded in favour of who is accused, and refuted; beside it stands the
*repaired twin*, of which the claim is true. What is stated is somebody else's statement: the source
says whose. A defect may have been repaired since.
"""


def page() -> str:
    """All of them, audited now."""
    rows = audited_bugs()
    columns = ("id", "stated", "measured", "verdict", "repaired")
    cells = [
        (link(row.id), row.claim, shown(wrong.measured), wrong.verdict.name, right.verdict.name)
        for row, wrong, right in rows
    ]
    lines = [_INTRODUCTION, table(columns, cells, False)]
    for row, wrong, right in rows:
        lines += ["", f"## {row.id}", "", f"*{row.source}.* {_sentence(row.defect)}."]
        if row.note:
            lines += ["", f"{_sentence(row.note)}."]
        lines += ["", "```console", f"$ {row.stated.command}   # {wrong.verdict.name}"]
        lines += [f"$ {row.twin.command}   # {right.verdict.name}", "```"]
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
