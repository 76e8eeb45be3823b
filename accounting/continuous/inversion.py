"""delta(level) of composed uses of continuous mechanisms, from their transforms on one line.

With M the product of all uses' transforms and c > 0 (`losses.composite`),

    delta(level) = (1/2 pi i) int M(s) e^(-s level)/(s (s + 1)) ds,  Re s = c.

*Sums for integrals.* As in `losses.smoothed`: equidistant nodes of spacing h = 2 pi/Lambda give the
integral and its aliases e^(c Lambda r) delta(level + r Lambda), r != 0, which are positive and bounded.

*The far nodes.* From y = Y on |M| is at most D, the product of the parts' `decay`; since |s (s + 1)| >= y^2
and the sum of h/y^2 from Y on is at most 1/(Y - h), they weigh at most e^(-c level) D/(pi (Y - h)).

*Smoothing where that takes too many nodes.* As in `losses.smoothed`: with a factor
e^(sigma^2 s(s+1)/2), which is at most e^(sigma^2 (c(c+1) - y^2)/2), it is an upper bound U of delta, and
delta >= U - W, W the same integral with sigma^2 e^(sigma^2/8) s (s + 1) in it. sigma = 0 where none is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import acb, arb

from ...exact.deadline import check_time
from ..losses.composite import Composite, Saddle
from ..losses.periods import aliases
from .line import LineLaw, Table

__all__ = ["Profile"]


_PER_NODE, _PER_TERM = 3e-5, 6e-8  # what nodes and their terms cost, in about seconds
_FEWEST = 200


class Profile:
    """Bounds of delta(level) near one level, at the working precision of its creation."""

    def __init__(
        self,
        parts: Sequence[tuple[LineLaw, int]],
        saddle: Saddle,
        log_width: float,
        work: float,
    ) -> None:
        """log_width: of the relative width to aim for. work: about how many seconds to take.

        `sigma` is positive where the work allowed made smoothing necessary.
        """
        self.parts, self.saddle = parts, saddle
        self.composite = Composite(tuple(parts))
        self.c = arb(saddle.c)
        length, *self.sides = _period(self.composite, saddle, 12 - log_width)
        self.spacing = arb(2 * math.pi / length)
        self.length = 2 * arb.pi() / self.spacing
        # how far below M(c) the transform's rest and the rules' errors have to be: delta is about
        # M(c) e^(-c level) times e^scale
        scale = saddle.log_delta - saddle.cumulant.value + saddle.c * saddle.level
        self.need = max(10.0, 3 - log_width - scale)
        self._go_far_enough(work)
        self._collect()

    def bounds(self, level: arb) -> tuple[arb, arb]:
        """A lower and an upper bound of delta(level)."""
        check_time()
        above, gap = arb(0), arb(0)
        turn = acb(0, -self.spacing * level).exp()
        for wave, (value, value_gap) in zip(_turns(turn, len(self.nodes)), self.nodes, strict=True):
            above += (value * wave).real
            if self.sigma:
                gap += (value_gap * wave).real
        unit = (-self.c * level).exp()
        above = unit * above + arb(0, (unit * self.rest_above).upper())
        gap = unit * gap + arb(0, (unit * self.rest_gap).upper())
        added = aliases(self._sizes, self.c, self.length, level)
        lower, upper = above - gap - added, above
        return lower.max(arb(0)).lower(), upper.min(arb(1)).upper()

    def log_about(self, level: float) -> tuple[float, float]:
        """The logarithm of delta(level) and minus its slope, about."""
        waves = np.exp(-1j * self._heights * level) * self._above
        value = max(float(waves.real.sum()), 1e-300)
        slope = float((waves * (self.saddle.c + 1j * self._heights)).real.sum())
        return math.log(value) + self._log_peak - self.saddle.c * level, slope / value

    def _go_far_enough(self, work: float) -> None:
        c, spacing = self.saddle.c, float(self.spacing.mid())
        terms = 300.0 * len(self.parts)
        most = max(_FEWEST, int(work / (_PER_NODE * len(self.parts) + _PER_TERM * terms)))

        def log_rest(count: int) -> float:
            y = spacing * count
            total = sum(times * law.log_decay(c, y) for law, times in self.parts)
            return total - math.log(y)

        low, high = 1, _FEWEST
        while high < most and log_rest(high) > -self.need:
            low, high = high, min(2 * high, most)
        while high - low > max(8, high // 20):
            middle = (low + high) // 2
            low, high = (middle, high) if log_rest(middle) > -self.need else (low, middle)
        self.count = high + 1
        missing = self.need + log_rest(high) + 2
        self.sigma = math.sqrt(2 * missing) / (spacing * high) if missing > 2 else 0.0

    def _collect(self) -> None:
        count, spacing, c = self.count, self.spacing, self.c
        top = float((spacing * count).mid()) * 1.01
        uses = sum(times for _, times in self.parts)
        totals, decay = [acb(1)] * count, arb(1)
        for law, times in self.parts:
            line = law.line(c, top, -self.need - math.log(uses))
            values = Table(line, spacing).transforms(count)
            totals = [total * value**times for total, value in zip(totals, values, strict=True)]
            far = float((spacing * count).mid()) * (1 - 2**-40)
            decay *= law.decay(c, far) ** times
            check_time()
        sigma2 = arb(self.sigma) ** 2
        vega = sigma2 * (sigma2 / 8).exp()
        share = spacing / arb.pi()
        self.nodes: list[tuple[acb, acb]] = []
        for j, value in enumerate(totals):
            s = acb(c, spacing * j)
            square = s * (s + 1)
            if self.sigma:
                value *= (square * (sigma2 / 2)).exp()
            value *= share if j else share / 2
            self.nodes.append((value / square, value * vega))
        end = spacing * count
        swell, fall = (sigma2 * c * (c + 1) / 2).exp(), (-sigma2 * end**2 / 2).exp()
        self.rest_above = decay * swell * fall / (arb.pi() * (end - spacing))
        self.rest_gap = arb(0)
        if self.sigma:
            # the sum of h e^(-sigma^2 y^2/2) from Y on is below (h + 1/(sigma^2 Y)) of its first
            self.rest_gap = decay * swell * vega * fall * (spacing + 1 / (sigma2 * end)) / arb.pi()
        self._sizes = {
            b: self.composite.transform(acb(b)).real * (sigma2 * b * (arb(b) + 1) / 2).exp()
            for b in self.sides
        }
        peak = self.composite.transform(acb(c)).real
        self._log_peak = float(peak.log().mid())
        self._heights = float(spacing.mid()) * np.arange(count)
        self._above = np.array([complex((value / peak).mid()) for value, _ in self.nodes])


def _period(composite: Composite, saddle: Saddle, goal: float) -> tuple[float, float, float]:
    """Lambda that makes aliases e^-goal small, and the b to the right and left that prove it.

    As `losses.periods.period`, over more b: beyond some order the transform of a sampled law rises
    much faster than its curvature at the saddle point tells.
    """
    c, level, here = saddle.c, saddle.level, saddle.cumulant.value
    reach = math.sqrt(2 * goal / max(saddle.cumulant.curvature, 1e-300))

    def needed(b: float) -> tuple[float, float]:
        rise = composite.cumulant(b).value - here - (b - c) * level
        return (rise + goal) / abs(b - c), b

    farthest = min(4 * reach, 10 * (c + goal))
    right, right_b = min(needed(c + farthest * 2.0**-k) for k in range(16))
    left, left_b = min(needed(c - min(c, farthest) * 2.0 ** (-k / 2)) for k in range(12))
    return max(right, left), right_b, left_b


def _turns(turn: acb, count: int) -> list[acb]:
    """Powers 0, ..., count - 1, each from two of half the exponent."""
    powers = [acb(1), turn][:count]
    for k in range(2, count):
        powers.append(powers[k // 2] * powers[k - k // 2])
    return powers
