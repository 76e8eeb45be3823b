"""`exactdp protocol`: how often a protocol fails, how far off it is, and what it costs to send."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["protocol"]


def protocol(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC", help="theorem1:..., ..., theorem6:..., shuffle-sum:..., or a file"
        ),
    ],
    failure: Annotated[
        str | None,
        typer.Option(metavar="P", help="failure probability (1/T of the preset, else 1e-6)"),
    ] = None,
    dropout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="D", help="users who may vanish: what keeps the guarantee; repeatable"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
) -> None:
    """Certify a protocol's failures and errors; find what it really needs to send."""
    from .protocol_shuffle import shuffled
    from .protocol_sum import summed
    from .spec import parse

    parsed = parse(spec)
    show = summed if parsed.shuffled is None else shuffled
    show(parsed, failure, dropout or [], as_json)
