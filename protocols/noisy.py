"""Noise plus what randomized rounding adds, as one law: its generating function is the product.

Its tails cost one contour integral, whatever the number of users; where few rewards are off the
grid (and the noise has tails of geometric kind, which a vertical path does not suit) a sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from attrs import frozen
from flint import acb, arb, ctx

from ..exact.number import Real
from ..exact.roots import halved
from ..mechanisms.laws.contour import vertical_path
from ..mechanisms.laws.floats import to_float
from ..mechanisms.laws.law import Law, Moments
from .rounding import RoundedUp

_FEW = 36  # variance of the rounding below which its outcomes are listed
_STEEP = 16  # shape from which on M of the noise falls like a Gaussian, as in `Polya`


@frozen
class NoisyRounding(Law):
    """The law of noise + rounded, independent; rounded has at least one trial."""

    noise: Law
    rounded: RoundedUp

    symmetric = False

    def moments(self) -> Moments:
        mean, variance = self.noise.moments()
        return Moments(mean.plus(self.rounded.mean), variance.plus(self.rounded.variance))

    @property
    def support(self) -> tuple[int | None, int | None]:
        low, high = self.noise.support
        return low, None if high is None else high + self.rounded.trials

    @property
    def mgf_domain(self) -> tuple[Real | None, Real | None]:
        return self.noise.mgf_domain

    def mirrored(self) -> Law:
        return NoisyRounding(self.noise.mirrored(), self.rounded.mirrored())

    def ball(self, x: int) -> arb:
        if self._is_few:
            return self._listed(lambda low, high: self.noise.balls(x - high, x - low)[::-1])
        return super().ball(x)

    def upper_tail(self, t: int) -> arb:
        if self._is_few:
            return self._listed(lambda low, high: _running(self.noise, t - low, t - high, 1))
        return super().upper_tail(t)

    def lower_tail(self, t: int) -> arb:
        if self._is_few:
            return self._listed(lambda low, high: _running(self.noise, t - high, t - low, -1)[::-1])
        return super().lower_tail(t)

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        return self.noise.cumulant(z, analytic) + self.rounded.cumulant(z, analytic)

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        exponent, factor = self.noise.transform(z, analytic)
        more, other = self.rounded.transform(z, analytic)
        return exponent + more, factor * other

    def slope(self, z: acb) -> acb | None:
        slope = self.noise.derivative(z)
        return None if slope is None else slope + self.rounded.slope(z)

    def path(self, t: int, side: int) -> Sequence[acb]:
        low, high = (None if end is None else to_float(end) for end in self.mgf_domain)
        left, right = (-60 if low is None else low), (60 if high is None else high)

        def reached(s: float) -> bool:  # K' grows: up to K'(s) = t
            slope = self.slope(acb(s))
            return slope is None or not float(slope.real.mid()) < t

        left, right = halved(reached, left, right, 50)
        saddle, spread = (left + right) / 2, math.sqrt(float(self.moments().variance.upper))
        if high is None:
            return vertical_path(saddle, side, spread)
        shape = float(getattr(self.noise, "shape", 1))  # of the branch points at the ends
        # a start kept clear of the ends of the strip, where K' is infinite, and of 0
        clearance = min(1 / spread, high / 2)
        near = min(clearance, max(1, shape / 2) / max(abs(t - float(self.rounded.mean)), 1))
        start = max(min(saddle, high - near / 2), near / 2 - high)
        if side:
            start = side * max(side * start, near / 2)
        if shape > _STEEP:
            return [acb(start), acb(start, arb.pi())]
        # Off the real axis e^(-tz) oscillates along a vertical line, where M of the noise hardly
        # falls: go outward at 60 degrees, up to where M of the rounding has fallen. (M is analytic
        # off the real axis: its singularities have |e^z| = e^(1/scale) with Im z = 0.)
        outward = 1 if t > self.rounded.mean else -1
        height = max(high - abs(start), near / 2)
        corners = [acb(start)]
        while height < 8 / math.sqrt(self.rounded.variance):
            corners.append(acb(start + outward * height / math.sqrt(3), height))
            height *= 8
        return [*corners, acb(corners[-1].real, arb.pi())]

    @property
    def _is_few(self) -> bool:
        geometric = self.noise.mgf_domain != (None, None)
        return self.noise.derivative(acb(0)) is None or (geometric and self.rounded.variance < _FEW)

    def _listed(self, given: Callable[[int, int], list[arb]]) -> arb:
        """sum of P(rounded = b) given(b), over a window about the mean; the rest is in [0, rest].

        given: the values, each at most 1, for the outcomes from one to another.
        """
        rounded = self.rounded
        centre, reach = int(rounded.mean), 2 * ctx.prec
        low, high = max(0, centre - reach), min(rounded.trials, centre + reach)
        parts = zip(rounded.balls(low, high), given(low, high), strict=True)
        rest = rounded.lower_tail(low - 1) + rounded.upper_tail(high + 1)
        return sum((mass * value for mass, value in parts), arb(0)) + arb(0).union(rest)


def _running(noise: Law, first: int, last: int, side: int) -> list[arb]:
    """The tails to this side from `first`, one step nearer to the other side, ..., `last`."""
    values = [noise.upper_tail(first) if side > 0 else noise.lower_tail(first)]
    between = noise.balls(last, first - 1)[::-1] if side > 0 else noise.balls(first + 1, last)
    for mass in between:
        values.append(values[-1] + mass)
    return values
