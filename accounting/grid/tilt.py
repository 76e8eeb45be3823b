"""Where on the exponential scale delta is decided: chosen in floats, nothing certain rests on it.

With K = log E e^(cL) and (1 - e^-x)^+ <= C e^(cx), log C = c log c - (1 + c) log(1 + c),

    log delta(level) <= K(c) - c level + log C    for every c > 0,

least where K'(c) + log(c/(1 + c)) = level; as a bound of the level for a given delta it is least
where c K'(c) - K(c) + log(1 + c) + log delta = 0. Weights tilted by that c are largest near the
level. Where a few large losses outweigh all others from some c on, a little less of it leaves
these out and loses next to nothing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..losses.composite import rising_root
from ..losses.law import Cumulant
from .cells import Parts, Seen

_LESS = (0.95, 0.9, 0.85, 0.8, 0.7, 0.6)  # of c, which are tried
_NEXT_TO_NOTHING = 3.0  # nats


class Tilt(NamedTuple):
    """The tilt, the level that it belongs to, and K there."""

    c: float
    level: float
    cumulant: Cumulant


class _Sum(NamedTuple):
    """Losses, each so many times."""

    parts: list[tuple[Seen, int]]

    def cumulant(self, c: float) -> Cumulant:
        each = [(law.cumulant(c), times) for law, times in self.parts]
        return Cumulant(*(sum(times * one[k] for one, times in each) for k in range(3)))


def seen(parts: Parts, log_tail: float) -> _Sum:
    """The sum of these losses, without those that are in no cell."""
    return _Sum([(Seen(law, log_tail), times) for law, times in parts])


def tilt_at(losses: _Sum, level: float) -> Tilt:
    """For delta at this level."""

    def slope(log_c: float) -> float:
        c = math.exp(log_c)
        return losses.cumulant(c).slope + log_c - math.log1p(c) - level

    return _lessened(losses, math.exp(rising_root(slope)), level)


def tilt_for(losses: _Sum, log_delta: float) -> Tilt:
    """For the level >= 0 at which delta is about e^log_delta."""

    def rest(log_c: float) -> float:
        c = math.exp(log_c)
        here = losses.cumulant(c)
        return c * here.slope - here.value + math.log1p(c) + log_delta

    c = math.exp(rising_root(rest))
    constant = c * math.log(c) - (1 + c) * math.log1p(c)
    level = (losses.cumulant(c).value + constant - log_delta) / c
    return _lessened(losses, c, level) if level > 0 else tilt_at(losses, 0.0)


def _lessened(losses: _Sum, c: float, level: float) -> Tilt:
    best = Tilt(c, level, losses.cumulant(c))
    least = best.cumulant.value - c * level
    for share in _LESS:
        one = losses.cumulant(share * c)
        more = one.value - share * c * level - least
        if more < _NEXT_TO_NOTHING and 2 * one.curvature < best.cumulant.curvature:
            best = Tilt(share * c, level, one)
    return best
