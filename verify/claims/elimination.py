"""Lemma 2 of the bandit paper: with what probability its confidence radii hold, and the pulls.

Batch b has l(b) = 2^b users an arm. Assumption 1 at level q: |noise| <= σ sqrt(log(2/q)) +
h log(2/q) with probability at least 1 - 2q. The radius (2) takes q = p/(|Φ| b²) in it and, for
Hoeffding's inequality, log(4 |Φ| b²/p)/(2 l(b)).
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...exact.number import ball
from .figures import figure, shown
from .finding import Finding, Scope, Truth, claim, require
from .identity import prove_equal

__all__ = ["CLAIMS", "failure_probability", "least_factor", "pulls"]

_SOURCE = "Chowdhury, Zhou (ICLR 2023), Lemma 2"
ARMS, HORIZON = 2, 2**20  # of the witness; p = 1/HORIZON
STEEPNESS = 10**9  # h of the witness


@claim(
    "D-lem2-prob",
    _SOURCE,
    "With the radius (2), |μ̂_a(b) - μ_a| <= β(b) holds for all active arms and all batches with "
    "probability at least 1 - 3p, under Assumption 1.",
)
def check_probability() -> Finding:
    """P(all radii hold) >= 1 - 3p: refuted by a noise that meets Assumption 1 with equality."""
    p = Fraction(1, HORIZON)
    failure = figure(lambda: failure_probability(p, ARMS, batches(ARMS, HORIZON), STEEPNESS))
    require(failure.greater_than(3 * p), f"the radii fail with probability {failure}, not above 3p")
    factor = figure(least_factor)
    in_units = figure(
        lambda: failure_probability(p, ARMS, batches(ARMS, HORIZON), STEEPNESS) / ball(p)
    )
    union = {
        "as stated": figure(lambda: _union(Fraction(2), Fraction(4))),
        "4 in all three": figure(lambda: _union(Fraction(4), Fraction(4))),
    }
    require(
        union["4 in all three"].less_than(3),
        "the corrected radii do not hold with probability 1 - 3p",
    )
    return Finding(
        Truth.FAILS,
        Scope.WITNESS,
        {
            "union bound": "p (2 Σ b^-2 for the noise + (1/2) Σ b^-2 for the rewards) = (5π²/12) p "
            f"= {shown(union['as stated'])} p; it is above 3p from two batches on",
            "witness": "noise with P(|noise| > h log(2/q)) = 2q for every q <= 1/2 (σ = 0, "
            f"h = 1e9), rewards without variance, {ARMS} arms of the same mean, T = {HORIZON}, "
            f"p = 1/T: some radius fails with probability {shown(in_units)} p",
            "least factor": f"log(2κ|Φ|b²/p) in the two noise terms gives 3p from "
            f"κ = 4π²/(36 - π²) = {shown(factor)} on",
            "correction proved": "with 4 in place of 2 the union is (π²/4) p = "
            f"{shown(union['4 in all three'])} p",
            "misprints": "the good event is the intersection over b, not the union; the regret "
            "off it is P[not E] T; the bounds on |μ̂ - μ| are inequalities; log(1/p) is log(2/p) "
            "as in Assumption 1",
        },
        "write log(4|Φ(b)|b²/p) in all three terms of (2); with the constants as stated the "
        "probability is at least 1 - (5π²/12) p; the order of the regret is not affected",
    )


def failure_probability(p: Fraction, arms: int, count: int, steepness: int) -> arb:
    """P(some radius fails) for the witness, σ = 0, independent noise, rewards without variance.

    |noise| = h (log 4 + an exponential variable), so P(|noise| > h x) = 4 e^-x for x >= log 4:
    Assumption 1 holds with equality at every q <= 1/2, and for q > 1/2 it asks for nothing. All
    arms have the same rewards; the probability is that of the first failure, up to which (all radii
    hold) no arm is eliminated. A radius fails where |noise| > h log(2/q) + l times Hoeffding's
    term: with probability 2q e^(-slack/h) at level q = p/(arms b²).
    """
    survives = arb(1)
    for b in range(1, count + 1):
        level = ball(p / (arms * b * b))
        slack = (2**b * (4 / level).log() / 2).sqrt()
        survives *= (1 - 2 * level * (-slack / steepness).exp()) ** arms
    return 1 - survives


def batches(arms: int, horizon: int) -> int:
    """How many batches are complete before T rounds where no arm is eliminated."""
    count = 0
    while arms * (2 ** (count + 2) - 2) <= horizon:
        count += 1
    return count


def least_factor() -> arb:
    """κ with 2/κ Σ b^-2 + (1/2) Σ b^-2 = 3 (Σ b^-2 = π²/6): 4π²/(36 - π²)."""
    square = arb.pi() ** 2
    return 4 * square / (36 - square)


def _union(noise: Fraction, rewards: Fraction) -> arb:
    """The union bound in units of p, for log(noise |Φ|b²/p) and log(rewards |Φ|b²/p).

    Noise: log(2/q) = log(noise |Φ|b²/p) fails with probability 2q = 4p/(noise |Φ|b²). Rewards:
    Hoeffding, 2 exp(-log(rewards |Φ|b²/p)). |Φ| arms each; |Φ| is known before the batch.
    """
    return (4 / ball(noise) + 2 / ball(rewards)) * arb.pi() ** 2 / 6


@claim(
    "D-lem2-pulls",
    _SOURCE,
    "A suboptimal arm a that is not eliminated up to batch b̃_a is pulled at most N_a(T) <= 4 "
    "l(b̃_a) times.",
)
def check_pulls() -> Finding:
    """N_a(T) <= 4 l(b̃): all batches up to b̃ + 1, one of which may be cut short."""
    last, growth = sympy.symbols("last growth", positive=True)
    b = sympy.Symbol("b", integer=True)
    total = sympy.summation(2**b, (b, 1, last + 1))
    prove_equal(total, 4 * 2**last - 2)
    # growth + ... + growth^(last+1) = growth²/(growth-1) growth^last - growth/(growth-1)
    geometric = growth * (growth ** (last + 1) - 1) / (growth - 1)
    prove_equal(growth**2 / (growth - 1) * growth**last - geometric, growth / (growth - 1))
    return Finding(
        Truth.HOLDS_CORRECTED,
        Scope.PROVED,
        {
            "proved": "an arm last kept at the end of batch b̃ >= 1 is pulled at most "
            "2 + 4 + ... + 2^(b̃+1) = 4 l(b̃) - 2 times (symbolic)",
            "edge": "an arm that is eliminated after its first batch has no b̃ (b̃ = 0 is no batch: "
            "no radius β(0) bounds its gap), and is pulled twice; the first of the constants, "
            "above 72 log 4, absorbs it",
            "constants": "from Δ <= 4β(b̃) with L = log(4|Φ|b²/p): l(b̃) <= max(72 L/Δ², "
            "12 σ sqrt(L)/Δ, 12 h L/Δ), since one of three terms is at least a third",
            "other schedules": "l(b) = η^b: η²/(η - 1) in place of 4",
        },
        "N_a(T) <= 2 for an arm that no batch keeps, and N_a(T) <= 4 l(b̃_a) - 2 otherwise",
    )


def pulls(last: int) -> int:
    """How often an arm is pulled that is last kept at the end of batch `last` (0: of none)."""
    return sum(2**b for b in range(1, last + 2))


CLAIMS = (check_probability, check_pulls)
