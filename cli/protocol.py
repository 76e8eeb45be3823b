"""`exactdp protocol`: how often a protocol fails, how far off it is, and what it costs to send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..exact import ParameterError, time_limit
from ..mechanisms.spec import parse
from .options import DEFAULT_TIME, PAGE_TIME, Json, PageTime, option, read_time
from .protocol_shuffle import shuffled
from .protocol_sum import summed

_FEDERATED = "federated"  # the page of vectors


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
        Path | None, option("FILE", "write the page of all protocols, or of `federated`")
    ] = None,
    figure: Annotated[Path | None, option("FILE.svg", "draw the figure of that page")] = None,
    seconds: PageTime = None,
) -> int:
    """Certify a protocol's failures and errors; find what it really needs to send."""
    if markdown is not None or figure is not None:
        others = (failure, dropout, as_json, delta, rounds, target)
        if spec not in (None, _FEDERATED) or any(others):
            raise ParameterError(
                f"--markdown and --figure take no SPEC (or just {_FEDERATED}) and no other option"
            )
        from .pages.page import page_time

        with page_time(read_time(seconds or PAGE_TIME)):
            _write(spec, markdown, figure)
        return 0
    if spec is None:
        raise ParameterError("SPEC is missing: a protocol, or --markdown FILE for all of them")
    parsed = parse(spec)
    with time_limit(read_time(seconds or DEFAULT_TIME), rings=False):
        if parsed.federated is not None:
            from .protocol_federated import federated

            level, times = delta or "1e-6", rounds or "1"
            return federated(parsed, failure, dropout or [], level, times, target, as_json)
        if delta is not None or rounds is not None or target is not None:
            raise ParameterError("--delta, --rounds and --target are for federated:... only")
        show = summed if parsed.shuffled is None else shuffled
        return show(parsed, failure, dropout or [], as_json)


def _write(spec: str | None, markdown: Path | None, figure: Path | None) -> None:
    from .pages.page import write_page

    if spec == _FEDERATED:
        from .pages import vectors

        write_page(markdown, figure, vectors.SECTIONS, vectors.page, vectors.svg)
        return
    from .pages import picture, protocols

    write_page(markdown, figure, protocols.SECTIONS, protocols.page, picture.svg)
