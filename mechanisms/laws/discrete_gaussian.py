"""Discrete Gaussian noise N_Z(0, sigma2): p(x) = e^(-x^2/(2 sigma2)) / theta(0); and its sums.

Everything comes from theta(t) = sum_x e^(-(x-t)^2/(2 sigma2)): completing the square,
E e^(zX) = e^(sigma2 z^2/2) theta(sigma2 z)/theta(0), entire. A sum of n of them is not quite
N_Z(0, n sigma2), unless they are wide: p(x) = const e^(-x^2/(2 n sigma2)) w(x), with w even and of
period n (`theta.gaussian_gap`).

Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import pairwise

import numpy as np
from attrs import field, frozen
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.number import ExactInput, ParameterError, ball, exact, positive
from ...exact.precision import START, enclose, refine, working_precision
from ..fields import parameters
from ..fields.schema import key
from ..samplers.bits import RandomBits
from ..samplers.envelope import Envelope, envelope
from ..samplers.geometric import discrete_gaussian_ratio
from . import floats
from .contour import any_log, transformed, vertical_path
from .law import Calibrated, Law, Moments, divided
from .theta import gaussian_gap, theta, theta_at_zero, theta_variance, tilt

_TABLE = 400  # sigma2 up to which simulated draws come from a table
_LONGEST_PERIOD = 100_000  # for `periodic_spread`
_FEW = 8  # so many are drawn, or looked for, one by one
_NEGLIGIBLE = 1e-13
_WIDEST = 10**15  # sigma2 of a discrete Gaussian
_NARROW = 4.0  # standard deviations (in outcomes) below which windows go point by point
_HALF_WIDTH = 8  # of one transformed window, in standard deviations
_DEVIATIONS, _LONGEST = 8, 20_000  # how many masses are computed together when they are drawn
_SHORT_KEPT, _LONGEST_KEPT = 500, 10_000  # outcomes whose masses are kept, for all others


@frozen
class DiscreteGaussian(Law):
    """N_Z(0, sigma2), sigma2 > 0 exact. (Its variance is slightly below sigma2.)

    sigma2: in squared units of what is released. Raises ParameterError for anything else.

    >>> DiscreteGaussian("0.25").moments().variance < "0.22"
    True
    """

    sigma2: Fraction = field(converter=parameters.sigma2, metadata=parameters.SIGMA2)

    name = "discrete-gaussian"
    says = "an integer query plus discrete Gaussian noise, N_Z(0, sigma2)"
    example = "sigma2=100"
    calibrated = Calibrated("sigma2", 2, None)  # see `verify.monotone`
    gaussians = 1
    falls_off_axis = True  # by Jacobi's triple product
    log_concave = "log p(x) = const - x^2/(2 sigma2) is concave"
    curvature_falls = "it is 1/sigma2 everywhere"

    @classmethod
    def allows(cls) -> tuple[str, ...]:
        return "sigma2", "rho"

    @classmethod
    def from_spec(cls, values: Mapping[str, ExactInput]) -> DiscreteGaussian:
        """By sigma2, or by rho = sensitivity^2/(2 sigma2); sensitivity: of a vector its l2."""
        if ("sigma2" in values) == ("rho" in values):
            raise ParameterError(f"{cls.name}: exactly one of sigma2 (or sigma) and rho is needed")
        if "sigma2" in values:
            return cls(values["sigma2"])
        moved = exact(values.get("sensitivity", "1"), "sensitivity", at_least=1)
        sigma2 = moved**2 / (2 * exact(values["rho"], "rho", above=0))
        return cls(positive(sigma2, "sensitivity^2/(2 rho)"))

    def gaussian_gap(self) -> arb:
        return arb(0)

    def theta(self, t: arb) -> arb:
        """Enclose sum_x e^(-(x-t)^2/(2 sigma2)); at most theta(0)."""
        return theta(self.sigma2, acb(t)).real

    def moments(self) -> Moments:
        return Moments(Enclosure.exactly(0), refine(lambda: theta_variance(self.sigma2)))

    def ball(self, x: int) -> arb:
        return (-(x * x) / (2 * ball(self.sigma2))).exp() / self._total()

    def _run(self, first: int, last: int) -> list[arb]:
        rate, total = -1 / (2 * ball(self.sigma2)), self._total()
        return [(x * x * rate).exp() / total for x in range(first, last + 1)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        with working_precision(START):
            constant = float(theta_at_zero(self.sigma2, START).log().mid())
        squares = np.asarray(xs, dtype=np.float64) ** 2
        return squares / (-2 * float(self.sigma2)) - constant

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        exponent, factor = self.transform(z)
        if analytic and not factor.real > 0:  # a zero of the factor may be near
            return acb(arb.nan(), arb.nan())
        return exponent + factor.log()

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        s2 = ball(self.sigma2)
        return s2 * z * z / 2, theta(self.sigma2, s2 * z) / self._total()

    def slope(self, z: acb) -> acb:
        return ball(self.sigma2) * z

    def path(self, t: int, side: int) -> Sequence[acb]:
        # up to the bounded factor, the saddle point of s2 z^2/2 - tz
        s2 = float(self.sigma2)
        return vertical_path(t / s2, side, spread=math.sqrt(s2))

    def steepening(self, x: int, shift: int) -> arb:
        # s(y) = -(2y - 1)/(2 sigma2) falls by the same amount at each step
        return shift / ball(self.sigma2)

    def loss(self, x: int, shift: int) -> arb:
        return ball(Fraction(shift * (shift - 2 * x)) / (2 * self.sigma2))

    def renyi_sum(self, order: arb, shift: int) -> arb:
        # completing the square; theta has period 1 and is even
        exponent = order * (order - 1) * shift * shift / (2 * ball(self.sigma2))
        return exponent.exp() * self.theta(order * shift) / self._total()

    def renyi_exact(self, order: Fraction, shift: int) -> Fraction | None:
        if (order * shift).denominator != 1:
            return None
        return order * shift * shift / (2 * self.sigma2)

    def gaussian_rho(self, shift: int) -> Fraction:
        return Fraction(shift * shift) / (2 * self.sigma2)

    def zcdp_closed(self, shift: int) -> Enclosure:
        # theta(t) <= theta(0), with equality at the integer orders
        return Enclosure.exactly(self.gaussian_rho(shift))

    def _sum(self, count: int) -> Law:
        return DiscreteGaussianSum(count, self.sigma2)

    def _share(self, users: int) -> Law:
        raise ParameterError(
            "users must be 1: a sum of discrete Gaussians is not a discrete Gaussian, so that "
            "discrete-gaussian has no exact shares; discrete-gaussian-sum is such a sum"
        )

    def enlarged(self, ratio: Fraction) -> tuple[str, Law]:
        return "sigma2", DiscreteGaussian(self.sigma2 * ratio)

    def sampler(self) -> Callable[[RandomBits], int]:
        return partial(discrete_gaussian_ratio, self.sigma2.numerator, self.sigma2.denominator)

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """By inversion of a table, or by rejection from discrete Laplace variables."""
        sigma2 = float(self.sigma2)
        floats.check_width(math.sqrt(sigma2))
        if sigma2 <= _TABLE:
            outcomes, levels, _ = floats.gaussian_table(sigma2)
            return outcomes[np.searchsorted(levels, rng.random(size), side="right")]
        scale = math.floor(math.sqrt(sigma2)) + 1
        success, found, missing = -math.expm1(-1 / scale), [], size
        while missing > 0:
            many = missing + missing // 2 + 16
            noise = rng.geometric(success, many) - rng.geometric(success, many)
            excess = np.abs(noise) - sigma2 / scale
            kept = noise[rng.standard_exponential(many) >= excess * excess / (2 * sigma2)][:missing]
            found.append(kept)
            missing -= len(kept)
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def _total(self) -> arb:
        return theta_at_zero(self.sigma2, ctx.prec)


@frozen
class DiscreteGaussianSum(Law):
    """The sum of `count` independent copies of N_Z(0, sigma2).

    count: at least 1. sigma2: of each, above 0. Raises ParameterError for anything else.

    >>> DiscreteGaussianSum(3, "0.25").moments().variance < "0.66"
    True
    """

    count: int = field(converter=parameters.count, metadata=key("how many terms are added up"))
    sigma2: Fraction = field(converter=parameters.sigma2, metadata=parameters.SIGMA2)

    name = "discrete-gaussian-sum"
    says = "an integer query plus the sum of so many independent N_Z(0, sigma2)"
    example = "count=128,sigma2=0.25"
    calibrated = Calibrated("sigma2", 2, None, {"count": "1"})  # see `verify.monotone`
    falls_off_axis = True  # by Jacobi's triple product, as each term

    log_concave = (
        "a convolution of discrete Gaussians, whose log-PMF -x^2/(2 sigma2) + const is concave; "
        "convolution on Z keeps log-concavity (Hoggar 1974)"
    )
    curvature_peaks = (
        "log w(k)^2/(w(k-1) w(k+1)) is largest at 0, w being the Gaussian mass of a coset of a "
        "lattice: f(x)^2 f(y)^2 <= f(0)^2 f(x+y) f(x-y) (Regev, Stephens-Davidowitz 2017)"
    )

    @property
    def gaussians(self) -> int:
        return self.count

    def moments(self) -> Moments:
        variance = refine(lambda: self.count * theta_variance(self.sigma2))
        return Moments(Enclosure.exactly(0), variance)

    def gaussian_gap(self) -> arb:
        """Against N_Z(0, count sigma2); see `gaussian_gap`."""
        return gaussian_gap(self.count, self.sigma2)

    def periodic_spread(self) -> arb:
        """Bound log(max w/min w) of the periodic factor w; infinite where that is too long."""
        gap = self.gaussian_gap()
        if gap < 1e-3 or self.count > _LONGEST_PERIOD:
            return gap
        logs = _log_w(self, ctx.prec)
        return (reduce(arb.max, logs) - reduce(arb.min, logs)).upper().min(gap)

    def steepening(self, x: int, shift: int) -> arb:
        """The same for all x, with d = shift.

        With e(y) = log w(y)/w(y-1) it is d/(n sigma2) + e(y - d) - e(y), and e has period n: over
        one period it can be listed, and in any case |log w| varies by at most the gap. Also
        s(y - n) - s(y) = 1/sigma2 exactly and s never rises, which holds without either.
        """
        s2, gap = ball(self.sigma2), self.gaussian_gap()
        even, turns = shift / (self.count * s2), shift // self.count
        if gap.is_finite() and (gap < 1e-3 or self.count > _LONGEST_PERIOD):
            return even + 4 * gap
        if self.count > _LONGEST_PERIOD:
            return (turns + 1) / s2
        return even + _largest_bend(self, shift % self.count, ctx.prec)

    def renyi_sum(self, order: arb, shift: int) -> arb | None:
        """Where the law is N_Z(0, n sigma2) up to e^(+-gap): its sum, up to (2 order - 1) gaps."""
        if (near := self._near()) is None:
            return None
        limit, gap = near
        return limit.renyi_sum(order, shift) * _factor((2 * order - 1) * gap)

    def gaussian_rho(self, shift: int) -> Fraction:
        return Fraction(shift * shift) / (2 * self.count * self.sigma2)

    def zcdp_closed(self, shift: int) -> Enclosure | None:
        """rho0 = shift^2/(2 n sigma2) up to 2 gap + 2 (e^gap - 1) e^(6 rho0).

        From below: w is bounded, so (Rényi divergence)/order tends to rho0 at infinity. From above,
        P = P0 e^(+-gap) and Q = Q0 e^(+-gap), with 0 for N_Z(0, n sigma2), whose divergence of
        order a is at most a rho0. For a >= 2, (2a - 1)/(a(a - 1)) <= 3/2 gaps more. For a < 2 let
        Y = e^((a-1) L0): sum P Y <= sum P0 Y + (e^gap - 1) sum P0 |Y - 1|, where |Y - 1| <=
        (a-1)|L0| e^|L0| <= (a-1)(e^(2 L0) + e^(-2 L0)), whose mean under P0 is at most
        (a-1)(e^(6 rho0) + e^(2 rho0)), as N_Z(0, s2) is s2-sub-Gaussian. And L <= L0 + 2 gap.
        """
        gap = self.gaussian_gap()
        if not gap < arb(2) ** -(ctx.prec + 8):
            return None
        rho = ball(self.gaussian_rho(shift))
        return enclose(rho.union(rho + 2 * gap + 2 * gap.expm1() * (6 * rho).exp()))

    def zcdp_tail(self, order: Fraction, shift: int) -> arb:
        # p = const g w, g the Gaussian factor. Completing the square, sum p(x)^a p(x-d)^(1-a) is
        # e^(a(a-1) rho) times (w(x)/w(x-d))^(a-1) <= e^((a-1) spread), times the ratio of two sums
        # of g w, one of them shifted, <= e^spread because sum g(x - t) <= sum g(x) (theta). So
        # K(a) <= a(a-1) rho + a spread.
        rho = ball(self.gaussian_rho(shift))
        return rho + self.periodic_spread() / ball(order - 1)

    def ball(self, x: int) -> arb:
        if (near := self._near()) is not None:
            limit, gap = near
            return limit.ball(x) * _factor(gap)
        nearest = self._reduced(x)
        return super().ball(nearest) * self._decay(x, nearest)

    def upper_tail(self, t: int) -> arb:
        if (near := self._near()) is not None:
            limit, gap = near
            return limit.upper_tail(t) * _factor(gap)
        return super().upper_tail(t)

    def _run(self, first: int, last: int) -> list[arb]:
        if (near := self._near()) is not None:
            limit, gap = near
            return [p * _factor(gap) for p in limit.balls(first, last)]
        xs = range(first, last + 1)
        places = [self._reduced(x) for x in xs]
        masses = self._within_period(places)
        return [p * self._decay(x, k) for x, k, p in zip(xs, places, masses, strict=True)]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        with working_precision(START):
            if self.gaussian_gap() < 1e-17 and self._total <= _WIDEST:
                return self._limit().log_pmf(xs)
            distances = np.abs(np.asarray(xs, dtype=np.int64))
            folded = distances % self.count
            places, index = np.unique(np.minimum(folded, self.count - folded), return_inverse=True)
            masses = self._within_period(places.tolist(), _SHORT_KEPT)
            unit = float(1 / (2 * self.count * self.sigma2))
            logs = np.array([float(p.log().mid()) for p in masses]) + places**2.0 * unit
            return logs[index].reshape(np.shape(xs)) - distances**2.0 * unit

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        return self.count * _term(self.sigma2).cumulant(z, analytic)

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        exponent, factor = _term(self.sigma2).transform(z)
        return self.count * (exponent + any_log(factor)), acb(1)

    @property
    def lost_bits(self) -> int:
        return self.count.bit_length() // 2  # as of an outcome some deviations off

    def slope(self, z: acb) -> acb:
        s2 = ball(self.sigma2)
        t = s2 * z
        return self.count * s2 * (z + theta(self.sigma2, t, 1) / theta(self.sigma2, t))

    def path(self, t: int, side: int) -> Sequence[acb]:
        saddle, spread = self._tilt(t)
        return vertical_path(saddle, side, spread)

    def simplest(self) -> Law:
        return DiscreteGaussian(self.sigma2) if self.count == 1 else self

    def _sum(self, count: int) -> Law:
        return DiscreteGaussianSum(count * self.count, self.sigma2)

    def _share(self, users: int) -> Law:
        return DiscreteGaussianSum(divided(self.count, users, "count"), self.sigma2)

    def sampler(self) -> Callable[[RandomBits], int]:
        """Added one by one where they are few, as one draw where they are many."""
        if self.count > _FEW:
            return _histogram(self).draw
        one = DiscreteGaussian(self.sigma2).sampler()
        return lambda bits: sum(one(bits) for _ in range(self.count))

    def simulate(self, rng: np.random.Generator, size: int) -> NDArray[np.int64]:
        """One discrete Gaussian of variance count sigma2 where that is proved to be the same.

        `gaussian_gap` bounds the log ratio of the two laws, hence their total variation. Where
        sigma2 is small it is not the same: then from how often each outcome occurs among the terms.
        """
        if _is_gaussian(self):
            return self._limit().simulate(rng, size)
        floats.check_width(floats.spread(self.count))
        outcomes, _, masses = floats.gaussian_table(float(self.sigma2))
        counts: floats.Draws = rng.multinomial(self.count, masses, size)
        return counts @ outcomes

    def renyi_of_summands(self, order: Fraction, shift: int) -> Fraction:
        """At most this is the Rényi divergence of the sum and the sum shifted by so much.

        Adding up is post-processing of the summands, each shifted by s_1, s_2, ... with this sum,
        and a discrete Gaussian shifted by an integer s has order s^2/(2 sigma2). As even as may be.
        """
        each, more = divmod(abs(shift), self.count)
        squares = (self.count - more) * each**2 + more * (each + 1) ** 2
        return order * squares / (2 * self.sigma2)

    @property
    def _total(self) -> Fraction:
        return self.count * self.sigma2

    def _limit(self) -> DiscreteGaussian:
        return DiscreteGaussian(positive(self._total, "count*sigma2"))

    def _near(self) -> tuple[DiscreteGaussian, arb] | None:
        """N_Z(0, n sigma2) and the gap, where that is negligible at the working precision."""
        gap = self.gaussian_gap()
        if not gap < arb(2) ** -(ctx.prec + 8) or self._total > _WIDEST:
            return None
        return self._limit(), gap

    def _reduced(self, x: int) -> int:
        """The representative in [0, count/2] of +-x mod count."""
        folded = abs(x) % self.count
        return min(folded, self.count - folded)

    def _decay(self, x: int, place: int) -> arb:
        """p(x)/p(place), w being the same at both."""
        if abs(x) == place:
            return arb(1)
        return ((place * place - x * x) / (2 * self.count * ball(self.sigma2))).exp()

    def _within_period(self, places: Sequence[int], least: int = 0) -> list[arb]:
        """p at these outcomes of [0, count/2]; all are kept if at most `least`, or twice these."""
        first, last = min(places, default=0), max(places, default=-1)
        if self.count // 2 <= min(_LONGEST_KEPT, max(least, 2 * len(places))):
            table, first = _period(self, ctx.prec), 0  # asked for often, block by block
        elif len(places) <= 64 < last - first:
            return [super(DiscreteGaussianSum, self).ball(place) for place in places]
        else:
            table = self._window(first, last)
        return [table[place - first] for place in places]

    def _window(self, first: int, last: int) -> list[arb]:
        """Enclose p on [first, last] within [0, count/2], a few standard deviations at a time."""
        values: list[arb] = []
        while (x := first + len(values)) <= last:
            deviation = self._tilt(x)[1]
            if deviation < _NARROW or last - x < _FEW:
                values.append(super().ball(x))
            else:
                high = min(last, x + int(2 * _HALF_WIDTH * deviation))
                values += transformed(lambda z: self.transform(z)[0], self._tilt, x, high)
        return values

    def _tilt(self, mean: float) -> tuple[float, float]:
        """About the s for which the law tilted by e^(sx) has this mean; its deviation then."""
        saddle, deviation = tilt(mean / self.count, float(self.sigma2))
        return saddle, math.sqrt(self.count) * deviation


@lru_cache(maxsize=64)
def _term(sigma2: Fraction) -> DiscreteGaussian:
    """What is added up; asked for at each of a sum's thousands of points."""
    return DiscreteGaussian(sigma2)


