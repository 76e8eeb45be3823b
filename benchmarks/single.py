"""Mechanisms used once."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from case import PEER, Case, peer_epsilon, peer_skellam_loss

from exactdp.accounting import compose
from exactdp.exact.enclosure import Enclosure
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    Law,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.additive import papers
from exactdp.verify import Audit, PureDP, RenyiDP, audit

ORDERS = [Fraction(1.1 * (256 / 1.1) ** (i / 63)) for i in range(64)]
HALF, MICRO = Fraction(1, 2), Fraction(1, 10**6)
REAL = (HALF, 2**20, 10**9)  # epsilon, batch, horizon
EIGHT = [2, 3, 4, 6, 8, 16, 32, 64]


def peer_gaussian_curve() -> float:
    """Bound the discrete Gaussian by alpha Delta²/(2 sigma²), which is for the continuous one."""
    event = importlib.import_module(PEER).GaussianDpEvent(noise_multiplier=1.0)
    accountant = importlib.import_module(f"{PEER}.rdp").RdpAccountant([float(a) for a in ORDERS])
    return float(accountant.compose(event).rdp[-1])


def peer_skellam() -> float:
    return float(peer_skellam_loss(10**4, 100).get_epsilon_for_delta(1e-6))


def curve(name: str, title: str, law: Law, peer: Callable[[], float] | None = None) -> Case:
    noise = AdditiveNoise(law, 100)
    title = f"64 Rényi orders, {title} Δ=100"
    return Case(
        f"renyi-{name}", title, lambda: compose(noise).renyi_curve(ORDERS), 1, 1e-12, peer=peer
    )


def naive_sum() -> Audit:
    """Claim of a sum of n discrete Gaussians what holds for one of n times the variance."""
    mechanism = AdditiveNoise(DiscreteGaussianSum(128, Fraction(1, 4)))
    return audit(mechanism, RenyiDP(2, Fraction(2, 2 * 32)))


def skellam_epsilon(exponent: int) -> Sequence[Enclosure]:
    return [compose(AdditiveNoise(Skellam(10**4), 100)).epsilon(Fraction(1, 10**exponent))]


PEER_GAUSSIAN = partial(peer_epsilon, "from_discrete_gaussian_mechanism")
CASES: Sequence[Case] = (
    curve("skellam", "Skellam σ²=1e4", Skellam(10**4)),
    curve("gaussian", "discrete Gaussian σ²=1e4", DiscreteGaussian(10**4), peer_gaussian_curve),
    curve("laplace", "discrete Laplace 100", DiscreteLaplace(100)),
    Case(
        "skellam-6",
        "ε(1e-6), Skellam σ²=1e4 Δ=100",
        partial(skellam_epsilon, 6),
        0.5,
        1e-12,
        peer=peer_skellam,
    ),
    Case("skellam-15", "ε(1e-15), same", partial(skellam_epsilon, 15), 0.5, 1e-12),
    Case("skellam-30", "ε(1e-30), same", partial(skellam_epsilon, 30), 0.5, 1e-12),
    Case(
        "gaussian-1e5",
        "ε(1e-6), discrete Gaussian σ=1e5 Δ=1",
        lambda: [compose(AdditiveNoise(DiscreteGaussian(10**10), 1)).epsilon(MICRO)],
        5,
        peer=partial(PEER_GAUSSIAN, 1e5, 1, step=1e-9),
    ),
    Case(
        "gaussian-1e2",
        "ε(1e-6), discrete Gaussian σ=1e2 Δ=100",
        lambda: [compose(AdditiveNoise(DiscreteGaussian(10**4), 100)).epsilon(MICRO)],
        peer=partial(PEER_GAUSSIAN, 1e2, 100),
    ),
    Case(
        "laplace",
        "ε(1e-6), discrete Laplace 100 Δ=100",
        lambda: [compose(AdditiveNoise(DiscreteLaplace(100), 100)).epsilon(MICRO)],
        peer=partial(peer_epsilon, "from_discrete_laplace_mechanism", 0.01, 100),
    ),
    Case(
        "gaussian-sum",
        "Rényi 2, 128 discrete Gaussians σ²=0.25 Δ=1; α/(2nσ²) claimed",
        naive_sum,
        verdict="REFUTED",
    ),
    Case(
        "polya",
        "pure ε, Pólya difference shape 0.5 scale 1",
        lambda: [compose(AdditiveNoise(PolyaDifference(HALF, 1))).pure()],
    ),
    Case(
        "theorem1",
        "Theorem 1 at its claim, n=2^20 T=1e9 ε=0.5",
        lambda: audit(papers.theorem1(*REAL).mechanism, PureDP(HALF)),
        1,
        math.inf,
        2000,
        "VERIFIED",
    ),
    Case(
        "theorem2",
        "8 Rényi orders in 2…64, Theorem 2, same, s=10",
        lambda: compose(papers.theorem2(*REAL, 10).mechanism).renyi_curve(EIGHT),
        20,
        megabytes=2000,
    ),
    Case(
        "theorem4",
        "Rényi orders 2 and 32, Theorem 4, same, s=10",
        lambda: compose(papers.theorem4(*REAL, 10).mechanism).renyi_curve([2, 32]),
        30,
        megabytes=2000,
    ),
)
