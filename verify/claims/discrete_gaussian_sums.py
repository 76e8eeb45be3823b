"""Lemma 4 and Theorem 4: how private the sum of n discrete Gaussians is.

With v = n sigma² the sum has p(x) = const e^(-x²/2v) w(x), w even and of period n (see
`mechanisms.laws.theta`). Let a be the order, u = a - 1, d the shift, t = -u d,
r(x) = w(x)/w(x-d) and z(t) = (theta(t/n)/theta(0))^n, theta that of one discrete Gaussian. Then
E e^(tX/v) = e^(t²/2v) z(t), and completing the square

    D = a d²/2v + (1/u) log G,    G = e^(-t²/2v) E[e^(tX/v) r(X)^u],

where G depends on t mod n and d mod n only. As r <= R = max w/min w and z <= 1, the excess over
a d²/2v is at most log R. Lemma 4 allows a xi/4.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, reduce

from attrs import frozen
from flint import arb, arb_poly

from ...accounting.interop.foreign import gaussians_tau
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose, working_precision
from .finding import NotProvedError, require

_BITS = 320
_REACH = 14  # of one share in the convolution
_WINDOW = 14  # of the sum, in units of sqrt(v)
_STEPS = 60


@frozen(slots=False)
class Periodic:
    """w(0), ..., w(n-1) up to a common factor, for n shares N_Z(0, sigma2)."""

    count: int
    sigma2: Fraction
    w: tuple[arb, ...]

    @property
    def variance(self) -> Fraction:
        """v = n sigma²."""
        return self.count * self.sigma2

    @cached_property
    def weights(self) -> tuple[list[arb], arb]:
        """e^(-x²/2v) w(x) on the window, and a ball around its sum over all x."""
        v, reach = ball(self.variance), _reach(self)
        found = [
            (arb(-x * x) / (2 * v)).exp() * self.w[x % self.count] for x in range(-reach, reach + 1)
        ]
        return found, sum(found, arb(0).union(_beyond(self)))

    def spread(self) -> arb:
        """log R = log(max w/min w)."""
        return (reduce(arb.max, self.w) / reduce(arb.min, self.w)).log()


def periodic(count: int, sigma2: Fraction) -> Periodic:
    """w by convolving the shares, cut off at +-14: what is missing is added as an error.

    A missing configuration has some |v_i| > 14: their total weight is at most
    n tail theta(0)^(n-1).
    """
    rate = -1 / (2 * ball(sigma2))
    side = [(rate * k * k).exp() for k in range(_REACH + 1)]
    share = arb_poly([side[abs(k)] for k in range(-_REACH, _REACH + 1)])
    first = (rate * (_REACH + 1) ** 2).exp()
    tail = 2 * first / (1 - (rate * (2 * _REACH + 3)).exp())  # ratios fall: a geometric bound
    theta = tail
    for k in range(-_REACH, _REACH + 1):
        theta += side[abs(k)]
    missing = arb(0).union((count * tail * theta ** (count - 1)).upper())
    power = share**count
    middle = count * _REACH
    v = ball(count * sigma2)
    half = [
        (power[middle + x] + missing) * (arb(x * x) / (2 * v)).exp() for x in range(count // 2 + 1)
    ]
    return Periodic(count, sigma2, tuple(half[min(x, count - x)] for x in range(count)))


def excess_at(law: Periodic, order: Fraction, shift: int) -> Enclosure:
    """Enclose D - a d²/2v: from below by (log of a part of the sum G)/u, from above by log R.

    All terms of G are positive, so that any window bounds it from below.
    """
    n, v, u = law.count, ball(law.variance), ball(order - 1)
    centre = -(order - 1) * shift
    reach, middle = _reach(law), round(centre)
    logs = [value.log() for value in law.w]
    total = arb(0)
    for x in range(middle - reach, middle + reach + 1):
        gap = ball(centre) - x
        weight = -gap * gap / (2 * v) + logs[x % n]
        total += (weight + u * (logs[x % n] - logs[(x - shift) % n])).exp()
    found = (total / law.weights[1]).log() / u
    return Enclosure(enclose(found.lower()).lower, enclose(law.spread()).upper)


def _reach(law: Periodic) -> int:
    return int(_WINDOW * float(law.variance) ** 0.5) + 1


def _beyond(law: Periodic) -> arb:
    """A bound of sum |x| e^(-x²/2v) w(x) over |x| > reach: an integral, x e^(-x²/2v) falling."""
    v, reach = ball(law.variance), _reach(law)
    return (2 * reduce(arb.max, law.w) * v * (arb(-reach * reach) / (2 * v)).exp()).upper()


def prove_lemma4_at(count: int, sigma2: Fraction) -> None:
    """Prove that the excess is at most (1+u) xi/4 for every u > 0 and every shift d.

    *Large u*: log R <= (1+u) xi/4.
    *u in (low, high]*: r^u <= 1 + u c, c = (r^high - 1)/high, by convexity in u. So
    log G <= G - 1 <= -(1 - z) + u e^(-t²/2v) E[e^(tX/v) c]. With M = (R^high - 1)/high >= c and
    e^y >= 1 + y the last expectation is at most M z - e^(-t²/2v) (M - E c - (t/v) E[c X]). So

        excess <= E c + (t²/2v)(M - E c) + |t E[c X]|/v - (1 - z)(M + 1/high)      (*)

    (e^(-t²/2v) is between 1 - t²/2v and 1). For |t| <= t1, 1 - z >= k t², k = (1 - z(t1))/t1²: by
    Jacobi's product z <= e^(-A (1 - cos 2 pi t/n)), A = 2 n q/(1+q)², q = e^(-2 pi² sigma²), and
    (1 - e^(-A g(t)))/t², g = 1 - cos, falls on [0, n/2]. So (*) is a parabola in |t|, with its
    maximum (E[c X]/v)²/4(k (M + 1/high) - (M - E c)/2v) above E c. For t1 <= |t| <= n/2 it is
    enough that M z(t1) - (1 - z(t1))/high is small (E[e^(tX/v) c] e^(-t²/2v) <= M z).
    By reflection d <= n/2 is enough; d = 0 mod n has r = 1.
    """
    with working_precision(_BITS):
        law = periodic(count, sigma2)
        allowed = gaussians_tau(count, sigma2) / 4
        spread = law.spread()
        # else the other term of the minimum could be the smaller one
        require(allowed > arb(1) / 8, "xi is expected to be at least 1/2")
        low, enough = Fraction(0), spread / allowed - 1
        for _ in range(_STEPS):
            if ball(low) >= enough:
                return
            low = _next_order(law, allowed, spread, low)
    raise NotProvedError(f"{_STEPS} steps in the order do not suffice at n = {count}")


def _next_order(law: Periodic, allowed: arb, spread: arb, low: Fraction) -> Fraction:
    """The end of a range of u, from `low` on, on which the inequality is proved."""
    for halvings in range(12):
        high = low + Fraction(1, 10 << halvings)
        if _proved_on(law, allowed, spread, low, high):
            return high
    raise NotProvedError(f"n = {law.count}: not proved from order {float(1 + low):.6g} on")


def _proved_on(law: Periodic, allowed: arb, spread: arb, low: Fraction, high: Fraction) -> bool:
    limit, end = (1 + ball(low)) * allowed, ball(high)
    most = ((end * spread).exp() - 1) / end
    v = ball(law.variance)
    q = (-2 * arb.pi() ** 2 * ball(law.sigma2)).exp()
    flat = 2 * law.count * q / (1 + q) ** 2
    for part in range(1, 101):  # t1 = n/2 leaves nothing to the crude bound
        t1 = arb(law.count * part) / 200
        z = (-flat * (1 - (2 * arb.pi() * t1 / law.count).cos())).exp()
        if most * z - (1 - z) / end < limit:
            break
    steepness = (1 - z) / (t1 * t1) * (most + 1 / end)
    rises = [(end * value.log()).exp() for value in law.w]

    def is_proved(shift: int) -> bool:
        c = [(rises[x] / rises[x - shift] - 1) / end for x in range(law.count)]
        mean, slope = _moments(law, c, most)
        curve = steepness - (most - mean) / (2 * v)
        return bool(curve > 0 and mean + slope * slope / (4 * v * v * curve) <= limit)

    return all(map(is_proved, range(law.count // 2, 0, -1)))


def _moments(law: Periodic, c: list[arb], most: arb) -> tuple[arb, arb]:
    """E c(X) and E[c(X) X]; beyond the window |c| <= max(M, 1/u...) is bounded by its largest."""
    weights, total = law.weights
    reach = _reach(law)
    mean, slope = arb(0), arb(0)
    for x in range(-reach, reach + 1):
        term = weights[x + reach] * c[x % law.count]
        mean += term
        slope += x * term
    largest = reduce(arb.max, map(abs, c), most)
    rest = arb(0, (largest * _beyond(law)).upper())
    return (mean + rest) / total, (slope + rest) / total
