"""Batches and releases of the papers' algorithms: how many users, on which grid, with whose noise.

Elimination has the batches and the noise of its paper: Chowdhury and Zhou, "Distributed
Differential Privacy in Multi-Armed Bandits" (ICLR 2023), Theorems 1 to 6; Sajed and Sheffet, "An
Optimal Private Stochastic-MAB Algorithm" (ICML 2019); and, for SDP-AE and VB-SDP-AE, Tenenbaum,
Kaplan, Mansour and Stemmer, "Differentially Private Multi-Armed Bandits in the Shuffle Model"
(NeurIPS 2021), Algorithms 1 and 2 on the summation of their Algorithm 3, whose
tau = 96 log(2/delta)/epsilon² is rounded up to a whole number here (by Theorem A.1's own proof,
which holds for any larger tau). A real reward is first rounded to a bit at random; what a shuffler
shows of bits is how many are set. Theorems 4, 5, 6 and A.1 are stated for epsilon < 1; what is
certified of each batch says what it spends for any other.

Indices have sums that are never forgotten, as DP-KLUCB of Azize, Wu, Honda, Orabona, Ito and Basu
(arXiv 2505.05613), here with discrete noise in shares or by the server. After b batches an arm has
had N_b = ceil(n_1 eta^(b-1)) users. Every batch has the grid and the noise of a batch of T users in
the theorem that it follows, in n shares, so that sums add up as whole numbers; tau is for the
confidence p (`accuracy_horizon`).

n_1, Laplace   ceil(3 log(1/p)/epsilon): with a third of it not even a sum of 0 rules out a mean
               near 1 at level p, as noise makes up for it with probability e^(-epsilon n_1/3). All
               of it tells a gap of about 2/5 under a single noise; a smaller first batch would save
               users where gaps are wider still, which cost little, and add its noise to all sums
n_1, Gaussian  of Skellam and discrete Gaussian noise with deviation d, in units of rewards, whose
               tails are a Gaussian's: with d sqrt(2 log(1/p)) users a sum of 0 rules out a mean
               near 1; n_1 = ceil(4 d sqrt(2 log(1/p))), as the noise of two more batches costs more
               than these users wherever it was measured
d              1/epsilon in Theorems 2 and 4. For (epsilon, delta) the least of continuous noise
               (`verify.calibration`), the next thousandth above it. A sum of discrete Gaussians
               needs a little more than continuous noise does, and is no discrete Gaussian: what
               each batch spends is certified of its own sum, and nothing runs without that
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from attrs import evolve
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ball
from ...mechanisms.additive import papers
from ...mechanisms.additive.papers import (
    laplace_accuracy,
    laplace_share,
    least_precision,
    log_2t,
)
from ...mechanisms.additive.protocol import SumProtocol, Trust
from ...mechanisms.laws.binomial import Binomial
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.discrete_laplace import DiscreteLaplace
from ...mechanisms.laws.law import Law
from ...mechanisms.laws.search import certain_ceiling
from ...mechanisms.laws.skellam import Skellam
from ...verify.calibration import calibrate
from ...verify.families import choose
from ...verify.guarantee import ApproxDP
from ..radius.paper import sajed_sheffet_epoch, shuffle_radius, shuffle_variance
from ..radius.plan import RadiusPlan
from ..release import ModularRelease, Release
from ..setting import Setting

_USUAL = Fraction(1, 100)  # confidences from here on leave tau as the theorems state it
_SHUFFLED = 96  # of tau in Algorithm 3
_STEPS = 1000  # of a deviation of 1
_TWENTIETH = 20


# -- users of a batch -----------------------------------------------------------------------------


def growing(setting: Setting, batch: int, active: int) -> int:
    """l(b) = eta^b, rounded up where it is not a whole number (Remark 4; eta = 2 in the paper)."""
    size = setting.growth**batch
    return -(-size.numerator // size.denominator)


def from_first(setting: Setting, batch: int, first: int) -> int:
    """N_b - N_(b-1), at least 1. first: n_1."""

    def users(number: int) -> int:
        return math.ceil(first * setting.growth ** (number - 1)) if number else 0

    return max(1, users(batch) - users(batch - 1))


def laplace_first(setting: Setting, nats: Fraction) -> int:
    """n_1 = ceil(nats log(1/p)/epsilon)."""
    return certain_ceiling(
        lambda: -ball(nats) * ball(setting.confidence).log() / ball(setting.epsilon), "n_1"
    )


def gaussian_first(setting: Setting, deviation: Fraction) -> int:
    """n_1 of noise with the tails of a Gaussian."""
    return certain_ceiling(
        lambda: 4 * ball(deviation) * (-2 * ball(setting.confidence).log()).sqrt(), "n_1"
    )


def by_twentieths(setting: Setting, batch: int, active: int) -> int:
    """Of an arm's b-th batch: those of all before it, over 20, rounded down, at least 1."""
    had, size = 0, 1
    for _ in range(batch):
        size = max(1, had // _TWENTIETH)
        had += size
    return size


def doubling(setting: Setting, batch: int, active: int) -> int:
    """1, 1, 2, 4, ...: twice in all."""
    return 1 << max(0, batch - 2)


def epoch(setting: Setting, batch: int, active: int) -> tuple[int, float]:
    """Users of DP-SE's epoch, and its radius."""
    return sajed_sheffet_epoch(batch, active, setting.confidence, setting.epsilon)


def epoch_radii(setting: Setting, plan: RadiusPlan, _: Sequence[Release]) -> NDArray[np.float64]:
    """Those of DP-SE."""
    table = np.full((len(plan.batches), plan.arms + 1), np.inf)
    for index, active in np.ndindex(len(plan.batches), plan.arms):
        table[index, active + 1] = epoch(setting, index + 1, active + 1)[1]
    return table


# -- releases of eliminating algorithms -----------------------------------------------------------


def accuracy_horizon(setting: Setting) -> int:
    """The T of tau: the horizon, or what a confidence p < 1/100 needs, 128 K/p, if that is more.

    A sum is read wrongly with probability at most 1/T: with 64 batches of K arms, p/2 in all.
    """
    if setting.confidence >= _USUAL:
        return setting.horizon
    return max(setting.horizon, math.ceil(128 * setting.arms / setting.confidence))


def local_protocol(setting: Setting, users: int) -> SumProtocol:
    """Theorem 6; below the usual confidences with a tau that holds for few users as well.

    tau >= scale (sqrt(2) l + 2 sqrt(1.4 n l)), l = log(2T): the noise is a sum of n discrete
    Laplace variables with log E e^(sX/scale) <= -log(1 - s²) <= 1.4 s² for s² <= 1/2, since
    (cosh t - 1)/t² increases. So P(sum > tau) <= e^(1.4 n s² - s tau/scale), which is at most
    e^(-l) at s = sqrt(l/(1.4 n)) if that is at most sqrt(1/2), and otherwise at sqrt(1/2).
    """
    rounds = accuracy_horizon(setting)
    stated = papers.theorem6(setting.epsilon, users, rounds, stated=False).protocol
    if setting.confidence >= _USUAL:
        return stated

    def bound() -> arb:
        log = log_2t(rounds)
        sure = arb(2).sqrt() * log + 2 * (ball(Fraction(7, 5)) * users * log).sqrt()
        return ball(stated.precision / setting.epsilon) * sure

    tau = max(stated.accuracy, certain_ceiling(bound, "tau"))
    return evolve(stated, accuracy=tau, modulus=users * stated.precision + 2 * tau + 1)


def _shuffled_tau(setting: Setting) -> int:
    def value() -> arb:
        return _SHUFFLED * ball(2 / setting.delta).log() / ball(setting.epsilon**2)

    return certain_ceiling(value, "tau")


def shuffled_bits(setting: Setting, users: int) -> Release:
    """Each user adds ceil(tau/n) fair bits, or one that is set with probability tau/(2n)."""
    tau = _shuffled_tau(setting)
    few = users <= tau
    noise = (
        Binomial(-(-tau // users), Fraction(1, 2)) if few else Binomial(1, Fraction(tau, 2 * users))
    )
    return ModularRelease(SumProtocol(users, 1, 0, None, noise))


def constant(setting: Setting, batch: int, active: int) -> int:
    """m = ceil(sigma²), sigma² the sub-Gaussian variance of shuffled noise (Corollary 3.2).

    With m = ceil(tau/4) users there are 4m fair bits (tau <= 4m), of variance m. The corollary
    prints ceil(sigma), beside Theta(log(1/delta)/epsilon²), which sigma² is.
    """
    return -(-_shuffled_tau(setting) // 4)


def shuffled_radii(
    setting: Setting, plan: RadiusPlan, releases: Sequence[Release]
) -> NDArray[np.float64]:
    """Those of SDP-AE and VB-SDP-AE."""
    variances = []
    for release in releases:
        assert isinstance(release.noise, Binomial) and isinstance(release.noise.success, Fraction)
        variances.append(shuffle_variance(release.noise.trials, release.noise.success))
    return shuffle_radius(plan, variances, float(_shuffled_tau(setting)))


# -- releases of indices --------------------------------------------------------------------------


def laplace_release(setting: Setting, users: int, trust: Trust, accuracy: int) -> Release:
    """With the grid of all batches, and tau of Theorem 1 with this in the place of its T."""
    precision = least_precision(setting.epsilon, setting.horizon)
    scale = precision / setting.epsilon
    tau = laplace_accuracy(scale, accuracy)
    central = trust is Trust.CENTRAL
    share: Law = DiscreteLaplace(scale) if central else laplace_share(users, scale)
    return _release(users, precision, tau, share, trust)


def skellam_release(setting: Setting, users: int, deviation: Fraction, accuracy: int) -> Release:
    """With the grid and the tau of Theorem 2 for T users; accuracy: its T in tau."""
    precision = _fine_precision(setting)
    scale = precision * deviation

    def bound() -> arb:
        log = log_2t(accuracy)
        return 2 * ball(scale) * log.sqrt() + arb(2).sqrt() * log

    return _release(users, precision, certain_ceiling(bound, "tau"), Skellam(scale**2 / users))


def gaussian_release(setting: Setting, users: int, deviation: Fraction, accuracy: int) -> Release:
    """With those of Theorem 4, in the same way."""
    precision = _fine_precision(setting)
    scale = precision * deviation
    tau = certain_ceiling(lambda: ball(scale) * (2 * log_2t(accuracy)).sqrt(), "tau")
    return _release(users, precision, tau, DiscreteGaussian(scale**2 / users))


def stated_deviation(setting: Setting) -> Fraction:
    """d of Theorems 2 and 4."""
    return 1 / setting.epsilon


def approx_deviation(setting: Setting) -> Fraction:
    """d for (epsilon, delta)."""
    return _calibrated(setting.epsilon, setting.delta)


@lru_cache(maxsize=64)
def _calibrated(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Above the least d for which N(0, d²) makes a sum of rewards (epsilon, delta)-DP."""
    least = calibrate(choose("gaussian", None, None).family, ApproxDP(epsilon, delta)).value
    return Fraction(math.floor(least * _STEPS) + 1, _STEPS)


def _fine_precision(setting: Setting) -> int:
    return least_precision(setting.scaling * setting.epsilon, setting.horizon)


def _release(
    users: int, precision: int, tau: int, share: Law, trust: Trust = Trust.DISTRIBUTED
) -> Release:
    modulus = users * precision + 2 * tau + 1
    return ModularRelease(SumProtocol(users, precision, tau, modulus, share, trust))
