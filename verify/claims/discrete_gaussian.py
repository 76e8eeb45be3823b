"""Fact 2: the discrete Gaussian is epsilon²/2-CDP and sub-Gaussian; where it is more private."""

from __future__ import annotations

from fractions import Fraction

import sympy

from ...accounting.divergences import divergence
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.mechanism import AdditiveNoise
from .figures import shown
from .finding import Finding, Scope, Truth, claim, require
from .identity import prove_equal

__all__ = ["CLAIMS", "POINTS", "prove_closed_form"]

POINTS = (  # sigma², Delta, order
    (Fraction(1, 10), 1, Fraction(3, 2)),
    (Fraction(1, 4), 1, Fraction(3, 2)),
    (Fraction(1), 1, Fraction(3, 2)),
    (Fraction(1, 10), 1, Fraction(11, 10)),
    (Fraction(1, 10), 1, Fraction(2)),
    (Fraction(1, 10), 2, Fraction(3, 2)),
)
_WIDTH = Fraction(1, 10**10)


def prove_closed_form() -> None:
    """Prove D = a d²/2v + log[theta(a d)/theta(0)]/(a-1), v = sigma², and E e^(tX).

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


@claim(
    "D-fact2",
    "Chowdhury, Zhou (ICLR 2023), Fact 2 (Canonne, Kamath, Steinke 2020)",
    "N_Z(0, Delta²/epsilon²) on sensitivity Delta is epsilon²/2-CDP, and P(|Y| >= t) <= 2 e^(-t² "
    "epsilon²/2 Delta²)",
)
def _check() -> Finding:
    prove_closed_form()
    evidence = {
        "shown": "the divergence in closed form, symbolically, and theta(t) <= theta(0) by the "
        "positive coefficients of its Fourier series: for all Delta, epsilon and orders",
        "equal": "to order epsilon²/2 only where order times Delta is whole; less elsewhere",
    }
    for sigma2, sensitivity, order in POINTS:
        mechanism = AdditiveNoise(DiscreteGaussian(sigma2), sensitivity)
        value = divergence.renyi_divergence(mechanism, order, _WIDTH)
        claimed = order * sensitivity**2 / (2 * sigma2)
        require(value.at_most(claimed), "the closed form is contradicted")
        name = f"sigma² = {sigma2}, Delta = {sensitivity}, order {order}"
        evidence[name] = f"{shown(value)} of {float(claimed):.8g} allowed"
    return Finding(Truth.HOLDS, Scope.PROVED, evidence)


CLAIMS = (_check,)
