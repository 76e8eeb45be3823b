"""Theorem 2 of the bandit paper: does its confidence radius give its regret?

It does not: the radius has (1 + 1/s) log T/(ε l) where the regret needs sqrt(log T)/(ε l) +
log T/(s ε l).

*Two arms, rewards 1 and 0 without variance* (which are encoded without rounding), K = 2, gap 1. By
Proposition 1 the noise of a batch, divided by g, is at most e = τ/g with probability 1 - 1/T, where
τ/g <= (2 sqrt(L) + (sqrt(2) L + 1)/s)/ε, L = log(2T), since g >= sε and the ceiling adds at most 1.
Where it is, the bad arm is kept at the end of a batch with 2β(b) l(b) - 2e >= l(b); and
β(b) l(b) >= C (1 + 1/s) L/ε, C the constant that the O hides, since |Φ(b)| b² T >= 2T. So the bad
arm is kept in all batches with

    l(b) <= A = (2C (1 + 1/s) L - 4 sqrt(L) - 2 (sqrt(2) L + 1)/s)/ε,

but for a probability of at most 2 log2(A)/T, and is pulled at least A times, each at the cost of 1.
With s = L and ε = 1/sqrt(L) A grows like L^(3/2), while the regret that is claimed is at most a
constant times L + 2 sqrt(L)/ε + 2L/(sε) = 3L + 2 sqrt(L). No constants C, C' reconcile the two.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from .figures import figure, shown
from .finding import Finding, Scope, Truth, claim
from .identity import prove_equal

__all__ = ["CLAIMS", "kept", "term_ratio"]

POINTS = ((10**6, 10), (10**6, 1000), (10**12, 1000), (10**100, 1000))  # T, s


@claim(
    "D-thm2-radius",
    "Chowdhury, Zhou (ICLR 2023), Theorem 2",
    "With β(b) = O(sqrt(log(|Φ(b)|b²T)/(2l(b))) + (1 + 1/s) log(|Φ(b)|b²T)/(ε l(b))) the expected "
    "regret is O(Σ log T/Δ_a + K sqrt(log T)/ε + K log T/(sε)).",
)
def check_radius() -> Finding:
    """Prove that the radius as stated is of too large an order, and say which one is not."""
    log, constant = sympy.symbols("L C", positive=True)
    kept_long = _kept(log, sympy.sqrt(log), constant, log, 1 / sympy.sqrt(log), sympy.sqrt(2))
    claimed = 3 * log + 2 * sympy.sqrt(log)
    limit = sympy.limit(sympy.expand(kept_long / claimed / sympy.sqrt(log)), log, sympy.oo)
    prove_equal(limit, 2 * constant / 3)
    evidence = {
        "proved": "with two arms, s = log(2T) and ε = 1/sqrt(log(2T)) the stated radius keeps a "
        "bad arm for at least A rounds, A/(stated regret) ~ (2C/3C') sqrt(log T) for whatever "
        "constants C of the radius and C' of the regret (symbolic limit)",
    }
    for horizon, scaling in POINTS:
        ratio = term_ratio(horizon, Fraction(scaling))
        evidence[f"T = {_power(horizon)}, s = {scaling}"] = (
            f"the noise term of the radius is {shown(ratio, 5)} times the noise bound of "
            "Proposition 1"
        )
    horizon = 10**100
    rounds = figure(lambda: kept(horizon, Fraction(1)))
    evidence["A at T = 1e100, s = log(2T), ε = 1/sqrt(s), C = 1"] = shown(rounds, 6)
    return Finding(
        Truth.HOLDS_CORRECTED,
        Scope.PROVED,
        evidence,
        "β(b) = sqrt(L/(2l)) + ((2 + sqrt(2)/s) sqrt(L) + (sqrt(2) L + 1)/(s sqrt(l)))/(ε l) with "
        "L = log(4|Φ(b)|b²T): it bounds the noise (Proposition 1 and g >= sε sqrt(l)) and the "
        "rounding, and Lemma 2 with σ = (2 + sqrt(2)/s)/ε, h = (sqrt(2) + 1)/(sε) gives the "
        "stated regret; τ must be taken at the same level (see D-asm1)",
    )


def term_ratio(horizon: int, scaling: Fraction) -> Enclosure:
    """(1 + 1/s) L over 2 sqrt(L) + sqrt(2) L/s, L = log(2T): the two noise terms, ε cancelled."""

    def ratio() -> arb:
        log = (2 * arb(horizon)).log()
        s = ball(scaling)
        return (1 + 1 / s) * log / (2 * log.sqrt() + arb(2).sqrt() * log / s)

    return figure(ratio)


def kept(horizon: int, constant: Fraction) -> arb:
    """A for s = L, ε = 1/sqrt(L): a lower bound on the pulls of the bad arm."""
    log = (2 * arb(horizon)).log()
    value: arb = _kept(log, log.sqrt(), ball(constant), log, 1 / log.sqrt(), arb(2).sqrt())
    return value


def _kept(log: Any, sqrt_log: Any, constant: Any, s: Any, epsilon: Any, sqrt_two: Any) -> Any:
    """A, of symbols or of balls."""
    noise = 4 * sqrt_log + 2 * (sqrt_two * log + 1) / s
    return (2 * constant * (1 + 1 / s) * log - noise) / epsilon


def _power(number: int) -> str:
    return f"1e{len(str(number)) - 1}"


CLAIMS = (check_radius,)
