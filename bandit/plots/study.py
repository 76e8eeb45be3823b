"""Pictures of a study: time-average regret, a picture for each instance, arms and horizon."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ...common.atomic_write import atomic_write
from ...common.canvas import FONT, canvas, rendered
from ...common.parallel import each
from ...exact.number import located
from ..study import Study
from .drawing import COLOURS, SETTINGS

_PANEL, _HEAD, _LEGEND, _COLUMNS = (3.4, 2.7), 0.45, 0.24, 3  # inches, the last: of the legend
_DASHES = ("-", (0, (6, 1.5)), (0, (3, 1.2)), (0, (1.2, 1.2)))
_MARKERS = "osD^vxP*"
_KINDS, _DPI, _BAND = ("png", "svg"), 160, 2
Row: TypeAlias = Mapping[str, Any]
Place: TypeAlias = tuple[str, int, int]  # instance, arms, horizon


def write(
    done: Study, folder: Path, workers: int = 1, progress: Callable[[int], None] = lambda _: None
) -> list[Path]:
    """Draw a study: NAME.png and NAME.svg each. Raises ParameterError, ImportError as `files`."""
    places: dict[Place, list[Row]] = {}
    for row in done.rows:
        places.setdefault((row["instance"], row["arms"], row["horizon"]), []).append(row)
    points: dict[str, list[Row]] = {}
    for row in done.curves:
        points.setdefault(row["cell"], []).append(row)
    tasks = [
        (f"regret-{number}-{_slug(*place)}", place, rows, [points[row["cell"]] for row in rows])
        for number, (place, rows) in enumerate(places.items(), start=1)
    ]
    for _ in each(partial(_written, folder), tasks, workers):
        progress(1)
    return [folder / f"{name}.{kind}" for name, *_ in tasks for kind in _KINDS]


def _slug(instance: str, arms: int, horizon: int) -> str:
    """For names of files: letters and digits of the instance, however it is called."""
    short = re.sub(r"[^a-z0-9]+", "-", instance.lower())[:40].strip("-")
    return f"{short}-{arms}-arms-{horizon}"


def _written(folder: Path, task: tuple[str, Place, Sequence[Row], Sequence[Sequence[Row]]]) -> None:
    name, place, rows, curves = task
    for kind, content in _drawn(place, rows, curves).items():
        path = folder / f"{name}.{kind}"
        with located(f"out: {path}"), atomic_write(path) as temporary:
            temporary.write_bytes(content)


def _drawn(place: Place, rows: Sequence[Row], curves: Sequence[Sequence[Row]]) -> dict[str, bytes]:
    """A panel for each epsilon, what is not private in each of them."""
    budgets = list(dict.fromkeys(row["epsilon"] for row in rows if row["epsilon"])) or [None]
    labels = list(dict.fromkeys(row["label"] for row in rows))
    below = _LEGEND * -(-len(labels) // _COLUMNS)
    size = (max(_PANEL[0] * len(budgets), 6.8), _HEAD + _PANEL[1] + below)
    inside = (0.004, below / size[1], 0.992, 1 - (below + _HEAD) / size[1])
    instance, arms, horizon = place
    with canvas(size, SETTINGS, rect=inside, wspace=0.03) as picture:
        axes = picture.subplots(1, len(budgets), squeeze=False, sharey=True)[0]
        keys = {}
        for at, budget in zip(axes, budgets, strict=True):
            for row, curve in zip(rows, curves, strict=True):
                if row["epsilon"] in (budget, None):
                    style = _style(labels.index(row["label"]))
                    keys[row["label"]] = _curve(at, curve, style)
            at.set_xscale("log")
            at.set_yscale("log")
            at.set_title("" if budget is None else f"ε = {budget}", loc="left")
            at.set_xlabel("rounds")
        axes[0].set_ylabel("time-average regret")
        band = f"; bands: ±{_BAND} standard errors" if rows[0]["runs"] > 1 else ""
        words = f"{instance[:60]}, K = {arms}, T = {horizon:,}, {rows[0]['runs']} runs{band}"
        picture.text(0.012, 1 - 0.1 / size[1], words, va="top", weight="bold", size=FONT + 1)
        shown = [keys[label] for label in labels]
        picture.legend(shown, labels, loc="lower center", ncols=_COLUMNS, frameon=False)
        return {kind: rendered(picture, kind, dpi=_DPI, facecolor="white") for kind in _KINDS}


def _curve(axes: Any, curve: Sequence[Row], style: Mapping[str, Any]) -> Any:
    """From the first round with any regret on: axes are logarithmic."""
    seen = [point for point in curve if point["mean"] > 0]
    rounds, mean, error = (
        np.array([point[name] or 0.0 for point in seen], dtype=float)
        for name in ("round", "mean", "standard_error")
    )
    if error.any():
        low = np.maximum(mean - _BAND * error, mean / 1e3)
        axes.fill_between(rounds, low, mean + _BAND * error, color=style["color"], alpha=0.13, lw=0)
    (line,) = axes.plot(rounds, mean, **style)
    return line


def _style(number: int) -> dict[str, Any]:
    """Colours, dashes and markers, which repeat at different lengths."""
    colour, dash, marker = (
        next(islice(cycle(each), number, None)) for each in (COLOURS, _DASHES, _MARKERS)
    )
    drawn = {"color": colour, "linestyle": dash, "marker": marker, "markevery": (number, 7)}
    return {**drawn, "linewidth": 1.6, "markersize": 4.5}
