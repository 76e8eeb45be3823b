"""`exactdp profile`: the privacy profile and the trade-off curves, all with certified bounds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from ..accounting.composition.curves import Profile, refined
from ..accounting.composition.tradeoff import Tradeoff
from ..common.atomic_write import atomic_write, check_target, write_atomically
from ..common.table import Table, csv_text
from ..exact import Enclosure, OutOfTimeError, ParameterError, decimal_text, time_limit
from ..exact.number import located
from . import options, output, parts
from .options import DEFAULT_TIME, Specs, Time, option
from .result import Result, printed

_POINTS, _STEPS = 41, 100
_NARROW = Fraction(1, 10**4)  # of the points that a picture has besides
_SHOWN = 4  # every so many points in the table
_UNKNOWN = Enclosure.probability()


@printed
def profile(
    specs: Specs,
    plot: Annotated[
        Path | None, option("FILE", "draw both curves, as .svg, .png or .pdf by its name")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="write every point of all curves as CSV"),
    ] = None,
    seconds: Time = DEFAULT_TIME,
) -> Result:
    """The privacy profile δ(ε) and the trade-off curves, from both sides; picture, CSV."""
    allowed = options.read_time(seconds)
    kind = None if plot is None else _kind(plot)
    for option_name, path in (("--plot", plot), ("--csv", table)):
        if path is not None:
            check_target(path, option_name)
    if plot is not None and table is not None and plot.absolute() == table.absolute():
        raise ParameterError(f"--plot and --csv must be two files, got {plot} twice")
    uses = options.read_uses(specs)
    with time_limit(allowed), output.working("measuring"):
        composition = options.composed(uses)
        known = composition.profile(points=_POINTS)
        errors = composition.tradeoff(points=_STEPS, known=known)
        finer = known if plot is None else refined(composition, known, _POINTS, _NARROW)
        try:
            mu = composition.gdp()
        except OutOfTimeError:
            mu = Enclosure.unknown()
    if table is not None:
        with located(f"--csv: {table}"):
            write_atomically(table, _csv(known, errors))
    if plot is not None and kind is not None:
        from ..report.pictures import both_curves

        drawn = both_curves(finer, errors, kind)
        with located(f"--plot: {plot}"), atomic_write(plot) as temporary:
            temporary.write_bytes(drawn)
    named = [{**spec.to_json(), "times": times} for spec, times in uses]
    curves = {"profile": known.rows(), "tradeoff": errors.rows(), "gdp": mu}
    rows = [(decimal_text(place), value) for place, value in known.points()[::_SHOWN]]
    return Result(
        {"mechanisms": named} | options.neighbourhood(uses) | curves,
        parts.measured_curve(uses, Table(("ε", "δ(ε)"), rows), mu),
        3 if _UNKNOWN in known.deltas else 0,
    )


def _kind(plot: Path) -> str:
    from ..common.canvas import load
    from ..report.pictures import kind_of

    if (kind := kind_of(plot.name)) is None:
        raise ParameterError(f"--plot must end in .svg, .png or .pdf, got {plot.name}")
    load()
    return kind


def _csv(known: Profile, errors: Tradeoff) -> str:
    """Exact places of each curve, and both ends of the value there, rounded outward."""
    named = [("profile", known.points()), ("tradeoff", errors.points())]
    named += [
        (name, list(zip(errors.alphas, values, strict=True)))
        for name, values in (
            ("tradeoff-forward", errors.forward),
            ("tradeoff-backward", errors.backward),
            ("symmetric-hull", errors.hull),
        )
    ]
    rows = [
        (name, decimal_text(place), *value.to_json().values())
        for name, points in named
        for place, value in points
    ]
    return csv_text([("curve", "at", "lower", "upper"), *rows])
