"""Pólya noise: negative binomial shares of real shape, and their differences.

Polya(r, scale) has E e^(zX) = ((1-b)/(1 - b e^z))^r with b = e^(-1/scale), so shares of shape r/n
sum to shape r; the difference of two Pólya variables of shape 1 is discrete Laplace noise.

With L = 1/scale and C = cosh L - 1 the difference has E e^(zX) = (C/(cosh L - cosh z))^r. Its
Fourier coefficients p(k) satisfy, k >= 1 (differentiate and compare coefficients),

    2 k cosh(L) p(k) = (k-1+r) p(k-1) + (k+1-r) p(k+1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen
from flint import acb, arb
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.lazy import mpmath
from ...exact.number import ExactInput, ParameterError, Real, ball, exact, mpf
from ...exact.precision import START, refine, working_precision
from . import floats
from .branch import LARGER_SCALE, STEEP, over, rate_below, rate_of, ray, read_scale
from .discrete_laplace import DiscreteLaplace
from .law import Calibrated, Law, Moments

if TYPE_CHECKING:
    from ..samplers.bits import RandomBits

__all__ = ["Polya", "PolyaDifference"]

_LEAST_SHAPE = Fraction(1, 10**20)
_STEPS = 5_000_000  # the longest recurrence that is run in floats
_POINTS = 200  # so many outcomes are computed one by one where that is shorter


def _shape(value: ExactInput) -> Fraction:
    """Read a shape: positive, and small enough for the share of one user of many."""
    shape = exact(value, "shape", above=0)
    if not _LEAST_SHAPE <= shape <= 10**15:
        raise ParameterError(f"shape must be between 1e-20 and 1e15, got {str(value)[:40]}")
    return shape


@frozen(slots=False)
class Polya(Law):
    """p(x) = Gamma(x+r)/(x! Gamma(r)) b^x (1-b)^r on x >= 0, r = shape > 0, b = e^(-1/scale)."""

    shape: Fraction = field(converter=_shape)
    scale: Real = field(converter=read_scale)

    symmetric = False

    @cached_property
    def log_concave(self) -> str | None:
        if self.shape < 1:
            return None
        return "p(x)/p(x-1) = b (x - 1 + shape)/x does not rise in x, since shape >= 1"

    @property
    def support(self) -> tuple[int, None]:
        return 0, None

    @property
    def mgf_domain(self) -> tuple[None, Real]:
        return None, over(1, self.scale)

    def moments(self) -> Moments:
        return Moments(
            refine(lambda: ball(self.shape) / rate_of(self.scale).expm1()),
            refine(lambda: _variance(self)),
        )

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        if x < 0:
            return mpmath.mpf(0)
        with mpmath.workdps(digits + 15 + len(str(x + int(self.shape)))):
            r, rate = mpf(self.shape), 1 / mpf(self.scale)
            logs = mpmath.loggamma(x + r) - mpmath.loggamma(x + 1) - mpmath.loggamma(r)
            return mpmath.exp(logs - x * rate) * (-mpmath.expm1(-rate)) ** r

    def ball(self, x: int) -> arb:
        if x < 0:
            return arb(0)
        r, rate = ball(self.shape), rate_of(self.scale)
        logs = (x + r).lgamma() - (r.lgamma() + arb(x + 1).lgamma())
        return (logs - x * rate + r * (-(-rate).expm1()).log()).exp()

    def balls(self, low: int, high: int) -> list[arb]:
        # p(x+1)/p(x) = b (x + r)/(x + 1): one product a step, relative radii add up
        first = max(low, 0)
        values = [arb(0)] * (min(first, high + 1) - low)
        if first <= high:
            r, beta = ball(self.shape), (-rate_of(self.scale)).exp()
            values.append(self.ball(first))
            for x in range(first, high):
                values.append(values[-1] * (beta * (x + r) / (x + 1)))
        return values

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        from scipy import special

        x = np.asarray(xs, dtype=np.float64)
        k = np.maximum(x, 1)
        r, rate = float(self.shape), float(rate_below(self.scale))
        # Gamma(k+r)/(k! Gamma(r)) = 1/(k B(k, r))
        logs = -np.log(k) - special.betaln(k, r)
        values = np.where(x > 0, logs, 0.0) - x * rate + r * math.log(-math.expm1(-rate))
        return np.where(x >= 0, values, -np.inf)

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        # 1 - b e^z meets the cut of the logarithm exactly on the cut [1/scale, inf) of M
        rate = rate_of(self.scale)
        ground = (-(-rate).expm1()).log()
        return ball(self.shape) * (ground - (1 - (z - rate).exp()).log(analytic=analytic))

    def slope(self, z: acb) -> acb | None:
        if self.shape <= STEEP:
            return None
        return ball(self.shape) / ((rate_of(self.scale) - z).exp() - 1)

    def path(self, t: int, side: int) -> Sequence[acb]:
        # K'(s) = t where 1 - b e^s = r/(t + r)
        return ray(self.shape, self.scale, t, side, math.log1p(float(self.shape) / max(t, 0.5)))

    def lower_tail(self, t: int) -> arb:
        return self.ball(0) if t == 0 else super().lower_tail(t)

    def _sum(self, count: int) -> Law:
        return Polya(count * self.shape, self.scale)

    def _share(self, users: int) -> Law:
        return Polya(self.shape / users, self.scale)

    def enlarged(self, ratio: Fraction) -> tuple[str, Law]:
        return "shape", Polya(self.shape * ratio, self.scale)

    def sampler(self) -> Callable[[RandomBits], int]:
        from ..samplers.polya import polya_envelope

        return polya_envelope(self.shape, self.scale).draw

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """A Poisson variable whose rate is Gamma: shape r, scale b/(1 - b), b = e^(-1/scale).

        Footnote 3 of Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits"
        (ICLR 2023). Its generating function is (1 - (b/(1-b)) (z - 1))^(-r) = ((1-b)/(1-bz))^r. The
        implementation that was published with the paper has (1 - b)/b instead.
        """
        odds = 1 / math.expm1(min(700.0, 1 / floats.to_float(self.scale)))
        shape = float(self.shape)
        floats.check_width(shape * odds + 100 * odds)
        return floats.poisson(odds * rng.standard_gamma(shape, size), rng)


@frozen(slots=False)
class PolyaDifference(Law):
    """X - Y for independent Pólya variables of this shape and scale; shape 1: discrete Laplace."""

    shape: Fraction = field(converter=_shape)
    scale: Real = field(converter=read_scale)

    name = "polya-difference"
    calibrated = Calibrated("scale", 1, LARGER_SCALE, {"shape": "1"})

    @cached_property
    def log_concave(self) -> str | None:
        if self.shape < 1:
            return None
        return (
            "a convolution of two negative binomial laws (one mirrored) of shape >= 1; each is "
            "log-concave, and convolution on Z keeps log-concavity (Hoggar 1974)"
        )

    @cached_property
    def log_convex_sides(self) -> str | None:
        # p(k) = (1/2 pi i) closed integral of M(log w) w^(k-1) dw over |w| = 1; inside, M is
        # analytic but for the cut [0, b] of (1 - b/w)^(-r), which is integrable at both ends.
        if self.shape >= 1:
            return None
        return (
            "a mixture of two-sided geometric laws: collapsing Cauchy's integral onto its cut, "
            "p(k) = sin(pi r)/pi (1-b)^(2r) int_0^b u^(|k|-1) (1-bu)^(-r) (b/u-1)^(-r) du with "
            "0 < r < 1, and a mixture of log-linear functions is log-convex (Hölder)"
        )

    @property
    def mgf_domain(self) -> tuple[Real, Real]:
        return over(-1, self.scale), over(1, self.scale)

    def loss_limit(self, shift: int) -> Real:
        # p(k) ~ const k^(r-1) b^k (Darboux, at the branch point of M)
        return over(shift, self.scale)

    def moments(self) -> Moments:
        return Moments(Enclosure.exactly(0), refine(lambda: 2 * _variance(self)))

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        k = abs(x)
        with mpmath.workdps(digits + 25):
            r, rate = mpf(self.shape), 1 / mpf(self.scale)
            beta = mpmath.exp(-rate)
            front = mpmath.gammaprod([k + r], [k + 1, r]) * beta**k * (1 - beta) ** (2 * r)
            return front * mpmath.hyp2f1(r, r + k, k + 1, beta**2)

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        rate = rate_of(self.scale)
        if self.shape <= STEEP:
            right = (1 - (z - rate).exp()).log(analytic=analytic)
            left = (1 - (-z - rate).exp()).log(analytic=analytic)
            return ball(self.shape) * (2 * (-(-rate).expm1()).log() - right - left)
        # the same, where it is to be multiplied by a large shape: 1 - (cosh z - 1)/(cosh L - 1),
        # which lies on the cut of the logarithm only on the cuts |z| >= L of M
        ratio = 1 - ((z / 2).sinh() / (rate / 2).sinh()) ** 2
        return -ball(self.shape) * ratio.log(analytic=analytic)

    def slope(self, z: acb) -> acb | None:
        if self.shape <= STEEP:
            return None
        # log' of the ratio; cosh L - cosh z as a product, which does not cancel for small L
        rate = rate_of(self.scale)
        return ball(self.shape) * z.sinh() / (2 * ((rate + z) / 2).sinh() * ((rate - z) / 2).sinh())

    def path(self, t: int, side: int) -> Sequence[acb]:
        if t < 0 or (t == 0 and side < 0):
            return [-corner.conjugate() for corner in self.path(-t, -side)]  # M(-z) = M(z)
        # K'(s) = r sinh s/(cosh L - cosh s) = t, a quadratic in e^s
        rate, r = float(rate_below(self.scale)), float(self.shape)
        sinh = math.sinh(min(rate, 300))
        root = math.hypot(t * sinh, r)
        rise = t * (2 * math.sinh(min(rate, 300) / 2) ** 2 + t * sinh / (root + r) * sinh) / (t + r)
        return ray(self.shape, self.scale, t, side, rate - math.log1p(rise))

    def upper_tail(self, t: int) -> arb:
        return super().upper_tail(t) if t > 0 else 1 - super().upper_tail(1 - t)

    def lower_tail(self, t: int) -> arb:
        return self.upper_tail(-t)

    def balls(self, low: int, high: int) -> list[arb]:
        # p(k-1) = (1 + a_k) p(k), a_k = (ck + (k+1-r) e)/(k-1+r), where e = 1 - p(k+1)/p(k) =
        # a_{k+1}/(1 + a_{k+1}) and c = 2 cosh L - 2 (the recurrence above). Downward it contracts,
        # and each ball enters once: no dependency inflates the radii.
        nearest = 0 if low <= 0 <= high else min(abs(low), abs(high))
        farthest = max(abs(low), abs(high))
        values = [self.ball(farthest)]
        r, step = ball(self.shape), 4 * (rate_of(self.scale) / 2).sinh() ** 2
        drop = 1 - self.ball(farthest + 1) / values[0] if farthest > nearest else arb(0)
        for k in range(farthest, nearest, -1):
            growth = (step * k + (k + 1 - r) * drop) / (k - 1 + r)
            values.append(values[-1] * (1 + growth))
            drop = 1 / (1 + 1 / growth)
        values.reverse()
        return [values[abs(x) - nearest] for x in range(low, high + 1)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        distances, places = np.unique(np.abs(np.asarray(xs, dtype=np.int64)), return_inverse=True)
        farthest = int(distances[-1]) if distances.size else 0
        if farthest > _STEPS or distances.size <= min(_POINTS, farthest // 1000):
            with working_precision(START):
                logs = np.array([float(self.ball(int(k)).log().mid()) for k in distances])
        else:
            # a power of two, so that one table serves many calls
            logs = _log_table(self, 1 << int(farthest).bit_length())[distances]
        return logs[places].reshape(np.shape(xs))

    def simplest(self) -> Law:
        return DiscreteLaplace(self.scale) if self.shape == 1 else self

    def _sum(self, count: int) -> Law:
        return PolyaDifference(count * self.shape, self.scale)

    def _share(self, users: int) -> Law:
        return PolyaDifference(self.shape / users, self.scale)

    def enlarged(self, ratio: Fraction) -> tuple[str, Law]:
        return "shape", PolyaDifference(self.shape * ratio, self.scale)

    def sampler(self) -> Callable[[RandomBits], int]:
        from ..samplers.polya import polya_envelope

        if self.shape == 1:
            return self.simplest().sampler()
        return polya_envelope(self.shape, self.scale).difference

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        if self.shape == 1:
            return self.simplest().simulate(rng, size)
        both = Polya(self.shape, self.scale).simulate(rng, 2 * size)
        return both[:size] - both[size:]


@lru_cache(maxsize=8)
def _log_table(law: PolyaDifference, farthest: int) -> NDArray[np.float64]:
    """log p(0), ..., log p(farthest) in floats, by the recurrence of `balls`."""
    with working_precision(START):
        drop = float((1 - law.ball(farthest + 1) / law.ball(farthest)).mid())
        peak = float(law.ball(0).log().mid())
    r, step = float(law.shape), 4 * math.sinh(float(rate_below(law.scale)) / 2) ** 2
    growths = []
    for k in range(farthest, 0, -1):
        growth = (step * k + (k + 1 - r) * drop) / (k - 1 + r)
        growths.append(growth)
        drop = growth / (1 + growth)
    table: NDArray[np.float64] = peak - np.concatenate([[0.0], np.cumsum(np.log1p(growths[::-1]))])
    return table


def _variance(law: Polya | PolyaDifference) -> arb:
    """r b/(1-b)^2, the variance of one Pólya variable."""
    return ball(law.shape) / (4 * (rate_of(law.scale) / 2).sinh() ** 2)