@lru_cache(maxsize=4)
def _log_w(law: DiscreteGaussianSum, bits: int) -> list[arb]:
    """log w(0), ..., log w(count/2), but for a constant: w is even."""
    unit = 1 / (2 * law.count * ball(law.sigma2))
    return [p.log() + x * x * unit for x, p in enumerate(law.balls(0, law.count // 2))]


@lru_cache(maxsize=4)
def _period(law: DiscreteGaussianSum, bits: int) -> list[arb]:
    """p(0), ..., p(count/2): all others are these but for the Gaussian factor."""
    return law._window(0, law.count // 2)


@lru_cache(maxsize=64)
def _is_gaussian(law: DiscreteGaussianSum) -> bool:
    with working_precision(START):
        return bool(law.gaussian_gap() < _NEGLIGIBLE)


@lru_cache(maxsize=16)
def _largest_bend(law: DiscreteGaussianSum, shift: int, bits: int) -> arb:
    """The largest e(y - shift) - e(y), e(y) = log w(y)/w(y-1), over a period."""
    n, log_w = law.count, _log_w(law, bits)
    logs = [log_w[law._reduced(x)] for x in range(-1, n)]
    steps = [after - before for before, after in pairwise(logs)]
    return reduce(arb.max, [steps[(y - shift) % n] - steps[y] for y in range(n)]).upper()


def _factor(gap: arb) -> arb:
    """All of [e^-gap, e^gap]."""
    return arb(0, gap).exp()


@lru_cache(maxsize=16)
def _histogram(law: DiscreteGaussianSum) -> Envelope:
    """What draws of a sum of many come from, with the mode at 0 (see its shape)."""
    spread = math.isqrt(math.ceil(law.count * law.sigma2)) + 1
    last = _DEVIATIONS * spread
    with working_precision(START):
        gap = law.gaussian_gap()

    def mass(x: int) -> arb:
        if gap < arb(2) ** -(ctx.prec + 8):
            exponent = -(x * x) / (2 * law.count * ball(law.sigma2))
            return (exponent + arb(0, 2 * gap)).exp()
        if abs(x) <= last <= _LONGEST:
            return _masses(law, last, ctx.prec)[abs(x)]
        return law.ball(x)

    return envelope(mass, 0, spread, (None, None))


@lru_cache(maxsize=4)
def _masses(law: DiscreteGaussianSum, last: int, bits: int) -> list[arb]:
    """p(0), ..., p(last)."""
    return law.balls(0, last)
