"""Discrete Laplace noise Lap_Z(scale), and its sums and shares: differences of Pólya variables.

p(x) = tanh(1/(2 scale)) b^|x|, b = e^(-1/scale). Everything about it has a closed form: sums over
x <= 0, 0 < x < shift and x >= shift are geometric. The paper's Fact 3 (Appendix K) is `upper_tail`.

Its transform ((1-b)/(1 - b e^z)) ((1-b)/(1 - b e^-z)) is that of the difference of two Pólya
variables of shape 1. With L = 1/scale and C = cosh L - 1 a difference of shape r has E e^(zX) =
(C/(cosh L - cosh z))^r, so that shapes add up. Its Fourier coefficients p(k) satisfy, k >= 1
(differentiate and compare coefficients),

    2 k cosh(L) p(k) = (k-1+r) p(k-1) + (k+1-r) p(k+1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any, cast

import numpy as np
from attrs import field, frozen
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.lazy import special
from ...exact.number import ExactInput, ParameterError, Real, ball, exact
from ...exact.precision import START, refine, working_precision
from ..fields import parameters
from ..fields.schema import key
from ..samplers.bits import RandomBits
from ..samplers.geometric import discrete_laplace
from . import floats
from .law import Calibrated, Law, Moments
from .polya import (
    LARGER_SCALE,
    STEEP,
    Polya,
    histogram,
    over,
    rate_below,
    rate_of,
    ray,
    read_scale,
    read_shape,
    variance_of,
)

_STEPS = 5_000_000  # the longest recurrence that is run in floats
_SPARE, _MOST_SPARE = 32, 700  # bits for what may cancel
_FAR, _TERMS = 40, 20  # scales, and terms of a series in their inverse
_POINTS = 1000  # so many outcomes are computed one by one where that is shorter


class _TwoSided(Law):
    """What differences of two equal Pólya variables share; shape 1: discrete Laplace."""

    shape: Fraction
    scale: Real

    falls_off_axis = True

    @property
    def mgf_domain(self) -> tuple[Real, Real]:
        return over(-1, self.scale), over(1, self.scale)

    def loss_limit(self, shift: int) -> Real:
        # p(k) ~ const k^(r-1) b^k (Darboux, at the branch point of M)
        return over(shift, self.scale)

    def moments(self) -> Moments:
        variance = refine(lambda: 2 * variance_of(self.shape, self.scale))
        return Moments(Enclosure.exactly(0), variance)

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        if self.shape <= STEEP:
            rate, shape, ground = _constants(self.shape, self.scale, ctx.prec)
            right = (1 - (z - rate).exp()).log(analytic=analytic)
            left = (1 - (-z - rate).exp()).log(analytic=analytic)
            return shape * (ground - right - left)
        # the same, where it is to be multiplied by a large shape: 1 - (cosh z - 1)/(cosh L - 1),
        # which lies on the cut of the logarithm only on the cuts |z| >= L of M
        rate = rate_of(self.scale)
        ratio = 1 - ((z / 2).sinh() / (rate / 2).sinh()) ** 2
        return -ball(self.shape) * ratio.log(analytic=analytic)

    def derivative(self, z: acb) -> acb:
        # log' of cosh L - cosh z as a product, which does not cancel for small L
        rate = rate_of(self.scale)
        return ball(self.shape) * z.sinh() / (2 * ((rate + z) / 2).sinh() * ((rate - z) / 2).sinh())


@frozen
class DiscreteLaplace(_TwoSided):
    """Lap_Z(scale), scale > 0 exact: a rational, or a formula.

    scale: in units of what is released. Raises ParameterError for anything else.

    >>> DiscreteLaplace("2.5").probability(0)
    Enclosure(0.1973753202249040007381573, 0.1973753202249040007381574)
    """

    scale: Real = field(converter=read_scale, metadata=parameters.SCALE)

    name = "discrete-laplace"
    says = "an integer query plus discrete Laplace (two-sided geometric) noise"
    example = "epsilon=0.1"
    calibrated = Calibrated("scale", 1, LARGER_SCALE)
    shape = Fraction(1)  # of the Pólya variables whose difference it is
    log_concave = "log p(x) = const - |x|/scale is concave"
    curvature_falls = "it is 0 for k >= 1"
    attains_limit = True

    def ball(self, x: int) -> arb:
        rate = rate_of(self.scale)
        return (rate / 2).tanh() * (-abs(x) * rate).exp()

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        rate = float(rate_of(self.scale).mid())
        distance = np.abs(np.asarray(xs, dtype=np.float64))
        return cast("NDArray[np.float64]", np.log(np.tanh(rate / 2)) - distance * rate)

    def upper_tail(self, t: int) -> arb:
        rate = rate_of(self.scale)
        if t <= 0:
            return 1 - self.upper_tail(1 - t)
        return (-t * rate).exp() / (1 + (-rate).exp())

    def wrapped_loss(self, shift: int, modulus: int) -> arb:
        d, rate = min(shift, modulus - shift), -rate_of(self.scale)
        # log (1 + b^m)/(b^d + b^(m-d)) = -d log b + log (1 + b^m)/(1 + b^(m-2d))
        return -d * rate + (modulus * rate).exp().log1p() - ((modulus - 2 * d) * rate).exp().log1p()

    def difference_tail(self, t: int) -> arb:
        """P(X - X' >= t), t >= 0, for independent copies. Summing the geometric pieces,

        P(X - X' = k) = ((1-b)/(1+b))² b^k (k + (1+b²)/(1-b²)), and so P(X - X' >= t) =
        ((1-b)/(1+b))² b^t ((t + (1+b²)/(1-b²))/(1-b) + b/(1-b)²).
        """
        rate = rate_of(self.scale)
        b, gap = (-rate).exp(), -(-rate).expm1()
        inner = (t + (1 + b * b) / (gap * (1 + b))) / gap + b / gap**2
        return (gap / (1 + b)) ** 2 * (-t * rate).exp() * inner

    def loss(self, x: int, shift: int) -> arb:
        return (abs(x - shift) - abs(x)) * rate_of(self.scale)

    def _sum(self, count: int) -> Law:
        return PolyaDifference(count, self.scale)

    def _share(self, users: int) -> Law:
        return PolyaDifference(Fraction(1, users), self.scale)

    def sampler(self) -> Callable[[RandomBits], int]:
        return partial(discrete_laplace, self.scale)

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """The difference of two geometric variables of success 1 - e^(-1/scale)."""
        scale = floats.to_float(self.scale)
        floats.check_width(2 * scale)
        success = -math.expm1(-1 / scale)
        return rng.geometric(success, size) - rng.geometric(success, size)

    @classmethod
    def allows(cls) -> tuple[str, ...]:
        return "epsilon", "scale"

    @classmethod
    def from_spec(cls, values: Mapping[str, ExactInput]) -> DiscreteLaplace:
        """By scale, or by epsilon = sensitivity/scale; of a vector the sensitivity is its l1."""
        if ("epsilon" in values) == ("scale" in values):
            raise ParameterError(f"{cls.name}: exactly one of epsilon and scale must be given")
        sensitivity = exact(values.get("sensitivity", "1"), "sensitivity", at_least=1)
        if "scale" in values:
            return cls(exact(values["scale"], "scale", above=0))
        return cls(sensitivity / exact(values["epsilon"], "epsilon", above=0))

    def fields(self) -> dict[str, Any] | None:
        written = getattr(self.scale, "fields", None)
        return super().fields() if written is None else {"name": self.name, **written()}


@frozen(slots=False)
class PolyaDifference(_TwoSided):
    """X - Y for independent Pólya variables of this shape and scale; shape 1: discrete Laplace.

    Raises ParameterError for anything but numbers above 0.

    >>> PolyaDifference(1, 10).probability(0) < "0.05"
    True
    """

    shape: Fraction = field(
        converter=read_shape,
        metadata=key("1 is discrete Laplace noise; the fraction of shares present"),
    )
    scale: Real = field(converter=read_scale, metadata=parameters.SCALE)

    name = "polya-difference"
    says = "an integer query plus X - Y, both Pólya(shape, e^(-1/scale)): shares of Laplace noise"
    example = "shape=0.9,scale=10"
    calibrated = Calibrated("scale", 1, LARGER_SCALE, {"shape": "1"})
    additive = "shape"

    @cached_property
    def log_concave(self) -> str | None:
        if self.shape < 1:
            return None
        return (
            "a convolution of two negative binomial laws (one mirrored) of shape >= 1; each is "
            "log-concave, and convolution on Z keeps log-concavity (Hoggar 1974)"
        )

    @cached_property
    def curvature_falls(self) -> str | None:
        if self.shape < 1:
            return None
        return "by the equation of ratios of neighbouring probabilities: `laws.gaussian_envelope`"

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

    def ball(self, x: int) -> arb:
        found = _closed(self, abs(x), ctx.prec) if self.shape <= STEEP else None
        return super().ball(x) if found is None else found

    def slope(self, z: acb) -> acb | None:
        return None if self.shape <= STEEP else self.derivative(z)

    def path(self, t: int, side: int) -> Sequence[acb]:
        if t < 0 or (t == 0 and side < 0):
            return [-corner.conjugate() for corner in self.path(-t, -side)]  # M(-z) = M(z)
        # K'(s) = r sinh s/(cosh L - cosh s) = t, a quadratic in e^s
        rate, r = float(rate_below(self.scale)), float(self.shape)
        sinh = math.sinh(min(rate, 300))
        root = math.hypot(t * sinh, r)
        rise = t * (2 * math.sinh(min(rate, 300) / 2) ** 2 + t * sinh / (root + r) * sinh) / (t + r)
        return ray(self.shape, self.scale, t, side, rate - math.log1p(rise))

    def _run(self, first: int, last: int) -> list[arb]:
        # p(k-1) = (1 + a_k) p(k), a_k = (ck + (k+1-r) e)/(k-1+r), where e = 1 - p(k+1)/p(k) =
        # a_{k+1}/(1 + a_{k+1}) and c = 2 cosh L - 2 (the recurrence above). Downward it contracts,
        # and each ball enters once: no dependency inflates the radii.
        values = [self.ball(last)]
        r, step = ball(self.shape), 4 * (rate_of(self.scale) / 2).sinh() ** 2
        drop = 1 - self.ball(last + 1) / values[0] if last > first else arb(0)
        for k in range(last, first, -1):
            growth = (step * k + (k + 1 - r) * drop) / (k - 1 + r)
            values.append(values[-1] * (1 + growth))
            drop = 1 / (1 + 1 / growth)
        return values[::-1]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        distances, places = np.unique(np.abs(np.asarray(xs, dtype=np.int64)), return_inverse=True)
        far = distances > _FAR * max(float(1 / rate_below(self.scale)), 1.0)
        if self.shape <= STEEP and far.any():
            near = self.log_pmf(distances[~far]) if not far.all() else np.zeros(0)
            logs = np.concatenate((near, self._log_far(distances[far])))
            return logs[places].reshape(np.shape(xs))
        farthest = int(distances[-1]) if distances.size else 0
        if farthest > _STEPS or distances.size <= min(_POINTS, farthest // 1000):
            with working_precision(max(START, ctx.prec)):  # so that balls kept are found again
                logs = np.array([float(self.ball(int(k)).log().mid()) for k in distances])
        else:
            # a power of two, so that one table serves many calls
            logs = _log_table(self, 1 << int(farthest).bit_length())[distances]
        return logs[places].reshape(np.shape(xs))

    def _log_far(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """By 2F1(r, r+k; k+1; z) = (1-z)^-r 2F1(r, 1-r; k+1; z/(z-1)), asymptotic in large k."""
        r, rate = float(self.shape), float(rate_below(self.scale))
        odds = 1 / math.expm1(min(2 * rate, 700.0))  # z/(1-z), z = b^2
        term = total = np.ones(len(k))
        for n in range(_TERMS):
            term = term * (-odds * (r + n) * (1 - r + n) / ((n + 1) * (k + 1.0 + n)))
            total = total + term
        front = -np.log(k) - special.betaln(k, r) - k * rate
        front = front + 2 * r * math.log(-math.expm1(-rate)) - r * math.log(-math.expm1(-2 * rate))
        found: NDArray[np.float64] = front + np.log(total)
        return found

    def simplest(self) -> Law:
        return DiscreteLaplace(self.scale) if self.shape == 1 else self

    def sampler(self) -> Callable[[RandomBits], int]:
        if self.shape == 1:
            return self.simplest().sampler()
        return histogram(Polya(self.shape, self.scale)).difference

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        if self.shape == 1:
            return self.simplest().simulate(rng, size)
        both = Polya(self.shape, self.scale).simulate(rng, 2 * size)
        return both[:size] - both[size:]


@lru_cache(maxsize=256)
def _constants(shape: Fraction, scale: Real, bits: int) -> tuple[arb, arb, arb]:
    """The rate, the shape and 2 log(1 - b), at the working precision, which is this one."""
    rate = rate_of(scale)
    return rate, ball(shape), 2 * (-(-rate).expm1()).log()


@lru_cache(maxsize=1 << 14)  # who looks for a place asks for the same ones again
def _closed(law: PolyaDifference, k: int, bits: int) -> arb | None:
    """p(k) = (1-b)^(2r) b^k C(k+r-1, k) 2F1(r, r+k; k+1; b^2), by convolving the two series.

    None so many scales out that FLINT's way around 1, where terms cancel, takes longer than an
    integral.
    """
    spare = _SPARE + math.ceil(6 * k * float(rate_below(law.scale))) + k.bit_length()
    near = abs(2 * law.shape - round(2 * law.shape))  # 1 - 2r is the pole of that way
    spare += (near.denominator // near.numerator).bit_length() if near else 0
    if spare > _MOST_SPARE:
        return None
    with working_precision(bits + spare):
        r, rate = ball(law.shape), rate_of(law.scale)
        logs = (k + r).lgamma() - arb(k + 1).lgamma() - r.lgamma() - k * rate
        series = (-2 * rate).exp().hypgeom_2f1(r, r + k, k + 1)
        found = (logs + 2 * r * (-(-rate).expm1()).log()).exp() * series
    return +found if found.rel_accuracy_bits() >= bits else None


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
