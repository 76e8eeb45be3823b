"""Theorem 1: what (epsilon, 0)-DP it has exactly once the sum is reduced mod m, and the least tau.

Notation: beta = e^(-epsilon/g), the noise is Lap_Z(g/epsilon), m = n g + 2 tau + 1.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...accounting.composition.composed import compose
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...mechanisms.additive import papers
from ...mechanisms.laws.search import certain_ceiling
from .finding import Finding, claim, figure, holds, require, shown
from .proofs import prove_equal

POINTS = (  # epsilon, users of the batch, rounds
    (Fraction(1, 10), 2, 10),
    (Fraction(1, 10), 1024, 10**5),
    (Fraction(1), 2, 10),
    (Fraction(1), 1024, 10**5),
    (Fraction(5), 16, 10**3),
)


def prove_wrapped_loss() -> None:
    """Prove the exact epsilon after mod m, in the steps below.

    1. Residue c, 0 <= c <= m, has mass proportional to f(c) = beta^c + beta^(m-c), two geometric
       sums; f is proportional to cosh((c - m/2)/b), b = g/epsilon, and falls on 0 <= c <= m/2.
    2. Let d <= m/2. On d <= c <= m the log of f(c)/f(c - d) rises: its derivative has the sign of
       tanh u - tanh(u - t) = sinh t/(cosh u cosh(u - t)) > 0, t = d/b. On 0 <= c < d the residue
       c - d is that of d - c by f(m - x) = f(x), and f(c)/f(d - c) falls. Both are largest at
       c = 0 (or m): (1 + beta^m)/(beta^d + beta^(m-d)).
    3. That rises in d up to m/2; beyond, d is m - d seen from the other side.
    4. At d = g, where e^(-epsilon) = beta^g, its log is epsilon - log (1+beta^(m-2g))/(1+beta^m),
       always less than epsilon.
    """
    beta, m, c, d, g = sympy.symbols("beta m c d g", positive=True)
    geometric = 1 / (1 - beta**m)
    prove_equal(
        beta**c * geometric + beta ** (m - c) * geometric,
        (beta**c + beta ** (m - c)) / (1 - beta**m),
    )
    u, t = sympy.symbols("u t", positive=True)
    slope = sympy.sinh(u) / sympy.cosh(u) - sympy.sinh(u - t) / sympy.cosh(u - t)
    prove_equal(
        (slope * sympy.cosh(u) * sympy.cosh(u - t)).rewrite(sympy.exp),
        sympy.sinh(t).rewrite(sympy.exp),
    )
    prove_equal(
        sympy.diff(beta**d + beta ** (m - d), d), sympy.log(beta) * (beta**d - beta ** (m - d))
    )
    ratio = (1 + beta**m) / (beta**g + beta ** (m - g))
    prove_equal(ratio * beta**g, (1 + beta**m) / (1 + beta ** (m - 2 * g)))


def prove_accuracy() -> None:
    """Prove P(|noise| > tau) <= 1/(2T) for the stated tau: twice as good as is needed.

    P(|noise| > t) = 2 beta^(t+1)/(1+beta) and beta^tau <= 1/(2T), so it is at most
    (1/T) beta/(1+beta), and beta/(1+beta) < 1/2.
    """
    beta, t = sympy.symbols("beta t", positive=True)
    tail = 2 * (1 - beta) / (1 + beta) * beta ** (t + 1) / (1 - beta)
    prove_equal(tail, 2 * beta**t * beta / (1 + beta))
    prove_equal(sympy.Rational(1, 2) - beta / (1 + beta), (1 - beta) / (2 * (1 + beta)))


def spared(epsilon: Fraction, g: int, m: int) -> Enclosure:
    """epsilon minus the exact epsilon after mod m >= 2g: log (1 + beta^(m-2g))/(1 + beta^m)."""
    rate = epsilon / g

    def gap() -> arb:
        return (ball(-rate * (m - 2 * g)).exp()).log1p() - (ball(-rate * m).exp()).log1p()

    return figure(gap)


def least_tau(epsilon: Fraction, g: int, rounds: int) -> int:
    """The least t >= 0 with P(|noise| > t) <= 1/T: max(0, ceil(b log(2T/(1+beta))) - 1).

    Solve 2 beta^(t+1)/(1+beta) <= 1/T for t.
    """
    scale = g / epsilon

    def bound() -> arb:
        return ball(scale) * (2 * rounds / (1 + ball(-1 / scale).exp())).log()

    return max(0, certain_ceiling(bound, "tau") - 1)


@claim(
    "D-thm1-privacy",
    "Chowdhury, Zhou (ICLR 2023), Theorem 1",
    "With Pólya(1/n, e^(-epsilon/g)) shares and the sum mod m = n g + 2 tau + 1, each batch is "
    "(epsilon, 0)-DP",
)
def _privacy() -> Finding:
    prove_wrapped_loss()
    evidence = {
        "exact epsilon": "epsilon - log (1 + beta^(m-2g))/(1 + beta^m) for m >= 2g (so for all "
        "n >= 2): strictly below epsilon; symbolically, for all parameters",
    }
    for epsilon, users, rounds in POINTS:
        preset = papers.theorem1(epsilon, users, rounds)
        m = preset.mechanism.modulus
        assert m is not None and m >= 2 * preset.precision
        name = f"epsilon - exact at epsilon = {epsilon}, n = {users}, T = {rounds}"
        less = spared(epsilon, preset.precision, m)
        evidence[name] = shown(less)
        if m < 5000:  # the audit's own sum over residues
            summed = compose(preset.mechanism).pure()
            if summed.intersection(less.negated().plus(epsilon)).is_finite():
                evidence[f"exact at epsilon = {epsilon}, n = {users}, T = {rounds}"] = str(summed)
    return holds(evidence)


@claim(
    "D-thm1-tau",
    "Chowdhury, Zhou (ICLR 2023), Theorem 1, equation 6",
    "tau = ceil((g/epsilon) log(2T)) bounds the total noise with probability at least 1 - 1/T",
)
def _accuracy() -> Finding:
    prove_accuracy()
    evidence = {
        "shown": "P(|noise| > tau) <= (1/T) beta/(1+beta) < 1/(2T): symbolically, for all "
        "parameters; half of the probability allowed is never used",
        "least tau": "max(0, ceil((g/epsilon) log(2T/(1+beta))) - 1), which is near "
        "(g/epsilon) log T: the stated one is larger by about (g/epsilon) log 2",
    }
    for epsilon, users, rounds in POINTS:
        preset = papers.theorem1(epsilon, users, rounds)
        least = least_tau(epsilon, preset.precision, rounds)
        tail, allowed = preset.mechanism.law.two_sided_tail, Fraction(1, rounds)
        require(tail(least).at_most(allowed), "the least tau does not pass")
        smaller = least == 0 or tail(least - 1).greater_than(allowed)
        require(smaller, "the least tau is not the least")
        name = f"tau at epsilon = {epsilon}, n = {users}, T = {rounds}"
        evidence[name] = f"stated {preset.accuracy}, least {least}"
    return holds(evidence)
