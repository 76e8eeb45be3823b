"""`exactdp compose`: what several uses of mechanisms cost together, in any notion asked for."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..accounting.methods.classical import DoesNotApplyError
from ..exact import ParameterError, time_limit
from ..exact.budget import share
from ..exact.number import located
from . import options, output, parts
from .measure import Request, measure, read_width, with_poisson
from .options import DEFAULT_TIME, AnySpecs, Time, option
from .result import Result, printed

if TYPE_CHECKING:
    from ..accounting.methods.comparison import Method


@printed
def compose(
    specs: AnySpecs = None,
    delta: Annotated[list[str] | None, option("D", "ε at this δ; may be repeated")] = None,
    epsilon: Annotated[list[str] | None, option("E", "δ at this ε; may be repeated")] = None,
    order: Annotated[
        list[str] | None, option("A", "Rényi divergence of this order; repeats")
    ] = None,
    pure: Annotated[bool, typer.Option("--pure", help="the pure ε")] = False,
    method: Annotated[
        str,
        option(
            "M",
            "how ε and δ are found: exact, or the bound by rdp, zcdp, advanced, basic, kov "
            "or theorem7",
        ),
    ] = "exact",
    compare: Annotated[
        bool, typer.Option("--compare", help="ε by every method, side by side, at each δ")
    ] = False,
    width: Annotated[
        str | None, option("W", "relative width of every figure; if given, it may take minutes")
    ] = None,
    source: Annotated[
        list[str] | None,  # typer loads pydantic for a list of paths
        typer.Option(
            "--from",
            metavar="FILE",
            help="also these releases: a dp_accounting event or an Opacus history, as JSON",
        ),
    ] = None,
    seconds: Time = DEFAULT_TIME,
) -> Result:
    """Compose mechanisms, each released K times: pure ε, Rényi, δ(ε) and ε(δ) of all together.

    Each query may depend on all that was released before it (adaptive composition).
    """
    relative = read_width(width)
    bound = None if method == "exact" else _method(method)
    allowed = options.read_time(seconds)
    uses = options.read_uses(specs or [])
    if source is not None:
        from .foreign import uses_from

        with located("--from"):
            uses += [use for path in source for use in uses_from(Path(path))]
    if not uses:
        raise ParameterError("SPEC or --from must be given: what is composed?")
    request = Request(pure, tuple(order or ()), tuple(epsilon or ()), tuple(delta or ()))
    if request.is_empty():
        raise ParameterError("ask for at least one of --pure, --order, --epsilon and --delta")
    if compare and not delta:
        raise ParameterError("--compare must be given together with --delta")
    composition = options.composed(uses)
    try:
        with output.working("composing"), time_limit(allowed), share(0.5 if compare else 1):
            results = measure(composition, request, relative, bound)
            if bound is None:
                results = with_poisson(results, composition, request, relative)
    except DoesNotApplyError as error:
        raise ParameterError(f"--method {method} does not apply: {error}") from error
    tables = []
    if compare:
        from .compared import compared

        with output.working("comparing"), time_limit(allowed / 2):
            tables = compared(composition, results, relative, method)
    data = {
        "mechanisms": [{"spec": spec.text, "times": times} for spec, times in uses],
        **options.neighbourhood(uses),
        "method": method,
        "results": results,
    }
    if compare:
        data["comparison"] = tables
    told = chain(parts.measurements(uses, results, bound), *map(parts.comparison, tables))
    return Result(data, told, 3 if any(result.is_undecided for result in results) else 0)


def _method(name: str) -> Method:
    from ..accounting.methods.comparison import METHODS
    from ..common.suggest import one_of

    return METHODS[one_of(name, METHODS, "--method")]
