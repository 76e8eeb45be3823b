"""Appendix B: is the communication cost inverse in epsilon? The modulus says what is sent."""

from __future__ import annotations

from fractions import Fraction

import sympy

from ...mechanisms import papers
from .finding import Finding, Scope, Truth, claim, require
from .identity import prove_equal

__all__ = ["CLAIMS", "bits", "modulus", "prove_rises"]

USERS, ROUNDS, SCALING = 1024, 10**5, Fraction(10)
EPSILONS = tuple(
    map(Fraction, ("1/100000", "1/10000", "1/1000", "1/320", "1/100", "1/10", "1", "10"))
)


def prove_rises() -> None:
    """Prove that m grows with epsilon where s epsilon sqrt(n) = k is whole, k = 1, 2, ...

    There g = k, so g/epsilon = s sqrt(n), and tau = ceil(2 s sqrt(n) sqrt(L) + sqrt(2) L) is the
    same for every k, L = log(2T): m = n k + 2 tau + 1 rises by n from one k to the next. In between
    (k >= 2) g is constant and tau changes by at most a factor 2.
    """
    k, s, n = sympy.symbols("k s n", positive=True)
    epsilon = k / (s * sympy.sqrt(n))
    prove_equal(k / epsilon, s * sympy.sqrt(n))


def modulus(epsilon: Fraction) -> int:
    """m of Theorem 2 at the setting of the evidence."""
    found = papers.theorem2(epsilon, USERS, ROUNDS, SCALING).mechanism.modulus
    if found is None:
        raise ArithmeticError("Theorem 2 has a modulus")
    return found


def bits(m: int) -> int:
    """ceil(log2 m): what a user sends."""
    return (m - 1).bit_length()


@claim(
    "D-appB",
    "Chowdhury, Zhou (ICLR 2023), Appendix B",
    "The communication cost of Theorem 2 is inverse with respect to epsilon",
)
def _check() -> Finding:
    prove_rises()
    found = {epsilon: modulus(epsilon) for epsilon in EPSILONS}
    require(
        found[Fraction(1, 10)] < found[Fraction(1)] < found[Fraction(10)],
        "m does not grow with epsilon",
    )
    evidence = {
        "shown": "m rises with epsilon along all epsilon = k/(s sqrt(n)), k = 1, 2, ...: tau is "
        "the same for all of them, and g = k; the bits never fall",
        "where it is inverse": "only below epsilon = 1/(s sqrt(n)), where g = 1 cannot fall "
        "further, tau grows like 1/epsilon, and the bits like log(1/epsilon)",
        "the order log(n + s/epsilon)": "misses that g is multiplied by n: m is about "
        "s epsilon n^(3/2) + 4 s sqrt(n log(2T))",
    }
    for epsilon, m in found.items():
        name = f"epsilon = {epsilon}, n = {USERS}, s = {SCALING}, T = {ROUNDS}"
        evidence[name] = f"m = {m}, {bits(m)} bits"
    return Finding(
        truth=Truth.FAILS,
        scope=Scope.PROVED,
        evidence=evidence,
        correction="the cost grows with epsilon for epsilon >= 1/(s sqrt(n)), and is inverse in it "
        "below",
    )


CLAIMS = (_check,)
