"""What the proof of Theorem 1 of the bandit paper says of the encoding and of the modulus."""

from __future__ import annotations

import sympy

from .finding import Finding, Scope, Truth, claim, require
from .identity import prove_equal

__all__ = ["CLAIMS", "decoded"]

_SOURCE = "Chowdhury, Zhou (ICLR 2023), proof of Theorem 1"


@claim(
    "D-rounding",
    _SOURCE,
    "The rounding error of a user is sub-Gaussian with variance 1, so that |Σx̂/g - Σx| <= "
    "sqrt(2n log(2/p))/g with probability at least 1 - p.",
)
def check_rounding() -> Finding:
    """The rounding error Ber(f) - f is sub-Gaussian with variance 1/4, not only 1 (Hoeffding).

    With u = f e^x/(1 - f + f e^x) the logarithm of E e^(x Ber(f)) has the second derivative
    u (1 - u) = 1/4 - (1/2 - u)², its value and slope at 0 are 0 and f: integrate twice.
    """
    f, x = sympy.symbols("f x", positive=True)
    cumulant = sympy.log(1 - f + f * sympy.exp(x))
    u = f * sympy.exp(x) / (1 - f + f * sympy.exp(x))
    half = sympy.Rational(1, 2)
    prove_equal(sympy.diff(cumulant, x, 2), half**2 - (u - half) ** 2)
    prove_equal(cumulant.subs(x, 0), 0)
    prove_equal(sympy.diff(cumulant, x).subs(x, 0), f)
    # f = 1/2: log cosh(x/2) = x²/8 - x^4/192 + ...: no smaller variance will do
    asked = sympy.limit(2 * sympy.log(sympy.cosh(x / 2)) / x**2, x, 0)
    require(asked == half**2, f"at f = 1/2 the variance asked for near 0 is {asked}")
    return Finding(
        Truth.HOLDS,
        Scope.PROVED,
        {
            "proved": "for every f in (0, 1) the error Ber(f) - f is sub-Gaussian with variance "
            "1/4 (symbolic); the paper takes 1",
            "best": "1/4 is the least: at f = 1/2 log cosh(x/2) = x²/8 - ... near 0",
            "improved": "|Σx̂/g - Σx| <= sqrt(n log(2/p)/2)/g with probability 1 - p: half of what "
            "is stated",
        },
    )


@claim(
    "D-modulus",
    _SOURCE,
    "With m = ng + 2τ + 1 the analyzer returns the noisy sum wherever the noise is at most τ.",
)
def check_modulus() -> Finding:
    """m = n g + 2τ + 1 is enough for the analyzer, and the least modulus that is."""
    total, tau = sympy.symbols("total tau", integer=True, nonnegative=True)
    modulus = total + 2 * tau + 1
    # a sum x in [-τ, -1] is seen as x + m >= m - τ = total + τ + 1, above the analyzer's limit
    prove_equal(-tau + modulus, total + tau + 1)
    # one less: -τ and total + τ are seen as the same number
    prove_equal((total + tau) - (-tau), modulus - 1)
    for encoded, accuracy in ((1, 1), (4, 3), (10, 1), (3, 8)):
        reach = range(-accuracy, encoded + accuracy + 1)
        stated = encoded + 2 * accuracy + 1
        right = all(decoded(x % stated, encoded, accuracy, stated) == x for x in reach)
        require(right, "the analyzer is wrong where the noise is within τ")
    return Finding(
        Truth.HOLDS,
        Scope.PROVED,
        {
            "proved": "sums below 0 are seen above n g + τ, all others below: for all n, g and τ "
            "(symbolic)",
            "least": "with m = n g + 2τ the sums -τ and n g + τ are seen as the same number",
        },
    )


def decoded(seen: int, encoded: int, accuracy: int, modulus: int) -> int:
    """g times what the analyzer makes of the released number; encoded = n g."""
    return seen - modulus if seen > encoded + accuracy else seen


CLAIMS = (check_rounding, check_modulus)
