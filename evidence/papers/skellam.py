"""Skellam noise: Claim 1, Proposition 1 with its best constants, Lemma 3, and Theorem 2's curve.

X = Sk(0, v) has log E e^(sX) = v (cosh s - 1), so that tails are an inequality in s alone, for all
v at once. By Chernoff's bound, with the Legendre transform of cosh s - 1 written by its own s,

    P(|X| > t) <= 2 e^(-v kappa(s)) at t = v sinh s,    kappa(s) = s sinh s - cosh s + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import sympy
from attrs import frozen
from flint import arb, arb_series

from ...accounting.composition.composed import compose
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import working_precision
from ...exact.roots import first_met
from ...mechanisms.additive import papers
from ...mechanisms.laws.skellam import Skellam
from ...mechanisms.mechanism import AdditiveNoise
from .proofs import Figures, figure, prove_equal, proved_positive, proved_positive_beyond, require

_LINEAR = Fraction("0.174217960")  # |X| <= sqrt(2 v L) + _LINEAR L, L = log(2/p)
_LINEAR_TOO_SMALL = Fraction("0.174217959")
_WORST = Fraction("3.822372")  # where the bound is tight: it only chooses where to look
_TAILS = tuple(
    (Fraction(variance), Fraction(p))
    for variance, p in ((1, "1e-3"), (100, "1e-3"), (100, "1e-6"), (10_000, "1e-6"))
)
_VARIANCES = tuple(map(Fraction, ("1/20", "1/4", "1", "4", "25", "100", "10000")))
_SENSITIVITIES = (1, 2, 5, 20, 100)
_ORDERS = (2, 3, 4, 8, 16, 64, 256)

_EPSILONS = tuple(map(Fraction, ("1/50", "1/10", "1/5", "1/2", "7/10", "1", "2")))
_SCALINGS = tuple(map(Fraction, ("1", "3/2", "2", "5", "10", "30")))
_BATCHES = (2, 16)
_CURVE_ORDERS = (2, 3, 8, 64, 1024)
_WIDTH = Fraction(1, 10**7)


def cosh_below() -> None:
    """Claim 1: cosh x <= e^(x²/2) by power series, and the two steps of the paper's own proof.

    The coefficients are 1/(2k)! and 1/(2^k k!). Their ratio (2k)!/(2^k k!) is 1 at k = 0 and grows
    by the factor 2k + 1 >= 1 from k to k + 1. Equal at x = 0 only. The paper's proof takes the
    product formula, 1 + x <= e^x and the sum of 1/(2k-1)², which is pi²/8.
    """
    k = sympy.symbols("k", nonnegative=True)
    ratio = sympy.gamma(2 * k + 1) / (2**k * sympy.gamma(k + 1))
    prove_equal(sympy.gammasimp(ratio.subs(k, k + 1) / ratio), 2 * k + 1)
    prove_equal(ratio.subs(k, 0), sympy.Integer(1))
    j = sympy.symbols("j", integer=True, positive=True)
    prove_equal(sympy.summation(1 / (2 * j - 1) ** 2, (j, 1, sympy.oo)), sympy.pi**2 / 8)


def tail() -> Figures:
    """Proposition 1: cosh s - 1 <= s² for |s| <= sqrt 2, and beyond: up to 2.98.

    It is even in s and touches at 0 (value and slope vanish there); its second derivative
    2 - cosh s is positive up to 1, and from 1 on there is room. 2 (cosh s - 1)/s² has a power
    series of positive coefficients in s²: it rises, and on |s| <= 1/h = sqrt 2 it is largest at the
    end, which gives the least variance factor, cosh sqrt 2 - 1.
    """

    def room(s: Any) -> Any:
        return s * s + 1 - (s.exp() + (-s).exp()) / 2

    pieces = proved_positive_beyond(room, 0, 1, order=2)
    pieces += proved_positive(lambda s: s * s + 1 - s.cosh(), 1, Fraction(298, 100))
    improved = _prove_linear_term(_LINEAR)
    with working_precision(128):
        too_small = _slack(_LINEAR_TOO_SMALL, ball(_WORST)) < 0
    require(too_small, "the linear term is not known to the digits stated")
    h, argument = _best_h()
    tails = []
    for variance, p in _TAILS:
        bounds = {
            "stated": figure(partial(_bound, 4 * variance, arb(2).sqrt, p)),
            "improved": figure(partial(_bound, 2 * variance, partial(ball, _LINEAR), p)),
        }
        least = Skellam(variance).tail_quantile(p)
        tails.append({"v": variance, "p": p, "least": least} | bounds)
    return {
        "pieces": pieces,
        "factor": figure(lambda: arb(2).sqrt().cosh() - 1),
        "h": h,
        "argument": argument,
        "linear": _LINEAR,
        "improved_pieces": improved,
        "too_small": _LINEAR_TOO_SMALL,
        "tails": tails,
    }


def _best_h() -> tuple[Enclosure, Enclosure]:
    """(least h, 1/h) for which Skellam is (2v, h)-sub-exponential: 1/h solves cosh s - 1 = s².

    As 2 (cosh s - 1)/s² rises, the inequality holds exactly up to that s, found by bisection.
    """
    grid = 1 << 80

    def gap(k: int) -> arb:
        s = ball(Fraction(k, grid))
        return s.cosh() - 1 - s * s

    with working_precision(192):
        high = first_met(lambda k: bool(gap(k) > 0), 2 * grid, 4 * grid)
        require(gap(high - 1) < 0, "the root is not bracketed")
    low, up = Fraction(high - 1, grid), Fraction(high, grid)
    return Enclosure(1 / up, 1 / low), Enclosure(low, up)


def _prove_linear_term(constant: Fraction) -> int:
    """Prove |X| <= sqrt(2 v L) + constant L with probability at least 1 - p, L = log(2/p), all v.

    With v kappa(s) = L it says sinh s <= sqrt(2 kappa) + constant kappa for all s > 0.

    *Near 0*: it follows from 2 kappa - (sinh s - constant kappa)² >= 0, whose value and first two
    derivatives vanish at 0 (kappa = s²/2 + ..., so the difference is constant s³ + ...).
    *In between*: by subdivision, with the derivative s cosh s of kappa.
    *From 1 + 1/constant on*: kappa >= (s - 1) sinh s, since sinh s - cosh s = -e^-s >= -1, so that
    constant kappa alone is enough.
    """
    symbol = sympy.symbols("s")
    kappa = symbol * sympy.sinh(symbol) - sympy.cosh(symbol) + 1
    prove_equal(sympy.diff(kappa, symbol), symbol * sympy.cosh(symbol))

    def squares(s: arb_series) -> arb_series:
        sinh, cosh = (s.exp() - (-s).exp()) / 2, (s.exp() + (-s).exp()) / 2
        kappa = s * sinh - cosh + 1
        rest = sinh - ball(constant) * kappa
        return 2 * kappa - rest * rest

    def slope(s: arb) -> arb:
        return s * s.cosh() * (1 / (2 * _kappa(s)).sqrt() + ball(constant)) - s.cosh()

    near, far = Fraction(1, 2), 1 + 1 / constant
    pieces = proved_positive_beyond(squares, 0, near, order=3)
    return pieces + proved_positive(partial(_slack, constant), near, far, derivative=slope)


def _kappa(s: arb) -> arb:
    return s * s.sinh() - s.cosh() + 1


def _slack(constant: Fraction, s: arb) -> arb:
    """sqrt(2 kappa) + constant kappa - sinh s."""
    kappa = _kappa(s)
    return (2 * kappa).sqrt() + ball(constant) * kappa - s.sinh()


def _bound(square: Fraction, linear: Callable[[], arb], p: Fraction) -> arb:
    """sqrt(square L) + linear L, L = log(2/p)."""
    log = ball(2 / p).log()
    return (ball(square) * log).sqrt() + linear() * log


@frozen
class Point:
    """A point of a grid, the Rényi divergence there, and what it is compared with."""

    where: str
    value: Enclosure
    gaussian: Fraction  # order Delta²/2v: what Gaussian noise of that variance has
    bound: Fraction

    @property
    def slack(self) -> Fraction:
        """bound/truth, rounded down."""
        return self.bound / Fraction(self.value.upper)

    @property
    def share(self) -> Fraction:
        """truth/Gaussian, rounded up."""
        return Fraction(self.value.upper) / self.gaussian


def _points(
    where: str, noise: AdditiveNoise, orders: Sequence[int], bound: Callable[[int], Fraction]
) -> list[Point]:
    """The divergences of Skellam noise at these orders, certified to be within the bound."""
    square = noise.sensitivity**2 / (2 * Fraction(noise.law.moments().variance.upper))
    curve = compose(noise).renyi_curve(orders, _WIDTH)
    points = [
        Point(f"{where}, order {order}", value, order * square, bound(order))
        for order, value in zip(orders, curve, strict=True)
    ]
    for point in points:
        require(point.value.at_most(point.bound), f"not certified at {point.where}")
    return points


def _compared(points: Sequence[Point]) -> Figures:
    """With the divergence of Gaussian noise of the same variance."""
    nearest = max(points, key=lambda point: point.share)
    return {
        "count": len(points),
        "below": sum(point.value.at_most(point.gaussian) is True for point in points),
        "share": nearest.share,
        "nearest": nearest.where,
    }


def lemma3(variance: Fraction, sensitivity: int, order: int) -> Fraction:
    """Lemma 3's bound: order d²/2v + min(((2 order - 1) d² + 6d)/4v², 3d/2v)."""
    d, a, v = sensitivity, order, variance
    fine = ((2 * a - 1) * d * d + 6 * d) / (4 * v * v)
    return a * d * d / (2 * v) + min(fine, 3 * d / (2 * v))


