"""SDP-AE and VB-SDP-AE: a shuffler, and bits that are noise among bits that are rewards.

Tenenbaum, Kaplan, Mansour and Stemmer, "Differentially Private Multi-Armed Bandits in the Shuffle
Model" (NeurIPS 2021), Algorithms 1 and 2 on the summation of their Algorithm 3, whose
tau = 96 log(2/delta)/epsilon² is rounded up to a whole number here (by Theorem A.1's own proof,
which holds for any larger tau). A real reward is first rounded to a bit at random. What a shuffler
shows of bits is how many are set. Theorem A.1 is stated for epsilon < 1; what is certified of each
batch says what it spends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ...exact.number import ball
from ...mechanisms.additive.protocol import SumProtocol
from ...mechanisms.laws.binomial import Binomial
from ...mechanisms.laws.search import certain_ceiling
from ...verify.guarantee import ApproxDP
from ..evidence import Demand
from ..radius.paper import shuffle_radius, shuffle_variance
from ..radius.plan import Plan
from ..release import ModularRelease, Release
from ..setting import Setting
from .algorithm import Algorithm, growing

_CONSTANT = 96


def _tau(setting: Setting) -> int:
    def value() -> arb:
        return _CONSTANT * ball(2 / setting.delta).log() / ball(setting.epsilon**2)

    return certain_ceiling(value, "tau")


def _bits(setting: Setting, users: int) -> Release:
    """Each user adds ceil(tau/n) fair bits, or one that is set with probability tau/(2n)."""
    tau = _tau(setting)
    few = users <= tau
    noise = (
        Binomial(-(-tau // users), Fraction(1, 2)) if few else Binomial(1, Fraction(tau, 2 * users))
    )
    return ModularRelease(SumProtocol(users, 1, 0, None, noise))


def _constant(setting: Setting, batch: int, active: int) -> int:
    """m = ceil(sigma²), sigma² the sub-Gaussian variance of the noise (Corollary 3.2).

    With m = ceil(tau/4) users there are 4m fair bits (tau <= 4m), of variance m. The corollary
    prints ceil(sigma), beside Theta(log(1/delta)/epsilon²), which sigma² is.
    """
    return -(-_tau(setting) // 4)


def _radius(setting: Setting, plan: Plan, releases: Sequence[Release]) -> NDArray[np.float64]:
    variances = []
    for release in releases:
        assert isinstance(release.noise, Binomial) and isinstance(release.noise.success, Fraction)
        variances.append(shuffle_variance(release.noise.trials, release.noise.success))
    return shuffle_radius(plan, variances, float(_tau(setting)))


def _algorithm(name: str, title: str, schedule: Callable[[Setting, int, int], int]) -> Algorithm:
    return Algorithm(
        name,
        f"{title} (NeurIPS 2021), on Algorithm 3",
        schedule,
        _bits,
        _radius,
        lambda setting: Demand(ApproxDP(setting.epsilon, setting.delta)),
        forgets=False,
    )


SDP_AE = _algorithm("sdp-ae", "Algorithm 1, SDP-AE", _constant)
VB_SDP_AE = _algorithm("vb-sdp-ae", "Algorithm 2, VB-SDP-AE", growing)
