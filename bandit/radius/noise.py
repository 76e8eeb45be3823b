"""The tail of a difference of two arms' noises, from its exact law.

Y = (noise of one arm) - (noise of another), independent and of the same law; G(t) = P(Y >= t). Y is
symmetric. It is unimodal as well: where the noise is log-concave so is Y; where it is symmetric and
log-convex on x >= 0 it falls away from 0, is thus a mixture of uniform laws on {-k, ..., k}, and
sums of two such are symmetric and unimodal. Hence G is convex on t >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache

import numpy as np
from attrs import frozen
from flint import acb, arb
from numpy.typing import NDArray

from ...exact.number import ParameterError, ball
from ...exact.precision import lower_float, working_precision
from ...mechanisms.laws import contour
from ...mechanisms.laws.contour import vertical_path
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from .plan import ContinuousLaplace, Noise

_INNER = 112  # of the noise's transform, where terms cancel
_NARROW, _REACH = 200.0, 15  # where G is tabulated, in standard deviations of Y
BITS = 64  # working precision: far more than the bounds themselves are sharp
_STEP = 0.25  # of log G between nodes: chords are then at most 0.8 % above G


@frozen(eq=False)
class Tails:
    """G at increasing nodes t_0 = 0 < t_1 < ..., and P(Y = 0).

    peak: P(Y = 0), for a continuous law its density at 0: no step of G is steeper.
    """

    nodes: tuple[int, ...]
    values: tuple[arb, ...]
    peak: arb
    floats: NDArray[np.float64]

    def saturation(self) -> arb:
        """Some d with G(-x) <= min(1, G(0) + (1 - G(0)) x/d) for all x > 0.

        G rises by at most `peak` a step to the left of 0.
        """
        return (1 - self.values[0]) / self.peak


@lru_cache(maxsize=256)
def tails(noise: Noise | None, depth: int) -> Tails:
    """The tail of Y down to 2^-depth, at nodes close enough to interpolate linearly between."""
    with working_precision(_INNER):
        if noise is None:
            return _collected([0, 1], [arb(1), arb(0)], arb(1))  # G is a step at 0
        if isinstance(noise, ContinuousLaplace):
            scale = ball(noise.scale)
            return _traced(
                lambda t: _laplace_difference(scale, t),
                math.ceil(noise.scale / 4),
                _STEP,
                depth,
                1 / (4 * scale),
            )
        laws = noise if isinstance(noise, tuple) else (noise,)
        for law in laws:
            if not law.shape_is_proved:
                raise ParameterError(f"noises must be of proved shape, got {law}")
        limit = laws[0].loss_limit(1)
        if len(laws) == 1 and limit is not None and isinstance(laws[0], DiscreteLaplace):
            first = math.ceil(float((1 / ball(limit)).mid()) / 4)
        else:
            first = math.ceil(_deviation(laws) / 4)
        return _traced(_difference(laws), first, _STEP, depth)


def _traced(
    at_least: Callable[[int], arb], first: int, step: float, depth: int, peak: arb | None = None
) -> Tails:
    """Follow G from 0 down to 2^-depth; a step of log G takes the slope that was seen last."""
    nodes, values = [0], [at_least(0)]
    ahead = first
    while not values[-1] < arb(2) ** -depth:
        nodes.append(nodes[-1] + ahead)
        found = at_least(nodes[-1])
        if found.is_zero():  # beyond the support
            values.append(found)
            break
        if not found > 0:  # not known well enough: the tail above it stands for all the rest
            nodes.pop()
            break
        values.append(found)
        drop = float((values[-2] / found).log().mid()) / ahead
        ahead = max(1, min(2 * ahead, round(step / max(drop, 1e-300))))
    if peak is None:
        peak = 2 * values[0] - 1  # G(0) = (1 + P(Y = 0))/2 by symmetry
    return _collected(nodes, values, peak)


def _collected(nodes: list[int], values: list[arb], peak: arb) -> Tails:
    floats = np.array([float(value.mid()) for value in values])
    return Tails(tuple(nodes), tuple(values), peak, floats)


def _laplace_difference(scale: arb, t: int) -> arb:
    """P(Y >= t), t >= 0, of two Laplace variables: the density is (1 + |x|/s) e^(-|x|/s)/(4 s)."""
    ratio = t / scale
    return (2 + ratio) * (-ratio).exp() / 4


@frozen
class _Sum:
    """A sum of independent laws and mirror images of laws, as `laws.contour` sees it."""

    laws: tuple[Law, ...]
    mirrored: bool  # Y is the sum minus an independent copy; else Y is the sum itself
    deviation: float
    lost_bits = 0

    def transform(self, z: acb, analytic: bool) -> tuple[acb, acb]:
        exponent, factor = acb(0), acb(1)
        for law in self.laws:
            for side in self._sides(z):
                k, f = law.transform(side, analytic)
                exponent, factor = exponent + k, factor * f
        return exponent, factor

    def slope(self, z: acb) -> acb | None:
        total = acb(0)
        for law in self.laws:
            for sign, side in zip((1, -1), self._sides(z), strict=False):
                slope = law.slope(side)
                if slope is None:
                    return None
                total += sign * slope
        return total

    @property
    def falls_off_axis(self) -> bool:
        """As of each of them: moduli multiply."""
        return all(law.falls_off_axis for law in self.laws)

    def at_least(self, t: int) -> arb:
        """P(Y >= t), Y symmetric."""
        if t <= 0:
            return 1 - self.at_least(1 - t)
        highest = self._highest()
        if highest is not None and t > highest:
            return arb(0)
        if self.mirrored:
            return contour.upper_tail(self, t, vertical_path(self.saddle(t), 1, self.deviation))
        return self.laws[0].upper_tail(t)

    def saddle(self, t: int) -> float:
        """Near the s > 0 with K'(s) = t; any s in the domain is right, this one is cheap."""
        if not self.mirrored:
            return float(self.laws[0].path(t, 1)[0].real.mid())
        high = 2 * t / self.deviation**2 + 1 / self.deviation
        end = self.end()
        low, high = 0.0, high if end is None else min(high, 0.99 * end)
        for _ in range(30):
            middle = (low + high) / 2
            slope = self.slope(acb(middle))
            if slope is None:
                return min(high, t / self.deviation**2)
            low, high = (middle, high) if slope.real < t else (low, middle)
        return high

    def end(self) -> float | None:
        """Where the transform ceases to be finite, about."""
        ends = [
            abs(float(ball(end).mid()))
            for law in self.laws
            for end in law.mgf_domain
            if end is not None
        ]
        return min(ends, default=None)

    def _sides(self, z: acb) -> tuple[acb, ...]:
        return (z, -z) if self.mirrored else (z,)

    def _highest(self) -> int | None:
        total = 0
        for law in self.laws:
            low, high = law.support
            if low is None or high is None:
                return None
            total += high - low if self.mirrored else high
        return total


