"""Theorem 7: advanced composition "for every delta' > 0" fails for delta' near 1.

With l = log(1/delta') the theorem lets each of k mechanisms have epsilon = epsilon'/(2 sqrt(2kl)),
which is not bounded as l -> 0. An (epsilon, delta)-DP mechanism is dominated by one that reveals
its bit with probability delta and otherwise answers by randomized response, so delta only adds
1 - (1-delta)^k <= k delta: what follows is about k randomized responses, adaptively chosen or not
(Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", ICML 2015).
"""

from __future__ import annotations

from fractions import Fraction

import sympy
from flint import arb

from ...accounting.composed import compose
from ...exact.enclosure import Enclosure
from ...exact.number import ball
from ...exact.precision import working_precision
from ...mechanisms.mechanism import RandomizedResponse
from .figures import certain, shown
from .finding import Finding, Scope, Truth, claim, require
from .identity import prove_equal
from .inequality import Proof, proved_positive

__all__ = ["CLAIMS", "TRUE_UP_TO", "allowed_share", "cost", "prove_range"]

TRUE_UP_TO = Fraction("0.9925")
TARGET = Fraction("0.999")  # epsilon', which the theorem wants below 1
WITNESSES = (  # k, delta'
    (1, Fraction("0.998")),
    (16, Fraction("0.9975")),
    (64, Fraction("0.997")),
    (1000, Fraction("0.9968")),
)
NOT_YET = ((1, Fraction("0.9975")), (64, Fraction("0.9965")))
_WIDTH = Fraction(1, 10**8)


def prove_range() -> Proof:
    """Prove Theorem 7 for all k, all epsilon' <= 1 and all 0 < delta' <= 0.9925.

    *l <= 1.* delta(epsilon') <= TV <= sqrt(1 - C²), C the Bhattacharyya coefficient (Le Cam), which
    is 1/cosh(epsilon/2) for one randomized response and its k-th power for k. By Claim 1,
    C² >= e^(-k epsilon²/4) = e^(-epsilon'²/32l) >= e^(-1/32l). It remains e^(-2l) + e^(-1/32l) > 1
    on [-log 0.9925, 1]: by intervals.
    *l >= 1/2.* By Dwork, Rothblum, Vadhan (FOCS 2010, Theorem III.3) the cost is at most
    sqrt(2kl) epsilon + k epsilon (e^epsilon - 1): the first term is epsilon'/2. With w = sqrt(2l)
    the second one is epsilon'/2 times sqrt(k) (e^epsilon - 1)/w; as e^x - 1 is convex and 0 at 0,
    sqrt(k) (e^(x/sqrt(k)) - 1) <= e^x - 1, x = epsilon'/2w <= 1/2w. So e^(1/2w) - 1 <= w is enough;
    the left side falls, the right side rises, and it is true at w = 1, that is l = 1/2.
    """
    k, epsilon, target = sympy.symbols("k epsilon t", positive=True)
    log_term = sympy.symbols("l", positive=True)
    share = target / (2 * sympy.sqrt(2 * k * log_term))
    prove_equal(k * share**2 / 4, target**2 / (32 * log_term))
    prove_equal(sympy.sqrt(2 * k * log_term) * share, target / 2)
    keep = sympy.exp(epsilon) / (1 + sympy.exp(epsilon))
    prove_equal(
        (4 * keep * (1 - keep)).rewrite(sympy.exp),
        (1 / sympy.cosh(epsilon / 2) ** 2).rewrite(sympy.exp),
    )
    with working_precision(128):
        start = -ball(TRUE_UP_TO).log()
        require((arb(1) / 2).exp() - 1 < 1, "e^(1/2) - 1 < 1 is not certain")
    low = Fraction(75, 10**4)
    require(start > ball(low), "the range of l does not start where it should")
    return proved_positive(lambda x: (-2 * x).exp() + (-1 / (32 * x)).exp() - 1, low, 1)


def allowed_share(count: int, failure: Fraction) -> Fraction:
    """A rational epsilon, a little below what the theorem allows each of `count` mechanisms."""
    guess = Fraction(round(float(TARGET) / (8 * count * -_log(failure)) ** 0.5 * 10**9), 10**9)
    share = guess - Fraction(1, 10**8)

    def below() -> arb:
        return ball(TARGET) ** 2 / (-8 * count * ball(failure).log()) - ball(share) ** 2

    require(certain(below), "the share is not below what is allowed")
    return share


def cost(count: int, failure: Fraction) -> Enclosure:
    """The least delta for which so many randomized responses are (epsilon', delta)-DP."""
    part = (RandomizedResponse(allowed_share(count, failure)), count)
    return compose(part).delta(TARGET, _WIDTH)


def _log(x: Fraction) -> float:
    with working_precision(64):
        return float(ball(x).log().mid())


@claim(
    "D-thm7",
    "Chowdhury, Zhou (ICLR 2023), Theorem 7",
    "For epsilon' in (0, 1) and every delta' > 0, k mechanisms that are (epsilon'/(2 sqrt(2k "
    "log(1/delta'))), delta)-DP are (epsilon', k delta + delta')-DP",
)
def _check() -> Finding:
    proof = prove_range()
    evidence = {
        "true": f"for 0 < delta' <= {float(TRUE_UP_TO)}, all k and all epsilon' < 1: "
        f"{proof.pieces} intervals, and a monotone inequality beyond",
    }
    for count, failure in WITNESSES:
        found = cost(count, failure)
        require(found.greater_than(failure), "the witness does not refute")
        share = float(allowed_share(count, failure))
        evidence[f"witness: k = {count}, delta = 0, delta' = {float(failure)}"] = (
            f"at epsilon' = {float(TARGET)} the least delta of {count} uses of randomized response "
            f"with the epsilon allowed ({share:.6g}) is {shown(found)}"
        )
    for count, failure in NOT_YET:
        found = cost(count, failure)
        evidence[f"no witness: k = {count}, delta' = {float(failure)}"] = shown(found)
    return Finding(
        truth=Truth.HOLDS_CORRECTED,
        scope=Scope.PROVED,
        evidence=evidence,
        correction=f"0 < delta' <= {float(TRUE_UP_TO)} (from 1 on the formula has no meaning; "
        "at 0.9968 it is false)",
    )


CLAIMS = (_check,)
