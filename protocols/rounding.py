"""The error of randomized rounding: its exact law for given data, with noise as well, and its worst
case over data.

A reward x becomes floor(g x) + Ber(f), f = g x - floor(g x). For given data the sum of the Ber(f)
is Poisson-binomial: `RoundedUp`. In units of 1/g the error is R = B - F, B their sum, F its mean.

*Worst case*, t a whole number, 1 <= t < n. For a given F, F - t <= ... <= F + t holds integers on
both sides of F, and P(|B - F| <= t) is least when all fractions are equal: Hoeffding, "On the
distribution of the number of successes in independent trials" (Ann. Math. Statist. 27, 1956),
Theorem 5. So B is Bin(n, F/n). For K < F < K + 1 the event is K + 1 - t <= B <= K + t; with
p = F/n the derivative of its probability in p is n (b(K - t) - b(K + t)), b the PMF of Bin(n-1, p),
whose sign changes once, from + to -, as p grows: the probability is least at an end. So

    sup over data of P(|R| > t) = max over K of P(B <= K - t) + P(B >= K + t + 1), B ~ Bin(n, K/n)

(F just above K; F just below K mirrors F just above n - K), approached rather than attained.

*A bound for all n.* Zubkov and Serov, "A complete proof of universal inequalities for the
distribution function of the binomial law" (Theory Probab. Appl. 57, 2013), Theorem 1:
P(Bin(n, p) <= k) <= Phi(-sqrt(2 n H)), H = KL((k+1)/n, p) >= 2 ((k+1)/n - p)^2 (Pinsker), for
k + 1 <= n p. The same for n - B. So for a binomial B of mean F and real u >= 1

    P(B >= F + u) <= Phi(-2 (u - 1)/sqrt(n)),                                                   (1)

which bounds the two terms above by Phi(-2 (t-1)/sqrt(n)) + Phi(-2t/sqrt(n)).

*Noise plus rounding*, as one law (`NoisyRounding`): its generating function is the product. Its
tails cost one contour integral, whatever the number of users; where few rewards are off the grid
(and the noise has tails of geometric kind, which a vertical path does not suit) a sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce

from attrs import frozen
from flint import acb, arb, arb_poly, ctx

from ..exact.enclosure import Enclosure
from ..exact.number import ExactInput, Real, ball, exact, whole
from ..exact.roots import float_root, halved
from ..mechanisms.laws.binomial import Binomial
from ..mechanisms.laws.contour import any_log, vertical_path
from ..mechanisms.laws.floats import to_float
from ..mechanisms.laws.law import Law, Moments
from ..mechanisms.laws.search import first_within

_EXACT_UP_TO = 32  # users for which all K are tried
_SHORT = 4096  # trials up to which the generating function is multiplied out
_FEW = 36  # variance of the rounding below which its outcomes are listed
_STEEP = 16  # shape from which on M of the noise falls like a Gaussian, as in `Polya`


@frozen
class RoundedUp(Law):
    """How many rewards are rounded up: the sum of independent Ber(f), `count` of each fraction f.

    fractions: pairs (f, count), 0 < f < 1, the f distinct; none: the point 0.
    """

    fractions: tuple[tuple[Fraction, int], ...]

    symmetric = False
    log_concave = "a convolution of Bernoulli laws; convolution on Z keeps log-concavity (Hoggar)"

    @property
    def trials(self) -> int:
        """How many rewards are not on the grid."""
        return sum(count for _, count in self.fractions)

    @property
    def mean(self) -> Fraction:
        """The sum of all fractions."""
        return sum((count * f for f, count in self.fractions), Fraction(0))

    @property
    def variance(self) -> Fraction:
        """The sum of f(1 - f), at most trials/4."""
        return sum((count * f * (1 - f) for f, count in self.fractions), Fraction(0))

    @property
    def support(self) -> tuple[int, int]:
        return 0, self.trials

    def moments(self) -> Moments:
        return Moments(Enclosure.exactly(self.mean), Enclosure.exactly(self.variance))

    def mirrored(self) -> RoundedUp:
        return RoundedUp(tuple((1 - f, count) for f, count in self.fractions))

    def ball(self, x: int) -> arb:
        if x == 0:
            return self._all([1 - f for f, _ in self.fractions])
        if x == self.trials:
            return self._all([f for f, _ in self.fractions])
        return super().ball(x)

    def _run(self, first: int, last: int) -> list[arb]:
        if self.trials > _SHORT:
            return super()._run(first, last)
        powers = (arb_poly([ball(1 - f), ball(f)]) ** count for f, count in self.fractions)
        return reduce(arb_poly.__mul__, powers, arb_poly([1])).coeffs()[first : last + 1]

    def cumulant(self, z: acb, analytic: bool = False) -> acb:
        logs = (n * _bernoulli(f, z).log(analytic=analytic) for f, n in self.fractions)
        return sum(logs, acb(0))

    def transform(self, z: acb, analytic: bool = False) -> tuple[acb, acb]:
        return sum((n * any_log(_bernoulli(f, z)) for f, n in self.fractions), acb(0)), acb(1)

    def slope(self, z: acb) -> acb:
        down = (-z).exp()
        parts = (n / (1 + ball((1 - f) / f) * down) for f, n in self.fractions)
        return sum(parts, acb(0))

    def path(self, t: int, side: int) -> Sequence[acb]:
        inside = min(max(t, 0.5), self.trials - 0.5)
        return vertical_path(self._saddle(inside), side, spread=math.sqrt(self.variance))

    def _saddle(self, t: float) -> float:
        """About the s with K'(s) = sum of n/(1 + (1-f)/f e^-s) = t."""
        odds = [(float((1 - f) / f), count) for f, count in self.fractions]

        def excess(s: float) -> float:
            return sum(n / (1 + o * math.exp(-s)) for o, n in odds) - t

        return float_root(excess, -60.0, 60.0)

    def _all(self, chances: Sequence[Fraction]) -> arb:
        counts = (count for _, count in self.fractions)
        return reduce(
            arb.__mul__, (ball(p) ** n for p, n in zip(chances, counts, strict=True)), arb(1)
        )


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


