"""The figure of the page of protocols: what is left as users vanish. The same bytes each time.

The colours are Okabe and Ito's (Color Universal Design, 2008), and dashes tell the lines apart
without any colour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from attrs import frozen

from exactdp.common.canvas import canvas, rendered
from exactdp.exact import Enclosure
from exactdp.mechanisms.additive import papers
from exactdp.protocols import SumProtocol, provisioned

from .missing import remaining_pure, remaining_renyi

_WAYS = ("0", "0.1", "0.3")  # how many may vanish: the shares are made for that
_LABELS = {"0": "as published", "0.1": "shares for 10 % missing", "0.3": "shares for 30 % missing"}
_STYLES: Mapping[str, Mapping[str, Any]] = {
    "0": {"color": "#D55E00", "linestyle": "-"},
    "0.1": {"color": "#0072B2", "linestyle": (0, (6, 1.5))},
    "0.3": {"color": "#009E73", "linestyle": (0, (2.5, 1.2))},
}
_SIZE = (8.6, 3.6)


@frozen
class Curve:
    """What is left of a promise. way: for which share of missing users the shares were made.

    points: shares of missing users, and what remains; enclosures, drawn at their middle.
    """

    way: str
    points: tuple[tuple[Fraction, Enclosure], ...]


def curves(
    protocol: SumProtocol,
    remaining: Callable[[SumProtocol, int], Enclosure],
    steps: int = 30,
    most: Fraction = Fraction(3, 5),
) -> list[Curve]:
    """What remains at so many equal steps of the share that is missing, up to `most`."""
    users = protocol.users
    places = sorted({int(most * users * step / steps) for step in range(steps + 1)})
    found = []
    for way in _WAYS:
        larger = provisioned(protocol, int(Fraction(way) * users)).protocol
        points = ((Fraction(each, users), remaining(larger, each)) for each in places)
        found.append(Curve(way, tuple(points)))
    return found


def svg(epsilon: str = "0.5", users: int = 1024, horizon: int = 10**6, steps: int = 30) -> str:
    """Theorem 1's pure epsilon and Theorem 2's Rényi divergence of order 2, as SVG."""
    one = papers.theorem1(epsilon, users, horizon).protocol
    two = papers.theorem2(epsilon, users, horizon, 10).protocol
    panels = (
        ("Theorem 1", "pure ε that remains", Fraction(epsilon), curves(one, remaining_pure, steps)),
        (
            "Theorem 2, scaling 10",
            "Rényi divergence of order 2",
            papers.theorem2_curve(epsilon, 10, 2),
            curves(two, lambda protocol, gone: remaining_renyi(protocol, gone, 2), steps),
        ),
    )
    with canvas(_SIZE, wspace=0.06) as picture:
        for axes, (title, label, promised, drawn) in zip(
            picture.subplots(1, 2), panels, strict=True
        ):
            _panel(axes, drawn, float(promised))
            axes.set_title(f"{title}: ε = {epsilon}, n = {users}", loc="left")
            axes.set_ylabel(label)
        handles, labels = axes.get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        return rendered(picture, "svg").decode()


def _panel(axes: Any, drawn: list[Curve], promised: float) -> None:
    axes.axhline(promised, color="black", linewidth=1, linestyle=(0, (1, 1.5)), label="promised")
    for curve in drawn:
        missing = [100 * float(share) for share, _ in curve.points]
        middles = [
            float(Fraction(value.lower) + Fraction(value.upper)) / 2 for _, value in curve.points
        ]
        axes.plot(missing, middles, linewidth=1.9, label=_LABELS[curve.way], **_STYLES[curve.way])
    axes.set_xlabel("users missing, %")
    axes.set_xlim(0, 10 * math.ceil(missing[-1] / 10))
    axes.set_ylim(bottom=0)
