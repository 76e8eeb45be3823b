"""Lemma 5 and Theorem 6 of the bandit paper: sums of discrete Laplace noise in the local model.

Lemma 5's "absolute constant c" is found in closed form. X ~ Lap_Z(1/ε) has

    E e^(λX) = 1/(1 - r²),   r = sinh(λ/2)/sinh(ε/2),   |λ| < ε,

and (c²/ε², c/ε)-sub-exponential means -log(1 - r²) <= c²u²/2 for 0 <= u = λ/ε <= 1/c.

*Enough.* r <= u: sinh(ux)/sinh(x) falls in x > 0 from its limit u at 0, since the derivative of its
logarithm is u coth(ux) - coth(x) <= 0, t coth t being increasing ((t coth t)' = (sinh 2t - 2t)/
(2 sinh² t)). So -log(1 - u²) <= c²u²/2 is enough; with w = c²u² in [0, 1] and κ = 1/c²,
F(w) = w/2 + log(1 - κw) >= 0. F is concave and F(0) = 0, so F(1) >= 0 is enough:
κ <= 1 - e^(-1/2).

*Least.* For ε -> 0 and u = 1/c the left side tends to -log(1 - κ): κ <= 1 - e^(-1/2) is needed.

    c = 1/sqrt(1 - e^(-1/2)) = 1.5942...
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import sympy
from flint import arb

from ...exact.number import ball
from ...mechanisms.additive.papers import theorem6
from ...mechanisms.laws.discrete_laplace import PolyaDifference
from .proofs import Figures, figure, prove_equal, proved_positive, require

_CLOSE = Fraction(1, 10**9)  # a constant smaller by this much is refuted
_WITNESS = Fraction(1, 10**6)  # at this ε
_EPSILON = Fraction(1, 2)
_HORIZONS = (10**3, 10**6, 10**9)


def best_constant() -> arb:
    """c = 1/sqrt(1 - e^(-1/2)), the least that serves every ε > 0."""
    return 1 / (1 - (arb(-1) / 2).exp()).sqrt()


def constant() -> Figures:
    """Lemma 5: prove F(w) > 0 for all 0 < w < 1 by subdivision; both ends are zeros.

    Left half: F(w)/w = 1/2 - κ L(κw) > 0 with L(x) = -log(1 - x)/x = 1 + x/2 + x²/3 + ...
    Right half: F(w)/(1 - w) with v = 1 - w and 1 - κw = (1 - κ)(1 + ρv), ρ = κ/(1 - κ), and
    log(1 - κ) = -1/2: F = -v/2 + log(1 + ρv), so F/v = ρ M(ρv) - 1/2 with M(x) = log(1 + x)/x,
    which falls in x > 0.
    A smaller constant is refuted by log E e^(λX) - c²λ²/(2ε²) > 0 at λ = ε/c.
    """

    def left(w: arb) -> arb:
        kappa = 1 / best_constant() ** 2
        return arb(1) / 2 - kappa * _series(kappa * w)

    def right(v: arb) -> arb:
        kappa = 1 / best_constant() ** 2
        rho = kappa / (1 - kappa)
        return rho * _series(-rho * v) - arb(1) / 2

    half = Fraction(1, 2)
    pieces = proved_positive(left, 0, half) + proved_positive(right, 0, half)
    t = sympy.Symbol("t", positive=True)
    slope = (sympy.sinh(2 * t) - 2 * t) / (2 * sympy.sinh(t) ** 2)
    prove_equal(sympy.diff(t * sympy.coth(t), t).rewrite(sympy.exp), slope.rewrite(sympy.exp))

    def excess() -> arb:
        smaller = best_constant() * ball(1 - _CLOSE)
        ratio = (ball(_WITNESS) / 2 / smaller).sinh() / (ball(_WITNESS) / 2).sinh()
        return -(1 - ratio**2).log() - arb(1) / 2

    found = figure(excess)
    require(found.greater_than(0), "the smaller constant is not refuted")
    return {"best": figure(best_constant), "pieces": pieces, "excess": found}


def _series(x: arb) -> arb:
    """-log(1 - x)/x = 1 + x/2 + x²/3 + ... on a ball of |x| < 2/3."""
    terms = 300
    total = arb(0)
    for n in range(terms, 0, -1):
        total = total * x + arb(1) / n
    size = arb(x.abs_upper())
    require(size < arb(2) / 3, "the series is used too far out")
    rest = size**terms / (terms * (1 - size))
    return total + arb(0, 1) * rest


def accuracy() -> Figures:
    """Theorem 6: τ without Lemma 5's second term; certify P(|noise| > τ) batch by batch.

    A discrete Laplace variable is a difference of two geometric ones, so the sum of n of them is a
    difference of two negative binomial ones of shape n. τ is the theorem's, with the best c.
    """
    horizons, worst = [], Fraction(0)
    for horizon in _HORIZONS:
        limit = figure(partial(_twice_log, horizon))
        told = []
        users = 2
        while limit.greater_than(users) is True:
            preset = theorem6(_EPSILON, users, horizon)
            scale, tau = preset.precision / _EPSILON, preset.accuracy or 0
            tail = PolyaDifference(users, scale).two_sided_tail
            ratio = Fraction(tail(tau).lower) * horizon
            told.append(f"{users}: {float(ratio):.4g}")
            worst = max(worst, ratio)
            second = figure(partial(_second_accuracy, scale, horizon))
            mended = tail(max(tau, math.ceil(second.upper))).at_most(Fraction(1, horizon))
            require(mended, "the corrected accuracy is exceeded too often")
            users *= 2
        horizons.append({"T": horizon, "limit": limit, "ratios": ", ".join(told)})
    require(worst > 1, "no batch refutes")
    return {"horizons": horizons}


def _second_accuracy(scale: Fraction, horizon: int) -> arb:
    """What the second term of Lemma 5 asks for, of noise of this scale."""
    return best_constant() * ball(scale) * _twice_log(horizon)


def _twice_log(horizon: int) -> arb:
    """2 log(2T)."""
    return 2 * (2 * arb(horizon)).log()
