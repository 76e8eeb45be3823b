"""The confidence radii that the papers state, as written.

Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits" (ICLR 2023), Lemma 2,
equation (2), with the constants (sigma, h) of Assumption 1 that the proofs give; Sajed and Sheffet,
"An Optimal Private Stochastic-MAB Algorithm" (ICML 2019), the epochs of DP-SE; Tenenbaum, Kaplan,
Mansour and Stemmer, "Differentially Private Multi-Armed Bandits in the Shuffle Model" (NeurIPS
2021), Algorithms 1 and 2. What they certify is what the papers' theorems say; see `evidence.papers`
for what of that holds. Floats: no guarantee is attached to their last digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from .plan import RadiusPlan


@frozen
class NoiseScale:
    """Assumption 1: |noise of a sum| <= sigma sqrt(log(2/p)) + h log(2/p) w.p. at least 1 - 2p."""

    sigma: float
    h: float


NO_NOISE = NoiseScale(0.0, 0.0)


def discrete_laplace_scale(epsilon: Fraction) -> NoiseScale:
    """Theorems 1 and 5: sigma = sqrt(2)/epsilon, h = 1/epsilon."""
    return NoiseScale(math.sqrt(2) / float(epsilon), 1 / float(epsilon))


def skellam_scale(epsilon: Fraction, scaling: Fraction) -> NoiseScale:
    """Theorem 2: sigma = 2/epsilon + sqrt(2)/(s epsilon), h = 1/(s epsilon)."""
    budget, s = float(epsilon), float(scaling)
    return NoiseScale(2 / budget + math.sqrt(2) / (s * budget), 1 / (s * budget))


def discrete_gaussian_scale(epsilon: Fraction, scaling: Fraction) -> NoiseScale:
    """Theorem 4: sigma = sqrt(2) (1 + 1/s)/epsilon, h = 0."""
    return NoiseScale(math.sqrt(2) * (1 + 1 / float(scaling)) / float(epsilon), 0.0)


def local_scale(epsilon: Fraction, users: int) -> NoiseScale:
    """Theorem 6, a batch of n users: sigma = (c sqrt(2n) + sqrt(2))/epsilon, h = 0.

    c = 1/sqrt(1 - e^(-1/2)), the best constant of Lemma 5.
    """
    c = 1 / math.sqrt(-math.expm1(-0.5))
    return NoiseScale((c * math.sqrt(2 * users) + math.sqrt(2)) / float(epsilon), 0.0)


def paper_radius(plan: RadiusPlan, scales: Sequence[NoiseScale]) -> NDArray[np.float64]:
    """Lemma 2, equation (2): beta[b - 1, active], shape (B, K + 1); infinite for active = 0.

    scales: of the noise of the sum of each batch, in units of rewards.
    """
    table = np.full((len(plan.batches), plan.arms + 1), np.inf)
    active = np.arange(1, plan.arms + 1)
    for index, (users, noise) in enumerate(zip(plan.batches, scales, strict=True)):
        log2 = np.log(2 * active * (index + 1.0) ** 2 / float(plan.confidence))
        log4 = log2 + math.log(2)
        table[index, 1:] = (
            np.sqrt(log4 / (2 * users)) + (noise.sigma * np.sqrt(log2) + noise.h * log2) / users
        )
    return table


def sajed_sheffet_epoch(
    epoch: int, active: int, confidence: Fraction, epsilon: Fraction
) -> tuple[int, float]:
    """DP-SE, epoch e = 1, 2, ... with |S| active arms: its users an active arm, and the radius.

    These are R_e and h_e + c_e, at Delta_e = 2^-e:

    R_e = max(32 log(8|S|e²/beta)/Delta_e², 8 log(4|S|e²/beta)/(epsilon Delta_e)) + 1, rounded up,
    h_e = sqrt(log(8|S|e²/beta)/(2 R_e)), c_e = log(4|S|e²/beta)/(R_e epsilon); beta = confidence;
    the noise of an arm's mean is one Laplace variable of scale 1/(epsilon R_e).
    """
    budget, gap = float(epsilon), 2.0**-epoch
    log4 = math.log(4 * active * epoch**2 / float(confidence))
    log8 = log4 + math.log(2)
    users = math.ceil(max(32 * log8 / gap**2, 8 * log4 / (budget * gap)) + 1)
    return users, math.sqrt(log8 / (2 * users)) + log4 / (users * budget)


def shuffle_variance(trials: int, success: Fraction) -> float:
    """The least sub-Gaussian variance of Bin(trials, q) - trials q: what `shuffle_radius` takes.

    trials (1 - 2q)/(2 log((1 - q)/q)), trials/4 for q = 1/2 (Kearns and Saul, "Large deviation
    methods for approximate probabilistic inference", UAI 1998, Lemma 1).
    """
    q = float(success)
    if success == Fraction(1, 2):
        return trials / 4
    return trials * (1 - 2 * q) / (2 * (math.log1p(-q) - math.log(q)))


def shuffle_radius(plan: RadiusPlan, variances: Sequence[float], tau: float) -> NDArray[np.float64]:
    """I_a^t of SDP-AE and VB-SDP-AE: beta[t - 1, active], the same for every number of arms.

    (2 sqrt(V_t)/N_t + 1/sqrt(N_t)) sqrt(2 log T), N_t the users of an arm in batches 1..t; the
    paper writes t sigma² for V_t. variances: the exact sub-Gaussian variance of the noise of each
    batch. V_t is their sum, or 3 tau t/2 where that is less: both keep the paper's clean event
    (sums of independent sub-Gaussian variables; claim S-thmA1-subgauss for log T <= 1.92 tau),
    while no multiple of tau is a sub-Gaussian variance for all batch sizes.

    plan: cumulative. tau: 96 log(2/delta)/epsilon² of Algorithm 3.
    """
    table = np.full((len(plan.batches), plan.arms + 1), np.inf)
    log = math.log(plan.horizon)
    total = 0.0
    for index, users in enumerate(plan.batches):
        total += variances[index]
        spread = total
        if log <= 1.92 * tau:
            spread = min(total, 1.5 * tau * (index + 1))
        wide = 2 * math.sqrt(spread) / users + 1 / math.sqrt(users)
        table[index, 1:] = wide * math.sqrt(2 * log)
    return table
