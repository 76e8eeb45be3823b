"""`exactdp claims`: the papers' statements, each checked, with verdict, evidence and correction."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..exact.atomic_write import check_target
from ..verify.claims.registry import find
from ..verify.claims.settle import available_workers, settle
from . import claims_page, output
from .options import option

__all__ = ["claims"]


def claims(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="ids such as D-lem4; all if none is given"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON list")] = False,
    markdown: Annotated[Path | None, option("FILE", "write them as a Markdown page")] = None,
    workers: Annotated[int | None, option("N", "processes; as many as there are cores")] = None,
) -> None:
    """Check what the papers say: holds, holds with a correction, or fails.

    A failing statement is a result, not an error.
    """
    wanted = find(ids or [])
    if markdown is not None:
        check_target(markdown, "--markdown")
    crew = available_workers() if workers is None else workers
    with output.progress("checking", len(wanted)) as done:
        found = settle(wanted, crew, lambda claim: done(1, claim.id))
    if markdown is not None:
        claims_page.write(markdown, claims_page.page(found))
    if as_json:
        output.as_json([claims_page.to_json(each) for each in found])
    elif markdown is None or ids:
        claims_page.show(found)
    raise typer.Exit(0 if all(each.finding is not None for each in found) else 3)
