"""Proposition 1 and Claim 1: Skellam noise is sub-exponential, with the best constants.

X = Sk(0, v) has log E e^(sX) = v (cosh s - 1), so everything is an inequality in s alone, for all
v at once. By Chernoff's bound, with the Legendre transform of cosh s - 1 written by its own s,

    P(|X| > t) <= 2 e^(-v kappa(s)) at t = v sinh s,    kappa(s) = s sinh s - cosh s + 1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy
from flint import arb, arb_series

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import working_precision
from ...exact.roots import first_met
from ...mechanisms.laws.skellam import Skellam
from .finding import Finding, claim, figure, holds, require, shown
from .proofs import Proof, prove_equal, proved_positive, proved_positive_beyond, total_pieces

LINEAR = Fraction("0.174217960")  # |X| <= sqrt(2 v L) + LINEAR * L, L = log(2/p)
LINEAR_TOO_SMALL = Fraction("0.174217959")
_WORST = Fraction("3.822372")  # where the bound is tight: it only chooses where to look
_TAILS = tuple(
    (Fraction(variance), Fraction(p))
    for variance, p in ((1, "1e-3"), (100, "1e-3"), (100, "1e-6"), (10_000, "1e-6"))
)


def prove_claim1() -> None:
    """Prove cosh x <= e^(x²/2) by power series, and the two steps of the paper's own proof.

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


def prove_proposition1() -> list[Proof]:
    """Prove cosh s - 1 <= s² for |s| <= sqrt 2, and beyond: up to 2.98.

    It is even in s and touches at 0 (value and slope vanish there); its second derivative
    2 - cosh s is positive up to 1, and from 1 on there is room.
    """

    def series(s: arb_series) -> arb_series:
        return s * s + 1 - _cosh(s)

    return [
        proved_positive_beyond(series, 0, 1, order=2),
        proved_positive(lambda s: s * s + 1 - s.cosh(), 1, Fraction(298, 100)),
    ]


def best_variance_factor() -> Enclosure:
    """The least c for which Skellam is (c v, sqrt(2)/2)-sub-exponential for all v: cosh sqrt 2 - 1.

    2 (cosh s - 1)/s² has a power series of positive coefficients in s²: it rises, and on |s| <= 1/h
    it is largest at 1/h = sqrt 2.
    """
    return figure(lambda: arb(2).sqrt().cosh() - 1)


def best_reach() -> tuple[Enclosure, Enclosure]:
    """(least h, 1/h) for which Skellam is (2v, h)-sub-exponential: 1/h solves cosh s - 1 = s².

    By the same monotonicity the inequality holds exactly up to that s, found by bisection.
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


def prove_linear_term(constant: Fraction) -> list[Proof]:
    """Prove |X| <= sqrt(2 v L) + constant L with probability at least 1 - p, L = log(2/p), all v.

    With v kappa(s) = L it says sinh s <= sqrt(2 kappa) + constant kappa for all s > 0.

    *Near 0*: it follows from 2 kappa - (sinh s - constant kappa)² >= 0, whose value and first two
    derivatives vanish at 0 (kappa = s²/2 + ..., so the difference is constant s³ + ...).
    *In between*: by subdivision, with the derivative s cosh s of kappa.
    *From 1 + 1/constant on*: kappa >= (s - 1) sinh s, since sinh s - cosh s = -e^-s >= -1, so that
    constant kappa alone is enough.
    """
    _prove_derivative()
    near, far = Fraction(1, 2), 1 + 1 / constant

    def squares(s: arb_series) -> arb_series:
        sinh, kappa = _sinh(s), s * _sinh(s) - _cosh(s) + 1
        rest = sinh - ball(constant) * kappa
        return 2 * kappa - rest * rest

    return [
        proved_positive_beyond(squares, 0, near, order=3),
        proved_positive(_slack(constant), near, far, derivative=_slack_slope(constant)),
    ]


def refute_linear_term(constant: Fraction) -> bool:
    """Is this constant certainly too small for what Chernoff's bound gives?"""
    with working_precision(128):
        return bool(_slack(constant)(ball(_WORST)) < 0)


