"""The noise of the implementation published with the paper: how private is it in truth?

It mixes Poisson variables with Gamma(1/n) of scale (1-beta)/beta, beta = e^(-epsilon/g), where
footnote 3 of the paper says beta/(1-beta).
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...accounting.divergences import divergence
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...mechanisms import papers
from .figures import figure, shown
from .finding import Finding, Scope, Truth, claim, require
from .identity import prove_equal

__all__ = ["CLAIMS", "prove_never_private", "true_epsilon"]

POINTS = (
    (Fraction(1, 10), 1024),
    (Fraction(1, 2), 1024),
    (Fraction(1), 1024),
    (Fraction(1), 262_144),
    (Fraction(10), 262_144),
)


def prove_never_private() -> None:
    """Prove that for n >= 3 users the noise is never (epsilon, 0)-DP, for any epsilon > 0.

    Gamma(r) of scale theta mixed with Poisson has the generating function
    (1 - theta (z - 1))^(-r), that of Pólya(r, theta/(1+theta)); theta = (1-beta)/beta gives the
    parameter 1 - beta. By Fact 1 the n users' noise is the discrete Laplace law with
    e^(-1/b) = 1 - beta, whose loss at shift g is g/b = -g log(1 - beta). That is at most
    epsilon = -g log beta only if beta <= 1/2, g <= epsilon/log 2. But g >= epsilon sqrt(n), and
    sqrt(3) > 1/log 2.
    """
    theta, r, beta = sympy.symbols("theta r beta", positive=True)
    z, rate = sympy.symbols("z lambda", positive=True)
    # E e^(rate (z-1)): the exponent is -u rate/theta, u = 1 - theta (z-1) > 0 where it is finite
    u = sympy.symbols("u", positive=True)
    prove_equal(-rate / theta + rate * (z - 1), -rate * (1 - theta * (z - 1)) / theta)
    weighted = rate ** (r - 1) * sympy.exp(-rate * u / theta) / (sympy.gamma(r) * theta**r)
    prove_equal(sympy.integrate(weighted, (rate, 0, sympy.oo)), u ** (-r))
    success = theta / (1 + theta)
    prove_equal((1 - success) / (1 - success * z), 1 / (1 - theta * (z - 1)))
    prove_equal(success.subs(theta, (1 - beta) / beta), 1 - beta)
    prove_equal(success.subs(theta, beta / (1 - beta)), beta)
    require(arb(3).sqrt() * arb(2).log() > 1, "sqrt(3) log 2 > 1 is not certain")


def true_epsilon(epsilon: Fraction, g: int) -> Enclosure:
    """-g log(1 - e^(-epsilon/g))."""
    return figure(lambda: -g * (-(-ball(epsilon / g)).expm1()).log())


@claim(
    "D-code",
    "the implementation published with Chowdhury, Zhou (ICLR 2023)",
    "The total noise that it draws for a batch of n users is (epsilon, 0)-DP",
)
def _check() -> Finding:
    prove_never_private()
    evidence = {
        "true epsilon": "-g log(1 - e^(-epsilon/g)), about g log(g/epsilon): it grows with the "
        "batch; above epsilon for every epsilon > 0 and every n >= 3, symbolically",
    }
    for epsilon, users in POINTS:
        preset = papers.published(epsilon, users)
        closed = true_epsilon(epsilon, preset.precision)
        found = closed.intersection(divergence.pure_epsilon(preset.mechanism))  # must not be empty
        evidence[f"true epsilon at epsilon = {epsilon}, n = {users}"] = shown(found)
    return Finding(
        truth=Truth.FAILS,
        scope=Scope.PROVED,
        evidence=evidence,
        correction="Gamma scale beta/(1-beta), as footnote 3 says: the shares are then "
        "Pólya(1/n, beta), and Fact 1 and Fact 3 give (epsilon, 0)-DP",
    )


CLAIMS = (_check,)
