"""`exactdp protocol`: how often a protocol fails, how far off it is, and what it costs to send."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ..exact import ParameterError
from ..exact.atomic_write import check_target
from ..mechanisms.spec import parse
from . import output
from .claims_page import write
from .options import Json, option
from .pages import picture
from .pages.protocols import SECTIONS, page
from .protocol_shuffle import shuffled
from .protocol_sum import summed

__all__ = ["protocol"]


def protocol(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="SPEC", help="theorem1:..., ..., theorem6:..., shuffle-sum:..., or a file"
        ),
    ] = None,
    failure: Annotated[
        str | None, option("P", "failure probability (1/T of the preset, else 1e-6)")
    ] = None,
    dropout: Annotated[
        list[str] | None,
        option("D", "users who may vanish: what keeps the guarantee; repeatable"),
    ] = None,
    as_json: Json = False,
    markdown: Annotated[
        Path | None, option("FILE", "write the page of all protocols (without SPEC)")
    ] = None,
    figure: Annotated[Path | None, option("FILE.svg", "draw its figure (without SPEC)")] = None,
) -> None:
    """Certify a protocol's failures and errors; find what it really needs to send."""
    if markdown is not None or figure is not None:
        if spec is not None or failure is not None or dropout or as_json:
            raise ParameterError("--markdown and --figure take no SPEC and no other option")
        _write(markdown, figure)
        return
    if spec is None:
        raise ParameterError("SPEC is missing: a protocol, or --markdown FILE for all of them")
    parsed = parse(spec)
    show = summed if parsed.shuffled is None else shuffled
    show(parsed, failure, dropout or [], as_json)


def _write(markdown: Path | None, figure: Path | None) -> None:
    if markdown is not None:
        check_target(markdown, "--markdown")
    place = None
    if figure is not None:
        check_target(figure, "--figure")
        picture.load()  # before the work, not after it
        place = Path(os.path.relpath(figure, None if markdown is None else markdown.parent))
    sections = {} if markdown is None else SECTIONS
    with output.progress("writing", len(sections) + (figure is not None)) as done:

        def begin(title: str) -> None:
            done(1, title)

        if markdown is not None:
            text = page(sections, None if place is None else place.as_posix(), begin)
        if figure is not None:
            begin("the figure")
            write(figure, picture.svg(), "--figure")
    if markdown is not None:
        write(markdown, text)
