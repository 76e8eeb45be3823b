"""Seconds, memory and certainty of the main figures, beside the peers that can do the task.

    python benchmarks/run.py [--only NAME] [--json]

Every figure is computed in a fresh process, so that its time and its peak memory are its own.
Seconds count from after the imports; what is imported on first use counts. What takes less than
50 ms is done again and again, by all, and the median counts; our caches are emptied each time.
The peers are dp_accounting and, for sampled Gaussians, prv_accountant, where they are installed.
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
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import aggregation
import composed
import sampled
import samplers
import single
import startup
import vectors
from case import PEER, PEERS, PRV, Case

import bandit
from exactdp.verify import Audit

LIMIT = 300  # seconds for one computation
SHORT, REPEATS = 0.05, 25
CASES: Sequence[Case] = (
    *single.CASES,
    *composed.CASES,
    *sampled.CASES,
    *vectors.CASES,
    *aggregation.CASES,
    *bandit.CASES,
)
NAMES = [*(case.name for case in CASES), "startup", "samplers", "runs"]
MODULES = {
    "peer": (PEER, f"{PEER}.rdp", f"{PEER}.pld.privacy_loss_distribution", "scipy.stats"),
    "prv": (PRV,),
}
Record: TypeAlias = dict[str, Any]


def forget() -> None:
    """Empty our caches."""
    for name, module in list(sys.modules.items()):
        if name.startswith("exactdp."):
            for cached in vars(module).values():
                getattr(cached, "cache_clear", lambda: None)()


def timed(compute: Callable[[], Any]) -> tuple[Any, float]:
    """The result, and the seconds that it took."""

    def once() -> tuple[Any, float]:
        forget()
        start = time.perf_counter()
        return compute(), time.perf_counter() - start

    found, seconds = once()
    if seconds < SHORT:
        seconds = statistics.median(once()[1] for _ in range(REPEATS))
    return found, seconds


def measure(case: Case, who: str) -> Record:
    """In the child: compute, and say what it took."""
    found: Record = {"verdict": ""}
    if who in PEERS:
        for name in MODULES[who]:
            importlib.import_module(name)
        found["answer"], found["seconds"] = timed(getattr(case, who))
    else:
        figures, found["seconds"] = timed(case.compute)
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


def row(case: Case, peers: Sequence[str]) -> Record:
    own = in_child(case.name, "own")
    limits = {"seconds": case.seconds, "width": case.width, "megabytes": case.megabytes}
    limits = {key: most for key, most in limits.items() if most < math.inf}
    met = "error" not in own and own["verdict"] == case.verdict
    met = met and all(own[key] <= most for key, most in limits.items())
    units = {"seconds": "s", "width": "width", "megabytes": "MB"}
    goal = ", ".join(f"≤ {most:g} {units[key]}" for key, most in limits.items())
    goal += f", {case.verdict}" if case.verdict else ""
    goal += f", {case.ratio:g} × peer" if case.ratio else ""
    record: Record = {"name": case.name, "case": case.title, "own": own, "goal": goal, "met": met}
    for who in peers:
        if getattr(case, who):
            record[who] = theirs = in_child(case.name, who)
            if "error" not in theirs and "error" not in own:
                theirs["ratio"] = theirs["seconds"] / own["seconds"]
                theirs["excess"] = theirs["answer"] / own["answer"] - 1
    if "ratio" in record.get("peer", {}):
        record["met"] = met and record["peer"]["ratio"] >= case.ratio
    return record


def show(records: Sequence[Record]) -> None:
    from rich.console import Console
    from rich.table import Table

    title = "every figure in a process of its own (a curve's answer: at its last order)"
    headings = ["case", "seconds", "peak MB", "width", "answer", "goal", "met"]
    headings += ["peer", "peer s", "peer MB", "peer answer", "its excess", "peer s / own s"]
    table = Table(*headings, title=title)
    cases = {case.name: case for case in CASES}

    def cell(source: Record, key: str, form: str) -> str:
        return format(source[key], form) if key in source else ""

    def beside(one: Record, who: str) -> list[str]:
        peer = one.get(who, {})
        able = getattr(cases[one["name"]], who)
        without = ("failed" if peer else "not installed") if able else "cannot"
        figures = [
            PEERS[who],
            cell(peer, "seconds", ".4f") or without,
            cell(peer, "megabytes", ".0f"),
        ]
        figures.append(peer.get("error", cell(peer, "answer", ".10g")))
        return [*figures, cell(peer, "excess", "+.0e"), cell(peer, "ratio", ".2f")]

    for one in records:
        own = one["own"]
        answer = f"{cell(own, 'answer', '.13g')} {own.get('verdict', '')}".strip()
        figures = [cell(own, "seconds", ".3f"), cell(own, "megabytes", ".0f")]
        figures += [cell(own, "width", ".1e"), own.get("error", answer)]
        figures += [one["goal"], "yes" if one["met"] else "NO"]
        table.add_row(one["case"], *figures, *beside(one, "peer"))
        if cases[one["name"]].prv:
            table.add_row(*[""] * 7, *beside(one, "prv"))
    # Not in a terminal: wide enough for a whole row on one line.
    Console(width=None if sys.stdout.isatty() else 260).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", metavar="NAME", choices=NAMES)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--child", choices=["own", *PEERS], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    chosen = [case for case in CASES if asked.only in (None, case.name)]
    if asked.child:
        print(json.dumps(measure(chosen[0], asked.child)))
        return 0
    peers = [who for who, module in PEERS.items() if importlib.util.find_spec(module)]
    for who in PEERS.keys() - peers:
        print(f"{PEERS[who]} is not installed (`make bench` installs it): skipped", file=sys.stderr)
    records = [row(case, peers) for case in chosen]
    starts = startup.records() if asked.only in (None, "startup") else []
    rates = samplers.records() if asked.only in (None, "samplers") else []
    runs = bandit.records() if asked.only in (None, "runs") else []
    if asked.json:
        print(json.dumps([*records, *starts, *rates, *runs], indent=2, ensure_ascii=False))
        return 0
    if records:
        show(records)
    for part, found in ((startup, starts), (samplers, rates), (bandit, runs)):
        if found:
            part.show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
