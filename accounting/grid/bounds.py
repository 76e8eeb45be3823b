"""delta(level) of a sum of losses on a lattice, its inverse, and how fine the lattice has to be.

*How fine.* A sum of n of K uses, whose losses have the variance V together where delta is decided,
may be off by a variance of tau V n/K, so that each doubling adds about tau/2 of V to the whole: its
step is the square root of that. A sum that spans 16 deviations then has 16/sqrt(tau) points,
however many uses there are.

Floats choose the tilt, the step, and which event is measured; balls measure it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from attrs import frozen
from flint import arb
from numpy.typing import NDArray

from ...exact.deadline import check_time
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose_between, floor_of
from ..losses.composite import Composite
from ..losses.law import Atoms
from ..losses.product import Charges
from .cells import CellLaw, Parts, cells_of
from .dealt import DealtSteps
from .sides import Rule, Sides
from .tilt import Tilt
from .weights import Weights

_Floats: TypeAlias = NDArray[np.float64]

_SPARE_BITS = 8  # by so much less than the square of the step matters what is cut off
_SPARE = 64  # points that are rounded up weigh so much less
_WIDE = 16.0  # deviations that the points span
_LONGEST = 4  # times as many points as that are kept for a single loss with long tails
_FINEST = 2.0**-24  # of the level, the least step of all uses together
_STEEPEST = 24.0  # of the tilt from one point to the next: what is below counts for nothing
_SEEN = 1e-16  # tilted masses below do not count for how long a lattice is
_TRIES = 12


@frozen(eq=False)
class Grid:
    """The sum of all losses from both sides, and what counts besides.

    escaping: P of an infinite loss. missing: at most this P-mass is in no cell.
    """

    sides: Sides
    escaping: arb
    missing: arb
    charges: Charges

    def delta(self, level: arb) -> Enclosure:
        """Bounds of delta(level), level >= 0, at the working precision."""
        sides, odds = self.sides, level.exp()
        infinite = self.escaping + self.missing + self.charges.above(odds)
        p, q = sides.above_from(floor_of(level / ball(sides.step)) + 1)
        upper = p - odds * q + sides.cut_above(level) + infinite
        at = float(level.mid())
        p, q = sides.event(self._best(lambda log_p, log_q: _less(log_p, log_q + at)))
        lower = p - odds * q + self.escaping - self.charges.below(odds)
        return enclose_between(lower.max(arb(0)), upper.min(arb(1)))

    def epsilon(self, target: arb) -> Enclosure:
        """Bounds of the least level >= 0 with delta(level) <= target, at the working precision."""
        charges, goal = self.charges, _log(target - self.escaping)
        p, q = self.sides.event(self._best(lambda log_p, log_q: _less(log_p, goal) - log_q))
        gain = p + self.escaping - charges.less_p - charges.slack - target
        q += charges.less_q + charges.slack
        lower = (gain / q).log().lower().max(arb(0)) if gain > 0 and q > 0 else arb(0)
        return enclose_between(lower, self._beyond(target))

    def _beyond(self, target: arb) -> arb:
        """A level at which delta is at most the target; infinity where none is found.

        Between (t - 1) h and t h the bound from above is linear in e^level: P and Q of the losses
        from t h on.
        """
        sides, h = self.sides, ball(self.sides.step)
        rest = self.escaping + self.missing
        t = self._first_met(_log(target - rest))
        for turn in range(_TRIES):
            floor = ((t - 1) * h).max(arb(0))
            p, q = sides.above_from(t)
            extra = rest + sides.cut_above(floor) + self.charges.above((t * h).exp())
            gain = (p + extra - target).upper()
            if gain <= 0:
                return floor
            if q > 0:
                root = (gain / q).log().upper().max(floor)
                if root <= t * h:
                    return root
            t += 1 << turn
        return arb.pos_inf()

    def _first_met(self, goal: float) -> int:
        """The first t >= 1 at which that root is at most t h, in floats."""
        above, step = self.sides.above, float(self.sides.step)
        if not len(above):
            return 1
        points = above.first + np.arange(len(above), dtype=np.float64)
        met = _less(_log_tails(above), goal) - _log_tails(above, more=1) <= points * step
        found = int(np.argmax(met)) if met.any() else len(above)
        return max(above.first + found, 1)

    def _best(self, gain: Callable[[_Floats, _Floats], _Floats]) -> int:
        """The t at which this is the largest, of the logarithms of P and Q of {T >= t}."""
        p, q = self.sides.p, self.sides.q
        if not len(p) or not len(q):
            return p.first
        points = p.first + np.arange(len(p), dtype=np.float64)
        places = (points - q.first).astype(np.intp)
        log_q = _log_tails(q)[np.clip(places, 0, len(q) - 1)]
        log_q = np.where(places < len(q), log_q, -np.inf)
        log_rest = math.log(max(q.rest, 1)) + q.log_unit - float(q.tilt * q.step) * points
        return p.first + int(np.argmax(gain(_log_tails(p), np.logaddexp(log_q, log_rest))))


def _log_tails(weights: Weights, more: int = 0) -> _Floats:
    """The logarithms of `Weights.tail` at each of its points, in floats."""
    masses = map(int, weights.masses.coeffs())
    logs = np.array([math.log(mass) if mass else -math.inf for mass in masses])
    points = weights.first + np.arange(len(logs), dtype=np.float64)
    logs -= float((weights.tilt + more) * weights.step) * points
    found: _Floats = np.logaddexp.accumulate(logs[::-1])[::-1] + weights.log_unit
    return found


def _less(log_a: _Floats, log_b: _Floats | float) -> _Floats:
    """log(a - b), minus infinity where a <= b."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = log_a + np.log1p(-np.exp(np.minimum(log_b - log_a, 0.0)))
    return np.where(np.isnan(found), -np.inf, found)


