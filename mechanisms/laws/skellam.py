"""Skellam noise Sk(0, variance): the difference of two Poisson laws of mean variance/2.

p(x) = e^(-v) I_|x|(v), v = variance; E e^(zX) = e^(v (cosh z - 1)), entire.

Bounds on ratios of Bessel functions (Amos 1974; Segura, J. Math. Anal. Appl. 374 (2011) 516-528),
for order k >= 0 and v > 0:

    asinh((k + 1/2)/v)  <  log I_k(v)/I_{k+1}(v)  <  asinh((k + 1)/v).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import cast

import numpy as np
from attrs import field, frozen
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.lazy import special
from ...exact.number import ball
from ...exact.precision import working_precision
from ...exact.roots import halved
from ..fields import parameters
from ..fields.schema import key
from ..samplers.bits import RandomBits
from ..samplers.envelope import Envelope, envelope
from . import floats
from .contour import vertical_path
from .law import Calibrated, Law, Moments

_SPARE = 24  # bits
_SMALL, _FAR = 50, 36  # a variance; a square of deviations


@frozen
class Skellam(Law):
    """Sk(0, variance), variance > 0 exact.

    variance: in squared units of what is released. Raises ParameterError for anything else.

    >>> Skellam(100).moments().variance
    Enclosure(100, 100)
    """

    variance: Fraction = field(converter=parameters.variance, metadata=key("of the noise"))

    name = "skellam"
    says = "an integer query plus Skellam noise, the difference of two equal Poissons"
    example = "variance=100"
    additive = "variance"
    falls_off_axis = True
    curvature_falls = "by the equation of ratios of Bessel functions: see `laws.gaussian_envelope`"
    calibrated = Calibrated(
        "variance",
        2,
        "more noise is a post-processing of less: Skellam noise of a larger variance is that of a "
        "smaller one plus independent Skellam noise",
    )

    log_concave = (
        "a convolution of two Poisson laws (one mirrored); each is log-concave, since "
        "p(x)/p(x-1) = rate/x falls, and convolution on Z keeps log-concavity (Hoggar 1974)"
    )

    def moments(self) -> Moments:
        return Moments(Enclosure.exactly(0), Enclosure.exactly(self.variance))

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        return 2 * ball(self.variance) * (z / 2).sinh() ** 2

    def slope(self, z: acb) -> acb:
        return ball(self.variance) * z.sinh()

    def path(self, t: int, side: int) -> Sequence[acb]:
        # K'(s) = v sinh s = t; |M(s + i theta)| = e^(v (cosh s cos theta - 1)) falls on the line.
        v = float(self.variance)
        return vertical_path(math.asinh(t / v), side, spread=math.sqrt(v))

    def ball(self, x: int) -> arb:
        bits, v = ctx.prec, self.variance
        if v > _SMALL and x * x > _FAR * v:  # where FLINT's expansions take long, and lose digits
            return super().ball(x)
        spare = _SPARE + 2 * math.ceil(v).bit_length() + abs(x).bit_length()
        with working_precision(bits + spare):
            found = ball(v).bessel_i(abs(x), scaled=True)
        return +found if found.rel_accuracy_bits() >= bits else super().ball(x)

    def _run(self, first: int, last: int) -> list[arb]:
        # I_{k-1} = I_{k+1} + (2k/v) I_k, downward from two balls: all terms are positive, so the
        # relative radii only add up.
        here, beyond = self.ball(last), self.ball(last + 1)
        slope = 2 / ball(self.variance)
        values = [here]
        for k in range(last, first, -1):
            here, beyond = beyond + (slope * k) * here, here
            values.append(here)
        return values[::-1]

    def steepening(self, x: int, shift: int) -> arb:
        # With y = -k: s(y - d) - s(y) = log I_{k+d}/I_{k+d+1} - log I_k/I_{k+1}
        # <= asinh((k+d+1)/v) - asinh((k+1/2)/v), which falls in k >= 0: its largest is at y = x.
        if x > 0:
            raise ValueError(f"x must be at most 0, got {x}")
        v = ball(self.variance)
        return ((shift + 1 - x) / v).asinh() - ((arb(1) / 2 - x) / v).asinh()

    def zcdp_tail(self, order: Fraction, shift: int) -> arb:
        """Two bounds of D_a/a for all orders a from this one on.

        Write a - 1 = (v/d) s cosh s; s grows with a. For y >= 0, by the bound above and the
        tangent of asinh (concave there) at sinh s,
          loss(-y) <= sum_{i=1..d} asinh((y+i)/v)
                   <= d (s - tanh s) + (d y + d(d+1)/2)/(v cosh s),
        so these y contribute at most e^B to sum P e^((a-1) loss), by E e^(sX) = e^(v(cosh s - 1)):
          B = v (s^2 cosh s - s sinh s + cosh s - 1) + s (d+1)/2.
        For x > 0 the loss is at most loss(0) <= d(d+1)/(2v), P(x > 0) <= 1/2: at most e^C/2,
          C = s cosh s (d+1)/2.

        (i) D_a/a <= d^2/(2v) once v s^3 >= 8. The exponent to compare with is
        T = d^2/(2v) a(a-1) = (v s^2 cosh^2 s + d s cosh s)/2. By power series,
        s^2 cosh^2 s/2 - s^2 cosh s + s sinh s - cosh s + 1 >= s^4/8 (coefficients of s^(2k+2),
        k >= 2: (4^(k-1) - 1)/(2k)! + 1/(2k+1)! - 1/(2k+2)! > 0). So
          T - B >= v s^4/8 - s/2 >= s/2 and T - C = s cosh s (v s cosh s - 1)/2,
        and e^(B-T) + e^(C-T)/2 <= 1: for s <= 1, T - C >= 4/s - s/2 and
        1 - e^(-s/2) >= 3s/8 >= e^(-4/s + 1/2)/2; for s >= 1, e^(-1/2) + e^(-2.3)/2 < 1, because
        v s cosh s >= 8 cosh s/s^2 >= 4.

        (ii) log(e^B + e^C/2) <= B + C + log(3/2), over a(a-1) >= (a-1)^2:
          D_a/a <= d^2/v (1 + 1/s^2)/cosh s + d^2 (d+1)/(v^2 s cosh s) + log(3/2)/(a-1)^2,
        which falls in s to 0.
        """
        v, d = ball(self.variance), shift
        s = arb(_inverse_of_s_cosh_s(float(d * (order - 1) / self.variance)))
        if not ball(order - 1) >= v / d * s * s.cosh():
            return arb.pos_inf()
        falling = d**2 / v * (1 + 1 / (s * s)) / s.cosh()
        falling += d**2 * (d + 1) / (v * v * s * s.cosh())
        falling += (arb(3) / 2).log() / ball(order - 1) ** 2
        return falling.min(d**2 / (2 * v)) if v * s**3 >= 8 else falling

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        v = float(self.variance)
        k = np.abs(np.asarray(xs, dtype=np.float64))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            scaled = special.ive(k, v)
            near = np.log(scaled)
        usable = np.isfinite(near) & (scaled > 1e-280) & (v < 1e8)
        far = np.where(usable, 1.0, k)
        return cast("NDArray[np.float64]", np.where(usable, near, _log_ive_far(far, v)))

    def sampler(self) -> Callable[[RandomBits], int]:
        return poisson_envelope(self.variance / 2).difference

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """The difference of two Poisson variables.

        Where they are large, a normal variable: by Edgeworth's expansion (no skewness, excess
        kurtosis 1/variance) the total variation is of order 1/variance.
        """
        variance = float(self.variance)
        floats.check_width(math.sqrt(variance))
        if variance > floats.EVEN:
            return np.rint(rng.normal(0, math.sqrt(variance), size)).astype(np.int64)
        return rng.poisson(variance / 2, size) - rng.poisson(variance / 2, size)


@lru_cache(maxsize=64)
def poisson_envelope(rate: Fraction) -> Envelope:
    """The histogram that a Poisson variable of this rational rate > 0 is drawn from.

    p(x) = e^(-rate) rate^x/x! is log-concave with its mode at floor(rate): p(x)/p(x-1) =
    rate/x falls, and is at least 1 up to x = rate.
    """
    mode = math.floor(rate)

    def mass(x: int) -> arb:
        if x < 0:
            return arb(0)
        with working_precision(ctx.prec + 2 * max(x, mode).bit_length() + 16):
            logs = x * ball(rate).log() - ball(rate) - arb(x + 1).lgamma()
        return logs.exp()

    return envelope(mass, mode, math.isqrt(mode) + 1, (0, None))


def _inverse_of_s_cosh_s(target: float) -> float:
    """Some s > 0 with s cosh s just below the target."""
    most = min(target, 1 + math.log1p(target))
    return halved(lambda s: s * math.cosh(s) >= target, 0.0, most, 60)[0] * (1 - 1e-9)


def _log_ive_far(k: NDArray[np.float64], v: float) -> NDArray[np.float64]:
    """log(e^(-v) I_k(v)) where `ive` underflows: uniform expansion for large order or argument.

    Debye: DLMF 10.41.3, with nu replaced by hypot(k, v) in the error: for k small against v its
    terms U_j(p)/k^j stay bounded because U_j(p) is of order p^j, p = k/hypot(k, v).
    """
    h = np.hypot(k, v)
    p = k / h
    q = 1 / h  # = p/k, also where k = 0
    p2 = p * p
    series = 1 + q * (3 - 5 * p2) / 24 + q**2 * (81 + p2 * (-462 + 385 * p2)) / 1152
    series += q**3 * (30375 + p2 * (-369603 + p2 * (765765 - 425425 * p2))) / 414720
    series += (
        q**4
        * (4465125 + p2 * (-94121676 + p2 * (349922430 + p2 * (-446185740 + 185910725 * p2))))
        / 39813120
    )
    # eta * k - v = (h - v) - k asinh(k/v), with h - v = k^2/(h + v) free of cancellation
    exponent = k * k / (h + v) - k * np.arcsinh(k / v)
    return exponent - 0.5 * np.log(2 * np.pi * h) + np.log(series)
