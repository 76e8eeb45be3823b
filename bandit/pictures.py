"""Pictures of regret: of a study, and of the runs of one algorithm; the same bytes each time.

A study has one picture for each instance, number of arms and horizon, a panel for each epsilon:
time-average regret on log axes. Runs of one algorithm are drawn as papers do, cumulative regret.
Both have a band of two standard errors, and the known lower bound of regret where there is one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..common.atomic_write import atomic_write
from ..common.canvas import FONT, canvas, rendered
from ..common.parallel import each
from ..exact.number import ParameterError, located
from .results import Results
from .study import Study
from .yardsticks import Yardsticks

_PANEL, _HEAD, _LEGEND, _COLUMNS = (3.4, 2.7), 0.45, 0.24, 3  # inches, the last: of the legend
_ALONE = (6.6, 4.2)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#AA4499", "#000000")
_DASHES = ("-", (0, (6, 1.5)), (0, (3, 1.2)), (0, (1.2, 1.2)))
_MARKERS = "osD^vxP*"
_BOUND = {"color": "#707070", "linewidth": 1.4, "linestyle": (0, (1, 1.6))}
_STUDY_KINDS, _KINDS = ("png", "svg"), ("png", "svg", "pdf")
_DPI, _BAND = 160, 2  # standard errors
_ROOM = 1.5  # above the curves, up to where the lower bound is drawn
_SETTINGS = {
    "axes.titlesize": FONT + 0.5,
    "axes.labelsize": FONT,
    "xtick.labelsize": FONT - 1,
    "ytick.labelsize": FONT - 1,
    "legend.fontsize": FONT,
    "axes.linewidth": 0.8,
}
Row: TypeAlias = Mapping[str, Any]
_Subject: TypeAlias = tuple[str, int, int]  # instance, arms, horizon


def picture_kind(path: Path) -> str:
    """png, svg or pdf, by the suffix. Raises ParameterError for any other."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _KINDS:
        raise ParameterError(f"--plot: the name must end with .png, .svg or .pdf, got {path.name}")
    return kind


def plot_runs(path: Path, title: str, results: Results, beside: Yardsticks) -> None:
    """Draw cumulative regret over rounds, on a log axis, where the lower bound is a straight line.

    Raises ParameterError where the file cannot be written, ImportError without matplotlib.
    """
    rounds, regret = results.rounds.astype(float), results.regret
    mean = regret.mean(axis=0)
    with canvas(_ALONE, _SETTINGS) as picture:
        axes = picture.subplots()
        if results.runs > 1:
            error = _BAND * regret.std(axis=0, ddof=1) / np.sqrt(results.runs)
            low = np.maximum(mean - error, 0)
            axes.fill_between(rounds, low, mean + error, color=_COLOURS[0], alpha=0.13, lw=0)
        label = results.plan.algorithm.name
        if results.runs > 1:
            label += f": mean of {results.runs} runs, band: ±{_BAND} standard errors"
        axes.plot(rounds, mean, color=_COLOURS[0], linewidth=1.7, label=label)
        if beside.lower_bound is not None:
            bound = _bound(float(beside.lower_bound), rounds)
            axes.plot(rounds, bound, **_BOUND, label=f"lower bound of {beside.barrier.value}")
        axes.set_xscale("log")
        axes.set_xlim(1, rounds[-1])
        axes.set_ylim(bottom=0)
        axes.set_xlabel("rounds")
        axes.set_ylabel("cumulative regret")
        axes.set_title(title, loc="left")
        axes.legend(loc="upper left", frameon=False)
        content = rendered(picture, picture_kind(path), dpi=_DPI, facecolor="white")
    _write(path, "--plot", content)


def write_pictures(
    done: Study, folder: Path, workers: int = 1, progress: Callable[[int], None] = lambda _: None
) -> list[Path]:
    """Draw a study: NAME.png and NAME.svg each. Raises ParameterError and ImportError as above."""
    subjects: dict[_Subject, list[Row]] = {}
    for row in done.rows:
        subjects.setdefault((row["instance"], row["arms"], row["horizon"]), []).append(row)
    points: dict[str, list[Row]] = {}
    for row in done.curves:
        points.setdefault(row["cell"], []).append(row)
    tasks = [
        (f"regret-{number}-{_slug(*subject)}", subject, rows, [points[row["cell"]] for row in rows])
        for number, (subject, rows) in enumerate(subjects.items(), start=1)
    ]
    for _ in each(partial(_written, folder), tasks, workers):
        progress(1)
    return [folder / f"{name}.{kind}" for name, *_ in tasks for kind in _STUDY_KINDS]


