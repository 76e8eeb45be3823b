"""Sampled users, many thousand times: DP-SGD and every discrete mechanism, beside the peers."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from case import PEER, PRV, Case, peer_loss, peer_skellam_loss, peer_table_loss

from exactdp.accounting import compose
from exactdp.exact.enclosure import Enclosure
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    FixedSize,
    Mechanism,
    RandomizedResponse,
    Sampled,
    Skellam,
)
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.mechanisms.sampling.allocation import Allocation
from exactdp.verify import ApproxDP, Audit, audit, calibrate
from exactdp.verify.families import choose

SETTINGS = (
    ("0.01", "1", 1000),
    ("256/60000", "1.1", 14062),
    ("0.001", "0.8", 10_000),
    ("0.1", "2", 100),
    ("0.5", "5", 64),
)
HARD = (  # where other accountants overflow, run out of memory or are far off
    (("0.00033", "4", 10_000, "1.13e-18"), 1.5),
    (("1e-4", "0.5", 10**6, "1e-6"), 5.0),
)
RATE, USES = "0.01", 1000  # of the discrete mechanisms
BATCH = "0.001", "0.8", 10_000  # Lebeda, Regehr, Kamath and Steinke, "Avoiding pitfalls", 2024


def gaussian(rate: str, sigma: str) -> Mechanism:
    return ContinuousNoise(Shape.GAUSSIAN, sigma, 1, "add-remove", rate)


def batches() -> Mechanism:
    """Batches of one size: who is replaced moves the sum by twice as much."""
    return FixedSize(ContinuousNoise(Shape.GAUSSIAN, BATCH[1], 2), 1, 1000)


def spent(
    *uses: tuple[Mechanism, int], delta: str, width: Fraction = Fraction(1, 10**6)
) -> Callable[[], Sequence[Enclosure]]:
    return lambda: [compose(*uses).epsilon(delta, width)]


def peer(rate: str, sigma: str, times: int, delta: str) -> float:
    events = importlib.import_module(PEER)
    event = events.PoissonSampledDpEvent(
        float(Fraction(rate)), events.GaussianDpEvent(float(sigma))
    )
    accountant = importlib.import_module(f"{PEER}.pld").PLDAccountant()
    accountant.compose(events.SelfComposedDpEvent(event, times))
    return float(accountant.get_epsilon(float(delta)))


def prv(rate: str, sigma: str, times: int, delta: str) -> float:
    """The upper end of its bracket, which is to be within 0.01 of the truth."""
    module = importlib.import_module(PRV)
    mechanism = module.PoissonSubsampledGaussianMechanism(float(Fraction(rate)), float(sigma))
    accountant = module.PRVAccountant(
        prvs=[mechanism],
        max_self_compositions=[times],
        eps_error=0.01,
        delta_error=float(delta) / 1000,
    )
    return float(accountant.compute_epsilon(float(delta), [times])[2])


def composed(loss: Callable[[], Any], times: int, delta: float) -> float:
    return float(loss().self_compose(times).get_epsilon_for_delta(delta))


def peer_response() -> Any:
    keep = 1 / (1 + math.exp(-1))
    return peer_table_loss({0: keep, 1: 1 - keep}, {0: 1 - keep, 1: keep}, float(RATE))


def peer_mixed() -> float:
    loss = peer_loss("from_gaussian_mechanism", 1, sampling_prob=float(RATE)).self_compose(USES)
    loss = loss.compose(peer_skellam_loss(100, 1, float(RATE)).self_compose(USES))
    return float(loss.get_epsilon_for_delta(1e-5))


def calibrated() -> Audit:
    family = choose("gaussian", "1", 1000, "0.01").family
    return calibrate(family, ApproxDP(2, "1e-5"), 1000).verified


def dp_sgd(
    name: str, setting: tuple[str, str, int, str], seconds: float, width: float = 1e-6
) -> Case:
    rate, sigma, times, delta = setting
    return Case(
        name,
        f"ε({delta}), {times} × Gaussian σ={sigma}, q={rate}",
        spent((gaussian(rate, sigma), times), delta=delta),
        seconds,
        width,
        peer=partial(peer, *setting),
        prv=partial(prv, *setting),
    )


DISCRETE: Sequence[tuple[str, str, Mechanism, Callable[[], Any]]] = (
    (
        "laplace",
        "discrete Laplace ε=1 Δ=3",
        AdditiveNoise(DiscreteLaplace(3), 3),
        partial(peer_loss, "from_discrete_laplace_mechanism", 1 / 3, 3, sampling_prob=float(RATE)),
    ),
    (
        "gaussian",
        "discrete Gaussian σ²=4",
        AdditiveNoise(DiscreteGaussian(4)),
        partial(peer_loss, "from_discrete_gaussian_mechanism", 2, sampling_prob=float(RATE)),
    ),
    (
        "skellam",
        "Skellam σ²=4",
        AdditiveNoise(Skellam(4)),
        partial(peer_skellam_loss, 4, 1, float(RATE)),
    ),
    ("response", "randomized response ε=1", RandomizedResponse(1), peer_response),
)
CASES: Sequence[Case] = (
    *(
        dp_sgd(f"sampled-{index}-{delta}", (*setting, delta), 1.5)
        for index, setting in enumerate(SETTINGS, 1)
        for delta in ("1e-5", "1e-10")
    ),
    *(
        dp_sgd(f"sampled-hard-{index}", setting, seconds, 1e-4)
        for index, (setting, seconds) in enumerate(HARD, 1)
    ),
    dp_sgd("sampled-batches-poisson", (*BATCH, "1e-6"), 1.5),
    Case(
        "sampled-batches-one",
        "ε(1e-6), 1 × Gaussian σ=0.8 Δ=2, 1 of 1000 users",
        spent((batches(), 1), delta="1e-6"),
        1.5,
        1e-6,
    ),
    Case(
        "sampled-batches-many",
        "approx:10,1e-6, 10000 × Gaussian σ=0.8 Δ=2, 1 of 1000 users",
        lambda: audit(compose((batches(), BATCH[2])), ApproxDP(10, "1e-6")),
        10,
        verdict="REFUTED",
    ),
    *(
        Case(
            f"sampled-{name}",
            f"ε(1e-5), {USES} × {title}, q={RATE}",
            spent((Sampled(mechanism, RATE), USES), delta="1e-5"),
            5,
            1e-6,
            peer=partial(composed, loss, USES, 1e-5),
        )
        for name, title, mechanism, loss in DISCRETE
    ),
    *(
        Case(
            f"sampled-allocation-{epochs}",
            f"ε(1e-5), {epochs} × Gaussian σ=1, 1 of 1000 steps",
            spent((Allocation(1, 1, 1, 1000), epochs), delta="1e-5"),
            seconds,
            width,
        )
        for epochs, seconds, width in ((1, 1.5, 1e-6), (10, 5, 1e-3))
    ),
    Case(
        "sampled-mixed",
        f"ε(1e-5), {USES} × Gaussian σ=1 and {USES} × Skellam σ²=100, q={RATE}",
        spent(
            (gaussian(RATE, "1"), USES),
            (Sampled(AdditiveNoise(Skellam(100)), RATE), USES),
            delta="1e-5",
        ),
        1.5,
        1e-6,
        peer=peer_mixed,
    ),
    Case(
        "calibrate-sampled",
        "σ for approx:2,1e-5 over 1000 uses at q=0.01",
        calibrated,
        10,
        verdict="VERIFIED",
    ),
)