def _difference(laws: tuple[Law, ...]) -> Callable[[int], arb]:
    """t -> P(Y >= t): in closed form, else by `laws.contour`."""
    if len(laws) == 1 and isinstance(laws[0], DiscreteLaplace):
        return laws[0].difference_tail
    deviation = _deviation(laws)
    summed = _Sum(laws, True, deviation)
    if len(laws) == 1 and laws[0].symmetric:
        with suppress(NotImplementedError):
            summed = _Sum((laws[0].sum_of(2),), False, deviation)
    if not summed.mirrored and deviation <= _NARROW:
        return _tabulated(summed, math.ceil(_REACH * deviation))
    return summed.at_least


def _tabulated(summed: _Sum, end: int) -> Callable[[int], arb]:
    """G from the probabilities themselves, added up from `end` down; farther out as `_Sum`."""
    table = [summed.at_least(end)]
    for mass in reversed(summed.laws[0].balls(0, end - 1)):
        table.append(table[-1] + mass)
    table.reverse()
    return lambda t: table[t] if t <= end else summed.at_least(t)


def _deviation(laws: tuple[Law, ...]) -> float:
    return math.sqrt(2 * sum(float(law.moments().variance.upper) for law in laws))


# -- moment generating functions ------------------------------------------------------------------

MOST_EXPONENT = 8.0  # the largest t where noise has no tail that limits it


def log_mgf(noise: Noise | None, t: float, precision: int) -> arb:
    """log E e^(tZ/g), Z in units of 1/g, at the working precision."""
    if noise is None:
        return arb(0)
    point = arb(t) / precision
    if isinstance(noise, ContinuousLaplace):
        return -(1 - (point * ball(noise.scale)) ** 2).log()
    if not isinstance(noise, Law):
        return sum((log_mgf(law, t, precision) for law in noise), arb(0))
    return noise.cumulant(acb(point), False).real


def mgf_end(noise: Noise | None, precision: int) -> float:
    """Below which t noise has a moment generating function: a little less, in floats."""
    if noise is None:
        return MOST_EXPONENT
    if isinstance(noise, ContinuousLaplace):
        return precision / float(noise.scale) * (1 - 2.0**-40)
    if not isinstance(noise, Law):
        return min(mgf_end(law, precision) for law in noise)
    ends = [lower_float(abs(ball(end))) for end in noise.mgf_domain if end is not None]
    return min([MOST_EXPONENT, *(end * precision * (1 - 2.0**-40) for end in ends)])


def exponents(end: float, least: float, highest: float, step: float) -> NDArray[np.float64]:
    """t from the least, end/4 at most, towards `end`: log(t/(end - t)) in steps, up to highest."""
    start = min(least, end / 4)
    shares = np.exp(np.arange(math.log(start / (end - start)), highest, step))
    return np.asarray(end * shares / (1 + shares))


def cumulated_log_mgf(
    noises: Sequence[Noise | None],
    precision: int,
    points: Sequence[float],
    rounded: Callable[[arb], float],
    start: arb | None = None,
) -> NDArray[np.float64]:
    """start + log E e^(tZ), Z the noise of the first b batches: batches x points, rounded."""
    rows = []
    with working_precision(BITS):
        spent = [arb(0) if start is None else start for _ in points]
        for noise in noises:
            spent = [
                before + log_mgf(noise, t, precision)
                for before, t in zip(spent, points, strict=True)
            ]
            rows.append([rounded(value) for value in spent])
    return np.array(rows)
