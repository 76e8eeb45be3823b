"""Lemma 10: from Rényi and concentrated DP to (epsilon, delta), and from pure DP to Rényi."""

from __future__ import annotations

from fractions import Fraction

import sympy

from ...accounting.composed import compose
from ...accounting.methods import conversion
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.mechanism import AdditiveNoise
from .figures import shown
from .finding import Finding, Scope, Truth, claim
from .identity import prove_equal

__all__ = ["CLAIMS", "prove_concentrated", "prove_from_renyi", "prove_pure"]

_WIDTH = Fraction(1, 10**9)
PURE_POINTS = tuple(
    (Fraction(e), Fraction(a)) for e in ("1/10", "1", "5") for a in ("3/2", "2", "10")
)


def prove_from_renyi() -> None:
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


def prove_concentrated() -> None:
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


def prove_pure() -> None:
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


@claim(
    "D-lem10",
    "Chowdhury, Zhou (ICLR 2023), Lemma 10",
    "(alpha, D)-RDP gives epsilon = inf D + log(1/(alpha delta))/(alpha-1) + log(1-1/alpha); "
    "epsilon²/2-CDP gives at most epsilon (sqrt(2 log(1/delta)) + epsilon/2); (epsilon, 0)-DP "
    "gives (alpha, alpha epsilon²/2)-RDP",
)
def _check() -> Finding:
    prove_from_renyi()
    prove_concentrated()
    prove_pure()
    delta = Fraction(1, 10**6)
    lemma = conversion.zcdp_to_epsilon(Fraction(1, 2), delta, _WIDTH).value
    closed = conversion.zcdp_to_epsilon_simple(Fraction(1, 2), delta)
    exact = compose((AdditiveNoise(DiscreteGaussian(100), 1), 100)).epsilon(delta, _WIDTH)
    evidence = {
        "shown": "all three conversions, symbolically, for every real order > 1, every epsilon and "
        "every delta in (0, 1)",
        "1-CDP (epsilon = 1) at delta = 1e-6": f"closed form {shown(closed)}, infimum over the "
        f"orders {shown(lemma)}; 100 discrete Gaussians that are 1/2-zCDP together cost exactly "
        f"{shown(exact)}",
        "tight pure to Rényi": "log[cosh((order - 1/2) epsilon)/cosh(epsilon/2)]/(order - 1), "
        "attained by randomized response; its largest D/order is epsilon tanh(epsilon/2)",
    }
    for epsilon, order in PURE_POINTS:
        tight = conversion.pure_to_renyi(epsilon, order)
        evidence[f"pure epsilon = {epsilon}, order {order}"] = (
            f"tight {shown(tight)}, stated {float(order * epsilon**2 / 2):.8g}"
        )
    return Finding(Truth.HOLDS, Scope.PROVED, evidence)


CLAIMS = (_check,)
