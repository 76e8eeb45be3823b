"""`exactdp bandit study`: all cells of a file, each a row with its evidence."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..bandit.evidence import cached_evidence
from ..bandit.pictures import write_pictures
from ..bandit.study import CELLS, EVIDENCE, check, study, write_rows
from ..common.canvas import load
from ..common.content_cache import default_cache
from ..common.extra import bring
from ..common.suggest import one_of
from ..common.table import Table
from ..exact import ParameterError, whole
from . import output
from .bandit_options import Cluster, ProofTime, refusing
from .options import option, read_time
from .plain import note
from .result import Line, Part, Result, printed
from .study_file import packaged, read_study

Row: TypeAlias = Mapping[str, Any]


@printed
def study_command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.toml|NAME",
            help="algorithms, epsilon, horizon, arms, ...; or one that comes with the package: "
            + ", ".join(packaged()),
        ),
    ],
    out: Annotated[Path, option("DIR", "the folder for rows, figures, cells and certificates")],
    workers: Annotated[
        str | None, typer.Option(metavar="N", help="processes", show_default="all cores")
    ] = None,
    cluster: Cluster = None,
    no_figures: Annotated[
        bool, typer.Option("--no-figures", help="rows only: needs no matplotlib")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="a preview: 5 runs of at most 1e5 rounds")
    ] = False,
    seed: Annotated[str | None, option("S", "in place of the file's")] = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="rows.parquet as well")] = False,
    seconds: ProofTime = "600",
) -> Result:
    """Run a whole study: algorithms × epsilon × horizons × arms × instances of one file.

    DIR keeps every finished cell: a study that was stopped goes on where it was. The same seed
    gives the same rows, whatever the number of workers.
    """
    crew = _cores() if workers is None else whole(workers, "workers", at_least=1, at_most=1024)
    allowed = read_time(seconds)
    cells = read_study(file, quick, seed)
    check(cells)
    if not no_figures:
        load()  # before the work, not after it
    if parquet:
        bring("pyarrow", "parquet")
    folder = folder_for(out)
    with refusing(), output.progress("cells", len(cells)) as tick:
        done = study(
            cells,
            folder,
            crew,
            cluster=cluster,
            seconds=allowed,
            prove=cached_evidence(default_cache() / "evidence"),
            progress=tick,
        )
    files = write_rows(folder, done, parquet)
    if not no_figures:
        with output.working("drawing"):
            files += write_pictures(done, folder, crew)
    shown = {"cells": len(cells), "played": done.played, "files": [str(each) for each in files]}
    data = {"study": file, **shown, "rows": done.rows}
    return Result(data, _parts(done.rows, done.played, files, folder))


@printed
def figures_command(
    out: Annotated[Path, option("DIR", "a folder in it for each figure")],
    figure: Annotated[list[str] | None, option("N", "2, 3, 4, 5, certified or indices")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="as of study")] = False,
    instances: Annotated[str, option("I", "drawn, or published")] = "drawn",
    workers: Annotated[str, option("N", "processes")] = "2",
    seed: Annotated[str | None, option("S", "as of study")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="as study always does")] = False,
) -> Result:
    """The older spelling of `bandit study NAME`, once for each figure."""
    note("`bandit figures` is now `bandit study figure2`, `figure3`, ...")
    names = [each for each in packaged() if each.startswith("figure")]
    given = (f"figure{each}" if each.isdigit() else each for each in figure or ())
    names = [one_of(each, packaged(), "--figure") for each in given] or names
    if instances == "published":
        names = ["published"]
    run = inspect.unwrap(study_command)
    done = [run(each, out / each, workers=workers, quick=quick, seed=seed) for each in names]
    return Result([each.data for each in done], chain.from_iterable(each.parts for each in done))


def folder_for(path: Path) -> Path:
    """The folder for files, made if it is not there. Raises ParameterError where it cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise ParameterError(
            f"out: {path}: must be a folder to write to ({error.strerror or error})"
        ) from error
    return path


def _cores() -> int:
    """How many this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _parts(rows: Sequence[Row], played: int, files: Sequence[Path], folder: Path) -> Iterator[Part]:
    """A table for each instance, number of arms and horizon; and where the files are."""
    places: dict[str, list[Row]] = {}
    for row in rows:
        heading = f"{row['instance']}, {row['arms']} arms, {row['horizon']:,} rounds"
        places.setdefault(heading, []).append(row)
    for heading, found in places.items():
        budgets = sorted(dict.fromkeys(row["epsilon"] or "" for row in found), key=lambda b: not b)
        cells = {(row["label"], row["epsilon"] or ""): _cell(row) for row in found}
        columns = [f"ε = {budget}" if budget else "not private" for budget in budgets]
        yield Line(heading, style="bold")
        labels = dict.fromkeys(row["label"] for row in found)
        lines = [[name, *(cells.get((name, each), "") for each in budgets)] for name in labels]
        yield Table(("regret", *columns), lines)
    lost = [row for row in rows if row["best_arm_eliminated"] is not None]
    yield {
        "cells": f"{len(rows)}, {played} of them played now",
        "runs": f"{rows[0]['runs']} of each; ± is the standard error of their mean",
        "× bound": "regret by the known lower bound, of coins",
        "best arm": f"lost in {sum(row['best_arm_eliminated'] for row in lost)} of "
        f"{sum(row['runs'] for row in lost)} runs"
        + (", of algorithms that say which arms are left" if len(lost) < len(rows) else "")
        if lost
        else "not told: these policies do not say which arms are left",
    }
    for what in (*files, folder / CELLS, folder / EVIDENCE):
        yield f"written  {what}"


def _cell(row: Row) -> str:
    error = "" if row["standard_error"] is None else f" ±{row['standard_error']:,.1f}"
    ratio = row["regret_over_bound"]
    beside = "" if ratio is None else f"\n{ratio:.2f} × bound"
    return f"{row['regret']:,.1f}{error}{beside}"
