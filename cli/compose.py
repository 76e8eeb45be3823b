"""`exactdp compose`: what a mechanism costs, in any notion asked for."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["compose"]


def compose(
    specs: Annotated[
        list[str],
        typer.Argument(metavar="SPEC[*K]", help="NAME:key=value,... or a .toml or .json file"),
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
    as_json: Annotated[bool, typer.Option("--json", help="print one JSON object")] = False,
    width: Annotated[
        str, typer.Option(metavar="W", help="relative width of every figure")
    ] = "1e-12",
) -> None:
    """Measure the privacy of a mechanism used once: pure ε, Rényi, δ(ε) and ε(δ)."""
    from ..exact import ParameterError, whole
    from . import render
    from .measure import Request, measure, read_width
    from .spec import parse

    relative = read_width(width)
    request = Request(
        pure=pure,
        orders=tuple(order or ()),
        epsilons=tuple(epsilon or ()),
        deltas=tuple(delta or ()),
    )
    if request.is_empty():
        raise ParameterError("ask for at least one of --pure, --order, --epsilon and --delta")
    if len(specs) > 1:
        raise ParameterError("composing several mechanisms is not available yet: give one SPEC")
    text, times = _times(specs[0])
    if whole(times, "K in SPEC*K", at_least=1) != 1:
        raise ParameterError("composing a mechanism K > 1 times is not available yet: give K = 1")
    parsed = parse(text)
    with render.working("measuring"):
        results = measure(parsed.mechanism, request, relative)
    if as_json:
        render.as_json(
            {
                "mechanisms": [{"spec": parsed.text, "times": 1}],
                "results": [result.to_json() for result in results],
            }
        )
    else:
        render.measurements(parsed, results)
    raise typer.Exit(3 if any(result.is_undecided for result in results) else 0)


def _times(spec: str) -> tuple[str, str]:
    """SPEC*K as its two parts; K is 1 where it is not given."""
    text, star, times = spec.rpartition("*")
    return (text, times) if star else (spec, "1")
