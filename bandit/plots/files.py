"""A figure's files in a folder: picture and data, each whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from ...common.atomic_write import atomic_write
from ...common.parallel import each
from ...exact.number import ParameterError, located
from .drawing import draw
from .pictures import Figure
from .sweep import Sweep

_ABOUT = ("algorithm", "epsilon", "scaling", "radius", "instance", "arms", "horizon")
COLUMNS = (*_ABOUT, "round", "mean", "standard_error", "runs", "paired_error")


def folder_for(path: Path) -> Path:
    """The folder for files, made if it is not there. Raises ParameterError where it cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path)
        os.close(descriptor)
        os.unlink(name)
    except OSError as error:
        raise ParameterError(
            f"out: {path}: must be a folder to write to ({error.strerror or error})"
        ) from error
    return path


def write(
    figures: Sequence[Figure],
    sweep: Sweep,
    folder: Path,
    workers: int = 1,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Path]:
    """Draw these figures: NAME.png, NAME.svg and NAME.csv each, in this order.

    Raises ParameterError where the folder cannot be written, ImportError without matplotlib.
    """
    for _ in each(partial(_written, sweep, folder), figures, workers):
        progress(1)
    return [
        folder / f"{figure.name}.{suffix}" for figure in figures for suffix in ("png", "svg", "csv")
    ]


def _written(sweep: Sweep, folder: Path, figure: Figure) -> None:
    files = {**draw(figure, sweep), "csv": csv_text(figure, sweep).encode()}
    for suffix, content in files.items():
        path = folder / f"{figure.name}.{suffix}"
        with located(f"out: {path}"), atomic_write(path) as temporary:
            temporary.write_bytes(content)


def csv_text(figure: Figure, sweep: Sweep) -> str:
    """A row for each checkpoint of each curve: mean and standard error of regret by rounds.

    Floats read back exactly; the standard error is empty where there is one run only, and scaling
    for algorithms without s. The paired error is that of `Sweep.paired`, empty where there is none.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for panel, line in product(figure.panels, figure.lines):
        curve = sweep.curves[panel, line]
        about = {**sweep.about(panel, line), "runs": curve.runs}
        paired = sweep.paired(figure, panel, line)
        for index, (rounds, mean) in enumerate(zip(curve.rounds, curve.mean, strict=True)):
            row = {
                "round": rounds,
                "mean": repr(float(mean)),
                "standard_error": _text(curve.error[index]),
                "paired_error": None if paired is None else _text(paired[index]),
            }
            writer.writerow(about | row)
    return text.getvalue()


def _text(error: np.float64) -> str | None:
    return None if np.isnan(error) else repr(float(error))
