"""The picture of a figure, as PNG and SVG: the same bytes for the same data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ...common.canvas import FONT, canvas, rendered
from ...exact.number import decimal_text
from ..algorithms import (
    CDP_SE,
    DIST_CDP_SE,
    DIST_DP_KLUCB,
    DIST_DP_SE,
    DIST_RDP_SE,
    DP_SE,
    KL_UCB,
    LDP_SE,
)
from ..instances import Fixed
from ..lower_bound import lower_bound
from ..prepare import Radius
from .pictures import PUBLISHED_VALUES, Figure, Line, Panel, Place
from .sweep import Curve, Sweep

_DPI, _KINDS = 160, ("png", "svg")
_PANEL, _ALONE = (3.2, 2.5), (6.6, 3.2)  # inches, with its labels
_HEAD, _LEGEND = 1.0, 0.36  # above, and below for each row of the legend
_COLUMNS, _FEW = 5, 3  # of the legend, at most: of names, and of names with radii
_LONG = 24  # letters: the longest name without a radius has fewer
_MARKERS = 7  # a curve
_BAND = 2  # standard errors
_ROOM = 1.5  # above and below the curves on log axes
_ENDS = ((0, min), (1, max))

SETTINGS = {
    "axes.titlesize": FONT + 0.5,
    "axes.labelsize": FONT,
    "xtick.labelsize": FONT - 1,
    "ytick.labelsize": FONT - 1,
    "legend.fontsize": FONT,
    "axes.linewidth": 0.8,
}
_Dashes = tuple[float, ...]
_GREY = "#707070"
_BLACK, _BLUE, _SKY, _GREEN = "#000000", "#0072B2", "#56B4E9", "#009E73"
_ORANGE, _VERMILION, _PURPLE = "#E69F00", "#D55E00", "#AA4499"
COLOURS = (_BLUE, _VERMILION, _GREEN, _ORANGE, _SKY, _PURPLE, _BLACK)


def draw(figure: Figure, sweep: Sweep) -> dict[str, bytes]:
    """The picture, by file suffix: png and svg. Raises ImportError without matplotlib."""
    columns = max(map(len, figure.rows))
    across = min(_FEW if max(map(len, figure.labels)) > _LONG else _COLUMNS, len(figure.lines))
    legend_rows = -(-len(figure.lines) // across)
    below = _LEGEND * legend_rows
    wide, high = _PANEL if columns > 1 else _ALONE
    size = (wide * columns, _HEAD + high * len(figure.rows) + below)
    height = size[1]
    inside = (0.004, below / height, 0.992, 1 - (below + _HEAD) / height)
    with canvas(size, SETTINGS, rect=inside, wspace=0.03) as picture:
        axes = picture.subplots(len(figure.rows), columns, squeeze=False)
        for index, panel in enumerate(figure.panels):
            at = axes[divmod(index, columns)]
            _panel(at, figure, panel, sweep)
            letter = f"({chr(ord('a') + index)}) " if len(figure.panels) > 1 else ""
            at.set_title(letter + _titled(panel, sweep), loc="left")
        for row, panels in zip(axes, figure.rows, strict=True):
            row[0].set_ylabel("time-average regret")
            if len({panel.place for panel in panels}) == 1:
                low, top = (pick(at.get_ylim()[end] for at in row) for end, pick in _ENDS)
                for at in row:
                    at.set_ylim(low, top)
        for at in axes[-1]:
            at.set_xlabel("rounds")
        picture.align_ylabels()
        _words(picture, figure, sweep, height)
        handles = [_key(line) for line in figure.lines]
        picture.legend(
            handles,
            figure.labels,
            loc="lower center",
            ncols=across,
            frameon=False,
            handlelength=3.4,
            borderaxespad=0.35,
            columnspacing=1.6,
        )
        return {kind: rendered(picture, kind, dpi=_DPI, facecolor="white") for kind in _KINDS}


def _panel(axes: Any, figure: Figure, panel: Panel, sweep: Sweep) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    for index, line in enumerate(figure.lines):
        curve, style = sweep.curves[panel, line], STYLES[line]
        rounds, mean = curve.rounds, curve.mean
        if curve.runs > 1:
            paired = sweep.paired(figure, panel, line)
            width = _BAND * (curve.error if paired is None else paired)
            low = np.maximum(mean - width, 0)
            axes.fill_between(rounds, low, mean + width, color=style.colour, alpha=0.13, lw=0)
        axes.plot(rounds, mean, **_drawn(line, _marks(curve, index, len(figure.lines))))
        for at in PUBLISHED_VALUES.get((panel, line), ()) if sweep.scale.published else ():
            axes.plot(*at, color=_BLACK, marker="+", markersize=9, markeredgewidth=1.4, zorder=9)
    axes.set_xscale("log")
    axes.set_xlim(curve.rounds[0], curve.rounds[-1])
    if figure.bound:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        means = [sweep.curves[panel, line].mean for line in figure.lines]
        shown = np.concatenate([*means, _bound(axes, curve)])
        if (shown > 0).any():
            axes.set_ylim(shown[shown > 0].min() / _ROOM, max(map(np.max, means)) * _ROOM)
        return
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.set_ylim(bottom=0)


def _is_paired(figure: Figure, sweep: Sweep) -> bool:
    """Are bands of differences (`Sweep.paired`)?"""
    own = any(sweep.places[panel.place].own for panel in figure.panels)
    return own and len(figure.lines) > 1 and sweep.scale.runs > 1


def _bound(axes: Any, curve: Curve) -> NDArray[np.float64]:
    """Draw the known lower bound of the instance, where all runs have one of coins."""
    if isinstance(curve.config.instances, Fixed):
        found = lower_bound(curve.config.instances.given, curve.config.setting.epsilon)
        if found is not None:
            at = float(found) * np.log(curve.rounds) / curve.rounds
            axes.plot(curve.rounds, at, color=_GREY, linewidth=1.4, linestyle=(0, (1, 1.6)))
            return np.asarray(at)
    return np.empty(0)


def _marks(curve: Curve, index: int, lines: int) -> list[int]:
    """Where the markers of a curve are: staggered, so that curves on top of each other show."""
    step = len(curve.rounds) / _MARKERS
    places = (step * (each + (index + 0.5) / lines) for each in range(_MARKERS))
    return sorted({min(int(place), len(curve.rounds) - 1) for place in places})


def _drawn(line: Line, marks: list[int] | None = None) -> Mapping[str, Any]:
    style = STYLES[line]
    return {
        "color": style.colour,
        "linewidth": 1.7,
        "linestyle": (0, style.dashes) if style.dashes else "-",
        "marker": style.marker,
        "markersize": 5.2,
        "markeredgewidth": 1.2,
        "markerfacecolor": "white" if style.hollow else style.colour,
        "markevery": marks,
    }


def _key(line: Line) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], **_drawn(line))


def _titled(panel: Panel, sweep: Sweep) -> str:
    place = sweep.places[panel.place]
    horizon = _power(sweep.scale.horizons[panel.place])
    return (
        f"{panel.place.value}, ε = {decimal_text(panel.epsilon)}, K = {place.arms}, T = {horizon}"
    )


def _power(number: int) -> str:
    digits = str(number)
    if digits.strip("0") == "1" and number >= 10**4:
        return f"$10^{{{len(digits) - 1}}}$"
    return f"{number:,}"


def _words(canvas: Any, figure: Figure, sweep: Sweep, height: float) -> None:
    """Heading, and what one must know to read the picture."""
    left, lines = 0.012, "\n".join([*_caption(figure, sweep), _remarks(figure, sweep)])
    canvas.text(left, 1 - 0.1 / height, figure.heading, va="top", weight="bold", size=FONT + 2)
    canvas.text(
        left, 1 - 0.37 / height, lines, va="top", color="#404040", size=FONT - 0.5, linespacing=1.4
    )


def _caption(figure: Figure, sweep: Sweep) -> list[str]:
    scale, lines, places = sweep.scale, figure.lines, {panel.place for panel in figure.panels}
    if scale.runs == 1:
        first = ["one run"]
    else:
        drawn = "of the published instances" if scale.published else "random instances"
        many = "runs" if places <= {Place.RATINGS, Place.COINS} else drawn
        if Place.RATINGS in places and len(places) > 1:
            many += f" (ratings: {scale.runs} runs)"
        first = [f"mean over {scale.runs} {many}", f"bands: ±{_BAND} standard errors"]
    own = " (DP-SE: as its paper says)" if any(line.algorithm == DP_SE for line in lines) else ""
    growth = figure.panels[0].growth or scale.growth
    first.append(f"$l(b) = {growth}^b$ users an arm in batch $b${own}")
    second = [f"p = {decimal_text(scale.confidence)}"]
    if len({line.radius for line in lines}) == 1:
        second[0] += ", confidence radius as each algorithm's paper states it"
    if Place.RATINGS in places:
        ratings = sweep.places[Place.RATINGS]
        second.append(f"ratings: {ratings.name}, in {ratings.arms} clusters")
    if figure.remark:
        second.append(figure.remark)
    return ["; ".join(first), "; ".join(second)]


def _remarks(figure: Figure, sweep: Sweep) -> str:
    """What the bands are of, and what else is drawn."""
    found = []
    if _is_paired(figure, sweep):
        reference = figure.labels[figure.lines.index(figure.reference)]
        found.append(f"bands: of the difference from {reference} on the same instances")
    if sweep.scale.published and any(place in PUBLISHED_VALUES for place in _shown(figure)):
        found.append("crosses: the published code")
    return "; ".join(found)


def _shown(figure: Figure) -> Iterable[tuple[Panel, Line]]:
    return product(figure.panels, figure.lines)


@frozen
class Style:
    """dashes: lengths on and off, in line widths; none for a solid line. hollow: the marker."""

    colour: str
    dashes: _Dashes
    marker: str
    hollow: bool = False


STYLES: Mapping[Line, Style] = MappingProxyType(
    {
        Line(DIST_DP_SE): Style(_BLUE, (), "o"),
        Line(DIST_RDP_SE, 10): Style(_VERMILION, (6, 1.5), "s"),
        Line(DIST_RDP_SE, 100): Style(_ORANGE, (6, 1.5, 1.2, 1.5), "D", hollow=True),
        Line(DP_SE): Style(_BLACK, (1.2, 1.2), "x"),
        Line(CDP_SE): Style(_SKY, (3, 2.5), "v", hollow=True),
        Line(LDP_SE): Style(_PURPLE, (9, 2, 1.2, 2, 1.2, 2), "P"),
        Line(DIST_CDP_SE, 10): Style(_GREEN, (3, 1.2), "^"),
        Line(DIST_DP_SE, None, Radius.CERTIFIED): Style(_VERMILION, (6, 1.5), "s"),
        Line(DIST_DP_KLUCB, None, Radius.CERTIFIED): Style(_GREEN, (3, 1.2), "^"),
        Line(KL_UCB, None, Radius.CERTIFIED): Style(_SKY, (3, 2.5), "v", hollow=True),
    }
)
