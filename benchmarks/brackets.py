"""How far apart the ends are of kinds of releases that are hard, in little time and beside others.

    python benchmarks/brackets.py [--time 3] [--busy 0] [--only WORD] [--json]

Each is asked for its epsilon at delta = 1e-6 by `exactdp compose --time`, in a process of its own;
seconds are those of the processor, with starting up. busy: how many processes compute beside.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from case import show

PLAIN, SAMPLED, FIXED = 0.01, 0.1, 0.3  # relative widths that are asked for
_ADD = "neighbours=add-remove"
KINDS: Sequence[tuple[str, float, str]] = (
    ("lattice", PLAIN, "discrete-laplace:epsilon=0.1*100"),
    ("off a lattice", PLAIN, "skellam:variance=100*20"),
    ("two of them", PLAIN, "discrete-gaussian:sigma2=100*50 skellam:variance=1e6*300"),
    ("sums", PLAIN, "discrete-gaussian-sum:count=128,sigma2=0.25*20"),
    ("many shifts", PLAIN, "polya-difference:shape=0.9,scale=10,sensitivity=5*30"),
    ("bounded", PLAIN, "binomial:trials=1000,probability=1/2*10"),
    ("wrapped", PLAIN, "skellam:variance=100,sensitivity=9,modulus=64*20"),
    ("continuous", PLAIN, "gaussian:sigma=2*10 laplace:scale=2*10"),
    ("mixed", PLAIN, "gaussian:sigma=2*10 skellam:variance=100*20 randomized-response:epsilon=1*3"),
    ("local", PLAIN, "unary-encoding:epsilon=1*20 rappor:f=1/2*5"),
    ("thresholds", PLAIN, "skellam:variance=100,threshold=100,keys=3*5"),
    ("stream", PLAIN, "tree:steps=1024,sigma=10"),
    ("histogram", PLAIN, "discrete-gaussian:sigma2=100,linf=1,dimension=100*5"),
    ("vector", PLAIN, "skellam:variance=1e4,l2=100,dimension=1e6*20"),
    ("sampled Gaussian", SAMPLED, f"gaussian:sigma=1,{_ADD},poisson=0.01*1000"),
    ("little noise", SAMPLED, f"gaussian:sigma=0.1,{_ADD},poisson=0.01*3"),
    ("sampled Laplace", SAMPLED, f"laplace:scale=0.1,{_ADD},poisson=0.01*10"),
    ("sampled Skellam", SAMPLED, f"skellam:variance=100,{_ADD},poisson=0.01*1000"),
    (
        "sampled sums",
        SAMPLED,
        f"discrete-gaussian-sum:count=12,sigma2=0.5,{_ADD},poisson=0.1*100",
    ),
    ("sampled vector", SAMPLED, f"skellam:variance=1e4,l2=100,{_ADD},poisson=0.01*1000"),
    (
        "sampled mixed",
        SAMPLED,
        f"gaussian:sigma=1,{_ADD},poisson=0.01*100 skellam:variance=100,{_ADD},poisson=0.01*100",
    ),
    (
        "federated",
        SAMPLED,
        "federated:clip=1,scale=1000,clients=100,local-stddev=100,dimension=1000,bits=16,"
        "poisson=0.01*100",
    ),
    ("allocated", SAMPLED, f"gaussian:sigma=0.5,{_ADD},allocation=1/1000*10"),
    ("allocated, several", SAMPLED, f"gaussian:sigma=1,{_ADD},allocation=4/100*3"),
    ("batches", FIXED, "gaussian:sigma=1,fixed-size=1/100*100"),
    ("batches, Laplace", FIXED, "laplace:epsilon=1,fixed-size=1/10*20"),
    ("batches, discrete", FIXED, "discrete-gaussian:sigma2=4,fixed-size=1/100*100"),
)


def measured(uses: str, seconds: float) -> dict[str, Any]:
    """Both ends, and the seconds of the processor that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "exactdp.cli", "compose", *uses.split(), "--delta", "1e-6"]
    done = subprocess.run(
        [*command, "--time", str(seconds), "--json"], capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{uses}: {done.stderr.strip()[-300:]}")
    (found,) = json.loads(done.stdout)["results"]
    lower, upper = float(found["lower"]), float(found["upper"])
    width = 0.0 if upper == lower else (upper - lower) / upper if upper < math.inf else math.inf
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"lower": lower, "upper": upper, "width": width, "seconds": spent}


@contextmanager
def beside(count: int) -> Iterator[None]:
    """So many processes that compute all the while."""
    others = [multiprocessing.Process(target=_compute, daemon=True) for _ in range(count)]
    for other in others:
        other.start()
    try:
        yield
    finally:
        for other in others:
            other.kill()


def _compute() -> None:
    while True:
        math.sqrt(2)


def main() -> int:
    """1 where a bracket is wider than its goal."""
    parser = argparse.ArgumentParser(prog="brackets", description=__doc__)
    parser.add_argument("--time", type=float, default=3.0, help="seconds that each may take")
    parser.add_argument("--busy", type=int, default=0, help="processes that compute beside")
    parser.add_argument("--only", default="", help="kinds whose names hold this")
    parser.add_argument("--json", action="store_true", help="a list of records")
    asked = parser.parse_args()
    with beside(asked.busy):
        records = [
            {"kind": kind, "goal": goal, **measured(uses, asked.time)}
            for kind, goal, uses in KINDS
            if asked.only in kind
        ]
    if asked.json:
        print(json.dumps(records, indent=1))
    else:
        rows = [
            [
                one["kind"],
                f"{one['lower']:.6g}",
                f"{one['upper']:.6g}",
                f"{one['width']:.2g}",
                f"{one['goal']:g}",
                "yes" if one["width"] <= one["goal"] else "NO",
                f"{one['seconds']:.2f}",
            ]
            for one in records
        ]
        headings = ("kind", "lower", "upper", "width", "goal", "met", "seconds")
        show(f"ε(1e-6) in {asked.time:g} s, {asked.busy} beside", headings, rows, 100)
    return int(any(one["width"] > one["goal"] for one in records))


if __name__ == "__main__":
    sys.exit(main())
