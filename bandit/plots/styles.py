"""How each curve looks: told apart by colour, by dashes, and by markers, in any figure.

The colours are Okabe and Ito's (Color Universal Design, 2008), which the colour-blind can tell
apart; dashes and markers tell the curves apart without any colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..algorithms import CDP_SE, DIST_CDP_SE, DIST_DP_SE, DIST_RDP_SE, DP_SE, LDP_SE
from ..prepare import Radius
from .pictures import Line

__all__ = ["STYLES", "Style"]

_Dashes = tuple[float, ...]


@dataclass(frozen=True)
class Style:
    """dashes: lengths on and off, in line widths; none for a solid line. hollow: the marker."""

    colour: str
    dashes: _Dashes
    marker: str
    hollow: bool = False


_BLACK, _BLUE, _SKY, _GREEN = "#000000", "#0072B2", "#56B4E9", "#009E73"
_ORANGE, _VERMILION, _PURPLE = "#E69F00", "#D55E00", "#AA4499"

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
    }
)
