"""Vertical integration paths through a saddle point, for laws with an entire cumulant function."""

from __future__ import annotations

from collections.abc import Sequence

from flint import acb, arb

__all__ = ["vertical_path"]


def vertical_path(saddle: float, side: int, spread: float) -> Sequence[acb]:
    """The segment from s to s + i pi, s the saddle point kept clear of 0 on the asked side.

    spread: about the standard deviation. The integrand of a tail has a pole at 0; a distance of
    1/spread keeps it harmless. The choice moves the cost, never the value (Cauchy).
    """
    clearance = min(1.0, 1 / spread)
    start = saddle if side == 0 else side * max(side * saddle, clearance)
    return [acb(arb(start)), acb(arb(start), arb.pi())]
