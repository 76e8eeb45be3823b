"""Exact draws a second, beside OpenDP's samplers (in Rust) for the two laws that both have.

    python benchmarks/run.py --only samplers [--json]

Random bits are those of the operating system for both. A rate is the median of three turns of
about 0.3 s each, ours and the peer's by turns; what the first draw of a law costs, which prepares
all later ones, stands by itself.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import case

from exactdp.exact.number import Logarithm
from exactdp.mechanisms import (
    Binomial,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    FiniteLaw,
    Law,
    Polya,
    PolyaDifference,
    Skellam,
)
from exactdp.mechanisms.additive.papers import InvertedScale
from exactdp.mechanisms.laws.skellam import poisson_envelope
from exactdp.mechanisms.samplers import (
    RandomBits,
    SystemBits,
    bernoulli_real,
    rounded,
)
from exactdp.mechanisms.samplers.coins import below, bernoulli, coin_exp
from exactdp.mechanisms.samplers.geometric import geometric

PEER = "opendp"
TURNS, SECONDS = 3, 0.3
EPSILON, PRECISION, USERS = Fraction(1, 2), 500, 10**6
SCALE = PRECISION / EPSILON


@dataclass(frozen=True)
class Rate:
    """One row: what makes one draw, its goal in draws a second, and the peer's law and scale."""

    title: str
    one: Callable[[RandomBits], Any]
    goal: float = 0
    peer: tuple[str, float] | None = None


def law(noise: Law, title: str, goal: float = 0, peer: tuple[str, float] | None = None) -> Rate:
    # through `sampler` at each draw's first use: what it prepares counts as the first draw
    made: list[Callable[[RandomBits], int]] = []

    def one(bits: RandomBits) -> int:
        if not made:
            made.append(noise.sampler())
        return made[0](bits)

    return Rate(title, one, goal, peer)


HALF, LOG2 = Fraction(1, 2), Logarithm(Fraction(2))
RATES: Sequence[Rate] = (
    law(DiscreteLaplace(10), "discrete Laplace, scale 10", 20_000, ("make_laplace", 10.0)),
    law(DiscreteLaplace(SCALE), "discrete Laplace, scale 1000", 20_000, ("make_laplace", 1000.0)),
    law(DiscreteLaplace(10**9), "discrete Laplace, scale 1e9", 20_000, ("make_laplace", 1e9)),
    law(DiscreteLaplace(InvertedScale(SCALE)), "discrete Laplace, scale known by a formula"),
    law(DiscreteGaussian(100), "discrete Gaussian, σ²=100", 5_000, ("make_gaussian", 10.0)),
    law(DiscreteGaussian(10**6), "discrete Gaussian, σ²=1e6", 5_000, ("make_gaussian", 1000.0)),
    law(DiscreteGaussianSum(8, 100), "sum of 8 discrete Gaussians, σ²=100"),
    law(DiscreteGaussianSum(USERS, 100), "sum of 1e6 discrete Gaussians, σ²=100"),
    law(DiscreteGaussianSum(USERS, Fraction(1, 4)), "sum of 1e6 discrete Gaussians, σ²=1/4"),
    law(Skellam(100), "Skellam, variance 100"),
    law(Skellam(10**12), "Skellam, variance 1e12"),
    law(Polya(Fraction(1, USERS), SCALE), "Pólya(1e-6, e^(-1/1000))", 200),
    law(DiscreteLaplace(SCALE).share(USERS), "share of Theorem 1: its difference", 200),
    law(PolyaDifference(Fraction(9, 10), SCALE), "Pólya difference, shape 0.9, scale 1000"),
    law(PolyaDifference(1000, 10**9), "Pólya difference, shape 1000, scale 1e9"),
    law(Binomial(1000, HALF), "binomial, 1000 fair coins"),
    law(Binomial(10**12, Fraction(1, 3)), "binomial, 1e12 trials, 1/3"),
    law(Binomial(10**6, LOG2), "binomial, 1e6 trials, log 2"),
    law(FiniteLaw({-3: "1/7", 0: "2/7", 5: "1/2", 6: "1/14"}), "finite, four outcomes"),
    Rate("Poisson, rate 1e6", lambda bits: poisson_envelope(Fraction(10**6)).draw(bits)),
    Rate("geometric, scale 1000", partial(geometric, SCALE)),
    Rate("uniform below 1e9", partial(below, 10**9)),
    Rate("coin, 1/3", partial(bernoulli, Fraction(1, 3))),
    Rate("coin, e^(-1/3)", partial(coin_exp, 1, 3)),
    Rate("coin, log 2", partial(bernoulli_real, LOG2)),
    Rate("rounding 0.3 to 0..500", partial(rounded, Fraction(3, 10), PRECISION)),
)


def per_second(draw: Callable[[int], Any]) -> float:
    """Draws a second of `draw(count)`, of about SECONDS."""
    count = 1
    while True:
        start = time.perf_counter()
        draw(count)
        taken = time.perf_counter() - start
        if taken >= SECONDS / 3:
            return count / taken
        count = max(2 * count, int(count * SECONDS / max(taken, 1e-6) / 2))


def peer_draws(name: str, scale: float) -> Callable[[int], Any]:
    prelude = importlib.import_module(f"{PEER}.prelude")
    prelude.enable_features("contrib")
    metric = prelude.l1_distance if name == "make_laplace" else prelude.l2_distance
    space = prelude.vector_domain(prelude.atom_domain(T=int)), metric(T=int)
    noise = getattr(prelude.m, name)(*space, scale=scale)
    return lambda count: noise([0] * count)


def measured(rate: Rate, has_peer: bool) -> dict[str, Any]:
    bits = SystemBits()
    start = time.perf_counter()
    rate.one(bits)
    found: dict[str, Any] = {"sampler": rate.title, "first_ms": 1e3 * (time.perf_counter() - start)}

    def own(count: int) -> None:
        one = rate.one
        for _ in range(count):
            one(bits)

    peer = peer_draws(*rate.peer) if rate.peer and has_peer else None
    rates, peers = [], []
    for _ in range(TURNS):
        rates.append(per_second(own))
        peers.append(per_second(peer) if peer else math.nan)
    found |= {"per_second": statistics.median(rates), "goal": rate.goal}
    found["met"] = found["per_second"] >= rate.goal
    if peer:
        found |= {"peer_per_second": statistics.median(peers)}
        found["ratio"] = found["per_second"] / found["peer_per_second"]
    return found


def records() -> list[dict[str, Any]]:
    """All rows."""
    has_peer = importlib.util.find_spec(PEER) is not None
    if not has_peer:
        print(f"{PEER} is not installed (`make bench` installs it): skipped", file=sys.stderr)
    return [measured(rate, has_peer) for rate in RATES]


def show(rows: Sequence[dict[str, Any]]) -> None:
    headings = ["sampler", "first draw, ms", "a second", "goal", "met", PEER, "own/peer"]
    cells = []
    for row in rows:
        own = [row["sampler"], f"{row['first_ms']:.2f}", f"{row['per_second']:,.0f}"]
        peer = ["", ""]
        if "ratio" in row:
            peer = [f"{row['peer_per_second']:,.0f}", f"{row['ratio']:.2f}"]
        cells.append([*own, *case.goal_cells(row), *peer])
    case.show("exact draws a second, in one thread", headings, cells, 120)
