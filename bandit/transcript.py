"""The transcript of runs: every release and every decision, for `exactdp check` to verify.

JSON lines. The first is the header: the algorithm and its numbers, how many runs there are, the
evidence of every release that occurs, by a short name, and the SHA-256 of all that stands below it,
so that whoever has the header's digest (its head) notices a run that is left out. Then, batch by
batch and arm by arm,

    run, batch, arm
    users, precision     n and g
    accuracy, modulus    tau and m, where the sum was released by a protocol
    evidence             the name of what is proved of it; null where there is none
    radius               beta: an arm leaves if it is more than 2 beta below the best
    released             the value that left the batch
    estimate             of the arm's mean, from what was released
    stays                whether the arm was kept
    index                in place of radius and stays, where it decides: the upper confidence bound
                         of the arm's mean after this batch, which is the arm's own b-th; the arm
                         with the largest one, the first of several, has the next batch
                         (a policy of one's own may have neither, or an index of its own)

and at a run's end its pulls of every arm, and its chain: the SHA-256 of the header but for its
`sha256`, of the run's number and of all lines of the run. So every run is tied to how many runs
there are, and of which instance. (Version 2, which is read, has no chains; in 2 and 3 some
algorithms have other names.) Whole numbers are exact; floats are written so that they read back
exactly.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..common.atomic_write import write_atomically
from ..exact.number import located
from .evidence import identity, to_json
from .plan import Plan
from .release import Batch
from .results import Results
from .simulation import Released

FORMAT, VERSION = "exactdp bandit transcript", 4
READ = (2, 3, 4)  # 2 is without chains, and until 3 algorithms had other names
UNCHAINED, OLD_NAMES = (
    2,
    {
        "dist-dp-klucb": "dist-dp-klucb-doubling",
        "dist-dp-klucb-tight": "dist-dp-klucb",
        "kl-ucb": "kl-ucb-doubling",
        "kl-ucb-log": "kl-ucb",
    },
)

# the fields of the header
REQUIRED = {"format", "version", "algorithm", "setting", "radius", "runs", "sha256", "evidence"}
OPTIONAL = {"instance", "seed"}


def header(plan: Plan, about: dict[str, Any], below: str) -> dict[str, Any]:
    """The first line. about: runs, and where they were run (instance, seed). below: the digest."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "algorithm": plan.algorithm.name,
        "setting": plan.setting.to_json(),
        "radius": plan.radius.value,
        **about,
        "sha256": below,
        "evidence": [to_json(held) for _, held in plan.releases() if held is not None],
    }


def batch_lines(first: int, seen: Released) -> Iterator[dict[str, Any]]:
    """The lines of one batch of one run. first: the number of the first row's run."""
    batch = seen.batch
    shared = protocol_line(batch)
    decisions = {"stays": seen.stays, "index": seen.index}
    decided = {name: each.tolist() for name, each in decisions.items() if each is not None}
    for place, (arm, value, total) in enumerate(
        zip(seen.arms.tolist(), seen.values.tolist(), seen.totals.tolist(), strict=True)
    ):
        yield {
            "run": first + seen.run,
            "batch": batch.number,
            "arm": arm,
            **shared,
            "released": value,
            "estimate": float((Fraction(total) - batch.centre) / batch.units),
            **{name: each[place] for name, each in decided.items()},
        }


def protocol_line(batch: Batch) -> dict[str, Any]:
    """How a batch is released and decided, as each of its lines says."""
    release = batch.release
    shown: dict[str, Any] = {"users": release.users, "precision": release.precision}
    if release.protocol is not None:
        shown |= {"accuracy": release.protocol.accuracy, "modulus": release.protocol.modulus}
    shown["evidence"] = None if batch.evidence is None else identity(batch.evidence)
    if batch.radius is None:
        return shown
    return shown | {"radius": batch.radius if math.isfinite(batch.radius) else "inf"}


def end_line(run: int, pulls: NDArray[np.int64]) -> dict[str, Any]:
    """The last line of a run."""
    return {"run": run, "pulls": pulls.tolist()}


def write_transcript(path: Path, results: Results, about: dict[str, Any]) -> str:
    """Write the transcript of runs that kept one: whole, or not at all. Returns its head.

    That is the SHA-256 of the header, in hexadecimal digits: who keeps it notices any change.
    """
    head = header(results.plan, about, "")
    below = "".join(map(_written, chained(head, results.lines)))
    head["sha256"] = hashlib.sha256(below.encode()).hexdigest()
    with located(f"transcript: {path}"):
        first = _written(head)
        write_atomically(path, first + below)
    return hashlib.sha256(first.encode()).hexdigest()


class Chain:
    """The chain of one run after the other, line by line."""

    def __init__(self, head: Mapping[str, Any]) -> None:
        about = {name: value for name, value in head.items() if name != "sha256"}
        self._start = hashlib.sha256(_written(about).encode()).hexdigest()
        self._lines: list[str] = []

    def after(self, line: Mapping[str, Any]) -> str | None:
        """The chain of the run where this is its last line, else None."""
        self._lines.append(_written({n: value for n, value in line.items() if n != "chain"}))
        if "pulls" not in line:
            return None
        held = f"{self._start} {line['run']}\n" + "".join(self._lines)
        self._lines = []
        return hashlib.sha256(held.encode()).hexdigest()


def chained(
    head: Mapping[str, Any], lines: Iterable[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """The lines of all runs, each run's chain in its last one."""
    chain = Chain(head)
    for line in lines:
        found = chain.after(line)
        yield line if found is None else {**line, "chain": found}


def _written(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"
