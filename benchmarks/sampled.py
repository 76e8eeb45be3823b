"""Sampled Gaussians, many thousand times: DP-SGD, beside the peer's figure in the same run."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from case import PEER, Case

from exactdp.accounting import compose
from exactdp.exact.enclosure import Enclosure
from exactdp.mechanisms.continuous import ContinuousNoise, Shape
from exactdp.verify import ApproxDP, Audit, calibrate
from exactdp.verify.continuous_families import least_noise

SETTINGS = (
    ("0.01", "1", 1000),
    ("256/60000", "1.1", 14062),
    ("0.001", "0.8", 10_000),
    ("0.1", "2", 100),
    ("0.5", "5", 64),
)
HARD = (  # where other accountants overflow, run out of memory or are far off
    ("0.00033", "4", 10_000, "1.13e-18", 1.5),
    ("1e-4", "0.5", 10**6, "1e-6", 5),
)


def spent(
    rate: str, sigma: str, times: int, delta: str, width: Fraction = Fraction(1, 10**6)
) -> Callable[[], Sequence[Enclosure]]:
    noise = ContinuousNoise(Shape.GAUSSIAN, sigma, 1, "add-remove", rate)
    return lambda: [compose((noise, times)).epsilon(delta, width)]


def peer(rate: str, sigma: str, times: int, delta: str) -> float:
    events = importlib.import_module(PEER)
    event = events.PoissonSampledDpEvent(
        float(Fraction(rate)), events.GaussianDpEvent(float(sigma))
    )
    accountant = importlib.import_module(f"{PEER}.pld").PLDAccountant()
    accountant.compose(events.SelfComposedDpEvent(event, times))
    return float(accountant.get_epsilon(float(delta)))


def calibrated() -> Audit:
    family = least_noise(Shape.GAUSSIAN, 1, "add-remove", "0.01", 1000)
    return calibrate(family, ApproxDP(2, "1e-5"), 1000).verified


CASES: Sequence[Case] = (
    *(
        Case(
            f"sampled-{index}-{delta}",
            f"ε({delta}), {times} × Gaussian σ={sigma}, q={rate}",
            spent(rate, sigma, times, delta),
            1.5,
            1e-6,
            peer=partial(peer, rate, sigma, times, delta),
        )
        for index, (rate, sigma, times) in enumerate(SETTINGS, 1)
        for delta in ("1e-5", "1e-10")
    ),
    *(
        Case(
            f"sampled-hard-{index}",
            f"ε({delta}), {times} × Gaussian σ={sigma}, q={rate}",
            spent(rate, sigma, times, delta),
            seconds,
            1e-4,
            peer=partial(peer, rate, sigma, times, delta),
        )
        for index, (rate, sigma, times, delta, seconds) in enumerate(HARD, 1)
    ),
    Case(
        "calibrate-sampled",
        "σ for approx:2,1e-5 over 1000 uses at q=0.01",
        calibrated,
        10,
        verdict="VERIFIED",
    ),
)
