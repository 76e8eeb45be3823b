"""Assumption 1 of the bandit paper: do its protocols meet it "for any p"?

They fix the accuracy at τ with P(|noise| > τ) <= 1/T and the modulus at m = n g + 2τ + 1. Where all
rewards are 1 and τ < noise <= 2τ, the analyzer takes the released sum n g + noise for an underflow
and subtracts m: its error is (m - noise)/g >= (m - 2τ)/g > n. The probability of that does not fall
with p. Lemma 2 needs Assumption 1 at the level q = p/(|Φ| b²), p = 1/T, in batch b.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...mechanisms.papers import Preset, theorem1, theorem2, theorem4
from .figures import figure, shown
from .finding import Finding, Scope, Truth, claim, require

__all__ = ["CLAIMS", "asked_constant", "level", "wrapping"]

EPSILON, ARMS, HORIZON, SCALING = Fraction(1, 2), 10, 10**6, 10
BATCHES = (1, 2, 4, 8, 12, 16)
_PROTOCOLS: dict[str, Callable[[int], Preset]] = {
    "Theorem 1": lambda n: theorem1(EPSILON, n, HORIZON),
    "Theorem 2": lambda n: theorem2(EPSILON, n, HORIZON, SCALING),
    "Theorem 4": lambda n: theorem4(EPSILON, n, HORIZON, SCALING),
}


@claim(
    "D-asm1",
    "Chowdhury, Zhou (ICLR 2023), Assumption 1 and the proofs of Theorems 1, 2 and 4",
    "The protocols of Theorems 1, 2 and 4 meet Assumption 1, for any p in (0, 1], with σ = O(1/ε) "
    "and h = O(1/ε).",
)
def check_assumption() -> Finding:
    """Certify how often the sum wraps, against what Assumption 1 allows at the level needed."""
    evidence = {
        "setting": f"ε = {float(EPSILON):g}, T = {HORIZON}, |Φ| = {ARMS}, s = {SCALING}, all "
        "rewards 1; P(the error is above n), divided by the 2q that Assumption 1 allows at "
        "q = 1/(T |Φ| b²), batch b of 2^b users"
    }
    for name, build in _PROTOCOLS.items():
        ratios = []
        for b in BATCHES:
            wraps = wrapping(build(2**b))
            ratio = figure(lambda: _middle(wraps) / ball(2 * level(b)))  # noqa: B023
            ratios.append(f"b = {b}: {shown(ratio, 4)}")
        evidence[name] = ", ".join(ratios)
    users = 2 ** BATCHES[-1]
    wraps = wrapping(theorem1(EPSILON, users, HORIZON))
    needed = level(BATCHES[-1])
    require(wraps.greater_than(2 * needed), "Assumption 1 is not violated at this level")
    constant = asked_constant(users, needed)
    evidence["witness"] = (
        f"Theorem 1, b = {BATCHES[-1]}: P(error > n) = {shown(wraps, 5)} > 2q = "
        f"{float(2 * needed):.4g}, while σ sqrt(log(2/q)) + h log(2/q) with σ = h = C/ε reaches n "
        f"only for C >= {shown(constant, 5)}; C grows like n/log T, so that no σ, h = O(1/ε) do"
    )
    evidence["regret"] = (
        "what is lost: all wraps together have probability at most |Φ| log2(T)/T, which adds at "
        "most K log2(T) to the regret"
    )
    evidence["correction proved"] = (
        "P(|noise| > τ) = 2β^(τ+1)/(1+β) <= β^τ = e^(-ετ/g) <= q for τ >= (g/ε) log(1/q) "
        "(β = e^(-ε/g) <= 1); with the rounding's q this is 2q, and τ/g + the rounding is at most "
        "(sqrt(2)/ε) sqrt(log(2/q)) + (2/ε) log(2/q), since 1/g <= 1/(ε sqrt(2))"
    )
    return Finding(
        Truth.FAILS,
        Scope.WITNESS,
        evidence,
        "take τ at the level that the union needs: τ(b) = ceil((g/ε) log(|Φ(b)|b²T)) in Theorem 1 "
        "(and log(2|Φ(b)|b²T) in place of log(2T) in Theorems 2 and 4), m = ng + 2τ + 1; then "
        "Assumption 1 holds for every p >= 1/(T|Φ(b)|b²), which is all that Lemma 2 uses",
    )


def level(b: int) -> Fraction:
    """q = p/(|Φ| b²) with p = 1/T."""
    return Fraction(1, HORIZON * ARMS * b * b)


def wrapping(preset: Preset) -> Enclosure:
    """P(τ < noise <= 2τ), which makes the analyzer's error exceed n where all rewards are 1."""
    law, tau = preset.mechanism.law, preset.accuracy
    if tau is None:
        raise ValueError("the preset has no accuracy")
    return figure(lambda: law.upper_tail(tau + 1) - law.upper_tail(2 * tau + 1))


def asked_constant(users: int, q: Fraction) -> Enclosure:
    """The C with (C/ε)(sqrt(log(2/q)) + log(2/q)) = n."""

    def constant() -> arb:
        log = (2 / ball(q)).log()
        return users * ball(EPSILON) / (log.sqrt() + log)

    return figure(constant)


def _middle(value: Enclosure) -> arb:
    return ball(Fraction(value.lower)).union(ball(Fraction(value.upper)))


CLAIMS = (check_assumption,)
