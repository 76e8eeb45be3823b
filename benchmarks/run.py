"""Seconds, memory and certainty of the main figures, beside dp_accounting where it can do the task.

    python benchmarks/run.py [--only NAME] [--json]

Every figure is computed in a fresh process, so that its time and its peak memory are its own.
Seconds count from after the imports; what is imported on first use counts.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from exactdp.accounting import epsilon, pure_epsilon, renyi_curve
from exactdp.exact.enclosure import Enclosure
from exactdp.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteGaussianSum,
    DiscreteLaplace,
    PolyaDifference,
    Skellam,
    papers,
)
from exactdp.verify import Audit, PureDP, RenyiDP, audit

# On Linux a child's peak memory starts at its parent's: nothing more is imported up here.

PEER = "dp_accounting"
LIMIT = 300  # seconds for one computation
ORDERS = [Fraction(1.1 * (256 / 1.1) ** (i / 63)) for i in range(64)]
HALF, MICRO = Fraction(1, 2), Fraction(1, 10**6)
REAL = (HALF, 2**20, 10**9)  # epsilon, batch, horizon
EIGHT = [2, 3, 4, 6, 8, 16, 32, 64]
Record: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One row: what to compute, its goals, and the same task for the peer (None: it cannot)."""

    name: str
    title: str
    compute: Callable[[], Sequence[Enclosure] | Audit]
    seconds: float = math.inf
    width: float = math.inf
    megabytes: float = 500
    verdict: str = ""
    peer: Callable[[], float] | None = None


def peer_epsilon(build: str, *parameters: Any, step: float = 1e-4) -> float:
    loss = getattr(importlib.import_module(f"{PEER}.pld.privacy_loss_distribution"), build)
    return float(loss(*parameters, value_discretization_interval=step).get_epsilon_for_delta(1e-6))


def peer_gaussian_curve() -> float:
    """Bound the discrete Gaussian by alpha Delta²/(2 sigma²), which is for the continuous one."""
    event = importlib.import_module(PEER).GaussianDpEvent(noise_multiplier=1.0)
    accountant = importlib.import_module(f"{PEER}.rdp").RdpAccountant([float(a) for a in ORDERS])
    return float(accountant.compose(event).rdp[-1])


def peer_skellam() -> float:
    """Hand over both laws, cut 14 deviations out: dp_accounting has no Skellam of its own."""
    skellam = importlib.import_module("scipy.stats").skellam
    outcomes = range(-1400, 1501)
    laws = (skellam.logpmf([x - shift for x in outcomes], 5000, 5000) for shift in (0, 100))
    pair = (dict(zip(outcomes, map(float, law), strict=True)) for law in laws)
    return peer_epsilon("from_two_probability_mass_functions", *pair)


def naive_sum() -> Audit:
    """Claim of a sum of n discrete Gaussians what holds for one of n times the variance."""
    mechanism = AdditiveNoise(DiscreteGaussianSum(128, Fraction(1, 4)))
    return audit(mechanism, RenyiDP(2, Fraction(2, 2 * 32)))


def skellam_epsilon(exponent: int) -> Sequence[Enclosure]:
    return [epsilon(AdditiveNoise(Skellam(10**4), 100), Fraction(1, 10**exponent))]


PEER_GAUSSIAN = partial(peer_epsilon, "from_discrete_gaussian_mechanism")
CASES: Sequence[Case] = (
    Case(
        "renyi-skellam",
        "64 Rényi orders, Skellam σ²=1e4 Δ=100",
        lambda: renyi_curve(AdditiveNoise(Skellam(10**4), 100), ORDERS),
        1,
        1e-12,
    ),
    Case(
        "renyi-gaussian",
        "64 Rényi orders, discrete Gaussian σ²=1e4 Δ=100",
        lambda: renyi_curve(AdditiveNoise(DiscreteGaussian(10**4), 100), ORDERS),
        1,
        1e-12,
        peer=peer_gaussian_curve,
    ),
    Case(
        "renyi-laplace",
        "64 Rényi orders, discrete Laplace 100 Δ=100",
        lambda: renyi_curve(AdditiveNoise(DiscreteLaplace(100), 100), ORDERS),
        1,
        1e-12,
    ),
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
        lambda: [epsilon(AdditiveNoise(DiscreteGaussian(10**10), 1), MICRO)],
        5,
        peer=partial(PEER_GAUSSIAN, 1e5, 1, step=1e-9),
    ),
    Case(
        "gaussian-1e2",
        "ε(1e-6), discrete Gaussian σ=1e2 Δ=100",
        lambda: [epsilon(AdditiveNoise(DiscreteGaussian(10**4), 100), MICRO)],
        peer=partial(PEER_GAUSSIAN, 1e2, 100),
    ),
    Case(
        "laplace",
        "ε(1e-6), discrete Laplace 100 Δ=100",
        lambda: [epsilon(AdditiveNoise(DiscreteLaplace(100), 100), MICRO)],
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
        lambda: [pure_epsilon(AdditiveNoise(PolyaDifference(HALF, 1)))],
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
        lambda: renyi_curve(papers.theorem2(*REAL, 10).mechanism, EIGHT),
        20,
        megabytes=2000,
    ),
    Case(
        "theorem4",
        "Rényi orders 2 and 32, Theorem 4, same, s=10",
        lambda: renyi_curve(papers.theorem4(*REAL, 10).mechanism, [2, 32]),
        30,
        megabytes=2000,
    ),
)


