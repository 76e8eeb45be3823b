"""For laws with an entire transform: vertical paths through a saddle point, and its logarithm."""

from __future__ import annotations

from collections.abc import Sequence

from flint import acb, arb


def any_log(w: acb) -> acb:
    """Some logarithm of w: e^(n any_log(w)) encloses w^n for whole n, on whatever branch it is.

    On balls where w may vanish |w^n| <= e^(n log|w|): an exponent whose imaginary part covers a
    full turn encloses the whole disc.
    """
    if w.contains(0):
        return acb(arb(w.abs_upper()).log(), arb(0, 4))
    return (-w).log() + acb(0, arb.pi()) if w.real < 0 else w.log()


def vertical_path(saddle: float, side: int, spread: float) -> Sequence[acb]:
    """The segment from s to s + i pi, s the saddle point kept clear of 0 on the asked side.

    spread: about the standard deviation. The integrand of a tail has a pole at 0; a distance of
    3/spread keeps it harmless. The choice moves the cost, never the value (Cauchy).
    """
    clearance = min(1.0, 3 / spread)
    start = saddle if side == 0 else side * max(side * saddle, clearance)
    return [acb(arb(start)), acb(arb(start), arb.pi())]