def divergences() -> Figures:
    """Lemma 3 over a grid."""
    points: list[Point] = []
    for v, d in product(_VARIANCES, _SENSITIVITIES):
        noise = AdditiveNoise(Skellam(v), d)
        points += _points(f"v = {v}, Delta = {d}", noise, _ORDERS, partial(lemma3, v, d))
    tightest, loosest = (choose(points, key=lambda point: point.slack) for choose in (min, max))
    low_order = compose(AdditiveNoise(Skellam(1), 1)).renyi(Fraction(101, 100), _WIDTH)
    return {"tightest": tightest, "loosest": loosest, "low": low_order, **_compared(points)}


def curve() -> Figures:
    """Theorem 2: what Lemma 3 gives at d = g, v = g²/epsilon², bounded by g >= s epsilon sqrt(n).

    The terms are (2 order - 1) epsilon⁴/4g², 3 epsilon⁴/2g³ and 3 epsilon²/2g: all fall in g. At
    g = s epsilon sqrt(n) they are (2 order - 1) epsilon²/4s²n, 3 epsilon/2s³n^(3/2) and
    3 epsilon/2s sqrt(n): the last is the paper's 3 epsilon²/2s sqrt(n) divided by epsilon.
    """
    a, e, g, s, n = sympy.symbols("alpha epsilon g s n", positive=True)
    v = g**2 / e**2
    least = s * e * sympy.sqrt(n)
    square, linear = (2 * a - 1) * g**2 / (4 * v**2), 6 * g / (4 * v**2)
    coarse = 3 * g / (2 * v)
    prove_equal(square.subs(g, least), (2 * a - 1) * e**2 / (4 * s**2 * n))
    prove_equal(linear.subs(g, least), 3 * e / (2 * s**3 * n ** sympy.Rational(3, 2)))
    prove_equal(coarse.subs(g, least), 3 * e**2 / (2 * s * sympy.sqrt(n)) / e)
    prove_equal(coarse, 3 * e**2 / (2 * g))
    points: list[Point] = []
    missed = []  # where Lemma 3, at the exact g of the batch, does not imply the curve
    for users, epsilon, scaling in product(_BATCHES, _EPSILONS, _SCALINGS):
        preset = papers.theorem2(epsilon, users, 1, scaling, modulus=None)
        stated = partial(papers.theorem2_curve, epsilon, scaling)
        where = f"epsilon = {epsilon}, s = {scaling}, n = {users}"
        points += _points(where, preset.mechanism, _CURVE_ORDERS, stated)
        implied = partial(lemma3, preset.precision**2 / epsilon**2, preset.precision)
        if any(implied(order) > stated(order) for order in _CURVE_ORDERS):
            missed.append((epsilon, scaling, users, where))
    return {
        "missed": len(missed),
        "settings": len(points) // len(_CURVE_ORDERS),
        "first": min(missed)[-1],
        "batches": _BATCHES,
        "last_order": _CURVE_ORDERS[-1],
        **_compared(points),
    }
