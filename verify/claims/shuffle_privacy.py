"""Theorem A.1 of the shuffle paper, privacy: is Algorithm 3 (epsilon, delta)-DP, and is 96 needed?

Algorithm 3 releases the sum of the users' bits plus B, where B is Bin(ceil(tau/m) m, 1/2) for
m <= tau and Bin(m, tau/2m) for m > tau, with tau = 96 log(2/delta)/epsilon².
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import arb

from ...exact.number import ball
from ...exact.precision import floor_of
from ...exact.roots import first_met
from ...mechanisms.laws.law import UndecidedError
from .finding import Finding, certain, claim, figure, holds, shown
from .proofs import Proof, proved_positive, proved_positive_beyond, total_pieces

STATED = 96
ENOUGH = 32  # the paper's own argument goes through from here on; 31 is refused
MANY = 10**7  # users: many more than tau
POINTS = tuple(
    (Fraction(epsilon), Fraction(delta))
    for epsilon in ("1/10", "1/2", "99/100")
    for delta in ("1e-3", "1e-6", "1e-12")
)
_STEP = Fraction(1, 100)  # how finely the least constant is told


def excess(trials: int, success: arb, epsilon: Fraction) -> arb:
    """The least delta of (epsilon, delta)-DP of a bit plus Bin(trials, success).

    Both directions. The ratio p(k)/p(k-1) = (n - k + 1)/k r, r = success/(1 - success), falls in k,
    so that the best events are {X <= k} and {X >= k}, each gaining up to where the ratio passes
    e^epsilon, respectively e^-epsilon.
    """
    odds, growth = success / (1 - success), ball(epsilon).exp()
    turn = (trials + 1) * odds / (growth + odds)
    low = [
        at_most(trials, k, success) - growth * at_most(trials, k - 1, success)
        for k in _floors(turn)
    ]
    turn = (trials * odds - 1 / growth) / (odds + 1 / growth)
    high = [
        at_least(trials, k, success) - growth * at_least(trials, k + 1, success)
        for k in (max(below + 1, 0) for below in _floors(turn))
    ]
    best = arb(0)
    for gain in low + high:
        best = best.max(gain)
    return best


def proof_with_constant(constant: int) -> list[Proof]:
    """Prove Theorem A.1 with this constant in place of 96, for all epsilon < 1, all delta, all m.

    The paper's argument. With c² = 3 E[B] log(2/delta) and E[B] >= tau/2, Chernoff's bound
    P(|B - E B| >= a E B) <= 2 exp(-a² E B/3), 0 < a <= 1, applies to a = c/E B <= k epsilon with
    k = sqrt(6/constant). For |t - E B| < c, in both regimes of m, P(B = t)/P(B = t-1) is at most
    (1 + k epsilon + 2/tau)/(1 - k epsilon), and P(B = t)/P(B = t+1), which the other direction
    needs, is so too; and 2/tau < d epsilon² with d = 2/(constant log 2). That is at most e^epsilon
    where e^epsilon (1 - k epsilon) > 1 + k epsilon + d epsilon²; divided by epsilon:

        E(epsilon)(1 - k epsilon) - 2k - d epsilon > 0,   E(x) = (e^x - 1)/x increasing, E(0) = 1.

    Raises NotProvedError where that is false.
    """

    def margin(x: arb) -> arb:
        k = (arb(6) / constant).sqrt()
        d = 2 / (constant * arb(2).log())
        return _growth(x) * (1 - k * x) - 2 * k - d * x

    return [*_chernoff(), proved_positive(margin, 0, 1)]


def _chernoff() -> list[Proof]:
    """(1+a) log(1+a) - a > a²/3 for 0 < a <= 1: what the upper half of Chernoff's bound needs.

    The lower half, (1-a) log(1-a) + a >= a²/2, has only positive terms in its power series.
    """

    def margin(a: Any) -> Any:
        return (1 + a) * (1 + a).log() - a - a * a / 3

    near = Fraction(2, 5)
    return [proved_positive_beyond(margin, 0, near, order=2), proved_positive(margin, near, 1)]


def _growth(x: arb) -> arb:
    """(e^x - 1)/x on a ball of 0 <= x <= 1: the integral of e^(xs) over 0 <= s <= 1, increasing."""
    term, total = arb(1), arb(1)
    for n in range(2, 40):
        term = term * x / n
        total += term
    return total + arb(0, 1) * arb(2) ** -120  # the rest is below 2/40!


@claim(
    "S-thmA1-privacy",
    "Tenenbaum, Kaplan, Mansour, Stemmer (NeurIPS 2021), Theorem A.1",
    "Algorithm 3, with τ = 96 log(2/δ)/ε², is (ε, δ)-shuffle differentially private for every "
    "number m of users, ε < 1 and δ > 0.",
)
def _privacy() -> Finding:
    pieces = total_pieces(proof_with_constant(STATED))
    fewer = total_pieces(proof_with_constant(ENOUGH))
    evidence = {
        "proved": f"the paper's argument with constant {STATED}, for all 0 < ε < 1, 0 < δ < 1 and "
        f"m ({pieces} pieces)",
        f"the same argument with {ENOUGH}": f"proved as well ({fewer} pieces): noise of a third "
        "of the variance has the same guarantee, by the same proof",
    }
    worst = Fraction(0)
    for epsilon, delta in POINTS:
        few, many = least_constant_few(epsilon, delta), least_constant_many(epsilon, delta)
        spent = figure(lambda: _many(Fraction(STATED), epsilon, delta))  # noqa: B023
        worst = max(worst, few, many)
        evidence[f"ε = {float(epsilon):g}, δ = {float(delta):g}"] = (
            f"least constant {float(few):.2f} with one user, {float(many):.2f} with 1e7; "
            f"with {STATED} and 1e7 users the exact δ is {shown(spent, 4)}"
        )
    evidence["largest least constant met"] = (
        f"{float(worst):.2f} (certified at these points to {float(_STEP):g}, nothing is said "
        "beyond them)"
    )
    return holds(evidence)


def least_constant_few(epsilon: Fraction, delta: Fraction) -> Fraction:
    """With m = 1: the least number of fair bits that is private enough, as a constant, rounded up.

    Certified: that number is enough, and one less is not.
    """
    scale = figure(lambda: (2 / ball(delta)).log() / ball(epsilon) ** 2)

    def meets(bits: int) -> bool:
        return certain(lambda: ball(delta) - excess(bits, arb(1) / 2, epsilon))

    bits = first_met(meets, 0, math.ceil(STATED * Fraction(scale.upper)))
    return math.ceil(bits / Fraction(scale.lower) / _STEP) * _STEP


def least_constant_many(epsilon: Fraction, delta: Fraction) -> Fraction:
    """With 1e7 users: the least multiple of 1/100 that is private enough.

    Certified: it is enough, and one step less is not.
    """

    def meets(steps: int) -> bool:
        return certain(lambda: ball(delta) - _many(steps * _STEP, epsilon, delta))

    return first_met(meets, 0, int(STATED / _STEP)) * _STEP


def _many(constant: Fraction, epsilon: Fraction, delta: Fraction) -> arb:
    tau = ball(constant) * (2 / ball(delta)).log() / ball(epsilon) ** 2
    return excess(MANY, tau / (2 * MANY), epsilon)


def _floors(turn: arb) -> list[int]:
    """All that its floor may be."""
    ends = [floor_of(end) for end in (turn.lower(), turn.upper())]
    if ends[1] - ends[0] > 3:
        raise UndecidedError("the best event is not certain at the working precision")
    return list(range(ends[0], ends[1] + 1))


def at_most(trials: int, k: int, success: arb) -> arb:
    """P(X <= k)."""
    return at_least(trials, trials - k, 1 - success)


def at_least(trials: int, k: int, success: arb) -> arb:
    """P(X >= k), as a regularised incomplete beta function."""
    if k <= 0 or k > trials:
        return arb(1 if k <= 0 else 0)
    result: arb = success.beta_lower(arb(k), arb(trials - k + 1), True)
    return result
