"""The data behind a figure, as CSV."""

from __future__ import annotations

import csv
import io
import math

from ...exact.number import decimal_text
from .pictures import Figure
from .sweep import Sweep

__all__ = ["COLUMNS", "csv_text"]

COLUMNS = (
    "algorithm",
    "epsilon",
    "scaling",
    "radius",
    "instance",
    "arms",
    "horizon",
    "round",
    "mean",
    "standard_error",
    "runs",
)


def csv_text(figure: Figure, sweep: Sweep) -> str:
    """A row for each checkpoint of each curve: mean and standard error of regret by rounds.

    Floats read back exactly; the standard error is empty where there is one run only, and scaling
    for algorithms without s.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for panel in figure.panels:
        for line in figure.lines:
            curve = sweep.curves[panel, line]
            config = curve.config
            about = (
                config.algorithm.name,
                decimal_text(panel.epsilon),
                "" if line.scaling is None else line.scaling,
                config.radius.value,
                config.instances.name,
                config.setting.arms,
                config.setting.horizon,
            )
            points = zip(
                curve.rounds.tolist(), curve.mean.tolist(), curve.error.tolist(), strict=True
            )
            for rounds, mean, error in points:
                shown = "" if math.isnan(error) else repr(error)
                writer.writerow((*about, rounds, repr(mean), shown, curve.runs))
    return text.getvalue()