def _log(value: arb) -> float:
    return float(value.mid().log().mid()) if value > 0 else -math.inf


def grid(parts: Parts, charges: Charges, tilt: Tilt, log_tail: float, points: int) -> Grid:
    """The grid of these losses, each so many times, at the working precision.

    tilt: for what is to be measured. log_tail: about the logarithm of the P-mass of continuous
    losses that is in no cell. points: about how many the lattice of the sum has.
    """
    uses = sum(times for _, times in parts)
    longest = _LONGEST * points
    least = max(
        _FINEST * (1e-3 + abs(tilt.level)) / uses,
        *(_span(law, tilt.c) / longest for law, _ in parts),
    )
    spread = _WIDE / points * math.sqrt(max(tilt.cumulant.curvature, 0.0) / uses)

    if not math.isfinite(tilt.c) or not math.isfinite(spread):
        raise ArithmeticError("where the losses are to be looked at closely is not known in floats")

    def step_for(count: int) -> Fraction:
        return Fraction(2) ** math.floor(math.log2(max(spread * math.sqrt(count), least)))

    first = step_for(1)
    c = Fraction(min(tilt.c, _STEEPEST / float(step_for(uses))))
    accuracy = 2 * points.bit_length() + _SPARE_BITS
    levels = sum(2 * times.bit_length() for _, times in parts)
    steps = max((law.steps for law, _ in parts if isinstance(law, DealtSteps)), default=1)
    bits = accuracy + (_SPARE * uses * points * steps**2).bit_length()
    rule = Rule(step_for, longest, bits, max((1 << bits - accuracy) // (uses * levels), 1))
    total: Sides | None = None
    missing = arb(0)
    for law, times in parts:
        check_time()
        if isinstance(law, DealtSteps):
            one = law.sides(first, c, rule, log_tail, points)
        else:
            cells = cells_of(law, first, float(c), log_tail, points)
            missing += times * cells.missing.upper()
            one = Sides.of(cells, first, c, rule)
        one = one.power(times, rule)
        total = one if total is None else total.times(one, rule)
    assert total is not None
    return Grid(total, Composite(parts).escaping(), missing.upper(), charges)


def _span(law: CellLaw, tilt: float) -> float:
    """Between which losses the tilted masses count, about; 0 of continuous ones."""
    if not isinstance(law, Atoms) or not len(law):
        return 0.0
    losses = np.array([float(loss.mid()) for loss in law.losses])
    seen = losses[law.tilted(tilt) > _SEEN]
    return float(seen.max() - seen.min()) if seen.size else 0.0
