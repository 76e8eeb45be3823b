"""Losses that are known by a bound of their privacy profile, and laws on a grid that have it.

H(g) = sup over S of P(S) - g Q(S), g = e^level > 0, tells everything of a pair (P, Q), and a law
whose profile is nowhere below dominates it in every list (Zhu, Dong, Wang, AISTATS 2022, Theorem
10). Chords between values at points are such a profile (`losses.listed`). Of (Q, P) it is 1 - g + g
H(1/g).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from attrs import frozen
from flint import arb, ctx

from ...exact import ball, spend
from ...exact.roots import first_met_near
from ..divergences.gaussian_dp import gaussian_delta
from ..envelope.cells import upper
from ..losses.law import LossLaw
from ..losses.listed import of_profile
from ..sampling import removed

_STEP = Fraction(1, 10**4)  # between nodes near 0
_FINE = 1500  # nodes between a level and e times that, about
_NEAR = Fraction(1, 2**64)  # of a threshold
_TURNS = 45
_BEYOND, _FLAT = 1000.0, 1e-100  # deviations; of a slope
_FARTHEST = 150  # levels from which on losses are taken for infinite


class LossProfile:
    """One use, in one direction: a family is a subclass that bounds H."""

    def at_most(self, level: arb) -> arb:
        """H(e^level), at most, at the working precision."""
        raise NotImplementedError

    @property
    def two_way(self) -> bool:
        """Is the bound the same with the two datasets exchanged?"""
        return False


@lru_cache(maxsize=64)
def profile_law(profile: LossProfile, tail: Fraction, reverse: bool = False) -> LossLaw:
    """A law with at least this profile; reverse: that of the pair exchanged.

    tail: of P on the far side, what may be taken to have an infinite loss; and as little is told
    apart from no loss on the near side.
    """
    step = ball(_STEP)

    def exchanged(level: arb) -> arb:
        g = level.exp()
        return 1 - g + g * profile.at_most(-level)

    high, low = (exchanged, profile.at_most) if reverse else (profile.at_most, exchanged)
    end = math.ceil(_FARTHEST / _STEP)
    last, first = (
        first_met_near(lambda k, one=one: k >= end or bool(one(k * step) <= ball(tail)), 1, 0)  # type: ignore[misc]
        for one in (high, low)
    )
    nodes = [-k for k in reversed(_places(first))] + [0, *_places(last)]
    values = []
    for k in nodes:
        spend()
        values.append(high(k * step).upper().min(arb(1)))
    return of_profile([k * step for k in nodes], values, arb(1))


def _places(last: int) -> list[int]:
    """1, 2, ..., farther apart from each other farther out, up to the last."""
    found, k = [], 0
    while k < last:
        k = min(k + max(1, k // _FINE), last)
        found.append(k)
    return found


@frozen
class SampledShift(LossProfile):
    """q H_t, t = 1 + (g - 1)/q, of N(mu, 1) against N(0, 1), for g >= 1 - q.

    two_way: for g >= 1 both ways round, as of batches of a fixed size (`mechanisms.fixed_size`).
    square: of mu; None where everything is told.
    """

    rate: Fraction
    square: Fraction | None
    two_way: bool = False

    def at_most(self, level: arb) -> arb:
        if self.two_way and not level >= 0:
            g = level.exp()
            return 1 - g + g * removed(ball(self.rate), -level, self._plain)
        return removed(ball(self.rate), level, self._plain)

    def _plain(self, level: arb) -> arb:
        square = self.square
        return arb(1) if square is None else gaussian_delta(ball(square).sqrt(), level)


@frozen(eq=False)
class Told(LossProfile):
    """One of several, drawn alike on both sides and told; with what is left of 1, no loss."""

    parts: tuple[tuple[arb, LossProfile], ...]

    @property
    def two_way(self) -> bool:
        return all(part.two_way for _, part in self.parts)

    def at_most(self, level: arb) -> arb:
        rest = (1 - sum((weight for weight, _ in self.parts), arb(0))).max(arb(0))
        total = rest * (-level.expm1()).max(arb(0))
        return sum((weight * part.at_most(level) for weight, part in self.parts), total)


Weighted: TypeAlias = tuple[tuple[Fraction, Fraction], ...]


@frozen
class NormalMixtures(LossProfile):
    """Mixtures of N(m, 1), (weight, m) each; no m of P is below one of Q, so that dP/dQ rises.

    The best S is then all x beyond some z, and with z1 <= z <= z2 H is at most P(x > z1) - g Q(x >
    z2). Whether z lies there is told by dP/dQ at both ends.
    """

    p: Weighted
    q: Weighted

    @property
    def two_way(self) -> bool:
        return self.q == tuple((weight, -mean) for weight, mean in self.p)

    def at_most(self, level: arb) -> arb:
        about, slope = self._about(float(level.mid()))
        z = ball(Fraction(about))
        if slope > _FLAT:  # a step of Newton's more
            z = (z - (self._log_ratio(z) - level) / slope).mid()
        near = ball(_NEAR) * (1 + abs(z))
        low, high = z - near, z + near
        most = _tail(self.p, low) if self._log_ratio(low) <= level else arb(1)
        least = _tail(self.q, high) if self._log_ratio(high) >= level else arb(0)
        return most - level.exp() * least

    def _log_ratio(self, z: arb) -> arb:
        """log dP/dQ."""
        sums = [
            sum((weight * (m * (z - m / 2)).exp() for weight, m in _balls(side, ctx.prec)), arb(0))
            for side in (self.p, self.q)
        ]
        return (sums[0] / sums[1]).log()

    def _about(self, level: float) -> tuple[float, float]:
        """Where log dP/dQ is this, and its slope, in floats: by Newton's method, within bounds."""
        sides = [[(math.log(w), float(m)) for w, m in side] for side in (self.p, self.q)]

        def excess(z: float) -> tuple[float, float]:
            values, slopes = [], []
            for side in sides:
                logs = [log + m * z - m * m / 2 for log, m in side]
                top = max(logs)
                shares = [math.exp(one - top) for one in logs]
                total = sum(shares)
                values.append(top + math.log(total))
                slopes.append(sum(w * m for w, (_, m) in zip(shares, side, strict=True)) / total)
            return values[0] - values[1] - level, slopes[0] - slopes[1]

        low, high, z, slope = -_BEYOND, _BEYOND, 0.0, 0.0
        for _ in range(_TURNS):
            value, slope = excess(z)
            low, high = (z, high) if value < 0 else (low, z)
            step = value / slope if slope > _FLAT else math.inf
            if abs(step) < 1e-15 * (1 + abs(z)):
                break
            z = z - step if low < z - step < high else (low + high) / 2
        return z, slope


@lru_cache(maxsize=64)
def _balls(side: Weighted, bits: int) -> list[tuple[arb, arb]]:
    return [(ball(weight), ball(mean)) for weight, mean in side]


def _tail(side: Weighted, z: arb) -> arb:
    return sum((weight * upper(z - m) for weight, m in _balls(side, ctx.prec)), arb(0))
