"""Beyond two audited values: do all smaller noises fail a claim, and do all larger ones meet it?

For most families more noise is a post-processing of less, and the answer is yes. It is known of
discrete Gaussian noise, too, but for (epsilon, delta), and for sums by which the shift cannot be
divided. There intervals of values are settled, and a walk from an audited value says how far.

Notation: s = sigma2; theta(t) = sum_x e^(-(x-t)^2/(2s)); K uses of the sum of n discrete Gaussians,
moved by d; N = nK, D = Kd; F(j) = P(Y <= j), Y the sum of all N.

*Lemma.* d/ds log(theta(t)/theta(0)) lies in [0, 0.1872 sin^2(pi t)/s^2]. Jacobi's product in
q = e^(-2 pi^2 s) gives theta(t)/theta(0) = prod over odd k of 1 - sin^2(pi t)/cosh^2(k pi^2 s), so
that with S = sin^2(pi t), u = pi^2 s the derivative times s^2 is (2S/pi^2) sum over odd k of
(ku)^2 tanh(ku)/(k (sinh^2(ku) + 1 - S)) <= (2S/pi^2) sum u G(ku), where G(v) = 2v/sinh(2v) falls
from 1. The sum is at most u G(u) + (1/2) int_u^inf G <= u G(u)/2 + (1/2) int_0^inf G, where
u G(u) <= 0.613 (sinh v >= v + v^3/6) and the integral is pi^2/8: together below 0.924.

*Rényi divergence falls as s grows*, at every order a > 1 and every shift d: it is
a d^2/(2s) + log(theta(ad)/theta(0))/(a - 1). With h = ad - d > 0 it is to show that
0.1872 sin^2(pi h) < h(h + d)/2, where d >= 1: for h <= 0.36 since 0.1872 pi^2 h < (1 + h)/2, beyond
since 0.1872 < 0.24. And rho = d^2/(2s).

*Wide sums* are N_Z(0, ns) up to a factor of e^(+-gap), gap falling as s grows (`gaussian_gap`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN
from fractions import Fraction
from functools import lru_cache, partial, reduce
from itertools import accumulate
from typing import TypeAlias

from attrs import evolve, frozen
from flint import arb, arb_poly

from ..accounting.divergences.gaussian_dp import gaussian_delta
from ..exact.budget import spend
from ..exact.number import ball
from ..exact.precision import START, working_precision
from ..exact.rounding import to_digits
from ..mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from ..mechanisms.laws.gaussian_envelope import distance
from .guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, RenyiDP

_FIRST, _GROWTH = Fraction(1, 10**9), 8  # the first step, relative to where it starts; of the next
_FINEST = Fraction(1, 10**15)  # a walk whose steps become finer than this is stuck
_DIGITS = 18
_LARGEST = Fraction(10**15)  # sigma2
_NATS, _TABLE_BITS, _LONGEST_TABLE = 180, 256, 4000  # e^-180 is about 2^-256
_NEGLIGIBLE = 2.0**-80  # a gap: nothing else would be narrower
_MOST_TESTS = 200  # thresholds that one interval is compared at

# Of values from one that is audited (included) to another, or of all beyond: do they answer alike?
# True: they meet the claim, and get larger; False: they fail it, and get smaller.
Settles: TypeAlias = Callable[[Fraction, Fraction | None, bool], bool]


@frozen
class Cover:
    """What is proved of all smaller and all larger values.

    why: the proofs in words: that smaller values fail, that larger ones meet the claim. settles:
    of an interval; what it does not settle is not proved. None where a theorem says it of all.
    """

    why: tuple[str, str]
    settles: Settles | None = None

    @staticmethod
    def monotone(proof: str) -> Cover:
        """No cost rises with the noise: more of it is a post-processing of less, mostly."""
        return Cover((proof, proof))

    @property
    def is_monotone(self) -> bool:
        """Does a theorem say it of all values?"""
        return self.settles is None

    def stuck(self, start: Fraction, up: bool) -> Fraction | None:
        """Up to where all values from `start` on answer as it does; None where all beyond do."""
        near, step = start, start * _FIRST
        while self.settles is not None:
            spend()
            moved = min(step, near) if up else -min(step, near / 2)
            far = to_digits(near + moved, _DIGITS, ROUND_HALF_EVEN)
            if is_settled := far != near and self.settles(near, far, up):
                near, step = far, _GROWTH * abs(far - near)
            is_worth = up or not is_settled or step > near / 64  # what is asked next
            if is_worth and self.settles(near, None, up):
                break
            if not is_settled and step < _FINEST * near:
                return near
            if not is_settled:
                step = min(step, near) / _GROWTH
        return None


_FALLS = Cover.monotone(
    "the Rényi divergence of discrete Gaussian noise falls as sigma2 grows, at every order and "
    "shift (Jacobi's triple product), and with it rho"
)
_MU_FALLS = Cover.monotone(
    "mu of discrete Gaussian noise falls as sigma2 grows: it is t(k) + t(sensitivity + 1 - k) for "
    "the k in the middle, t(k) = -Phi^-1(P(X >= k)), and P(X >= k), k >= 1, rises, as |X| grows in "
    "the likelihood ratio"
)
_A_DISCRETE_GAUSSIAN = (
    "the noise is a discrete Gaussian up to a factor that "
    "tends to 1, and that one's {0} falls as sigma2 grows"
)


def gaussian_order(count: int, shift: int, claim: Guarantee, times: int) -> Cover | None:
    """Of `times` uses of the sum of `count` discrete Gaussians; None where nothing is known."""
    if isinstance(claim, GaussianDP) and count == times == 1:
        return _MU_FALLS
    if (kind := type(claim)) not in _COVERS:
        return None
    if not claim.of_losses and shift % count == 0:
        # the sum is then a sufficient statistic of n Gaussians moved by d/n
        return _FALLS
    why, settles = _COVERS[kind]
    return Cover(why, partial(settles, count, shift, times, claim))


@frozen
class _Thresholds:
    """Tests of N discrete Gaussians in all, their sum moved by D: all outcomes up to some j.

    delta(epsilon) is at least D(j) = F(j) - e^epsilon F(j - D), for any j. Where the sum is all
    that tells the two apart the loss at y is (D^2 - 2Dy)/(2Ns), and the best j is the largest y
    whose loss is above epsilon: delta is D(j) there, and that j falls as s grows.

    gap: if given, all of this is about the one law N_Z(0, Ns), whose tails are those of the sum up
    to e^(+-gap); N = 1 has a gap of 0.

    *Each tail.* F(j) is (1 + P(|Y| <= j))/2 for j >= 0, else (1 - P(|Y| <= -j - 1))/2, and
    P(|Y| <= m) falls as s grows: |X_1| grows in the likelihood ratio, and P(|X_1 + W| <= m), W the
    rest, symmetric and unimodal, falls in |X_1|. So F(j) falls for j >= 0, and rises for j < 0;
    for 0 <= j < D both parts of D(j) fall.

    *One law.* For all j, D(j) rises up to some s and falls from there on (or does but one of the
    two): it is E phi(|X|), phi(x) the mean of the test at x and at -x. With g = e^epsilon - 1 > -1
    phi falls for 0 <= j < D; for j >= D it is -g up to j - D, then (1 - g)/2 up to j, then -g/2;
    for j < 0 it is 0, then 1/2, then -g/2. Less any constant it changes its sign at most twice,
    from - to + to -. As P(|X| = k) is e^(-k^2/(2s)) but for a factor of k and one of s, the family
    of |X| is totally positive: E phi(|X|) less that constant has no more changes, in that order
    (Karlin, *Total Positivity*, 1968, chapter 5, theorem 3.1). So the s at which D(j) is above any
    given height are an interval.
    """

    count: int
    moved: int
    epsilon: Fraction
    gap: Fraction | None = None

    def ways(self, low: Fraction, side: int) -> list[_Thresholds]:
        """For every s from `low` on: those of one law, with epsilon on the safe side; and these."""
        if (gap := _gap(self.count, low, 1)) is None:
            return [self]
        narrow = evolve(self, epsilon=self.epsilon + side * 2 * gap, gap=gap)
        return [narrow] if gap < _NEGLIGIBLE else [narrow, self]

    def best(self, sigma2: Fraction) -> int:
        level = Fraction(self.moved, 2) - self.epsilon * self.count * sigma2 / self.moved
        return math.ceil(level) - 1

    def at(self, j: int, sigma2: Fraction) -> arb:
        """D(j)."""
        return self._within(j, sigma2, sigma2, True)

    def below(self, high: Fraction) -> arb:
        """Bound delta from below for every s <= high."""
        return self.at(min(max(self.best(high), 0), self.moved - 1), high)

    def least(self, low: Fraction, high: Fraction) -> arb:
        """Bound delta from below for every s in [low, high]."""
        j = self.best(high)
        if self.gap is None:
            return self._within(j, low, high, False)
        return self.at(j, low).min(self.at(j, high))

    def largest(self, low: Fraction, high: Fraction) -> arb:
        """Bound delta from above for every s in [low, high]."""
        first, last = self.best(high), self.best(low)
        if last - first >= _MOST_TESTS:
            return arb(1)
        return reduce(arb.max, (self._most(j, low, high) for j in range(first, last + 1)))

    def _most(self, j: int, low: Fraction, high: Fraction) -> arb:
        """Of one law D(j) is largest at an end, if it is no larger on the other side of that."""
        if self.gap is not None:
            at_low, at_high = self.at(j, low), self.at(j, high)
            if self.at(j, max(2 * low - high, low / 2)) > at_low:
                return at_low
            if self.at(j, 2 * high - low) > at_high:
                return at_high
        return self._within(j, low, high, True)

    def _within(self, j: int, low: Fraction, high: Fraction, up: bool) -> arb:
        """Bound D(j) for every s in [low, high], by both of its parts."""
        spread = arb(0, 0 if self.gap is None else ball(self.gap)).exp()

        def tail(j: int, largest: bool) -> arb:
            return spread * _lower_tail(self.count, high if (j < 0) == largest else low, j)

        return tail(j, up) - ball(self.epsilon).exp() * tail(j - self.moved, not up)


def _profile(
    n: int, d: int, times: int, claim: ApproxDP, near: Fraction, far: Fraction | None, up: bool
) -> bool:
    """Of delta(epsilon). Of all uses together; and of what these are up to e^(+-gap), with ':

        e^(-gap) delta'(epsilon + 2 gap) <= delta(epsilon) <= e^gap delta'(epsilon - 2 gap).

    *From above.* If n divides d the sum is a sufficient statistic of all uses. Else they are K uses
    of N_Z(0, ns), up to the gaps of all.

    *Far above.* A discrete Gaussian on an integer vector v is a post-processing of the Gaussian
    pair of distance mu |v|_2, mu = 2 Phi^-1((1 + p(0))/2) (`laws.gaussian_envelope`), where
    p(0) = 1/theta(0) falls as s grows. A use is one of n of them, moved by a vector with sum d.
    """
    with working_precision(START):
        bound = ball(claim.delta)
        if not up:
            sums = _Thresholds(n * times, d * times, claim.epsilon)
            if far is None:
                return bool(sums.below(near) > bound)
            ways = ((way, ball(-(way.gap or 0)).exp()) for way in sums.ways(far, 1))
            return any(factor * way.least(far, near) > bound for way, factor in ways)
        lost, scale = _gap(n, near, times), n
        if far is None:
            parts, extra = divmod(d, n)
            squares = extra * (parts + 1) ** 2 + (n - extra) * parts**2
            if _enveloped(near, times * squares, claim.epsilon) <= bound:
                return True
            if lost is None:
                return False
            found = _enveloped(n * near, times * d**2, claim.epsilon - 2 * lost)
            return bool(ball(lost).exp() * found <= bound)
        if d % n == 0:
            lost, scale = Fraction(0), 1
        low, high = scale * near, scale * far
        if lost is None or high > _LARGEST:
            return False
        sums = _Thresholds(n * times // scale, d * times, claim.epsilon - 2 * lost)
        ways = ((way, ball(lost + (way.gap or 0)).exp()) for way in sums.ways(low, -1))
        return any(factor * way.largest(low, high) <= bound for way, factor in ways)


def _renyi(
    n: int, d: int, times: int, claim: RenyiDP, near: Fraction, far: Fraction | None, up: bool
) -> bool:
    """Of the Rényi divergence R of order a, where the shift d is no multiple of the count n.

    *From below.* By Hölder, for any r, R >= a/(a-1) log E e^(-(a-1) r Y) - log E e^(-a r (Y+d)); as
    E e^(rX) = e^(s r^2/2) theta(sr)/theta(0) <= e^(s r^2/2), with r = w/s,
    R >= (a/s)(wd - n w^2/2) - n a/(a-1) log(theta(0)/theta((a-1) w)), whose second term falls as s
    grows, by the lemma. It is best at w = d/n, and has no second term if (a-1)w is whole. Towards
    s = 0, by the outcomes up to 0: R >= d^2/(2ns) - a/(a-1) log 2.

    *From above.* Up to e^(+-gap) the law is N_Z(0, ns), whose divergence falls as s grows, as gap
    does: R is at most that one plus (2a - 1)/(a - 1) gap.
    """
    a = claim.order
    with working_precision(START):
        bound = ball(claim.epsilon / times)
        if not up:
            nearest = Fraction(max(round((a - 1) * d / n), 1)) / (a - 1)
            if ball(a / near * (nearest * d - n * nearest**2 / 2)) > bound:
                return True
            least, lost = ball(Fraction(d * d) / (2 * n * near)), arb(2).log()
            if far is not None:
                law = DiscreteGaussian(far)
                least *= ball(a)
                lost = n * (law.theta(arb(0)) / law.theta(ball((a - 1) * d / n))).log()
            return bool(least - ball(a / (a - 1)) * lost > bound)
        gap = _gap(n, near, 1)
        if gap is None or far is not None or n * near > _LARGEST:
            return False
        law = DiscreteGaussian(n * near)
        found = ball(a * d * d / (2 * n * near) + (2 * a - 1) / (a - 1) * gap)
        found += (law.theta(ball(a * d)) / law.theta(arb(0))).log() / ball(a - 1)
        return bool(found <= bound)


def _zcdp(
    n: int, d: int, times: int, claim: ZCDP, near: Fraction, far: Fraction | None, up: bool
) -> bool:
    """Of rho, where the shift is no multiple of the count.

    The Rényi divergence of order a, over a, tends to d^2/(2ns) =: r at infinity, the law being
    Gaussian up to a bounded factor: rho >= r. And rho <= r + 2 gap + 2 (e^gap - 1) e^(6r), which
    falls as s grows (`DiscreteGaussianSum.zcdp_closed`).
    """
    gaussian, bound = Fraction(d * d) / (2 * n * near), claim.rho / times
    gap = _gap(n, near, 1) if up else None
    if gap is None:
        return not up and gaussian > bound
    with working_precision(START):
        rho = ball(gaussian)
        found = rho + 2 * ball(gap) + 2 * ball(gap).expm1() * (6 * rho).exp()
        return bool(found <= ball(bound))


_COVERS: dict[type[Guarantee], tuple[tuple[str, str], Callable[..., bool]]] = {
    ApproxDP: (
        (
            "smaller values are covered by intervals on each of which delta is bounded from below, "
            "by tail probabilities",
            "larger values are covered by intervals on each of which delta is bounded from above, "
            "by tail probabilities and from some value on by a Gaussian pair that dominates",
        ),
        _profile,
    ),
    RenyiDP: (
        (
            "smaller values are covered by intervals on each of which it is bounded from below, by "
            "Hölder's inequality for the exponential moments of the noise",
            _A_DISCRETE_GAUSSIAN.format("Rényi divergence"),
        ),
        _renyi,
    ),
    ZCDP: (
        ("rho >= sensitivity^2/(2 count sigma2)", _A_DISCRETE_GAUSSIAN.format("rho")),
        _zcdp,
    ),
}


def _enveloped(sigma2: Fraction, square: int, epsilon: Fraction) -> arb:
    """Bound delta(epsilon) of the Gaussian pair that dominates this noise, or any larger."""
    if sigma2 > _LARGEST:
        return arb(1)
    return gaussian_delta(ball(distance(DiscreteGaussian(sigma2), square)), ball(epsilon))


@lru_cache(maxsize=4096)
def _lower_tail(count: int, sigma2: Fraction, j: int) -> arb:
    """F(j): from a table of all of them where that is short."""
    reach = 1 + math.isqrt(math.ceil(2 * sigma2 * _NATS))
    if count * reach > _LONGEST_TABLE or abs(j) >= count * reach:
        return DiscreteGaussianSum(count, sigma2).lower_tail(j)
    return _table(count, sigma2, reach)[j + count * reach]


@lru_cache(maxsize=64)
def _table(count: int, sigma2: Fraction, reach: int) -> list[arb]:
    """F(j) for |j| <= count reach: a power of the polynomial of one law, cut off at `reach`."""
    with working_precision(_TABLE_BITS):
        law = DiscreteGaussian(sigma2)
        half = [law.ball(x) for x in range(reach + 1)]
        masses = (arb_poly([*half[:0:-1], *half]) ** count).coeffs()
        # some X_i is beyond: P(|X| >= r + 1) <= 2 e^(-(r+1)^2/(2s)) (Chernoff)
        beyond = 2 * count * (-((reach + 1) ** 2) / (2 * ball(sigma2))).exp()
        error = arb(0).union(beyond)
        return [total + error for total in accumulate(masses)]


def _gap(count: int, low: Fraction, times: int) -> Fraction | None:
    """Bound times |log p/p'| for every sigma2 from `low` on, p' = N_Z(0, count sigma2)."""
    with working_precision(START):
        gap = times * DiscreteGaussianSum(count, low).gaussian_gap()
        if not gap < 1:
            return None
        exponent = math.floor(math.log2(float(gap.upper()) + 2.0**-1000)) + 1
        power = Fraction(2) ** exponent
        return power if gap <= ball(power) else 2 * power