def _slug(instance: str, arms: int, horizon: int) -> str:
    """For names of files: letters and digits of the instance, however it is called."""
    short = re.sub(r"[^a-z0-9]+", "-", instance.lower())[:40].strip("-")
    return f"{short}-{arms}-arms-{horizon}"


def _written(
    folder: Path, task: tuple[str, _Subject, Sequence[Row], Sequence[Sequence[Row]]]
) -> None:
    name, subject, rows, curves = task
    for kind, content in _drawn(subject, rows, curves):
        _write(folder / f"{name}.{kind}", "out", content)


def _write(path: Path, option: str, content: bytes) -> None:
    with located(f"{option}: {path}"), atomic_write(path) as temporary:
        temporary.write_bytes(content)


def _drawn(
    subject: _Subject, rows: Sequence[Row], curves: Sequence[Sequence[Row]]
) -> Iterator[tuple[str, bytes]]:
    """A panel for each epsilon, what is not private in each of them."""
    budgets = list(dict.fromkeys(row["epsilon"] for row in rows if row["epsilon"])) or [None]
    labels = list(dict.fromkeys(row["label"] for row in rows))
    below = _LEGEND * -(-len(labels) // _COLUMNS)
    size = (max(_PANEL[0] * len(budgets), 6.8), _HEAD + _PANEL[1] + below)
    inside = (0.004, below / size[1], 0.992, 1 - (below + _HEAD) / size[1])
    instance, arms, horizon = subject
    with canvas(size, _SETTINGS, rect=inside, wspace=0.03) as picture:
        from matplotlib.ticker import LogLocator

        panels = picture.subplots(1, len(budgets), squeeze=False, sharey=True)[0]
        keys, top = {}, max(point["mean"] for curve in curves for point in curve)
        for axes, budget in zip(panels, budgets, strict=True):
            for row, curve in zip(rows, curves, strict=True):
                if row["epsilon"] in (budget, None):
                    style = _style(labels.index(row["label"]))
                    keys[row["label"]] = _curve(axes, curve, style)
            bounds = [row["lower_bound"] for row in rows if row["epsilon"] == budget]
            if any(bounds):  # of those algorithms that may do best
                rounds = np.array([point["round"] for point in curves[0]], dtype=float)
                least = min(bound for bound in bounds if bound)
                average = _bound(least, rounds) / rounds
                near = (rounds >= np.e) & (average <= _ROOM * top)
                axes.plot(rounds[near], average[near], **_BOUND)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("")
            axes.set_title("" if budget is None else f"ε = {budget}", loc="left")
            axes.set_xlabel("rounds")
        panels[0].set_ylabel("time-average regret")
        words = f"{instance[:60]}, K = {arms}, T = {horizon:,}, {rows[0]['runs']} runs"
        words += f"; bands: ±{_BAND} standard errors" if rows[0]["runs"] > 1 else ""
        words += "; dotted: the lower bound" if any(row["lower_bound"] for row in rows) else ""
        picture.text(0.012, 1 - 0.1 / size[1], words, va="top", weight="bold", size=FONT + 1)
        shown = [keys[label] for label in labels]
        picture.legend(shown, labels, loc="lower center", ncols=_COLUMNS, frameon=False)
        for kind in _STUDY_KINDS:
            yield kind, rendered(picture, kind, dpi=_DPI, facecolor="white")


def _bound(at_horizon: float, rounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lower bound after each of these rounds, from that after the last: times log t."""
    return np.asarray(at_horizon * np.log(rounds) / np.log(rounds[-1]))


def _curve(axes: Any, curve: Sequence[Row], style: Mapping[str, Any]) -> Any:
    """From the first round with any regret on: axes are logarithmic."""
    positive = [point for point in curve if point["mean"] > 0]
    rounds, mean, error = (
        np.array([point[name] or 0.0 for point in positive], dtype=float)
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
        next(islice(cycle(each), number, None)) for each in (_COLOURS, _DASHES, _MARKERS)
    )
    drawn = {"color": colour, "linestyle": dash, "marker": marker, "markevery": (number, 7)}
    return {**drawn, "linewidth": 1.6, "markersize": 4.5}
