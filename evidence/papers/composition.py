"""Lemma 10's conversions, Theorem 7's composition, and what Appendix I makes of both."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import sympy
from flint import arb

from ...accounting.composition.composed import compose
from ...accounting.divergences import conversion
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import refine, working_precision
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.mechanism import AdditiveNoise, RandomizedResponse
from .appendix_i import discrete_gaussian, noise_per_batch
from .proofs import Figures, certain, prove_equal, proved_positive, require

_WIDTH = Fraction(1, 10**9)
_PURE_POINTS = tuple(product(map(Fraction, ("1/10", "1", "5")), map(Fraction, ("3/2", "2", "10"))))
_TRUE_UP_TO = Fraction("0.9925")
_TARGET = Fraction("0.999")  # epsilon', which Theorem 7 wants below 1
_WITNESSES = (  # k, delta'
    (1, Fraction("0.998")),
    (16, Fraction("0.9975")),
    (64, Fraction("0.997")),
    (1000, Fraction("0.9968")),
)
_NOT_YET = ((1, Fraction("0.9975")), (64, Fraction("0.9965")))
_COST_WIDTH = Fraction(1, 10**8)
_RETURNING = ((Fraction(1, 2), Fraction(1, 10**6)), (Fraction(1), Fraction(1, 10**5)))
_BATCHES = (1, 4, 16, 64)
_NOISE_WIDTH = Fraction(1, 10**4)


def conversions() -> Figures:
    """Lemma 10: all three conversions, symbolically; beside them what is exact."""
    _from_renyi()
    _concentrated()
    _pure()
    delta = Fraction(1, 10**6)
    pure_points = [
        {
            "epsilon": epsilon,
            "order": order,
            "tight": compose(RandomizedResponse(epsilon)).renyi(order),
            "stated": order * epsilon**2 / 2,
        }
        for epsilon, order in _PURE_POINTS
    ]
    gaussians = compose((AdditiveNoise(DiscreteGaussian(100), 1), 100))
    return {
        "closed": refine(lambda: (1 + (-8 * ball(delta).log()).sqrt()) / 2),
        "lemma": conversion.zcdp_to_epsilon(Fraction(1, 2), delta, _WIDTH).value,
        "exact": gaussians.epsilon(delta, _WIDTH),
        "points": pure_points,
    }


def _from_renyi() -> None:
    """Prove the conversion from Rényi DP, for every real order a > 1, every mechanism.

    delta(epsilon) = E_P (1 - y)+ with y = e^(epsilon - L). For 0 < y < 1,
    (1 - y) y^(a-1) <= c = (a-1)^(a-1)/a^a: the log of the left side is concave with its maximum at
    y = (a-1)/a. So (1 - y)+ <= c y^(1-a), and E_P y^(1-a) = e^((a-1)(D - epsilon)). Solving
    delta = c e^((a-1)(D - epsilon)) for epsilon gives the formula. (No better c: y may be that.)
    """
    a = sympy.symbols("alpha", positive=True)
    x = sympy.symbols("x", positive=True)  # alpha - 1
    y = sympy.symbols("y", positive=True)
    log_left = sympy.log(1 - y) + x * sympy.log(y)
    prove_equal(sympy.diff(log_left, y).subs(y, x / (1 + x)), sympy.Integer(0))
    prove_equal(sympy.diff(log_left, y, 2), -x / y**2 - 1 / (1 - y) ** 2)  # negative
    peak = (x * sympy.log(x) - x * sympy.log(1 + x)) - sympy.log(1 + x)
    prove_equal(
        sympy.expand_log(log_left.subs(y, x / (1 + x)).simplify(), force=True),
        sympy.expand(peak),
    )
    d, divergence = sympy.symbols("delta D", positive=True)
    c_log = (a - 1) * sympy.log(a - 1) - a * sympy.log(a)
    solved = divergence + (c_log - sympy.log(d)) / (a - 1)
    stated = divergence - (sympy.log(a) + sympy.log(d)) / (a - 1) + sympy.log(a - 1) - sympy.log(a)
    prove_equal(solved, stated)


def _concentrated() -> None:
    """Prove epsilon' <= epsilon (sqrt(2 log(1/delta)) + epsilon/2).

    At a = 1 + sqrt(2 log(1/delta))/epsilon the first two terms are that number, and the two that
    are left out, -log(a)/(a-1) and log(1 - 1/a), are negative.
    """
    epsilon, log_term = sympy.symbols("epsilon L", positive=True)
    a = 1 + sympy.sqrt(2 * log_term) / epsilon
    prove_equal(
        epsilon**2 * a / 2 + log_term / (a - 1),
        epsilon * (sympy.sqrt(2 * log_term) + epsilon / 2),
    )


def _pure() -> None:
    """Prove D <= order epsilon²/2 for every epsilon-DP mechanism and every order.

    Randomized response dominates them all; with u = order - 1/2 its (order - 1) D is
    log[cosh(u epsilon)/cosh(epsilon/2)]. As log cosh is concave in the square of its argument
    (its product formula), D/order = (...)/(u² - 1/4) is largest in the limit of order 1, which is
    epsilon tanh(epsilon/2). And tanh x <= x: x cosh x - sinh x has the derivative x sinh x >= 0.
    """
    epsilon, a = sympy.symbols("epsilon alpha", positive=True)
    keep = sympy.exp(epsilon / 2) / (2 * sympy.cosh(epsilon / 2))
    flip = sympy.exp(-epsilon / 2) / (2 * sympy.cosh(epsilon / 2))
    u = a - sympy.Rational(1, 2)
    powers = [sympy.exp(epsilon * u), sympy.exp(-epsilon * u)]
    # keep^a flip^(1-a): the exponents of e are a epsilon/2 - (1-a) epsilon/2 = u epsilon
    prove_equal(a * epsilon / 2 - (1 - a) * epsilon / 2, u * epsilon)
    prove_equal(sum(powers) / 2, sympy.cosh(u * epsilon).rewrite(sympy.exp))
    prove_equal((keep + flip).rewrite(sympy.exp), sympy.Integer(1))
    prove_equal(u**2 - sympy.Rational(1, 4), a * (a - 1))
    x = sympy.symbols("x", positive=True)
    prove_equal(sympy.diff(x * sympy.cosh(x) - sympy.sinh(x), x), x * sympy.sinh(x))


def advanced() -> Figures:
    """Theorem 7 is advanced composition "for every delta' > 0", which fails for delta' near 1.

    With l = log(1/delta') the theorem lets each of k mechanisms have
    epsilon = epsilon'/(2 sqrt(2kl)), which is not bounded as l -> 0. An (epsilon, delta)-DP
    mechanism is dominated by one that reveals its bit with probability delta and otherwise answers
    by randomized response, so delta only adds 1 - (1-delta)^k <= k delta: what follows is about k
    randomized responses, adaptively chosen or not (Kairouz, Oh, Viswanath, "The composition theorem
    for differential privacy", ICML 2015).
    """
    pieces = _prove_range()
    witnesses = [_cost(count, failure) for count, failure in _WITNESSES]
    for found in witnesses:
        require(found["cost"].greater_than(found["failure"]), "the witness does not refute")
    others = [_cost(count, failure) for count, failure in _NOT_YET]
    stated = {"true_up_to": _TRUE_UP_TO, "target": _TARGET}
    return {"pieces": pieces, "witnesses": witnesses, "others": others} | stated


def _prove_range() -> int:
    """Prove Theorem 7 for all k, all epsilon' <= 1 and all 0 < delta' <= 0.9925.

    *l <= 1.* delta(epsilon') <= TV <= sqrt(1 - C²), C the Bhattacharyya coefficient (Le Cam), which
    is 1/cosh(epsilon/2) for one randomized response and its k-th power for k. By Claim 1,
    C² >= e^(-k epsilon²/4) = e^(-epsilon'²/32l) >= e^(-1/32l). It remains e^(-2l) + e^(-1/32l) > 1
    on [-log 0.9925, 1]: by intervals.
    *l >= 1/2.* By Dwork, Rothblum, Vadhan (FOCS 2010, Theorem III.3) the cost is at most
    sqrt(2kl) epsilon + k epsilon (e^epsilon - 1): the first term is epsilon'/2. With w = sqrt(2l)
    the second one is epsilon'/2 times sqrt(k) (e^epsilon - 1)/w; as e^x - 1 is convex and 0 at 0,
    sqrt(k) (e^(x/sqrt(k)) - 1) <= e^x - 1, x = epsilon'/2w <= 1/2w. So e^(1/2w) - 1 <= w is enough;
    the left side falls, the right side rises, and it is true at w = 1, that is l = 1/2.
    """
    k, epsilon, target = sympy.symbols("k epsilon t", positive=True)
    log_term = sympy.symbols("l", positive=True)
    share = target / (2 * sympy.sqrt(2 * k * log_term))
    prove_equal(k * share**2 / 4, target**2 / (32 * log_term))
    prove_equal(sympy.sqrt(2 * k * log_term) * share, target / 2)
    keep = sympy.exp(epsilon) / (1 + sympy.exp(epsilon))
    prove_equal(
        (4 * keep * (1 - keep)).rewrite(sympy.exp),
        (1 / sympy.cosh(epsilon / 2) ** 2).rewrite(sympy.exp),
    )
    with working_precision(128):
        start = -ball(_TRUE_UP_TO).log()
        require((arb(1) / 2).exp() - 1 < 1, "e^(1/2) - 1 < 1 is not certain")
    low = Fraction(75, 10**4)
    require(start > ball(low), "the range of l does not start where it should")
    return proved_positive(lambda x: (-2 * x).exp() + (-1 / (32 * x)).exp() - 1, low, 1)


def _cost(count: int, failure: Fraction) -> dict[str, Any]:
    """The least delta for which so many randomized responses are (epsilon', delta)-DP.

    Each has a rational epsilon, a little below what the theorem allows.
    """
    guess = Fraction(round(float(_TARGET) / (8 * count * -log(failure)) ** 0.5 * 10**9), 10**9)
    share = guess - Fraction(1, 10**8)

    def below() -> arb:
        return ball(_TARGET) ** 2 / (-8 * count * ball(failure).log()) - ball(share) ** 2

    require(certain(below), "the share is not below what is allowed")
    cost = compose((RandomizedResponse(share), count)).delta(_TARGET, _COST_WIDTH)
    return {"k": count, "failure": failure, "share": share, "cost": cost}


def returning_users() -> Figures:
    """Appendix I: does Rényi DP save a factor log(B/delta) of noise variance for returning users?

    Four ways of accounting for the same noise and the same target (`appendix_i`). Equation 14
    (advanced composition) against equation 15 (Rényi curves and Lemma 10) is the gain that the
    paper reports; the exact composition shows what any of it is worth.
    """
    points = []
    for epsilon, delta in _RETURNING:
        for row in noise_per_batch(epsilon, delta, discrete_gaussian, _BATCHES, _NOISE_WIDTH):
            lost = row.renyi.over(row.exact)
            require(lost.at_least(1), "exact composition is expected to need the least noise")
            factors = {
                "gain": _middle(row.advanced.over(row.renyi)),
                "stated": log(row.batches / float(delta)),
                "theorem7": _middle(row.advanced.over(row.optimal)),
                "point": _middle(row.optimal.over(row.renyi)),
                "lost": _middle(lost),
            }
            at = {"epsilon": epsilon, "delta": delta, "B": row.batches}
            points.append(at | factors)
    return {"points": points}


def _middle(value: Enclosure) -> float:
    return (float(value.lower) + float(value.upper)) / 2
