"""Discrete Gaussians: Fact 2, and of their sums Lemma 4, which fails, and Theorem 4, which holds.

With v = n sigma² the sum has p(x) = const e^(-x²/2v) w(x), w even and of period n (see
`mechanisms.laws.theta`). Let a be the order, u = a - 1, d the shift, t = -u d,
r(x) = w(x)/w(x-d) and z(t) = (theta(t/n)/theta(0))^n, theta that of one discrete Gaussian. Then
E e^(tX/v) = e^(t²/2v) z(t), and completing the square

    D = a d²/2v + (1/u) log G,    G = e^(-t²/2v) E[e^(tX/v) r(X)^u],

where G depends on t mod n and d mod n only. As r <= R = max w/min w and z <= 1, the excess over
a d²/2v is at most log R. Lemma 4 allows a xi/4.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, reduce
from itertools import product

import sympy
from attrs import frozen
from flint import arb

from ...accounting.composition.composed import compose
from ...accounting.interop.foreign import gaussians_tau
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import enclose, working_precision
from ...mechanisms.additive import papers
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian, DiscreteGaussianSum
from ...mechanisms.mechanism import AdditiveNoise
from .proofs import Figures, NotProvedError, prove_equal, require

_POINTS = (  # sigma², Delta, order
    (Fraction(1, 10), 1, Fraction(3, 2)),
    (Fraction(1, 4), 1, Fraction(3, 2)),
    (Fraction(1), 1, Fraction(3, 2)),
    (Fraction(1, 10), 1, Fraction(11, 10)),
    (Fraction(1, 10), 1, Fraction(2)),
    (Fraction(1, 10), 2, Fraction(3, 2)),
)
_WIDTH = Fraction(1, 10**10)

_QUARTER = Fraction(1, 4)  # sigma² of Lemma 4's witnesses
_SMALLEST = 51  # the least n for which it fails there
_WITNESSES = (  # n, Delta, order
    (_SMALLEST, 25, Fraction(10001, 10000)),
    (64, 32, Fraction(1001, 1000)),
)
_CORRECTION_POINTS = (*range(2, 52), 64, 100, 150)
_BITS = 320
_WINDOW = 14  # of the sum, in units of sqrt(v)
_STEPS = 60

_EPSILONS = tuple(map(Fraction, ("1/100", "1/10", "1/2", "9/10")))
_SCALINGS = tuple(map(Fraction, ("1", "3/2", "2", "4")))
_BATCHES = tuple(2**j for j in range(1, 21))
_HORIZONS = (10**4, 10**6, 10**7, 10**8)


def concentrated() -> Figures:
    """Fact 2: D = a d²/2v + log[theta(a d)/theta(0)]/(a-1), v = sigma², and E e^(tX).

    theta(t) = sum_x e^(-(x-t)²/2v). Completing the square, a x² + (1-a)(x-d)² is
    (x - (1-a) d)² - a (a-1) d²; theta is even and of period 1, so theta((1-a) d) = theta(a d) for
    whole d. And -x²/2v + t x = -(x - v t)²/2v + v t²/2: E e^(tX) = e^(v t²/2) theta(v t)/theta(0).

    By Poisson summation theta(t) = sqrt(2 pi v) sum_j e^(-2 pi² v j²) cos(2 pi j t): all
    coefficients are positive, so theta(t) <= theta(0), equal for whole t only. Hence D <= a d²/2v
    (CDP), equal where a d is whole and less elsewhere, and E e^(tX) <= e^(v t²/2) (sub-Gaussian,
    and the tail by Chernoff's bound).
    """
    a, d, x, t = sympy.symbols("alpha d x t", real=True)
    v = sympy.symbols("v", positive=True)
    prove_equal(a * x**2 + (1 - a) * (x - d) ** 2, (x - (1 - a) * d) ** 2 - a * (a - 1) * d**2)
    prove_equal((1 - a) * d, -a * d + d)  # the centre is -a d plus a whole number
    prove_equal(-(x**2) / (2 * v) + t * x, -((x - v * t) ** 2) / (2 * v) + v * t**2 / 2)
    # Chernoff at t = y/v: e^(v t²/2 - t y) = e^(-y²/2v)
    y = sympy.symbols("y", positive=True)
    prove_equal((v * t**2 / 2 - t * y).subs(t, y / v), -(y**2) / (2 * v))
    points = []
    for sigma2, shift, order in _POINTS:
        value = compose(AdditiveNoise(DiscreteGaussian(sigma2), shift)).renyi(order, _WIDTH)
        allowed = order * shift**2 / (2 * sigma2)
        require(value.at_most(allowed), "the closed form is contradicted")
        at = {"sigma2": sigma2, "shift": shift, "order": order}
        points.append(at | {"value": value, "allowed": allowed})
    return {"points": points}


def lemma4() -> Figures:
    """Lemma 4: two witnesses, and a proof of it for all smaller n at sigma = 1/2.

    The other term of the lemma's minimum, (Delta/(sqrt(n) sigma) + xi)², is the larger one: its
    excess over Delta²/n sigma² is at least xi² > xi/2, as xi > 1/2.
    """
    witnesses = []
    worst = Fraction(0)
    with working_precision(_BITS):
        for count, shift, order in _WITNESSES:
            found = _excess_at(_periodic(count, _QUARTER), order, shift)
            xi = gaussians_tau(count, _QUARTER)
            require(xi > arb(1) / 2, "xi is expected to be above 1/2")
            allowed = enclose(ball(order) * xi / 4)
            require(found.greater_than(allowed.upper), "the witness does not refute")
            at = {"n": count, "shift": shift, "order": order}
            least = Enclosure(found.lower, found.lower)
            witnesses.append(at | {"found": least, "allowed": allowed})
        for count in range(2, _SMALLEST):
            _prove_lemma4(count)
        for count in _CORRECTION_POINTS:
            ratio = _periodic(count, _QUARTER).spread() * 2 / gaussians_tau(count, _QUARTER)
            worst = max(worst, Fraction(enclose(ratio).upper))
    last = _SMALLEST - 1
    return {"witnesses": witnesses, "smallest": _SMALLEST, "last": last, "worst": worst}


@frozen(slots=False)
class _Periodic:
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


def _periodic(count: int, sigma2: Fraction) -> _Periodic:
    v = ball(count * sigma2)
    masses = DiscreteGaussianSum(count, sigma2).balls(0, count // 2)
    half = [mass * (arb(x * x) / (2 * v)).exp() for x, mass in enumerate(masses)]
    return _Periodic(count, sigma2, tuple(half[min(x, count - x)] for x in range(count)))


def _excess_at(law: _Periodic, order: Fraction, shift: int) -> Enclosure:
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


def _reach(law: _Periodic) -> int:
    return int(_WINDOW * float(law.variance) ** 0.5) + 1


def _beyond(law: _Periodic) -> arb:
    """A bound of sum |x| e^(-x²/2v) w(x) over |x| > reach: an integral, x e^(-x²/2v) falling."""
    v, reach = ball(law.variance), _reach(law)
    return (2 * reduce(arb.max, law.w) * v * (arb(-reach * reach) / (2 * v)).exp()).upper()


def _prove_lemma4(count: int) -> None:
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
    law = _periodic(count, _QUARTER)
    allowed = gaussians_tau(count, _QUARTER) / 4
    spread = law.spread()
    # else the other term of the minimum could be the smaller one
    require(allowed > arb(1) / 8, "xi is expected to be at least 1/2")
    low, enough = Fraction(0), spread / allowed - 1
    for _ in range(_STEPS):
        if ball(low) >= enough:
            return
        low = _next_order(law, allowed, spread, low)
    raise NotProvedError(f"{_STEPS} steps in the order do not suffice at n = {count}")


def _next_order(law: _Periodic, allowed: arb, spread: arb, low: Fraction) -> Fraction:
    """The end of a range of u, from `low` on, on which the inequality is proved."""
    for halvings in range(12):
        high = low + Fraction(1, 10 << halvings)
        if _proved_on(law, allowed, spread, low, high):
            return high
    raise NotProvedError(f"n = {law.count}: not proved from order {float(1 + low):.6g} on")


def _proved_on(law: _Periodic, allowed: arb, spread: arb, low: Fraction, high: Fraction) -> bool:
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


def _moments(law: _Periodic, c: list[arb], most: arb) -> tuple[arb, arb]:
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


def theorem4() -> Figures:
    """Theorem 4 over a grid, for all orders at each of its points.

    Allowed is hat-epsilon²/2 - epsilon²/2, xi summed to n - 1: the horizon is 2n.
    """
    nearest: list[tuple[Fraction, str]] = []
    largest = arb(0)
    with working_precision(192):
        for scaling, users, epsilon in product(_SCALINGS, _BATCHES, _EPSILONS):
            preset = papers.theorem4(epsilon, users, 2 * users, scaling, modulus=None)
            law = preset.mechanism.law
            assert isinstance(law, DiscreteGaussianSum)
            bound = _excess_bound(law, preset.precision)
            largest = largest.max(bound)
            xi, e = gaussians_tau(users, scaling**2), ball(epsilon)
            allowed = (xi / 2).min(2 * e * xi + xi * xi) / 2
            at = f"epsilon = {epsilon}, s = {scaling}, n = {users}"
            require(bound <= allowed, f"not certified at {at}")
            nearest.append((Fraction(enclose(allowed / bound).lower), at))
        growth = {f"hat_{rounds}": enclose(_hat_epsilon(rounds)) for rounds in _HORIZONS}
    ratio, at = min(nearest)
    largest_excess = float(largest.upper())
    return {"count": len(nearest), "ratio": ratio, "at": at, "excess": largest_excess, **growth}


def _hat_epsilon(rounds: int) -> arb:
    """At s = 1 and epsilon = 1/10."""
    xi, e = gaussians_tau(rounds // 2, Fraction(1)), arb(1) / 10
    return (e * e + xi / 2).sqrt().min(e + xi)


def _excess_bound(law: DiscreteGaussianSum, shift: int) -> arb:
    """Bound log max w(x)/w(x-d), and so the excess of D over order d²/2v, for all orders.

    w(x)/const = 1 + sum over y in A* without 0 of e^(-2 pi² sigma² |y|²) cos(2 pi k x/n), where the
    class y of v in Z^n has k = sum v. For n >= 3 the 2n classes of +-e_i have |y|² = 1 - 1/n and
    k = +-1, so that their cosines change by at most 2 pi d/n; all others, of total weight
    `_further_classes`, by at most 2.
    """
    n = law.count
    if n < 3:
        return law.gaussian_gap()
    a = 2 * arb.pi() ** 2 * ball(law.sigma2)
    lead = 2 * n * (-a * (n - 1) / n).exp()
    further = _further_classes(n, a)
    turn = (2 * arb.pi() * shift / n).min(arb(2))
    return ((lead * turn + 2 * further) / (1 - lead - further)).log1p().upper()


def _further_classes(n: int, a: arb) -> arb:
    """Bound the sum of e^(-a |y|²) over the classes other than 0 and +-e_i, n >= 3.

    A class has a v with |k| <= n/2, and |y|² = |v|² - k²/n. With a single entry m, |m| >= 2: a
    geometric sum. With two entries or more, k in [first, last] and any u >= 0, the sum is at most
    e^(-u first) times that of e^(-a |v|² + (a last/n + u) k), and (1 + h)^n - 1 - n h <=
    (n h)²/2 (1 + h)^n with h = sum over m != 0 of e^(-a m² + b m), b = a last/n + u.
    """

    def two_or_more(b: arb) -> arb:  # 0 <= b < 2a
        h = (b - a).exp() + (-b - a).exp() + 2 * (2 * b - 4 * a).exp() / (1 - (b - 5 * a).exp())
        return (n * h) ** 2 / 2 * (n * h.log1p()).exp()

    alone = -a * (n - 1) / n
    total = 2 * n * (4 * alone).exp() / (1 - (5 * alone).exp()) + two_or_more(arb(0))
    first = 1
    while first <= n // 2:
        last = min(2 * first - 1, n // 2)
        step = a * last / n
        u = arb(max(0.0, float(a - step) + math.log(first / n)))  # any u will do
        total += 2 * two_or_more(step).min((-u * first).exp() * two_or_more(step + u))
        first = last + 1
    return total.upper()
