"""`exactdp protocol`: how often a protocol fails, how far off it is, and what it costs to send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..exact import ParameterError
from ..mechanisms.spec import parse
from .options import Json, option
from .protocol_shuffle import shuffled
from .protocol_sum import summed


def protocol(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="SPEC",
            help="theorem1:..., ..., theorem6:..., shuffle-sum:..., federated:..., or a file",
        ),
    ] = None,
    failure: Annotated[
        str | None, option("P", "failure probability (1/T of the preset, else 1e-6)")
    ] = None,
    dropout: Annotated[
        list[str] | None,
        option("D", "users who may vanish: what keeps the guarantee; repeatable"),
    ] = None,
    delta: Annotated[str | None, option("D", "federated: ε at this δ (1e-6)")] = None,
    rounds: Annotated[str | None, option("K", "federated: rounds together (1)")] = None,
    target: Annotated[
        str | None, option("CLAIM", "federated: the least local-stddev and the fewest bits for it")
    ] = None,
    as_json: Json = False,
    markdown: Annotated[
        Path | None, option("FILE", "write the page of all protocols (without SPEC)")
    ] = None,
    figure: Annotated[Path | None, option("FILE.svg", "draw its figure (without SPEC)")] = None,
) -> None:
    """Certify a protocol's failures and errors; find what it really needs to send."""
    if markdown is not None or figure is not None:
        if (
            spec is not None
            or failure is not None
            or dropout
            or as_json
            or delta
            or rounds
            or target
        ):
            raise ParameterError("--markdown and --figure take no SPEC and no other option")
        from .pages import picture
        from .pages.page import write_page
        from .pages.protocols import SECTIONS, page

        write_page(markdown, figure, SECTIONS, page, picture.svg)
        return
    if spec is None:
        raise ParameterError("SPEC is missing: a protocol, or --markdown FILE for all of them")
    parsed = parse(spec)
    if parsed.federated is not None:
        from .protocol_federated import federated

        federated(parsed, failure, dropout or [], delta or "1e-6", rounds or "1", target, as_json)
        return
    if delta is not None or rounds is not None or target is not None:
        raise ParameterError("--delta, --rounds and --target are for federated:... only")
    show = summed if parsed.shuffled is None else shuffled
    show(parsed, failure, dropout or [], as_json)
