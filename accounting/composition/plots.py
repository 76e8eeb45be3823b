"""Pictures of curves with certified bounds: what lies between the bounds is shaded.

Between the points of a grid the bounds are those of every convex function within the bounds there:
chords above, `polygon_below` below; and since none of them rises, none is below what the next point
is known to be at least. They are drawn in floats, far finer than a pixel.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...exact import Enclosure, ball, working_precision
from ...exact.extra import bring
from ...exact.rounding import float_above, float_below
from ..convex import balls, polygon_below

_FINE = 2000  # places where the bounds are drawn
_BITS = 256
_FLOOR = 1e-300  # where a logarithmic axis ends at the latest

_Floats = NDArray[np.float64]


def plot_profile(epsilons: Sequence[Fraction], deltas: Sequence[Enclosure], ax: Any) -> Any:
    """delta, on a logarithmic axis, against epsilon."""
    ax = _axes(ax)
    top = epsilons[-1]
    with working_precision(_BITS):  # odds relative to the largest, which is any size
        odds = [(ball(epsilon) - ball(top)).exp() for epsilon in epsilons]
        corners = polygon_below(odds, [balls(delta) for delta in deltas])
    at = np.linspace(float(epsilons[0]), float(top), _FINE)
    low, high = _bounds(np.exp(at - float(top)), odds, corners, deltas)
    seen = [float_above(delta.upper) for delta in deltas if delta.upper > 0]
    ax.set_yscale("log")
    ax.set_ylim(max(min(seen, default=1.0) / 10, _FLOOR), 1)
    _shade(ax, at, np.maximum(low, _FLOOR), np.maximum(high, _FLOOR))
    ax.set_xlabel("ε")
    ax.set_ylabel("δ")
    return ax


class Errors(Protocol):
    """Errors of tests at rising type I errors, as `Tradeoff` has them."""

    @property
    def alphas(self) -> Sequence[Fraction]: ...
    @property
    def betas(self) -> Sequence[Enclosure]: ...
    @property
    def forward(self) -> Sequence[Enclosure]: ...
    @property
    def backward(self) -> Sequence[Enclosure]: ...
    @property
    def hull(self) -> Sequence[Enclosure]: ...


def plot_tradeoff(curve: Errors, ax: Any) -> Any:
    """The type II error against the type I error; guessing, and what is symmetric, beside it.

    Each direction is convex; what is shaded, the smaller of the two, need not be.
    """
    ax = _axes(ax)
    at = np.linspace(float(curve.alphas[0]), float(curve.alphas[-1]), _FINE)
    with working_precision(_BITS):
        errors = [ball(alpha) for alpha in curve.alphas]
        forward, backward, hull = (
            _bounds(at, errors, polygon_below(errors, [balls(beta) for beta in betas]), betas)
            for betas in (curve.forward, curve.backward, curve.hull)
        )
    _shade(ax, at, np.minimum(forward[0], backward[0]), np.minimum(forward[1], backward[1]))
    if curve.forward != curve.backward:
        for high, style, label in (
            (forward[1], "-.", "D ruled out"),
            (backward[1], (0, (1, 1)), "D\u2032 ruled out"),
            (hull[1], "--", "symmetric convex hull"),
        ):
            ax.plot(at, high, linestyle=style, linewidth=0.8, label=label)
    ax.plot([0, 1], [1, 0], linestyle=":", color="grey", linewidth=1, label="guessing")
    ax.set_xlabel("type I error α")
    ax.set_ylabel("type II error β")
    ax.legend()
    return ax


def _axes(ax: Any) -> Any:
    return bring("matplotlib.pyplot", "figures").subplots()[1] if ax is None else ax


def _bounds(
    at: _Floats, xs: Sequence[arb], corners: Sequence[tuple[arb, arb]], ys: Sequence[Enclosure]
) -> tuple[_Floats, _Floats]:
    """The lower and the upper bound, at these places, of what is convex and does not rise."""
    places = [float(x.mid()) for x in xs]
    low = np.interp(
        at, [float(x.mid()) for x, _ in corners], [float(y.lower()) for _, y in corners]
    )
    after = np.minimum(np.searchsorted(places, at), len(places) - 1)
    low = np.maximum(low, np.array([float_below(y.lower) for y in ys])[after])
    high = np.interp(at, places, [float_above(y.upper) for y in ys])
    return np.minimum(low, high), high


def _shade(ax: Any, at: _Floats, low: _Floats, high: _Floats) -> None:
    """The region between the bounds, with both as its edges, so that a narrow one is seen."""
    ax.fill_between(at, low, high, alpha=0.3, linewidth=0, label="certified to lie between")
    colour = ax.collections[-1].get_facecolor()[0][:3]
    for edge in (low, high):
        ax.plot(at, edge, color=colour, linewidth=0.8)
