"""`exactdp explore`: a page on this machine, on which noise is chosen and its cost is seen."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..common.extra import bring
from ..exact import whole
from . import options
from .options import option

_PORT = "8600"  # always the same, so that an address can be kept
_SECONDS = "6"


def explore(
    port: Annotated[str, option("N", "of 127.0.0.1; 0: any that is free")] = _PORT,
    seconds: Annotated[
        str,
        typer.Option(
            "--time",
            metavar="S",
            help="seconds each answer may take: what it knows then",
        ),
    ] = _SECONDS,
) -> None:
    """Choose noise on a local page and see what it costs, certified; until Ctrl-C."""
    number = whole(port, "--port", at_least=0, at_most=65535)
    allowed = options.read_time(seconds)
    for module in ("jinja2", "matplotlib"):
        bring(module, "report")
    from ..report.explorer import FILES, answer
    from ..report.serve import Server

    server = Server(number, lambda query: answer(query, allowed).html(), FILES)
    typer.echo(f"{server.address} (until Ctrl-C)")
    sys.stdout.flush()
    server.run()
