"""The sum of n independent discrete Gaussians N_Z(0, sigma2): noise added in shares.

It is not quite N_Z(0, n sigma2). Split v in Z^n with sum x into (x/n)(1, ..., 1) + u, u orthogonal
to (1, ..., 1). Then |v|^2 = x^2/n + |u|^2, and u runs through a coset of the lattice
A = {v in Z^n : sum v = 0} that depends on x mod n only:

    p(x) = const e^(-x^2/(2 n sigma2)) w(x),    w(x) = sum_u e^(-|u|^2/(2 sigma2)),

w even and of period n. By Poisson summation over A, with the dual lattice A* = the projection of
Z^n orthogonal to (1, ..., 1),

    w(x) = const sum_{y in A*} e^(-2 pi^2 sigma2 |y|^2) e^(2 pi i <y, u_x>),

so that |w(x)/c - 1| <= T for one constant c, where T is the sum of e^(-2 pi^2 sigma2 |y|^2) over
y in A* other than 0. Hence log(max w/min w) and |log p(x)/p'(x)|, p' the law N_Z(0, n sigma2), are
at most log((1 + T)/(1 - T)) (for the second, sum p = sum p' = 1 fixes the constant up to 1 +- T).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen
from flint import acb, arb, ctx
from numpy.typing import NDArray

from ...exact.enclosure import Enclosure
from ...exact.lazy import mpmath
from ...exact.number import ball, mpf
from ...exact.precision import START, refine, working_precision
from .. import parameters
from . import floats
from .discrete_gaussian import DiscreteGaussian
from .law import Calibrated, Law, Moments, divided
from .saddle import vertical_path
from .theta import theta, theta_at_zero, theta_variance, tilt

if TYPE_CHECKING:
    from ..samplers.bits import RandomBits

__all__ = ["DiscreteGaussianSum"]

_LONGEST_PERIOD = 100_000  # for `periodic_spread`
_FEW = 8  # so many are added one by one when they are drawn
_NEGLIGIBLE = 1e-13
_NARROW = 4.0  # standard deviations (in outcomes) below which windows go point by point
_HALF_WIDTH = 8  # of one transformed window, in standard deviations


@frozen
class DiscreteGaussianSum(Law):
    """The sum of `count` independent copies of N_Z(0, sigma2)."""

    count: int = field(converter=parameters.count)
    sigma2: Fraction = field(converter=parameters.sigma2)

    name = "discrete-gaussian-sum"
    calibrated = Calibrated("sigma2", 2, None, {"count": "1"})  # see `verify.gaussian_order`

    log_concave = (
        "a convolution of discrete Gaussians, whose log-PMF -x^2/(2 sigma2) + const is concave; "
        "convolution on Z keeps log-concavity (Hoggar 1974)"
    )

    @property
    def gaussians(self) -> int:
        return self.count

    def moments(self) -> Moments:
        variance = refine(lambda: self.count * theta_variance(self.sigma2))
        return Moments(Enclosure.exactly(0), variance)

    def gaussian_gap(self) -> arb:
        """Bound |log p(x)/p'(x)| for all x, p' the law N_Z(0, count sigma2); perhaps infinite."""
        rest = _dual_rest(self.count, 2 * arb.pi() ** 2 * ball(self.sigma2))
        return (2 * rest / (1 - rest)).log1p().upper() if rest < 1 else arb.pos_inf()

    def periodic_spread(self) -> arb:
        """Bound log(max w/min w) of the periodic factor w; infinite where that is too long."""
        gap = self.gaussian_gap()
        if gap < 1e-3 or self.count > _LONGEST_PERIOD:
            return gap
        unit = 1 / (2 * self.count * ball(self.sigma2))
        period = enumerate(self.balls(0, self.count // 2))  # w is even
        logs = [p.log() + x * x * unit for x, p in period]
        return (reduce(arb.max, logs) - reduce(arb.min, logs)).upper().min(gap)

    def steepening(self, x: int, shift: int) -> arb:
        return self._bend(shift)[1]

    def flattening(self, x: int, shift: int) -> arb | None:
        return self._bend(shift)[0]

    def _bend(self, shift: int) -> tuple[arb, arb]:
        """Bounds of s(y - d) - s(y) for all y, d = shift.

        With e(y) = log w(y)/w(y-1) it is d/(n sigma2) + e(y - d) - e(y), and e has period n: over
        one period it can be listed, and in any case |log w| varies by at most the gap. Also
        s(y - n) - s(y) = 1/sigma2 exactly and s never rises, which holds without either.
        """
        s2, gap = ball(self.sigma2), self.gaussian_gap()
        even, turns = shift / (self.count * s2), shift // self.count
        if gap.is_finite() and (gap < 1e-3 or self.count > _LONGEST_PERIOD):
            return even - 4 * gap, even + 4 * gap
        if self.count > _LONGEST_PERIOD:
            return turns / s2, (turns + 1) / s2
        least, largest = _ratio_range(self, shift % self.count, ctx.prec)
        return even + least, even + largest

    def renyi_sum(self, order: arb, shift: int) -> arb | None:
        """Where the law is N_Z(0, n sigma2) up to e^(+-gap): its sum, up to (2 order - 1) gaps."""
        gap = self.gaussian_gap()
        if not gap < arb(2) ** -(ctx.prec + 8):
            return None
        return self._limit().renyi_sum(order, shift) * _factor((2 * order - 1) * gap)

    def zcdp_closed(self, shift: int) -> arb | None:
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
        rho = ball(Fraction(shift * shift) / (2 * self.count * self.sigma2))
        return rho.union(rho + 2 * gap + 2 * gap.expm1() * (6 * rho).exp())

    def zcdp_tail(self, order: Fraction, shift: int) -> arb:
        # p = const g w, g the Gaussian factor. Completing the square, sum p(x)^a p(x-d)^(1-a) is
        # e^(a(a-1) rho) times (w(x)/w(x-d))^(a-1) <= e^((a-1) spread), times the ratio of two sums
        # of g w, one of them shifted, <= e^spread because sum g(x - t) <= sum g(x) (theta). So
        # K(a) <= a(a-1) rho + a spread.
        rho = ball(Fraction(shift * shift) / (2 * self.count * self.sigma2))
        return rho + self.periodic_spread() / ball(order - 1)

    def pmf(self, x: int, digits: int = 50) -> mpmath.mpf:
        """The trapezoidal rule for Fourier's integral on the line Re z = x/(n sigma2)."""
        n, sd = self.count, math.sqrt(float(self.count * self.sigma2)) + 1
        nodes = int(2 * sd * math.sqrt(5 * digits + 100) * 2) + 8
        with mpmath.workdps(digits + 20 + len(str(n)) + 2 * len(str(x))):
            s2 = mpf(self.sigma2)
            start = x / (n * s2)
            tiny = mpmath.mpf(10) ** -(digits + 15)
            top = _transform_mpf(s2, mpmath.mpc(start))
            total = mpmath.mpf(1)
            for j in range(1, nodes // 2 + 1):
                z = mpmath.mpc(start, 2 * mpmath.pi * j / nodes)
                ratio = (_transform_mpf(s2, z) / top) ** n
                weight = 1 if 2 * j == nodes else 2
                total += weight * (ratio * mpmath.expj(-x * z.imag)).real
                if abs(ratio) < tiny:
                    break
            scale = n * mpmath.log(top.real / _transform_mpf(s2, mpmath.mpc(0)).real)
            return mpmath.exp(scale - x * start) * total / nodes

    def ball(self, x: int) -> arb:
        if (gap := self.gaussian_gap()) < arb(2) ** -(ctx.prec + 8):
            return self._limit().ball(x) * _factor(gap)
        nearest = self._reduced(x)
        return super().ball(nearest) * self._decay(x, nearest)

    def upper_tail(self, t: int) -> arb:
        if (gap := self.gaussian_gap()) < arb(2) ** -(ctx.prec + 8):
            return self._limit().upper_tail(t) * _factor(gap)
        return super().upper_tail(t)

    def lower_tail(self, t: int) -> arb:
        return self.upper_tail(-t)

    def balls(self, low: int, high: int) -> list[arb]:
        if (gap := self.gaussian_gap()) < arb(2) ** -(ctx.prec + 8):
            factor = _factor(gap)
            return [p * factor for p in self._limit().balls(low, high)]
        places = [self._reduced(x) for x in range(low, high + 1)]
        first = min(places, default=0)
        table = self._window(first, max(places, default=-1))
        return [
            table[place - first] * self._decay(x, place)
            for x, place in zip(range(low, high + 1), places, strict=True)
        ]

    def log_pmf(self, xs: NDArray[np.int64]) -> NDArray[np.float64]:
        with working_precision(START):
            if self.gaussian_gap() < 1e-17:
                return self._limit().log_pmf(xs)
            distances = np.abs(np.asarray(xs, dtype=np.int64))
            folded = distances % self.count
            places, index = np.unique(np.minimum(folded, self.count - folded), return_inverse=True)
            if not places.size:
                return np.zeros(np.shape(xs))
            first, last = int(places[0]), int(places[-1])
            if places.size <= 64 and last - first > 64:
                masses = [self.ball(int(place)) for place in places]
            else:
                window = self._window(first, last)
                masses = [window[int(place) - first] for place in places]
            unit = float(1 / (2 * self.count * self.sigma2))
            logs = np.array([float(p.log().mid()) for p in masses]) + places**2.0 * unit
            return logs[index].reshape(np.shape(xs)) - distances**2.0 * unit

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        return self.count * DiscreteGaussian(self.sigma2).cumulant(z, analytic)

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        # M = e^(n s2 z^2/2) F^n is entire: of log F any branch will do, and where F may vanish an
        # exponent whose imaginary part covers a full turn encloses the disc |F^n| <= e^(n log|F|).
        s2 = ball(self.sigma2)
        factor = theta(self.sigma2, s2 * z)[0] / theta_at_zero(self.sigma2, ctx.prec)
        if not factor.contains(0):
            logarithm = (-factor).log() + acb(0, arb.pi()) if factor.real < 0 else factor.log()
        else:
            logarithm = acb(arb(factor.abs_upper()).log(), arb(0, 4))
        return self.count * (s2 * z * z / 2 + logarithm), acb(1)

    def slope(self, z: acb) -> acb:
        s2 = ball(self.sigma2)
        value, derivative = theta(self.sigma2, s2 * z)
        return self.count * s2 * (z + derivative / value)

    def path(self, t: int, side: int) -> Sequence[acb]:
        saddle, spread = tilt(t / self.count, float(self.sigma2))
        return vertical_path(saddle, side, spread=math.sqrt(self.count) * spread)

    def simplest(self) -> Law:
        return DiscreteGaussian(self.sigma2) if self.count == 1 else self

    def _sum(self, count: int) -> Law:
        return DiscreteGaussianSum(count * self.count, self.sigma2)

    def _share(self, users: int) -> Law:
        return DiscreteGaussianSum(divided(self.count, users, "count"), self.sigma2)

    def sampler(self) -> Callable[[RandomBits], int]:
        from ..samplers.gaussian_sum import gaussian_sum_envelope

        if self.count > _FEW:
            return gaussian_sum_envelope(self).draw
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

    def _limit(self) -> DiscreteGaussian:
        return DiscreteGaussian(self.count * self.sigma2)

    def _reduced(self, x: int) -> int:
        """The representative in [0, count/2] of +-x mod count."""
        folded = abs(x) % self.count
        return min(folded, self.count - folded)

    def _decay(self, x: int, place: int) -> arb:
        """p(x)/p(place), w being the same at both."""
        if abs(x) == place:
            return arb(1)
        return ((place * place - x * x) / (2 * self.count * ball(self.sigma2))).exp()

    def _window(self, first: int, last: int) -> list[arb]:
        """Enclose p on [first, last] within [0, count/2], a few standard deviations at a time."""
        values: list[arb] = []
        while (x := first + len(values)) <= last:
            deviation = math.sqrt(self.count) * tilt(x / self.count, float(self.sigma2))[1]
            if deviation < _NARROW:
                values.append(super().ball(x))
            else:
                values += self._transformed(x, min(last, x + int(2 * _HALF_WIDTH * deviation)))
        return values

    def _transformed(self, low: int, high: int) -> list[arb]:
        """Enclose p on [low, high] by one discrete Fourier transform.

        With q(x) = p(x) e^(sx)/M(s), the law tilted so that the window's centre is its mean,
        (1/N) sum_j M(s + 2 pi i j/N)/M(s) e^(-2 pi i j x/N) = q(x) + sum over m != 0 of q(x + mN).
        The aliases lie outside (high - N, low + N): Chernoff's bound at both ends covers them.
        |M(s + i theta)| falls in theta on [0, pi] (Jacobi's triple product: each factor
        |1 + c e^(i theta)|, c > 0, does), so the coefficients that are left out are bounded by
        the last one computed.
        """
        centre, bits = (low + high) / 2, ctx.prec
        tilted, spread = tilt(centre / self.count, float(self.sigma2))
        saddle = arb(tilted)  # exact from here on
        deviation = math.sqrt(self.count) * spread
        # q is at least about e^(-width^2/2)/deviation at the ends
        width = (high - centre) / deviation + 1
        needed = bits + 16 + int(0.75 * width**2) + int(deviation).bit_length()
        size = 1 << (high - low + int(deviation * math.sqrt(1.4 * needed))).bit_length()
        extra = self.count.bit_length() + 2 * high.bit_length() + 2 * size.bit_length()
        with working_precision(needed + extra):
            start = self.transform(acb(saddle))[0].real
            while True:
                alias = self._chernoff(saddle, start, low + size)
                alias += self._chernoff(saddle, start, high - size)
                if alias <= arb(2) ** -needed:
                    break
                size *= 2
            aliases = arb(0).union(alias)
            coefficients, bound = [acb(1)], arb(1)
            while bound > arb(2) ** -needed and 2 * len(coefficients) < size:
                z = acb(saddle, 2 * arb.pi() * len(coefficients) / size)
                coefficients.append((self.transform(z)[0] - start).exp())
                bound = arb(coefficients[-1].abs_upper())
            mirrored = [value.conjugate() for value in coefficients[:0:-1]]
            rest = [acb(arb(0, bound), arb(0, bound))] * (size - len(coefficients) - len(mirrored))
            sums = acb.dft(coefficients + rest + mirrored)
            result = [
                (sums[x % size].real / size - aliases) * (start - saddle * x).exp()
                for x in range(low, high + 1)
            ]
        return [+value for value in result]

    def _chernoff(self, saddle: arb, start: arb, y: int) -> arb:
        """Chernoff's bound of the tilted law's mass from y outward; start = log M(saddle)."""
        there = arb(tilt(y / self.count, float(self.sigma2))[0])
        return (self.transform(acb(there))[0].real - start - (there - saddle) * y).exp()


@lru_cache(maxsize=64)
def _is_gaussian(law: DiscreteGaussianSum) -> bool:
    with working_precision(START):
        return bool(law.gaussian_gap() < _NEGLIGIBLE)


@lru_cache(maxsize=16)
def _ratio_range(law: DiscreteGaussianSum, shift: int, bits: int) -> tuple[arb, arb]:
    """The least and the largest e(y - shift) - e(y), e(y) = log w(y)/w(y-1), over a period."""
    n, half = law.count, law.count // 2
    unit = 1 / (2 * n * ball(law.sigma2))
    logs = [p.log() + x * x * unit for x, p in enumerate(law.balls(0, half))]

    def log_w(x: int) -> arb:  # even, period n
        return logs[min(x % n, -x % n)]

    steps = [log_w(y) - log_w(y - 1) for y in range(n)]
    bends = [steps[(y - shift) % n] - steps[y] for y in range(n)]
    return reduce(arb.min, bends).lower(), reduce(arb.max, bends).upper()


def _factor(gap: arb) -> arb:
    """All of [e^-gap, e^gap]."""
    return arb(0, gap).exp()


def _dual_rest(count: int, a: arb) -> arb:
    """Bound T = sum of e^(-a |y|^2) over y in A* other than 0.

    A class of Z^n mod (1, ..., 1) has a v with |k| <= n/2, k = sum v, and |y|^2 = |v|^2 - k^2/n.
    Let G(b) = sum_m e^(-a m^2 + b m). The v of k = 0 but 0 itself sum to at most G(0)^n - 1; those
    of k in [first, last], where k^2/n <= k last/n, to at most
    e^(-u first) (G(a last/n + u)^n - 1) for any u >= 0; those of -k to the same.
    """
    if count == 1:
        return arb(0)

    def power(b: arb) -> arb:  # G(b)^n - 1, the terms beyond m = 1 by a geometric sum; 0 <= b <= a
        near = (b - a).exp() + (-b - a).exp()
        excess = near + 2 * (2 * b - 4 * a).exp() / (1 - (b - 5 * a).exp())
        return (count * excess.log1p()).expm1()

    total = power(arb(0))
    first = 1
    while first <= count // 2:
        last = min(2 * first - 1, count // 2)
        step = a * last / count
        u = arb(max(0.0, float(a - step) + math.log(first / count)))
        total += 2 * power(step).min((-u * first).exp() * power(step + u))
        first = last + 1
    return total.upper()


def _transform_mpf(s2: mpmath.mpf, z: mpmath.mpc) -> mpmath.mpc:
    """sum_k e^(-k^2/(2 s2) + zk) in mpmath, |Im z| <= pi; for s2 >= 1 by its dual sum."""
    bits = mpmath.mp.prec
    if s2 < 1:
        centre, terms = int(mpmath.nint(s2 * z.real)), int(mpmath.sqrt(1.5 * s2 * bits)) + 3
        window = range(centre - terms, centre + terms + 1)
        return mpmath.fsum(mpmath.exp(z * k - mpmath.mpf(k * k) / (2 * s2)) for k in window)
    rate, turn = 2 * mpmath.pi**2 * s2, 2j * mpmath.pi * s2 * z
    terms = int(mpmath.sqrt(bits / rate)) + 3
    total = mpmath.fsum(mpmath.exp(j * turn - rate * j * j) for j in range(-terms, terms + 1))
    return mpmath.sqrt(2 * mpmath.pi * s2) * mpmath.exp(s2 * z * z / 2) * total
