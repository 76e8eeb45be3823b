"""Facts 1 and 3: Pólya shares add up to the discrete Laplace law, which is epsilon-DP."""

from __future__ import annotations

from fractions import Fraction

import sympy

from ...accounting.divergences import divergence
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.mechanism import AdditiveNoise
from .figures import shown
from .finding import Finding, Scope, Truth, claim
from .identity import prove_equal

__all__ = ["CLAIMS", "prove_shares", "prove_tail"]


def prove_shares() -> None:
    """Prove that n differences of Pólya(1/n, beta) shares have the discrete Laplace law.

    The masses c(x) of Pólya(r, beta) satisfy c(x+1) = beta (x+r)/(x+1) c(x). So do the Taylor
    coefficients of f(z) = ((1-beta)/(1-beta z))^r, since (1-beta z) f' = r beta f, and f(0) = c(0):
    f is the generating function. With r = 1/n its n-th power is (1-beta)/(1-beta z), and the
    product with the same in 1/z is that of the discrete Laplace law, on beta < |z| < 1/beta.
    """
    beta, r, n = sympy.symbols("beta r n", positive=True)
    x = sympy.symbols("x", nonnegative=True)
    z = sympy.symbols("z")
    mass = sympy.gamma(x + r) / (sympy.gamma(x + 1) * sympy.gamma(r)) * beta**x * (1 - beta) ** r
    ratio = sympy.gammasimp(sympy.powsimp(mass.subs(x, x + 1) / mass))
    prove_equal(ratio, beta * (x + r) / (x + 1))

    generating = ((1 - beta) / (1 - beta * z)) ** r
    prove_equal(sympy.diff(generating, z) * (1 - beta * z) / generating, r * beta)
    prove_equal(generating.subs(z, 0), sympy.gammasimp(mass.subs(x, 0)))

    whole = sympy.symbols("w", positive=True)  # (1 - beta)/(1 - beta z) for 0 < z < 1/beta
    prove_equal((whole ** (1 / n)) ** n, whole)

    right, left = 1 / (1 - beta * z), (beta / z) / (1 - beta / z)  # sums over x >= 0 and x < 0
    prove_equal(
        (1 - beta) / (1 - beta * z) * (1 - beta) / (1 - beta / z),
        (1 - beta) / (1 + beta) * (right + left),
    )
    b = sympy.symbols("b", positive=True)
    front = (sympy.exp(1 / b) - 1) / (sympy.exp(1 / b) + 1)
    prove_equal(front, (1 - sympy.exp(-1 / b)) / (1 + sympy.exp(-1 / b)))


def prove_tail() -> None:
    """Prove the loss and the tail of Fact 3, for every scale.

    Loss: (|x-d| - |x|)/b is at most d/b by the triangle inequality, and equal to it at every
    x <= 0. Tail: a geometric sum from m + 1.
    """
    epsilon, sensitivity = sympy.symbols("epsilon Delta", positive=True)
    m = sympy.symbols("m", nonnegative=True)
    beta = sympy.symbols("beta", positive=True)
    tail = (1 - beta) / (1 + beta) * beta ** (m + 1) / (1 - beta)
    stated = beta**m / (1 / beta + 1)  # e^(-epsilon m/Delta)/(e^(epsilon/Delta) + 1)
    prove_equal(tail, stated)
    x, d = sympy.symbols("x d", positive=True)  # the outcome -x
    scale = sensitivity / epsilon
    prove_equal(((x + d) - x) / scale, epsilon * d / sensitivity)


@claim(
    "D-fact1",
    "Chowdhury, Zhou (ICLR 2023), Fact 1",
    "For r > 0, beta in [0, 1], Pólya(r, beta) is a law, and n differences of Pólya(1/n, "
    "e^(-1/b)) shares have the law Lap_Z(b)",
)
def _shares() -> Finding:
    prove_shares()
    return Finding(
        truth=Truth.HOLDS_CORRECTED,
        scope=Scope.PROVED,
        evidence={
            "shown": "generating functions, symbolically, for all n and all 0 < beta < 1; "
            "at beta = 0 all mass is at 0 on both sides",
            "at beta = 1": "the stated masses are 0 at every x: no probability law",
        },
        correction="beta in [0, 1) instead of [0, 1]; e^(-1/b) is always inside",
    )


@claim(
    "D-fact3",
    "Chowdhury, Zhou (ICLR 2023), Fact 3",
    "Lap_Z(Delta/epsilon) on a query of sensitivity Delta is (epsilon, 0)-DP, and P(Y > m) = "
    "e^(-epsilon m/Delta)/(e^(epsilon/Delta) + 1)",
)
def _laplace() -> Finding:
    prove_tail()
    fractional = Fraction(5, 2)  # an integer-valued query of sensitivity 5/2 moves by 2 at most
    exact = divergence.pure_epsilon(AdditiveNoise(DiscreteLaplace(fractional), 2))
    return Finding(
        truth=Truth.HOLDS,
        scope=Scope.PROVED,
        evidence={
            "shown": "the loss at every x <= 0 is exactly epsilon d/Delta for a shift d; "
            "the tail is a geometric sum; symbolically, for all epsilon, Delta and m",
            "tight": "the least epsilon is epsilon floor(Delta)/Delta: epsilon itself for whole "
            "Delta, less otherwise (an integer-valued query cannot move by a fraction)",
            "least epsilon at Delta = 5/2, epsilon = 1": shown(exact),
        },
    )


CLAIMS = (_shares, _laplace)
