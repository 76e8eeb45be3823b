"""What it takes to start: CPU seconds of short commands, beside those of the bare imports.

Each is run again and again in a process of its own, in turn with the imports, and the median of
the ratios counts: a machine that is busy slows down both. Bytecode is written by a first run.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import case

BARE = [sys.executable, "-c", "import numpy, flint, typer"]
PROGRAM = str(Path(sys.executable).parent / "exactdp")
LAPLACE = "discrete-laplace:epsilon=0.1*100"
COMMANDS: Mapping[str, tuple[Sequence[str], float]] = {  # and at most so many times the imports
    "exactdp --help": (["--help"], 1.5),
    "exactdp compose … --json": (["compose", LAPLACE, "--delta", "1e-6", "--json"], 1.5),
    "exactdp compose …": (["compose", LAPLACE, "--delta", "1e-6"], 1.5),
}
REPEATS = 9


def records() -> list[dict[str, Any]]:
    """Seconds of each command, and how many times those of the imports in the same round."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        settings.pop("PYTHONDONTWRITEBYTECODE", None)
        calls = [BARE, *([PROGRAM, *arguments] for arguments, _ in COMMANDS.values())]
        rounds = [[_seconds(call, settings) for call in calls] for _ in range(REPEATS + 1)][1:]
    found = []
    for index, (name, (_, limit)) in enumerate(COMMANDS.items(), start=1):
        ratio = statistics.median(each[index] / each[0] for each in rounds)
        seconds, bare = (statistics.median(each[at] for each in rounds) for at in (index, 0))
        record = {"name": "startup", "case": name, "seconds": seconds, "imports": bare}
        found.append({**record, "ratio": ratio, "goal": limit, "met": ratio <= limit})
    return found


def _seconds(call: Sequence[str], settings: Mapping[str, str]) -> float:
    """CPU seconds, of the user and of the system."""
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(call, capture_output=True, check=True, env=settings)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime - start.ru_utime + end.ru_stime - start.ru_stime


def show(found: Sequence[dict[str, Any]]) -> None:
    headings = ["command", "CPU s", "bare imports s", "ratio", "goal", "met"]
    cells = [
        [
            one["case"],
            *(f"{one[key]:.3f}" for key in ("seconds", "imports")),
            f"{one['ratio']:.2f}",
            f"≤ {one['goal']:g} ×",
            "yes" if one["met"] else "NO",
        ]
        for one in found
    ]
    case.show("start-up, beside `import numpy, flint, typer`", headings, cells, 120)


if __name__ == "__main__":
    show(records())
