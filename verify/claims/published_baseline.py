"""The baseline DP-SE as it is published with the bandit paper: one draw of noise for all arms.

After a batch of n rewards of each active arm the implementation adds one Laplace variable Z, drawn
once, to the sums S of all of them, and removes arm a where (S_a + Z)/n + c < max over b of
(S_b + Z)/n - c. The variable cancels: a is removed just if max S_b - S_a > 2 c n, whatever Z is. So
what is played depends on the rewards alone, and not at random: where one user's reward decides a
comparison, the probability that the arm is removed is 0 for one dataset and 1 for its neighbour.
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...exact.number import ball
from ...mechanisms.laws.search import certain_floor
from .finding import Finding, Scope, claim, fails, require
from .proofs import prove_equal

POINTS = (Fraction(1, 10), Fraction(1, 2), Fraction(1))  # epsilon, as in its experiments
ARMS, LEVEL = 10, Fraction(1, 10)  # K, and the confidence level delta there


def prove_cancelled() -> None:
    """The comparison that removes an arm does not contain the noise."""
    best, other, noise, radius = sympy.symbols("S_b S_a Z c", real=True)
    users = sympy.symbols("n", positive=True)
    gap = ((best + noise) / users - radius) - ((other + noise) / users + radius)
    prove_equal(users * gap, best - other - 2 * radius * users)


def first_batch(epsilon: Fraction) -> tuple[int, int]:
    """n of the first batch, and floor(2 c n): an arm that is further behind is removed.

    n = 1 + floor(max(32 log(8K/delta)/D², 8 log(4K/delta)/(D epsilon))), D = 1/2, and
    c n = sqrt(n log(8K/delta)/2) + log(4K/delta)/epsilon.
    """
    wide, near = ball(8 * ARMS / LEVEL), ball(4 * ARMS / LEVEL)
    users = 1 + max(
        certain_floor(lambda: 128 * wide.log(), "n"),
        certain_floor(lambda: 16 * near.log() / ball(epsilon), "n"),
    )

    def limit() -> arb:
        return 2 * ((users * wide.log() / 2).sqrt() + near.log() / ball(epsilon))

    return users, certain_floor(limit, "2 c n")


@claim(
    "D-code-dpse",
    "the implementation published with Chowdhury, Zhou (ICLR 2023), its baseline DP-SE",
    "The arms that it removes after a batch are (epsilon, 0)-DP in the rewards of the batch",
)
def _common_noise() -> Finding:
    prove_cancelled()
    evidence = {
        "the noise cancels": "a is removed just if max S_b - S_a > 2 c n, for every value of the "
        "one Laplace variable that is added to all sums (symbolically): the noise protects nothing",
    }
    for epsilon in POINTS:
        users, limit = first_batch(epsilon)
        require(limit + 1 <= users, f"no arm can be removed after {users} rewards")
        evidence[f"witness at epsilon = {epsilon}, K = {ARMS}, delta = {LEVEL}"] = (
            f"first batch, n = {users}: arm 1 has {limit} or {limit + 1} rewards of 1, one user's "
            "reward apart, all other arms none; they stay with probability 1, or leave with "
            "probability 1: no epsilon, and no delta below 1"
        )
    return fails(
        evidence,
        "an independent Laplace variable of scale 1/epsilon for every arm, as Sajed and Sheffet "
        "(ICML 2019) have it: each user's reward is in one sum of sensitivity 1",
        scope=Scope.WITNESS,
    )
