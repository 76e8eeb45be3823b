"""Theorem 5 of the bandit paper: the server adds the discrete Laplace noise itself, mod m."""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...accounting.divergences.divergence import pure_epsilon
from ...exact.number import ball
from ...mechanisms.papers import Preset, theorem5
from .figures import figure, shown
from .finding import Finding, Scope, Truth, claim, require
from .identity import prove_equal

__all__ = ["CLAIMS"]

POINTS = (("1/10", 64, 10**4), ("1/2", 1024, 10**6), ("9/10", 4096, 10**6))  # ε, n, T


@claim(
    "D-thm5",
    "Chowdhury, Zhou (ICLR 2023), Theorem 5",
    "With noise Lap_Z(g/ε) added by the server mod m, Algorithm 1 is (ε, 0)-DP in the central "
    "model, and the noise exceeds τ = ceil((g/ε) log(2T)) with probability at most 1/T.",
)
def check_central() -> Finding:
    """Prove privacy and the tail for all parameters; the exact epsilon mod m at points.

    Privacy: the sum mod m plus noise mod m is the noisy sum mod m, post-processing of a discrete
    Laplace mechanism of sensitivity g and scale g/ε (Fact 3). Reduced mod m its law is that of
    β^x + β^(m-x), 0 <= x < m, β = e^(-ε/g), whose largest ratio over the shift g is
    (1 + β^m)/(β^g + β^(m-g)) = e^ε (1 + β^m)/(1 + β^(m-2g)) <= e^ε.
    Tail: P(|η| > τ) = 2 (1-β)/(1+β) (β^(τ+1) + β^(τ+2) + ...), a geometric series.
    """
    beta, tau = sympy.symbols("beta tau", positive=True)
    tail = 2 * (1 - beta) / (1 + beta) * beta ** (tau + 1) / (1 - beta)
    prove_equal(beta**tau - tail, beta**tau * (1 - beta) / (1 + beta))  # >= 0
    evidence = {
        "privacy proved": "exactly log((1 + β^m)/(β^g + β^(m-g))) <= ε, β = e^(-ε/g)",
        "tail proved": "P(|η| > τ) = 2β^(τ+1)/(1+β) <= β^τ <= 1/(2T), half of the p that is asked "
        "(symbolic): τ = ceil((g/ε) log T) is enough",
        "encoding": "the rounding is as in Theorem 1; the order of the regret follows from Lemma 2 "
        "with τ at the level of its union (D-asm1)",
    }
    for epsilon, users, horizon in POINTS:
        preset = theorem5(epsilon, users, horizon)
        law, tau_here, bound = preset.mechanism.law, preset.accuracy or 0, preset.epsilon
        measured = pure_epsilon(preset.mechanism)
        tail_here = figure(lambda: 2 * law.upper_tail(tau_here + 1))  # noqa: B023
        require(
            tail_here.at_most(Fraction(1, 2 * horizon)), f"the tail {tail_here} is above 1/(2T)"
        )
        require(measured.at_most(bound), f"the pure epsilon {measured} is above {bound}")
        slack = figure(lambda: _slack(preset))  # noqa: B023
        require(
            measured.contains(bound - Fraction(slack.lower)),
            "the closed form mod m is not what was measured",
        )
        evidence[f"ε = {float(bound):g}, n = {users}, T = {horizon}"] = (
            f"ε minus the exact one is {shown(slack, 3)}; P(|η| > τ) = {shown(tail_here, 5)}"
        )
    return Finding(Truth.HOLDS, Scope.PROVED, evidence)


def _slack(preset: Preset) -> arb:
    """ε minus the exact pure epsilon mod m: log((1 + β^(m-2g))/(1 + β^m))."""
    g, m = preset.precision, preset.mechanism.modulus or 0
    rate = ball(preset.epsilon / g)
    value: arb = (-rate * (m - 2 * g)).exp().log1p() - (-rate * m).exp().log1p()
    return value


CLAIMS = (check_central,)
