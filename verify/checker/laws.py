"""Noise laws from their definitions alone: enclosed probabilities and what bounds their tails.

Most are symmetric, unimodal and given by the ratios r(k) = p(k+1)/p(k), k >= 0; what the ratios do
not say, p(0), follows from the sum being 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from mpmath import iv

from .arithmetic import (
    INFINITY,
    Enclosure,
    Interval,
    OpenError,
    ceiling,
    certainly,
    convolve,
    exp,
    floor,
    hull,
    interval,
    log,
    power,
    repeated,
    total,
    upper,
    value,
)
from .binomial import Binomial, read_chance
from .deadline import check_time
from .noise import Lattice, Noise
from .pmf import FARTHEST, Pmf, geometric
from .shape import held, masses, number, one_of, outcomes, plainly, read_whole, whole

_SMOOTH = Fraction(1, 10**9)  # w is constant up to this
_WIDE = 200_000  # variances above which a law need not be listed
_LONGEST_RECURRENCE = 600_000
_LONGEST = 6_000_000  # bits of a polynomial that is multiplied


class SymmetricLaw(Noise):
    """p(-x) = p(x), falling in |x|; its largest privacy loss is that of the full sensitivity.

    That and every other divergence: by Blackwell's theorem for log-concave p, and for p that is
    log-convex on x >= 0 since there {loss > level >= 0} is an interval around 0, which farther
    shifts can only make less likely under Q.
    """

    def rough(self, k: float) -> float:
        """About -log p(k), k >= 0. Decides nothing but how far is summed."""
        raise NotImplementedError

    def pmf(self, reach: int) -> Pmf:
        """The probabilities of -reach, ..., reach."""
        raise NotImplementedError

    def far_terms(self, order: Fraction, shift: int, pmf: Pmf, last: int) -> Interval:
        """Bound the sum over x < -last of p(x)^order p(x - shift)^(1 - order)."""
        raise NotImplementedError

    @property
    def is_log_concave(self) -> bool:
        """It is where the ratios fall; and convolution on the integers keeps it (Hoggar 1974)."""
        return True

    def largest_loss(self, shift: int) -> Enclosure:
        """sup log p(x)/p(x - shift).

        Infinite where E e^(tX) is finite for all t: p(x) <= e^c p(x - shift) for all x would make
        p(k shift) >= e^(-ck) p(0), a geometric tail.
        """
        return INFINITY, INFINITY

    def summed(self, count: int) -> Law | None:
        """The law of a sum of so many, written in one way; None where that is not known here."""
        return self if count == 1 else None


class RatioLaw(SymmetricLaw):
    """Known by its ratios."""

    def ratios(self, count: int) -> list[Interval]:
        """r(0), ..., r(count - 1)."""
        raise NotImplementedError

    def later(self, ratio: Interval) -> Interval:
        """Bound r(j) for all j >= k, ratio = r(k): where p is log-concave they fall."""
        return upper(ratio)

    def flattening(self, k: int, shift: int) -> Interval:
        """Bound r(j)/r(j + shift) for all j >= k."""
        raise NotImplementedError

    def pmf(self, reach: int) -> Pmf:
        masses = [iv.mpf(1)]
        for ratio in self.ratios(reach):
            check_time()
            masses.append(masses[-1] * ratio)
        beyond = upper(masses[-1] * geometric(self.later(masses[-1] / masses[-2])))
        top = 1 / (1 + 2 * (total(masses[1:]) + hull(iv.mpf(0), beyond)))
        half = [mass * top for mass in masses]
        return Pmf(-reach, [*reversed(half[1:]), *half], upper(beyond * top))

    def far_terms(self, order: Fraction, shift: int, pmf: Pmf, last: int) -> Interval:
        # the terms at x = -k, k >= last, have the ratios r(k) (r(k)/r(k + shift))^(order - 1)
        above = interval(order - 1)
        here = pmf.at(last) * exp(above * log(pmf.at(last) / pmf.at(last + shift)))
        growth = exp(above * log(self.flattening(last, shift)))
        ratio = self.later(pmf.at(last + 1) / pmf.at(last))
        return upper(here * geometric(ratio * growth))


@dataclass(frozen=True)
class DiscreteLaplace(RatioLaw):
    """r(k) = b = e^(-1/scale); inverted: b = 1 - e^(-1/scale)."""

    scale: Fraction
    inverted: bool = False

    def summed(self, count: int) -> Law | None:
        if self.inverted:
            return super().summed(count)
        return PolyaDifference(Fraction(count), self.scale)

    def beta(self) -> Interval:
        """The ratio b."""
        ratio = exp(interval(-1 / self.scale))
        return 1 - ratio if self.inverted else ratio

    def rough(self, k: float) -> float:
        base = math.exp(-1 / float(self.scale))
        return -k * (math.log1p(-base) if self.inverted else -1 / float(self.scale))

    def ratios(self, count: int) -> list[Interval]:
        return [self.beta()] * count

    def flattening(self, k: int, shift: int) -> Interval:
        return iv.mpf(1)

    def largest_loss(self, shift: int) -> Enclosure:
        # |x - d| - |x| <= d, attained at 0
        if not self.inverted:
            return shift / self.scale, shift / self.scale
        return value(-shift * log(self.beta()))

    def lattice(self, shift: int, outcomes: Sequence[int]) -> Lattice | None:
        # (|x - d| - |x|)/scale
        places = [(abs(x - shift) - abs(x) - shift) // 2 for x in outcomes]
        step = -2 * log(self.beta()) if self.inverted else 2 / self.scale
        return Lattice(places, step, Fraction(shift, 2))

    def wrapped_loss(self, shift: int, modulus: int) -> Enclosure:
        # P(c) ~ b^c + b^(m-c) ~ cosh((c - m/2) rate) on 0 <= c <= m, log-convex and symmetric about
        # m/2, so P(c)/P(c-d) is largest at c = 0, and it grows with d up to m/2.
        # Less than without the reduction.
        if not 0 < 2 * shift <= modulus:
            raise OpenError("only shifts up to m/2 have that closed form")
        d, b = shift, self.beta()
        low, high = value(log((1 + power(b, modulus)) / (power(b, d) + power(b, modulus - d))))
        return low, min(high, self.largest_loss(d)[1])


@dataclass(frozen=True)
class DiscreteGaussian(RatioLaw):
    """r(k) = e^(-(2k+1)/(2 sigma2)). Log-concave."""

    sigma2: Fraction

    def summed(self, count: int) -> Law | None:
        return DiscreteGaussianSum(count, self.sigma2)

    def rough(self, k: float) -> float:
        return k * k / (2 * float(self.sigma2))

    def ratios(self, count: int) -> list[Interval]:
        found = [exp(interval(-1 / (2 * self.sigma2)))]
        step = exp(interval(-1 / self.sigma2))
        while len(found) < count:
            check_time()
            found.append(found[-1] * step)
        return found[:count]

    def flattening(self, k: int, shift: int) -> Interval:
        return exp(interval(shift / self.sigma2))

    def renyi(self, shift: int, order: Fraction) -> Fraction | None:
        # completing the square, where order * shift is an integer nothing but that is left
        return order * self.rho_limit(shift) if (order * shift).denominator == 1 else None

    def rho_limit(self, shift: int) -> Fraction:
        return Fraction(shift * shift) / (2 * self.sigma2)

    def lattice(self, shift: int, outcomes: Sequence[int]) -> Lattice | None:
        # d (d - 2x)/(2 sigma2)
        return Lattice([-x for x in outcomes], self.lattice_step(shift), Fraction(shift, 2))

    def lattice_step(self, shift: int) -> Fraction | None:
        return shift / self.sigma2


@dataclass(frozen=True)
class Skellam(RatioLaw):
    """p(k) ~ I_k(v), v = variance: r(k) = 1/(2(k+1)/v + r(k+1)), so 0 < r(k) < v/(2(k+1)).

    Log-concave: a convolution of two Poisson laws, one mirrored.
    """

    variance: Fraction

    @property
    def is_wide(self) -> bool:
        return self.variance > _WIDE

    def renyi_at_least(self, shift: int, order: Fraction) -> Fraction:
        """Hölder: for any c, with u = a - 1,
            log E_P e^(-u c X) <= (u/a) log sum P^a Q^(1-a) + (u/a) log E_Q e^(-a c X),
        and log E_P e^(tX) = v (cosh t - 1). With c = d/v
            D_a >= (a/u) v (cosh(u c) - 1) + a c d - v (cosh(a c) - 1).
        """
        c, u, a = interval(shift / self.variance), interval(order - 1), interval(order)
        v = interval(self.variance)
        least = a / u * v * _cosh_less_1(u * c) + a * c * shift - v * _cosh_less_1(a * c)
        return max(Fraction(value(least)[0]), Fraction(0))

    def summed(self, count: int) -> Law | None:
        return Skellam(count * self.variance)

    def rough(self, k: float) -> float:
        v = float(self.variance)
        return k * math.asinh(k / v) - (math.hypot(k, v) - v)

    def ratios(self, count: int) -> list[Interval]:
        start, v = 2 * count + 40, interval(self.variance)
        ratio = hull(iv.mpf(0), v / (2 * (start + 1)))  # each step towards 0 narrows it
        found = []
        for k in range(start - 1, -1, -1):
            check_time()
            ratio = 1 / (2 * (k + 1) / v + ratio)
            if k < count:
                found.append(ratio)
        return found[::-1]

    def flattening(self, k: int, shift: int) -> Interval:
        # asinh((j + 1/2)/v) < -log r(j) < asinh((j + 1)/v): Amos 1974; Segura, J. Math. Anal.
        # Appl. 374 (2011) 516-528. So -log r(j+d) + log r(j) is at most this, which falls in j.
        v = self.variance
        return upper(exp(_asinh((k + shift + 1) / v) - _asinh((k + Fraction(1, 2)) / v)))


def _asinh(x: Fraction) -> Interval:
    return log(interval(x) + iv.sqrt(interval(x * x + 1)))


@dataclass(frozen=True)
class PolyaDifference(RatioLaw):
    """X - Y, both negative binomial: f(j+1)/f(j) = b (j+s)/(j+1), s = shape, b = e^(-1/scale).

    p(k) = sum f(j) f(j+k): r(k) is an average of b (j+k+s)/(j+k+1), j >= 0, so it lies between b
    and b (k+s)/(k+1). For s <= 1, k -> f(j+k) is log-convex, and so is p on k >= 0; for s >= 1 f
    is log-concave, and so is p. Ratios: 2k cosh(1/scale) p(k) = (k-1+s) p(k-1) + (k+1-s) p(k+1).
    """

    shape: Fraction
    scale: Fraction

    def summed(self, count: int) -> Law | None:
        return PolyaDifference(count * self.shape, self.scale)

    def rough(self, k: float) -> float:
        return k / float(self.scale) - max(float(self.shape) - 1, 0.0) * math.log1p(k)

    @property
    def is_log_concave(self) -> bool:
        return self.shape >= 1

    def _between(self, k: int) -> tuple[Interval, Interval]:
        beta = exp(interval(-1 / self.scale))
        other = beta * interval((k + self.shape) / (k + 1))
        return (beta, other) if self.shape >= 1 else (other, beta)

    def ratios(self, count: int) -> list[Interval]:
        return self._ratios(count, 2 * count + 40)

    def _ratios(self, count: int, start: int) -> list[Interval]:
        rate = exp(interval(1 / self.scale))
        ratio, twice_cosh = hull(*self._between(start)), rate + 1 / rate
        shape, found = interval(self.shape), []
        for k in range(start, 0, -1):  # r(k-1) from r(k)
            check_time()
            ratio = (k - 1 + shape) / (k * twice_cosh - (k + 1 - shape) * ratio)
            if k <= count:
                found.append(ratio)
        return found[::-1]

    def later(self, ratio: Interval) -> Interval:
        return upper(ratio) if self.shape >= 1 else upper(exp(interval(-1 / self.scale)))

    def flattening(self, k: int, shift: int) -> Interval:
        # s <= 1: r rises; s >= 1: b <= r(j + d) and r(j) <= r(k)
        return iv.mpf(1) if self.shape <= 1 else upper(interval((k + self.shape) / (k + 1)))

    def largest_loss(self, shift: int) -> Enclosure:
        # s >= 1: each r(k) >= b, and r(k) -> b. s < 1: the loss rises up to 0 and falls up to d.
        if self.shape >= 1:
            return shift / self.scale, shift / self.scale
        # Each step towards 0 narrows a ratio by a factor of about b^2.
        start = shift + round(float(self.scale) * iv.prec * 0.25) + 40
        if start > _LONGEST_RECURRENCE:
            raise OpenError("too many outcomes to sum")
        loss = iv.mpf(0)
        for ratio in self._ratios(shift, start):
            loss -= log(ratio)
        return value(loss)

    def wrapped_loss(self, shift: int, modulus: int) -> Enclosure:
        """The same mod m >= 2 shift: no more, being post-processing; and at 0 no less than this.

        s < 1: r(k) <= b, so p(k) <= p(d) b^(k-d) for k >= d, and P(-d mod m) = p(d) + sum over
        j >= 1 of p(jm - d) + p(jm + d) <= p(d) (1 + (b^(m-2d) + b^m)/(1 - b^m)).
        """
        if self.shape >= 1 or modulus < 2 * shift:
            raise OpenError("no closed bound")
        low, high = self.largest_loss(shift)
        b = exp(interval(-1 / self.scale))
        once = upper(power(b, modulus))
        more = value(log(1 + (upper(power(b, modulus - 2 * shift)) + once) / (1 - once)))[1]
        return max(low - more, Fraction(0)), high


@dataclass(frozen=True)
class DiscreteGaussianSum(SymmetricLaw):
    """`count` independent N_Z(0, sigma2), by integer polynomials. Log-concave, as a convolution.

    E e^(tX) <= e^(n sigma2 t^2/2), since sum_x e^(-(x-c)^2/(2 sigma2)) is largest at c = 0; by
    Chernoff P(X >= t) <= e^(-t^2/(2 n sigma2)).
    """

    count: int
    sigma2: Fraction

    def summed(self, count: int) -> Law | None:
        return DiscreteGaussianSum(count * self.count, self.sigma2)

    def rough(self, k: float) -> float:
        return k * k / (2 * float(self.count * self.sigma2))

    def pmf(self, reach: int) -> Pmf:
        n, s2 = self.count, self.sigma2
        # sum x_i^2 exceeds (sum x_i)^2/n by at most min(n/4, |sum x_i|) where the bulk is
        rare = self.rough(reach + 1) + min(n / 4, reach) / (2 * float(s2))
        bits = math.ceil(rare * 1.4427) + iv.prec + n.bit_length() + 24
        one = DiscreteGaussian(s2)
        kept = max(reach, math.isqrt(math.ceil(2 * n * s2 * bits * Fraction(7, 10))) + 2)
        if reach > FARTHEST or kept * bits > _LONGEST:
            raise OpenError("a sum of discrete Gaussians is too long to multiply out")
        single = one.pmf(min(kept, math.isqrt(math.ceil(2 * s2 * bits)) + 2))
        sides = []
        for up in (False, True):
            cut: Callable[[Interval, int], int] = ceiling if up else floor
            draw = [cut(p, bits) for p in single.masses]
            sides.append(repeated(draw, n, partial(_product, bits=bits, reach=kept, up=up)))
        # left out: a draw beyond those listed, or one of the partial sums on the way, fewer than
        # 2n in blocks and n after them, beyond those kept
        missing = ceiling(2 * n * single.beyond + 6 * n * self._tail(kept), bits)
        masses = []
        scale = iv.ldexp(iv.mpf(1), -bits)
        centre = len(sides[0]) // 2
        for x in range(centre - reach, centre + reach + 1):
            check_time()
            low, high = (side[x] if 0 <= x < len(side) else 0 for side in sides)
            masses.append(hull(iv.mpf(low), iv.mpf(high + missing)) * scale)
        return Pmf(-reach, masses, self._tail(reach))

    def _tail(self, reach: int) -> Interval:
        """Bound P(X > reach)."""
        return upper(exp(interval(-Fraction((reach + 1) ** 2) / (2 * self.count * self.sigma2))))

    def far_terms(self, order: Fraction, shift: int, pmf: Pmf, last: int) -> Interval:
        # By the log-sum inequality the sum is at most that over all (x_1, ..., x_n) with a total
        # below -last of prod p1(x_i)^a p1(x_i - d_i)^(1-a), for any integers d_i that add up to
        # the shift. Completing the square that is e^(a(a-1) sum d_i^2/(2 sigma2)) times a Chernoff
        # bound about (1 - a) shift.
        n, s2 = self.count, self.sigma2
        share, more = divmod(shift, n)
        squares = (n - more) * share**2 + more * (share + 1) ** 2
        room = last + 1 - (order - 1) * shift
        if room < 0:
            raise OpenError("the order lies beyond the outcomes summed")
        return upper(
            exp(interval((order * (order - 1) * squares - Fraction(room) ** 2 / n) / (2 * s2)))
        )

    @property
    def is_wide(self) -> bool:
        return self.count * self.sigma2 > _WIDE

    def renyi_at_least(self, shift: int, order: Fraction) -> Fraction:
        """p(x) = const e^(-x^2/2v) w(x), v = n sigma2, |w - 1| <= T (`dual_rest`).

        Against p0 = N_Z(0, v), whose divergence of order a is a d^2/2v + log(theta(a d)/theta(0))/
        (a-1), log p/p0 is within g = log((1+T)/(1-T)) of 0, so that log sum P^a Q^(1-a) moves by at
        most (2a - 1) g. theta(t) = sum_x e^(-(x-t)^2/2v) is by Poisson summation between 1 - r and
        1 + r times sqrt(2 pi v), r = 2q/(1-q), q = e^(-2 pi^2 v).
        """
        v = self.count * self.sigma2
        q = upper(exp(-2 * iv.pi**2 * interval(v)))
        gap = interval(2 * order - 1) * log_ratio(dual_rest(self.count, self.sigma2))
        lost = (log_ratio(2 * q / (1 - q)) + gap) / interval(order - 1)
        least = interval(order * shift * shift / (2 * v)) - lost
        return max(Fraction(value(least)[0]), Fraction(0))

    def rho_limit(self, shift: int) -> Fraction:
        return Fraction(shift * shift) / (2 * self.count * self.sigma2)

    def rho_spread(self) -> Fraction:
        return Fraction(value(self.spread())[1])

    def spread(self) -> Interval:
        """log of max w / min w, where p(x) = const e^(-x^2/(2 n sigma2)) w(x), w of period n.

        (Moving each x_i by 1 moves sum x_i by n and sum x_i^2 - (sum x_i)^2/n by nothing.)
        """
        rest = dual_rest(self.count, self.sigma2)
        if certainly(rest < interval(_SMOOTH)):
            return log((1 + rest) / (1 - rest))
        half = self.count // 2
        pmf = self.pmf(max(half, 8))
        twice = 2 * self.count * self.sigma2
        logs = [log(pmf.at(x)) + interval(Fraction(x * x) / twice) for x in range(half + 1)]
        highest = max(value(each)[1] for each in logs)
        return interval(Fraction(highest) - Fraction(min(value(each)[0] for each in logs)))


def _product(a: list[int], b: list[int], bits: int, reach: int, up: bool) -> list[int]:
    """Of symmetric polynomials in fixed point, cut to +-reach; rounded one way."""
    found = convolve(a, b, bits, up)
    extra = max(0, len(found) // 2 - reach)
    return found[extra : len(found) - extra]


def _cosh_less_1(t: Interval) -> Interval:
    """cosh t - 1 = 2 sinh^2(t/2), which does not cancel much."""
    half = t / 2
    sinh = (exp(half) - exp(-half)) / 2
    return 2 * sinh**2


def log_ratio(rest: Interval) -> Interval:
    """log((1 + T)/(1 - T))."""
    if not certainly(rest < 1):
        raise OpenError("the shares are too narrow for a closed bound")
    return upper(log((1 + rest) / (1 - rest)))


def dual_rest(count: int, sigma2: Fraction) -> Interval:
    """Bound T = sum of e^(-a |y|^2), a = 2 pi^2 sigma2, over y != 0 in the dual of {sum v = 0}.

    That is the projection of Z^n orthogonal to (1, ..., 1). By Poisson summation the theta function
    of a coset of {v in Z^n: sum v = 0} is a constant times 1 + a sum of terms of modulus at most
    e^(-a |y|^2): w(x) up to a constant. A class of Z^n mod (1, ..., 1) has a v with |k| <= n/2,
    k = sum v, and |y|^2 = |v|^2 - k^2/n >= |v|^2 - |k|/2 >= |v|^2/2, as |k| <= |v|^2. So
    T <= G^n - 1, G = sum_m e^(-a m^2/2) <= 1 + 2 q/(1-q), q = e^(-a/2); and G^n <= e^(n (G-1)).
    """
    if count == 1:
        return iv.mpf(0)
    q = upper(exp(-(iv.pi**2) * interval(sigma2)))
    return upper(exp(upper(count * 2 * q / (1 - q))) - 1)


@dataclass(frozen=True)
class FiniteLaw(Noise):
    """Finitely many integers with exact probabilities."""

    outcomes: tuple[int, ...]
    masses: tuple[Fraction, ...]

    def described(self) -> str:
        return f"noise on {len(self.outcomes)} integers"

    def summed(self, count: int) -> Law | None:
        """As of the others."""
        return self if count == 1 else None


Law = SymmetricLaw | Binomial | FiniteLaw


# -- from the fields of a certificate -------------------------------------------------------------


SIZE = number(above=Fraction(1, 10**10), at_most=10**16)
_OUTCOME = partial(read_whole, name="outcomes", least=-(10**12), most=10**12)
_SHAPE = number(above=Fraction(1, 10**21), at_most=10**16)


def _discrete_laplace(data: object) -> DiscreteLaplace:
    if "inverted-scale" not in held(data):
        return plainly("law", DiscreteLaplace, "name", scale=SIZE)(data)
    inverted = partial(DiscreteLaplace, inverted=True)
    return plainly("law", inverted, "name", **{"inverted-scale": SIZE})(data)


LAWS: dict[str, Callable[[object], Law]] = {
    "finite": plainly("law", FiniteLaw, "name", outcomes=outcomes(_OUTCOME), masses=masses),
    "discrete-laplace": _discrete_laplace,
    "polya-difference": plainly("law", PolyaDifference, "name", shape=_SHAPE, scale=SIZE),
    "skellam": plainly("law", Skellam, "name", variance=SIZE),
    "discrete-gaussian": plainly("law", DiscreteGaussian, "name", sigma2=SIZE),
    "discrete-gaussian-sum": plainly("law", DiscreteGaussianSum, "name", count=whole(1),
        sigma2=SIZE),
    "binomial": plainly("law", Binomial, "name", trials=whole(1), probability=read_chance),
}  # fmt: skip
read_law = one_of("name", LAWS, "law name is not known")
