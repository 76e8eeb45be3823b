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

and at a run's end its pulls of every arm. Whole numbers are exact; floats are written so that they
read back exactly.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exact.atomic_write import write_atomically
from ..exact.number import located
from .evidence import identity, to_json
from .phase import Phase
from .played import Released
from .prepare import Prepared
from .results import Results

FORMAT, VERSION = "exactdp bandit transcript", 2

# the fields of the header
REQUIRED = {"format", "version", "algorithm", "setting", "radius", "runs", "sha256", "evidence"}
OPTIONAL = {"instance", "seed"}


def header(prepared: Prepared, about: dict[str, Any], below: str) -> dict[str, Any]:
    """The first line. about: runs, and where they were run (instance, seed). below: the digest."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "algorithm": prepared.algorithm.name,
        "setting": prepared.setting.to_json(),
        "radius": prepared.radius.value,
        **about,
        "sha256": below,
        "evidence": [to_json(held) for _, held in prepared.releases() if held is not None],
    }


def batch_lines(first: int, seen: Released) -> Iterator[dict[str, Any]]:
    """The lines of one batch of one run. first: the number of the first row's run."""
    phase = seen.phase
    shared = protocol_line(phase)
    decided = {"stays": seen.stays, "index": seen.index}
    told = {name: each.tolist() for name, each in decided.items() if each is not None}
    for place, (arm, value, total) in enumerate(
        zip(seen.arms.tolist(), seen.values.tolist(), seen.totals.tolist(), strict=True)
    ):
        yield {
            "run": first + seen.run,
            "batch": phase.number,
            "arm": arm,
            **shared,
            "released": value,
            "estimate": float((Fraction(total) - phase.centre) / phase.units),
            **{name: each[place] for name, each in told.items()},
        }


def protocol_line(phase: Phase) -> dict[str, Any]:
    """How a batch is released and decided, as each of its lines says."""
    release = phase.release
    shown: dict[str, Any] = {"users": release.users, "precision": release.precision}
    if release.protocol is not None:
        shown |= {"accuracy": release.protocol.accuracy, "modulus": release.protocol.modulus}
    shown["evidence"] = None if phase.evidence is None else identity(phase.evidence)
    if phase.radius is None:
        return shown
    return shown | {"radius": phase.radius if math.isfinite(phase.radius) else "inf"}


def end_line(run: int, pulls: NDArray[np.int64]) -> dict[str, Any]:
    """The last line of a run."""
    return {"run": run, "pulls": pulls.tolist()}


def write_transcript(path: Path, results: Results, about: dict[str, Any]) -> str:
    """Write the transcript of runs that kept one: whole, or not at all. Returns its head.

    That is the SHA-256 of the header, in hexadecimal digits: who keeps it notices any change.
    """
    below = "".join(map(_written, results.lines))
    digest = hashlib.sha256(below.encode()).hexdigest()
    with located(f"transcript: {path}"):
        first = _written(header(results.prepared, about, digest))
        write_atomically(path, first + below)
    return hashlib.sha256(first.encode()).hexdigest()


def _written(line: dict[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"