def measure(case: Case, who: str) -> Record:
    """In the child: compute once, and say what it took."""
    found: Record = {"verdict": ""}
    if who == "peer":
        for name in (PEER, f"{PEER}.rdp", f"{PEER}.pld.privacy_loss_distribution", "scipy.stats"):
            importlib.import_module(name)
        start = time.perf_counter()
        found["answer"] = case.peer() if case.peer else None
        found["seconds"] = time.perf_counter() - start
    else:
        start = time.perf_counter()
        figures = case.compute()
        found["seconds"] = time.perf_counter() - start
        if isinstance(figures, Audit):
            found["verdict"], figures = figures.verdict.value, [figures.measured]
        ends = [(Fraction(one.lower), Fraction(one.upper)) for one in figures]
        found["width"] = max(float((high - low) / high) for low, high in ends)
        found["answer"] = float(ends[-1][1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found["megabytes"] = peak / (2**20 if sys.platform == "darwin" else 2**10)
    return found


def in_child(name: str, who: str) -> Record:
    command = [sys.executable, str(Path(__file__).resolve()), "--child", who, "--only", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return {"error": f"not done in {LIMIT} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:120]}
    return dict(json.loads(done.stdout))


def start_up() -> Record:
    """Time `exactdp --help`: the median of five after a first one, which may write bytecode."""
    command = [str(Path(sys.executable).parent / "exactdp"), "--help"]
    seconds = []
    for _ in range(6):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        seconds.append(time.perf_counter() - start)
    own = {"seconds": statistics.median(seconds[1:])}
    found: Record = {"name": "help", "case": "exactdp --help", "own": own, "goal": "≤ 0.5 s"}
    return {**found, "met": own["seconds"] <= 0.5}


def row(case: Case, has_peer: bool) -> Record:
    own = in_child(case.name, "own")
    limits = {"seconds": case.seconds, "width": case.width, "megabytes": case.megabytes}
    limits = {key: most for key, most in limits.items() if most < math.inf}
    met = "error" not in own and own["verdict"] == case.verdict
    met = met and all(own[key] <= most for key, most in limits.items())
    units = {"seconds": "s", "width": "width", "megabytes": "MB"}
    goal = ", ".join(f"≤ {most:g} {units[key]}" for key, most in limits.items())
    goal += f", {case.verdict}" if case.verdict else ""
    record: Record = {"name": case.name, "case": case.title, "own": own, "goal": goal, "met": met}
    if case.peer and has_peer:
        record["peer"] = in_child(case.name, "peer")
        if "error" not in record["peer"] and "error" not in own:
            record["ratio"] = record["peer"]["seconds"] / own["seconds"]
            record["excess"] = record["peer"]["answer"] / own["answer"] - 1
    return record


def show(records: Sequence[Record], has_peer: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    title = "every figure in a process of its own (a curve's answer: at its last order)"
    headings = ["case", "seconds", "peak MB", "width", "answer", "goal", "met"]
    headings += ["peer s", "peer answer", "its excess", "peer s / own s"]
    table = Table(*headings, title=title)
    able = {case.name for case in CASES if case.peer}

    def cell(source: Record, key: str, form: str) -> str:
        return format(source[key], form) if key in source else ""

    for one in records:
        own, peer = one["own"], one.get("peer", {})
        without = "not installed" if one["name"] in able and not has_peer else "peer cannot"
        without = "" if one["name"] == "help" else peer.get("error", without)
        answer = f"{cell(own, 'answer', '.13g')} {own.get('verdict', '')}".strip()
        figures = [cell(own, "seconds", ".3f"), cell(own, "megabytes", ".0f")]
        figures += [cell(own, "width", ".1e"), own.get("error", answer)]
        figures += [one["goal"], "yes" if one["met"] else "NO"]
        figures += [cell(peer, "seconds", ".4f") or without, cell(peer, "answer", ".10g")]
        table.add_row(one["case"], *figures, cell(one, "excess", "+.0e"), cell(one, "ratio", ".2f"))
    # Not in a terminal: wide enough for a whole row on one line.
    Console(width=None if sys.stdout.isatty() else 230).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", metavar="NAME", choices=[*(case.name for case in CASES), "help"])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--child", choices=["own", "peer"], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    chosen = [case for case in CASES if asked.only in (None, case.name)]
    if asked.child:
        print(json.dumps(measure(chosen[0], asked.child)))
        return 0
    has_peer = importlib.util.find_spec(PEER) is not None
    if not has_peer:
        print(f"{PEER} is not installed (`make bench` installs it): skipped", file=sys.stderr)
    records = [row(case, has_peer) for case in chosen]
    if asked.only in (None, "help"):
        records.append(start_up())
    if asked.json:
        print(json.dumps(records, indent=2, ensure_ascii=False))
    else:
        show(records, has_peer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
