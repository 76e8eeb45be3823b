"""`exactdp bandit figures`: the papers' figures, drawn again from runs made here and now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import evolve

from ..bandit.environments.instance import instance
from ..bandit.evidence import cached_evidence
from ..bandit.instances import Fixed
from ..bandit.plots.files import folder_for, write
from ..bandit.plots.pictures import (
    CERTIFIED,
    FIGURES,
    FULL,
    INDICES,
    QUICK,
    Figure,
    Line,
    Panel,
    Place,
    Scale,
)
from ..bandit.plots.sweep import Curve, Sweep, sweep
from ..bandit.results import Mean
from ..common.canvas import load
from ..common.content_cache import default_cache
from ..common.suggest import one_of
from ..common.table import Table
from ..exact import ParameterError, decimal_text, whole
from . import output, result
from .bandit_options import Seed, Workers
from .options import option
from .result import Part, Result, printed

_RUNS = "runs"  # the folder of finished runs, inside --out


@printed
def figures(
    out: Annotated[Path, option("DIR", "the folder for pictures and data")],
    figure: Annotated[
        list[str] | None,
        option("N", "1, 2, 3, 4, 5 or certified; again for several; all if not given"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="a preview within half a minute: fewer, shorter runs")
    ] = False,
    ratings: Annotated[str, option("I", "the real ratings: fair, or a file as for run")] = "fair",
    instances: Annotated[
        str, option("I", "of easy and hard: drawn, or published (with the published batches)")
    ] = "drawn",
    seed: Seed = "0",
    workers: Workers = "2",
    resume: Annotated[
        bool, typer.Option("--resume", help=f"use the finished runs in DIR/{_RUNS}")
    ] = False,
) -> Result:
    """Draw the papers' Figures 1 to 5, and one of the paper's radius against the certified one.

    Each as PNG, SVG and CSV. The same seed gives the same files, whatever the number of workers.
    """
    if instances not in ("drawn", "published"):
        raise ParameterError(f"instances must be drawn or published, got {instances[:40]!r}")
    is_published = instances == "published"
    scale = evolve(QUICK if quick else FULL, published=is_published)
    crew = whole(workers, "workers", at_least=1, at_most=1024)
    start = whole(seed, "seed", at_least=0)
    shown = [each.up_to(scale.scaling) for each in _chosen(figure)]
    if is_published:
        shown = [each.as_published() for each in shown]
    load()  # before the work, not after it
    folder = folder_for(out)
    with output.working("reading ratings"):
        given = _ratings(ratings, shown)
    curves = {place for each in shown for place in product(each.panels, each.lines)}
    with output.progress("curves", len(curves) + len(shown)) as tick:
        found = sweep(
            shown,
            scale,
            given,
            seed=start,
            workers=crew,
            cache=folder / _RUNS,
            resume=resume,
            prove=cached_evidence(default_cache() / "evidence"),
            progress=tick,
        )
        files = write(shown, found, folder, crew, tick)
    return Result(lambda: _json(shown, found, folder), _parts(shown, found, scale, files))


def _chosen(names: Sequence[str] | None) -> list[Figure]:
    """These figures in the papers' order, each once. Raises ParameterError for unknown names."""
    known = {each.name.removeprefix("figure"): each for each in (*FIGURES, CERTIFIED, INDICES)}
    for name in names or ():
        one_of(name, known, "figure")
    return [each for name, each in known.items() if not names or name in names]


def _ratings(name: str, shown: Sequence[Figure]) -> Fixed | None:
    """The instance of real ratings, if one is shown."""
    if not any(panel.place is Place.RATINGS for each in shown for panel in each.panels):
        return None
    if name in ("easy", "hard"):
        raise ParameterError(f"ratings must be fair or a file, got {name!r}")
    try:
        return Fixed(instance(name, cache=default_cache()))
    except ImportError as error:
        raise ParameterError(f"ratings: {error}") from error


def _parts(
    shown: Sequence[Figure], found: Sweep, scale: Scale, files: Sequence[Path]
) -> Iterator[Part]:
    """For people: the regret at the end of every curve, and where the files are."""
    for figure in shown:
        yield result.Line(figure.heading, style="bold")
        labels = (label.replace(", ", "\n") for label in figure.labels)
        rows = [
            (
                f"{panel.place.value}, ε = {decimal_text(panel.epsilon)}",
                *(_end(found.curves[panel, line]) for line in figure.lines),
            )
            for panel in figure.panels
        ]
        yield Table(("regret by round", *labels), rows)
    lost = sum(curve.eliminated for curve in found.curves.values())
    runs = sum(curve.runs for curve in found.curves.values())
    yield {
        "runs": f"{scale.runs} of each curve; ± is the standard error of their mean",
        "best arm": f"eliminated in {lost} of all {runs} runs",
    }
    for file in files[::3]:
        yield f"written   {file.with_suffix('')}.{{png,svg,csv}}"
    yield f"kept      finished runs in {files[0].parent / _RUNS}, for --resume"


def _end(curve: Curve) -> str:
    mean, error = curve.mean[-1], curve.error[-1]
    return f"{mean:.4f}" if error != error else f"{mean:.4f} ±{error:.4f}"


def _json(shown: Sequence[Figure], found: Sweep, folder: Path) -> dict[str, Any]:
    def end(panel: Panel, line: Line) -> dict[str, Any]:
        curve = found.curves[panel, line]
        return found.about(panel, line) | {
            "runs": curve.runs,
            "time_average_regret": Mean(float(curve.mean[-1]), float(curve.error[-1])),
            "best_arm_eliminated": curve.eliminated,
        }

    return {
        "figures": [
            {
                "name": figure.name,
                "files": [str(folder / f"{figure.name}.{kind}") for kind in ("png", "svg", "csv")],
                "curves": [end(*place) for place in product(figure.panels, figure.lines)],
            }
            for figure in shown
        ]
    }
