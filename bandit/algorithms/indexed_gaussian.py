"""Index policies with shares of Skellam and of discrete Gaussian noise.

The policy, the index, and one grid for all batches, are those of `indexed`. The noise has the tails
of a Gaussian of deviation d, in units of rewards. With d sqrt(2 log(1/p)) users a sum of 0 rules
out a mean near 1 at level p; n_1 = ceil(4 d sqrt(2 log(1/p))), as the noise of two more batches
costs more than these users wherever it was measured. Parameters are those of Theorems 2 and 4 of
Chowdhury and Zhou (ICLR 2023) for a batch of T users, with tau for the confidence p
(`accuracy_horizon`); a batch of n users has the same total noise, in n shares.

dist-rdp-klucb    Skellam, d = 1/epsilon, with the Rényi divergence of Theorem 2
dist-cdp-klucb    a sum of discrete Gaussians, d = 1/epsilon, (epsilon²/2)-zCDP as in Theorem 4
dist-gauss-klucb  the same with the d that makes each release (epsilon, delta)-DP

That d is the least one of continuous noise (`verify.calibration`), the next thousandth above it. A
sum of discrete Gaussians needs a little more than continuous noise does, and is no discrete
Gaussian: what each batch spends is certified of its own sum, and nothing runs without that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from ...exact.number import ball
from ...mechanisms.additive.papers import least_precision, log_2t
from ...mechanisms.additive.protocol import SumProtocol
from ...mechanisms.laws.discrete_gaussian import DiscreteGaussian
from ...mechanisms.laws.law import Law
from ...mechanisms.laws.search import certain_ceiling
from ...mechanisms.laws.skellam import Skellam
from ...verify.calibration import calibrate
from ...verify.families import choose
from ...verify.guarantee import ApproxDP
from ..evidence import Demand
from ..release import ModularRelease, Release
from ..setting import Setting
from .algorithm import Algorithm
from .distributed import DIST_CDP_SE, DIST_RDP_SE, accuracy_horizon
from .indexed import from_first

_STEPS = 1000  # of a deviation of 1


def skellam_release(setting: Setting, users: int, accuracy: int) -> Release:
    """With the grid and the tau of Theorem 2 for T users; accuracy: its T in tau."""
    precision = _precision(setting)
    scale = precision * _stated(setting)

    def bound() -> arb:
        log = log_2t(accuracy)
        return 2 * ball(scale) * log.sqrt() + arb(2).sqrt() * log

    return _release(users, precision, certain_ceiling(bound, "tau"), Skellam(scale**2 / users))


def gaussian_release(setting: Setting, users: int, accuracy: int) -> Release:
    """With those of Theorem 4, in the same way."""
    return _gaussian_release(setting, users, accuracy, _stated(setting))


def approx_release(setting: Setting, users: int, accuracy: int) -> Release:
    """The same, of the deviation for (epsilon, delta)."""
    return _gaussian_release(setting, users, accuracy, _approx(setting))


def stated_first(setting: Setting) -> int:
    """n_1 where d is that of the theorems."""
    return _first(setting, _stated(setting))


def approx_first(setting: Setting) -> int:
    """n_1 where d is that for (epsilon, delta)."""
    return _first(setting, _approx(setting))


def _stated(setting: Setting) -> Fraction:
    return 1 / setting.epsilon


def _approx(setting: Setting) -> Fraction:
    return _calibrated(setting.epsilon, setting.delta)


@lru_cache(maxsize=64)
def _calibrated(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Above the least d for which N(0, d²) makes a sum of rewards (epsilon, delta)-DP."""
    found = calibrate(choose("gaussian", None, None).family, ApproxDP(epsilon, delta))
    return Fraction(math.floor(found.value * _STEPS) + 1, _STEPS)


def _first(setting: Setting, deviation: Fraction) -> int:
    return certain_ceiling(
        lambda: 4 * ball(deviation) * (-2 * ball(setting.confidence).log()).sqrt(), "n_1"
    )


def _precision(setting: Setting) -> int:
    return least_precision(setting.scaling * setting.epsilon, setting.horizon)


def _gaussian_release(setting: Setting, users: int, accuracy: int, deviation: Fraction) -> Release:
    precision = _precision(setting)
    scale = precision * deviation
    tau = certain_ceiling(lambda: ball(scale) * (2 * log_2t(accuracy)).sqrt(), "tau")
    return _release(users, precision, tau, DiscreteGaussian(scale**2 / users))


def _release(users: int, precision: int, tau: int, share: Law) -> Release:
    modulus = users * precision + 2 * tau + 1
    return ModularRelease(SumProtocol(users, precision, tau, modulus, share))


def _algorithm(
    name: str,
    noise: str,
    first: Callable[[Setting], int],
    release: Callable[[Setting, int, int], Release],
    demand: Callable[[Setting], Demand] | None,
) -> Algorithm:
    return Algorithm(
        name,
        f"KL-UCB on the tails of rewards and {noise} noise, after DP-KLUCB (arXiv 2505.05613)",
        lambda setting, batch, _: from_first(setting, batch, first(setting)),
        lambda setting, users: release(setting, users, accuracy_horizon(setting)),
        None,
        demand,
        forgets=False,
    )


DIST_RDP_KLUCB = _algorithm(
    "dist-rdp-klucb", "Skellam", stated_first, skellam_release, DIST_RDP_SE.demand
)
DIST_CDP_KLUCB = _algorithm(
    "dist-cdp-klucb", "discrete Gaussian", stated_first, gaussian_release, DIST_CDP_SE.demand
)
DIST_GAUSS_KLUCB = _algorithm(
    "dist-gauss-klucb",
    "discrete Gaussian",
    approx_first,
    approx_release,
    lambda setting: Demand(ApproxDP(setting.epsilon, setting.delta)),
)