def _prove_derivative() -> None:
    """Prove kappa' = s cosh s."""
    s = sympy.symbols("s")
    kappa = s * sympy.sinh(s) - sympy.cosh(s) + 1
    prove_equal(sympy.diff(kappa, s), s * sympy.cosh(s))


def _kappa(s: arb) -> arb:
    return s * s.sinh() - s.cosh() + 1


def _slack(constant: Fraction) -> Callable[[arb], arb]:
    def slack(s: arb) -> arb:
        kappa = _kappa(s)
        return (2 * kappa).sqrt() + ball(constant) * kappa - s.sinh()

    return slack


def _slack_slope(constant: Fraction) -> Callable[[arb], arb]:
    def slope(s: arb) -> arb:
        return s * s.cosh() * (1 / (2 * _kappa(s)).sqrt() + ball(constant)) - s.cosh()

    return slope


def _cosh(s: arb_series) -> arb_series:
    return (s.exp() + (-s).exp()) / 2


def _sinh(s: arb_series) -> arb_series:
    return (s.exp() - (-s).exp()) / 2


@claim(
    "D-prop1",
    "Chowdhury, Zhou (ICLR 2023), Proposition 1",
    "Sk(0, v) is (2v, sqrt(2)/2)-sub-exponential, so that with probability at least 1 - p, |X| <= "
    "2 sqrt(v log(2/p)) + sqrt(2) log(2/p)",
)
def _proposition() -> Finding:
    proofs = prove_proposition1()
    improved = prove_linear_term(LINEAR)
    require(
        refute_linear_term(LINEAR_TOO_SMALL), "the linear term is not known to the digits stated"
    )
    reach, argument = best_reach()
    evidence = {
        "shown": "cosh s - 1 <= s² for |s| <= 2.98, more than sqrt 2, so for all v: "
        f"{total_pieces(proofs)} intervals",
        "best variance factor at h = sqrt(2)/2": f"{shown(best_variance_factor(), 10)} v "
        "= (cosh sqrt 2 - 1) v instead of 2 v",
        "best h at variance factor 2 v": f"{shown(reach, 10)} = 1/{shown(argument, 10)}, "
        "the root of cosh s - 1 = s², instead of 0.70710678",
        "improved tail": f"|X| <= sqrt(2 v L) + {float(LINEAR):.9f} L, L = log(2/p), instead of 2 "
        f"sqrt(v L) + 1.41421356 L; for all v and p, by {total_pieces(improved)} intervals",
        "its linear term is the least": f"with {float(LINEAR_TOO_SMALL):.9f} it no longer follows "
        "from Chernoff's bound",
    }
    for variance, p in _TAILS:
        evidence[f"at v = {variance}, p = {float(p):g}"] = _compared(variance, p)
    return holds(evidence)


def stated_tail(variance: Fraction, p: Fraction) -> Enclosure:
    """Proposition 1: |X| exceeds 2 sqrt(v L) + sqrt(2) L with probability at most p."""
    return figure(lambda: _bound(4 * variance, arb(2).sqrt(), p))


def improved_tail(variance: Fraction, p: Fraction) -> Enclosure:
    """|X| exceeds sqrt(2 v L) + LINEAR L with probability at most p: see `prove_linear_term`."""
    return figure(lambda: _bound(2 * variance, ball(LINEAR), p))


def _bound(square: Fraction, linear: arb, p: Fraction) -> arb:
    """sqrt(square L) + linear L, L = log(2/p)."""
    log = ball(2 / p).log()
    return (ball(square) * log).sqrt() + linear * log


def _compared(variance: Fraction, p: Fraction) -> str:
    bounds = [shown(tail(variance, p), 5) for tail in (stated_tail, improved_tail)]
    least = Skellam(variance).tail_quantile(p)
    return f"stated {bounds[0]}, improved {bounds[1]}, least {least}"


@claim(
    "D-claim1",
    "Chowdhury, Zhou (ICLR 2023), Claim 1",
    "cosh x <= e^(x²/2) for all real x",
)
def _claim1() -> Finding:
    prove_claim1()
    evidence = {
        "shown": "coefficient by coefficient, for all real lambda, equal at 0 only; the "
        "paper's own two steps too",
        "best": "1/2 cannot be lowered: cosh x = 1 + x²/2 + ... at 0",
    }
    return holds(evidence)
