"""Pictures of what was certified: as files, and as SVG inside a page, in the page's own colours."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..accounting.composition.curves import Profile
from ..accounting.composition.tradeoff import Tradeoff
from ..common.canvas import canvas, rendered
from ..exact import Enclosure
from ..exact.rounding import float_above, float_below

Draw = Callable[[Any], object]

_SIZE = (4.8, 3.2)  # so that its letters are read on a telephone
_KINDS = ("svg", "png", "pdf")

# What matplotlib draws in these colours, a page shows in its own (`currentColor`, `--curve`, ...).
_INK, _GRID, _CURVE = "#010203", "#040506", "#070809"
_OF_THE_PAGE = {_INK: "currentColor", _GRID: "var(--line)", _CURVE: "var(--curve)"}
_SETTINGS: Mapping[str, object] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), _INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), _INK),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    "grid.color": _GRID,
    "legend.frameon": False,
    "font.size": 11,
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and copied
}


def kind_of(name: str) -> str | None:
    """svg, png or pdf, by a file's name; None for any other."""
    return next((kind for kind in _KINDS if name.lower().endswith(f".{kind}")), None)


def both_curves(profile: Profile, tradeoff: Tradeoff, kind: str) -> bytes:
    """A file with the profile on the left and the trade-off curve on the right."""
    with canvas((9.6, 3.8)) as picture:
        left, right = picture.subplots(1, 2)
        profile.plot(left)
        tradeoff.plot(right)
        return rendered(picture, kind)


def profile_svg(profile: Profile) -> str:
    """delta against epsilon, for a page."""
    return _inline("profile", profile.plot)


def tradeoff_svg(curve: Tradeoff) -> str:
    """The type II error against the type I error, for a page."""
    return _inline("tradeoff", curve.plot)


def uses_svg(times: Sequence[int], epsilons: Sequence[Enclosure], label: str) -> str:
    """epsilon against how often, both axes logarithmic: bars from the lower to the upper bound."""

    def draw(ax: Any) -> None:
        low = [float_below(each.lower) for each in epsilons]
        high = [float_above(each.upper) for each in epsilons]
        for edge in (low, high):
            ax.plot(times, edge, linewidth=0.8, color=_CURVE, marker="o", markersize=3)
        ax.fill_between(times, low, high, alpha=0.3, linewidth=0, color=_CURVE)
        ax.set_xscale("log")
        ax.set_yscale("log")
        from matplotlib import ticker

        for axis, marks in ((ax.xaxis, (1,)), (ax.yaxis, (1, 2, 5))):
            axis.set_major_locator(ticker.LogLocator(subs=marks))
            axis.set_minor_locator(ticker.NullLocator())
            axis.set_major_formatter("{x:g}")
        ax.set_xlabel("releases")
        ax.set_ylabel(label)

    return _inline("uses", draw)


def spent_svg(counts: Sequence[int]) -> str:
    """How many users have spent how much of a limit, in equal steps of it."""

    def draw(ax: Any) -> None:
        step = 100 / len(counts)
        ends = [(number + 0.5) * step for number in range(len(counts))]
        ax.bar(ends, counts, width=0.9 * step, color=_CURVE)
        ax.set_axisbelow(True)
        ax.set_xlim(0, 100)
        ax.yaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("spent of the limit, in %")
        ax.set_ylabel("users")

    return _inline("spent", draw)


def _inline(name: str, draw: Draw) -> str:
    """An <svg> without a size, names of its own, or anything that is fetched from elsewhere."""
    settings = {**_SETTINGS, "svg.hashsalt": name, "axes.prop_cycle": _cycle()}
    with canvas(_SIZE, settings) as picture:
        draw(picture.subplots())
        text = rendered(picture, "svg").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text)
    text = re.sub(r' id="[A-Za-z]+[\w.]*_\d+"', "", text)  # nobody refers to those of groups
    for drawn, shown in _OF_THE_PAGE.items():
        text = text.replace(drawn, shown)
    return text.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def _cycle() -> Any:
    from cycler import cycler

    return cycler(color=[_CURVE])