def worst_rounding_quantile(users: ExactInput, failure: ExactInput) -> Enclosure:
    """The least real t with sup over data P(|rounding error| > t/g) <= `failure`, enclosed.

    Whole t are looked at: one that is met and one before it that is not have the least between
    them. Up to 32 users they are neighbours.
    """
    n = whole(users, "users", at_least=1)
    p = exact(failure, "failure", above=0, at_most=1)

    def least(bound: Callable[[int, int], arb], guess: int) -> int:
        def tail(t: int) -> arb:  # at 0: a mean that is no integer is always missed
            return bound(n, t) if t else arb(1)

        return first_within(tail, p, "P(rounding error above {}/g)", guess, end=n)

    low = least(_by_data, 1 + math.isqrt(n))
    high = low if n <= _EXACT_UP_TO else least(_by_normal, low)
    return Enclosure(Fraction(max(low - 1, 0)), Fraction(high))


def _by_data(n: int, t: int) -> arb:
    """The supremum over the K that are tried: all, or those of which one is about the worst."""
    # B >= K + t + 1 needs K <= n - t - 1; for K = 0 nothing is rounded up
    tried = {n // 2, min(n // 2, n - t - 1)} if n > _EXACT_UP_TO else set(range(1, n))
    worst = arb(0)
    for k in tried - {0}:
        law = Binomial(n, Fraction(k, n))
        worst = worst.max(law.lower_tail(k - t) + law.upper_tail(k + t + 1))
    return worst


def _by_normal(n: int, t: int) -> arb:
    """(1) for both sides."""
    return normal_tail(n, t - 1) + normal_tail(n, t)


def normal_tail(n: int, u: Fraction | int) -> arb:
    """Phi(-2u/sqrt(n)): the tail beyond u of the normal law of variance n/4."""
    return (ball(u) * (arb(2) / n).sqrt()).erfc() / 2


def _bernoulli(f: Fraction, z: acb) -> acb:
    return ball(1 - f) + ball(f) * z.exp()
