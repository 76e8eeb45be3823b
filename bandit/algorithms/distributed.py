"""Theorems 1 to 6: discrete noise, for whomever the users trust and whichever notion of privacy.

Chowdhury and Zhou, "Distributed Differential Privacy in Multi-Armed Bandits" (ICLR 2023). Theorems
4, 5 and 6 are stated for epsilon < 1; their protocols make sense for every epsilon > 0, and what is
certified of each batch says what it spends. Theorems 2 and 4 encode finer than Theorem 1 does, s
times: g = ceil(s epsilon sqrt(n)).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from attrs import evolve
from flint import arb

from ...exact.number import ball
from ...mechanisms.additive import papers
from ...mechanisms.additive.papers import log_2t
from ...mechanisms.additive.protocol import SumProtocol
from ...mechanisms.laws.search import certain_ceiling
from ...verify.guarantee import ZCDP, Guarantee, PureDP, RenyiDP
from ..evidence import Demand
from ..lower_bound import Barrier
from ..radius.paper import (
    NoiseScale,
    discrete_gaussian_scale,
    discrete_laplace_scale,
    local_scale,
    paper_radius,
    skellam_scale,
)
from ..release import ModularRelease
from ..setting import Setting
from .algorithm import Algorithm, growing

_USUAL = Fraction(1, 100)  # confidences from here on leave tau as the theorems state it
_ORDER = 2  # at which Theorem 2's curve is certified


def _algorithm(
    name: str,
    source: str,
    protocol: Callable[[Setting, int], SumProtocol],
    scale: Callable[[Setting, int], NoiseScale],
    claim: Callable[[Setting], Guarantee],
    relaxation: Fraction = Fraction(0),
    barrier: Barrier = Barrier.NONE,
) -> Algorithm:
    """protocol, scale: of a batch of so many users. relaxation: of the aggregation, x epsilon."""
    return Algorithm(
        name,
        source,
        growing,
        lambda setting, users: ModularRelease(protocol(setting, users)),
        lambda setting, plan, _: paper_radius(plan, [scale(setting, n) for n in plan.batches]),
        lambda setting: Demand(claim(setting), relaxation * setting.epsilon),
        barrier=barrier,
    )


def accuracy_horizon(setting: Setting) -> int:
    """The T of tau: the horizon, or what a confidence p < 1/100 needs, 128 K/p, if that is more.

    A sum is read wrongly with probability at most 1/T: with 64 batches of K arms, p/2 in all.
    """
    if setting.confidence >= _USUAL:
        return setting.horizon
    return max(setting.horizon, math.ceil(128 * setting.arms / setting.confidence))


def _local(setting: Setting, users: int) -> SumProtocol:
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


def _pure(setting: Setting) -> PureDP:
    return PureDP(setting.epsilon)


def _laplace(setting: Setting, users: int) -> NoiseScale:
    return discrete_laplace_scale(setting.epsilon)


DIST_DP_SE = _algorithm(
    "dist-dp-se",
    "Theorem 1 (ICLR 2023)",
    lambda it, users: papers.theorem1(it.epsilon, users, accuracy_horizon(it)).protocol,
    _laplace,
    _pure,
    barrier=Barrier.GLOBAL,
)
DIST_RDP_SE = _algorithm(
    "dist-rdp-se",
    "Theorem 2 (ICLR 2023)",
    lambda it, users: papers.theorem2(it.epsilon, users, accuracy_horizon(it), it.scaling).protocol,
    lambda it, users: skellam_scale(it.epsilon, it.scaling),
    lambda it: RenyiDP(_ORDER, papers.theorem2_curve(it.epsilon, it.scaling, _ORDER)),
)
# Its shares are corrected: see `theorem3`. Simulated with an aggregation that never fails; a
# relaxed one may, with probability 1/(2T). Twice its epsilon/4, and epsilon/2 for the sum mod m.
SHUFFLE_DP_SE = _algorithm(
    "shuffle-dp-se",
    "Theorem 3 (ICLR 2023), its shares corrected",
    lambda it, users: papers.theorem3(it.epsilon, users, accuracy_horizon(it)).protocol,
    lambda it, users: discrete_laplace_scale(it.epsilon / 2),
    _pure,
    relaxation=Fraction(1, 4),
    barrier=Barrier.GLOBAL,
)
# rho = epsilon²/2, and 1e-9 of it more: sums of discrete Gaussians need a little (Lemma 4)
DIST_CDP_SE = _algorithm(
    "dist-cdp-se",
    "Theorem 4 (ICLR 2023)",
    lambda it, users: (
        papers.theorem4(it.epsilon, users, accuracy_horizon(it), it.scaling, stated=False).protocol
    ),
    lambda it, users: discrete_gaussian_scale(it.epsilon, it.scaling),
    lambda it: ZCDP(it.epsilon**2 / 2 * (1 + Fraction(1, 10**9))),
)
CDP_SE = _algorithm(  # Theorem 1's parameters; the analyzer alone adds the noise
    "cdp-se",
    "Theorem 5 (ICLR 2023)",
    lambda it, users: (
        papers.theorem5(it.epsilon, users, accuracy_horizon(it), stated=False).protocol
    ),
    _laplace,
    _pure,
    barrier=Barrier.GLOBAL,
)
LDP_SE = _algorithm(
    "ldp-se",
    "Theorem 6 (ICLR 2023)",
    _local,
    lambda it, users: local_scale(it.epsilon, users),
    _pure,
    barrier=Barrier.LOCAL,
)
