"""`exactdp compose`: what several uses of mechanisms cost together, in any notion asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import output
from .options import DEFAULT_TIME, AnySpecs, Time, neighbourhood, read_time, read_uses

__all__ = ["compose"]


def compose(
    specs: AnySpecs = None,
    delta: Annotated[
        list[str] | None, typer.Option(metavar="D", help="ε at this δ; may be repeated")
    ] = None,
    epsilon: Annotated[
        list[str] | None, typer.Option(metavar="E", help="δ at this ε; may be repeated")
    ] = None,
    order: Annotated[
        list[str] | None, typer.Option(metavar="A", help="Rényi divergence of this order; repeats")
    ] = None,
    pure: Annotated[bool, typer.Option("--pure", help="the pure ε")] = False,
    method: Annotated[
        str,
        typer.Option(
            metavar="M",
            help="how ε and δ are found: exact, or the bound by rdp, zcdp, advanced, basic, kov "
            "or theorem7",
        ),
    ] = "exact",
    compare: Annotated[
        bool, typer.Option("--compare", help="ε by every method, side by side, at each δ")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
    width: Annotated[
        str | None,
        typer.Option(
            metavar="W", help="relative width of every figure; if given, it may take minutes"
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="also these uses: a dp_accounting event or an Opacus history, as JSON",
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="write the page of sampled training, and nothing else"),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="draw that page's figure, as SVG")
    ] = None,
    seconds: Time = DEFAULT_TIME,
) -> None:
    """Compose mechanisms, each used K times: pure ε, Rényi, δ(ε) and ε(δ) of all together.

    The uses may be adaptive.
    """
    from .. import accounting
    from ..accounting.methods import comparison
    from ..exact import ParameterError, time_limit
    from ..exact.suggest import meant
    from .compared import compared
    from .foreign import uses_from
    from .measure import Request, measure, read_width

    if markdown is not None or figure is not None:
        if specs or source is not None or as_json:
            raise ParameterError("--markdown and --figure take no SPEC and no other option")
        from .pages import sampled
        from .pages.files import write_page

        write_page(markdown, figure, sampled.SECTIONS, sampled.page, sampled.svg)
        return
    relative = read_width(width)
    request = Request(
        pure=pure,
        orders=tuple(order or ()),
        epsilons=tuple(epsilon or ()),
        deltas=tuple(delta or ()),
    )
    if request.is_empty():
        raise ParameterError("ask for at least one of --pure, --order, --epsilon and --delta")
    if compare and not delta:
        raise ParameterError("--compare must be given together with --delta")
    if method not in comparison.METHODS:
        known = ", ".join(comparison.METHODS)
        raise ParameterError(
            f"--method must be one of {known}, got {method[:40]!r}"
            f"{meant(method, comparison.METHODS)}"
        )
    allowed = read_time(seconds)
    uses = read_uses(specs or []) + ([] if source is None else uses_from(source))
    if not uses:
        raise ParameterError("SPEC or --from must be given: what is composed?")
    composition = accounting.compose(*((spec.mechanism, times) for spec, times in uses))
    tables = []
    try:
        with (
            output.working("composing"),
            time_limit(allowed * (0.5 if compare else 1), rings=False),
        ):
            results = measure(composition, request, relative, comparison.METHODS[method])
    except comparison.DoesNotApplyError as error:
        raise ParameterError(f"--method {method} does not apply: {error}") from error
    if compare:
        with output.working("comparing"), time_limit(allowed * 0.5, rings=False):
            tables = compared(composition, results, relative, method)
    if as_json:
        shown = {
            "mechanisms": [{"spec": spec.text, "times": times} for spec, times in uses],
            **neighbourhood(uses),
            "method": method,
            "results": [result.to_json() for result in results],
        }
        if compare:
            shown["comparison"] = [table.to_json() for table in tables]
        output.as_json(shown)
    else:
        from . import render

        render.composed(uses, results, comparison.METHODS[method])
        for table in tables:
            render.comparison(table)
    raise typer.Exit(3 if any(result.is_undecided for result in results) else 0)
