"""`exactdp compose`: what several uses of mechanisms cost together, in any notion asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from .spec import Spec

__all__ = ["compose"]

_MOST_USES = 10**9


def compose(
    specs: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC[*K]", help="NAME:key=value,... or a .toml or .json file; used K times"
        ),
    ],
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
) -> None:
    """Compose mechanisms, each used K times: pure ε, Rényi, δ(ε) and ε(δ) of all together.

    The uses may be adaptive.
    """
    from .. import accounting
    from ..accounting.methods import comparison
    from ..exact import ParameterError
    from . import render
    from .compared import compared
    from .measure import Request, measure, read_width

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
        raise ParameterError(f"--method must be one of {known}, got {method[:40]!r}")
    uses = [_use(text) for text in specs]
    budget = accounting.compose(*((spec.mechanism, times) for spec, times in uses))
    try:
        with render.working("composing"):
            results = measure(budget, request, relative, comparison.METHODS[method])
    except comparison.DoesNotApplyError as error:
        raise ParameterError(f"--method {method} does not apply: {error}") from error
    tables = []
    if compare:
        with render.working("comparing"):
            tables = compared(budget, results, relative, method)
    if as_json:
        shown = {
            "mechanisms": [{"spec": spec.text, "times": times} for spec, times in uses],
            "method": method,
            "results": [result.to_json() for result in results],
        }
        if compare:
            shown["comparison"] = [table.to_json() for table in tables]
        render.as_json(shown)
    else:
        render.composed(uses, results, comparison.METHODS[method])
        for table in tables:
            render.comparison(table)
    raise typer.Exit(3 if any(result.is_undecided for result in results) else 0)


def _use(text: str) -> tuple[Spec, int]:
    """SPEC*K as the mechanism and K, which is 1 where it is not given."""
    from ..exact import whole
    from .spec import parse

    spec, star, times = text.rpartition("*")
    if not star:
        return parse(text), 1
    count = whole(times, "K in SPEC*K", at_least=1, at_most=_MOST_USES)
    return parse(spec), count
