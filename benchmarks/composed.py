"""Mechanisms used many times, and mixed; noise calibrated for many uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from case import Case, peer_loss, peer_skellam_loss

from exactdp.accounting import Composition, compose
from exactdp.exact.enclosure import Enclosure
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    Mechanism,
    RandomizedResponse,
    Skellam,
)
from exactdp.mechanisms.additive import papers
from exactdp.verify import ApproxDP, Audit, Family, calibrate

WIDTH, PATIENT = Fraction(1, 10**12), 50.0
LAPLACE, FINE = AdditiveNoise(DiscreteLaplace(10)), AdditiveNoise(DiscreteLaplace(1000))
WIDE = AdditiveNoise(DiscreteLaplace(210), 7)
GAUSSIAN, SKELLAM = AdditiveNoise(DiscreteGaussian(100)), AdditiveNoise(Skellam(100))
THEOREM2 = papers.theorem2("0.1", 1024, 10**6, 10).mechanism
DOUBLED = [2**k for k in range(13)]


def repeated(
    mechanism: Mechanism, times: int, delta: int = 6, width: Fraction = WIDTH, work: float = 4.0
) -> Callable[[], Sequence[Enclosure]]:
    """epsilon at 10^-delta."""
    level = Fraction(1, 10**delta)
    return lambda: [compose((mechanism, times)).epsilon(level, width, work=work)]


def mixed() -> Sequence[Enclosure]:
    composition: Composition = compose((LAPLACE, 100), (GAUSSIAN, 50), (SKELLAM, 20))
    return [composition.epsilon(Fraction(1, 10**6), Fraction(1, 10**5))]


def pure(epsilon: int) -> Sequence[Enclosure]:
    laplace = AdditiveNoise(DiscreteLaplace(Fraction(1, epsilon)))
    return [
        compose((mechanism, times)).epsilon(Fraction(1, 10**6))
        for mechanism in (RandomizedResponse(epsilon), laplace)
        for times in DOUBLED
    ]


def calibrated() -> Audit:
    family = Family("variance", lambda value: AdditiveNoise(Skellam(value), 32), 65536)
    return calibrate(family, ApproxDP(1, "1e-6"), 64).verified


def peer_laplace(parameter: float, sensitivity: int, times: int, delta: int = 6) -> float:
    loss = peer_loss("from_discrete_laplace_mechanism", parameter, sensitivity)
    return float(loss.self_compose(times).get_epsilon_for_delta(10.0**-delta))


def peer_gaussian() -> float:
    loss = peer_loss("from_discrete_gaussian_mechanism", 10, 1)
    return float(loss.self_compose(1000).get_epsilon_for_delta(1e-6))


def peer_skellam(variance: int, shift: int, times: int) -> float:
    loss = peer_skellam_loss(variance, shift).self_compose(times)
    return float(loss.get_epsilon_for_delta(1e-6))


def peer_mixed() -> float:
    loss: Any = peer_loss("from_discrete_laplace_mechanism", 0.1, 1).self_compose(100)
    loss = loss.compose(peer_loss("from_discrete_gaussian_mechanism", 10, 1).self_compose(50))
    loss = loss.compose(peer_skellam_loss(100, 1).self_compose(20))
    return float(loss.get_epsilon_for_delta(1e-6))


LAPLACES = [
    Case(
        f"composed-laplace-{times}-{delta}",
        f"ε(1e-{delta}), {times} × discrete Laplace ε=0.1",
        repeated(LAPLACE, times, delta),
        0.1,
        1e-12,
        peer=partial(peer_laplace, 0.1, 1, times, delta),
        ratio=10,
    )
    for times in (16, 256, 4096)
    for delta in (6, 12, 15, 30)
]
SKELLAMS = [
    Case(
        f"composed-skellam-{name}",
        f"ε(1e-6), 1000 × Skellam σ²=100, {title}",
        repeated(SKELLAM, 1000, 6, width, work),
        seconds,
        reached,
        megabytes,
        peer=partial(peer_skellam, 100, 1, 1000) if name == "5" else None,
    )
    for name, title, width, work, seconds, reached, megabytes in (
        ("5", "width 1e-5", Fraction(1, 10**5), PATIENT, 10, 1e-5, 1000),
        ("6", "width 1e-6", Fraction(1, 10**6), PATIENT, 60, 1e-6, 4000),
        ("12", "default width", WIDTH, 4.0, 60, 1e-6, 4000),
    )
]
PURE = [
    Case(
        f"composed-pure-{epsilon}",
        f"ε(1e-6), 1…4096 × randomized response and discrete Laplace, ε={epsilon}",
        partial(pure, epsilon),
        1,
        1e-12,
    )
    for epsilon in (1, 5, 20)
]
CASES: Sequence[Case] = (
    *LAPLACES,
    Case(
        "composed-laplace-million",
        "ε(1e-9), 10⁶ × discrete Laplace ε=0.001",
        repeated(FINE, 10**6, 9),
        5,
        1e-10,
        peer=partial(peer_laplace, 0.001, 1, 10**6, 9),
    ),
    Case(
        "composed-laplace-wide",
        "ε(1e-6), 4096 × discrete Laplace ε=1/30 Δ=7",
        repeated(WIDE, 4096),
        1,
        1e-12,
        peer=partial(peer_laplace, 1 / 210, 7, 4096),
    ),
    Case(
        "composed-gaussian",
        "ε(1e-6), 1000 × discrete Gaussian σ²=100",
        repeated(GAUSSIAN, 1000),
        width=1e-10,
        peer=peer_gaussian,
        ratio=1,
    ),
    *SKELLAMS,
    Case(
        "composed-theorem2",
        "ε(1e-6), 64 × Theorem 2, n=1024 ε=0.1 s=10, width 1e-5",
        repeated(THEOREM2, 64, 6, Fraction(1, 10**5)),
        15,
        1e-5,
        peer=partial(peer_skellam, 320**2, 32, 64),
    ),
    Case(
        "composed-mix",
        "ε(1e-6), discrete Laplace 0.1 × 100 + discrete Gaussian σ²=100 × 50 + Skellam 100 × 20",
        mixed,
        20,
        1e-5,
        peer=peer_mixed,
    ),
    *PURE,
    Case(
        "calibrate-skellam",
        "Skellam variance for approx:1,1e-6 over 64 uses, Δ=32",
        calibrated,
        10,
        megabytes=4000,
        verdict="VERIFIED",
    ),
)
