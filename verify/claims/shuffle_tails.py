"""Theorem A.1 of the shuffle paper, accuracy: is the error of Algorithm 3 sub-Gaussian?

For m > tau users the error is B - E B with B ~ Bin(m, q), q = tau/(2m). What is known exactly:

    E e^(λ(B - E B)) = ((1 - q) e^(-λq) + q e^(λ(1-q)))^m.

At λ = 2 log((1-q)/q) its logarithm is m (1 - 2q) log((1-q)/q), so that a sub-Gaussian variance is
at least V = m (1 - 2q)/(2 log((1-q)/q)); V is one (Kearns and Saul, "Large deviation methods for
approximate probabilistic inference", UAI 1998, Lemma 1). With m = tau/(2q)

    V/tau = (1 - 2q)/(4 q log((1-q)/q)),

which has no bound as q -> 0: no multiple of tau will do for all m.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import sympy
from flint import arb

from ...exact.enclosure import Enclosure
from ...exact.number import ball
from .finding import Finding, certain, claim, fails, figure, require, shown
from .proofs import Proof, proved_positive, proved_positive_beyond, total_pieces
from .shuffle_privacy import at_least

STATED = Fraction(3, 2)  # the paper derives exp(-t²/(3 tau)): the variance 3 tau/2
BEYOND = 10  # m > BEYOND tau: certainly more than STATED tau
CORRECTED = Fraction(3, 4)  # (CORRECTED tau, 1)-sub-exponential for every m
TAU = 96
REACH = Fraction(48, 5)  # log T <= REACH² tau/48 = 1.92 tau
WITNESS = (Fraction(99, 100), Fraction(1, 2), 10**6)  # epsilon, delta, m of the tail's witness
RATIOS = (1, 10, 100, 10**4, 10**8)


def variance_ratio(ratio: Fraction) -> Enclosure:
    """(the least sub-Gaussian variance of the error)/tau, where m = ratio tau, ratio > 1."""
    return figure(lambda: _ratio(ball(1 / (2 * ratio))))


def proof_of_failure() -> list[Proof]:
    """Prove V > STATED tau for every m >= BEYOND tau, that is for 0 < q <= 1/(2 BEYOND).

    V/tau > 3/2 where 1 - 2q - 6q log((1-q)/q) > 0. For q <= 1/1000 it is enough that
    -q log q <= 7/1000, which holds since it rises up to q = 1/e.
    """
    small = Fraction(1, 1000)
    require(
        certain(lambda: arb(7) / 1000 + ball(small) * ball(small).log()),
        "-q log q is above 7/1000 at q = 1/1000",
    )
    require(1 - 2 * small - 6 * Fraction(7, 1000) > 0, "1 - 2q - 6 (7/1000) is not positive")

    def margin(q: arb) -> arb:
        return 1 - 2 * q - 4 * ball(STATED) * q * ((1 - q) / q).log()

    return [proved_positive(margin, small, Fraction(1, 2 * BEYOND))]


def proof_of_correction() -> list[Proof]:
    """Prove that for every m the error is (CORRECTED tau, 1)-sub-exponential.

    m > tau: E e^(λ(B - E B)) <= exp(mq (e^λ - 1 - λ)), mq = tau/2, and e^λ - 1 - λ <= (3/4) λ² for
    |λ| <= 1, which is proved here. m <= tau: B is Bin(N, 1/2) with N = ceil(tau/m) m < tau + m <=
    2 tau, sub-Gaussian with variance N/4 (Hoeffding's lemma), below tau/2.
    """

    def margin(x: Any) -> Any:
        return ball(CORRECTED) * x * x - (x.exp() - 1 - x)

    near = Fraction(1, 3)
    return [
        proved_positive_beyond(margin, 0, near, order=2),
        proved_positive(margin, near, 1),
        proved_positive_beyond(margin, 0, -1, order=2),
    ]


def proof_of_clean_event() -> list[Proof]:
    """Prove that sums over t batches keep P(|sum| > 2σ sqrt(2t log T)) <= 2 T^-4, σ² = 3 tau/2.

    For log T <= REACH² tau/48, in any mix of batch sizes. With μ = tau/2 the error of a batch has
    E e^(λ error) <= exp(μ (e^λ - 1 - λ)) for λ >= 0 (also for m <= tau, where it is at most
    exp(μλ²/2)) and <= exp(μλ²/2) for λ <= 0. So P(sum >= x) <= exp(-tμ h(x/(tμ))), h(u) =
    (1 + u) log(1 + u) - u. At x = sqrt(24 t μ log T), u = x/(tμ) <= REACH, that is T^-4 at most
    where h(u) >= u²/6, which is proved here for 0 < u <= REACH. The lower tail is smaller.
    """

    def margin(u: Any) -> Any:
        return (1 + u) * (1 + u).log() - u - u * u / 6

    return [proved_positive_beyond(margin, 0, 1, order=2), proved_positive(margin, 1, REACH)]


@claim(
    "S-thmA1-subgauss",
    "Tenenbaum, Kaplan, Mansour, Stemmer (NeurIPS 2021), Theorem A.1",
    "The error of Algorithm 3 is sub-Gaussian with variance O(log(1/δ)/ε²), for every number m of "
    "users.",
)
def _tails() -> Finding:
    q = sympy.Symbol("q", positive=True)
    limit = sympy.limit((1 - 2 * q) / (4 * q * sympy.log((1 - q) / q)), q, 0, "+")
    require(limit == sympy.oo, f"the limit of V/tau is {limit}")
    failure, correction, clean = proof_of_failure(), proof_of_correction(), proof_of_clean_event()
    tail, bound, distance = tail_witness()
    epsilon, delta, users = WITNESS
    evidence = {
        "least variance": "exactly V = m (1 - 2q)/(2 log((1-q)/q)), q = τ/(2m); V/τ → ∞ as "
        "m/τ → ∞ (symbolic limit)",
        **{
            f"V/τ at m = {ratio:g} τ": shown(variance_ratio(Fraction(ratio)), 6)
            for ratio in RATIOS
            if ratio > 1
        },
        "the paper's 3τ/2": f"too small for every m ≥ {BEYOND} τ "
        f"(proved, {total_pieces(failure)} pieces)",
        "its tail exp(-t²/(3τ))": f"ε = {float(epsilon):g}, δ = {float(delta):g}, "
        f"m = {users}: P(error >= {distance}) = {shown(tail, 4)} > {shown(bound, 4)}; "
        "Chernoff's bound was used beyond E B, where it does not hold",
        "correction proved": f"{total_pieces(correction)} pieces",
        "the regret bounds": "their clean events keep their probability 1 - 4T^-2 with "
        "σ² = 3τ/2 for log T <= 1.92 τ = 184.32 log(2/δ)/ε², so for all T <= 1e55 whatever "
        f"ε < 1 and δ < 1 (proved, {total_pieces(clean)} pieces)",
    }
    return fails(
        evidence,
        "the error is (3τ/4, 1)-sub-exponential for every m, that is P(|error| > t) <= "
        "2 exp(-min(2t²/(3τ), t/2)) with τ = 96 log(2/δ)/ε²; sub-Gaussian tails up to t = 3τ/4",
    )


def tail_witness() -> tuple[Enclosure, Enclosure, int]:
    """P(B - E B >= t) and exp(-t²/(3 tau)) at a t where the first is larger, and that t."""
    epsilon, delta, users = WITNESS

    def tau() -> arb:
        return TAU * (2 / ball(delta)).log() / ball(epsilon) ** 2

    mean = Fraction(figure(lambda: tau() / 2).upper)
    outcome = math.ceil(13 * mean)
    distance = math.floor(outcome - mean)  # B >= outcome implies B - E B >= distance
    tail = figure(lambda: at_least(users, outcome, tau() / (2 * users)))
    bound = figure(lambda: (-(arb(distance) ** 2) / (3 * tau())).exp())
    require(tail.greater_than(bound.upper), "the tail is not above the bound")
    return tail, bound, distance


def _ratio(q: arb) -> arb:
    return (1 - 2 * q) / (4 * q * ((1 - q) / q).log())
