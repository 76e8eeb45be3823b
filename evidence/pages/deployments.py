"""The page of published deployments: a table, then each with its source, command, assumptions."""

from __future__ import annotations

from exactdp.cli.evidence import audited_deployments, measured_of, verdict_of

from .page import link, table

_INTRODUCTION = """\
# Published deployments, derived again

Written by `make pages`; run it again to check every figure here. Each is
what somebody states of a release, and what follows from the noise that is published of it, under
the assumptions named. Where the noise is not published the verdict is UNKNOWN: nothing is derived.
*Measured* is the least number with which the statement would hold.
"""


def page() -> str:
    """All of them, audited now."""
    rows = audited_deployments()
    columns = ("id", "deployment", "stated", "measured", "verdict")
    cells = [
        (link(row.id), row.deployment, row.claim, measured_of(audit), verdict_of(audit))
        for row, audit in rows
    ]
    lines = [_INTRODUCTION, table(columns, cells, False)]
    for row, audit in rows:
        lines += ["", f"## {row.id}", "", f"{row.deployment}. *{row.source}.*", ""]
        if row.stated is not None:
            lines += ["```console", f"$ {row.stated.command}   # {verdict_of(audit)}", "```", ""]
        lines += [f"Assumed: {'; '.join(row.assumed)}."]
    return "\n".join(lines) + "\n"
