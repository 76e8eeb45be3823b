"""How many functions and files one figure and one audit pass through.

    .venv/bin/python benchmarks/passes.py

Named functions that are entered, in exact/, common/, losses/, mechanisms/, protocols/, accounting/
and verify/, what importing late runs among them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import exactdp
from exactdp.accounting import compose

FOLDERS = ("exact", "common", "losses", "mechanisms", "protocols", "accounting", "verify")
MIXED = (("skellam:variance=100", 3), ("gaussian:sigma=4", 2), ("laplace:scale=3", 1))


def passed(run: Callable[[], object]) -> tuple[int, int]:
    """The functions and the files that it enters, what it imports late among them."""
    seen: set[CodeType] = set()

    def enter(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and not frame.f_code.co_name.startswith("<"):
            seen.add(frame.f_code)

    sys.setprofile(enter)
    try:
        run()
    finally:
        sys.setprofile(None)
    root = Path(exactdp.__file__).resolve().parent.parent
    homes = tuple(str(root / folder) + "/" for folder in FOLDERS)
    entered = [one for one in seen if str(Path(one.co_filename).resolve()).startswith(homes)]
    return len(entered), len({one.co_filename for one in entered})


def mixed_epsilon() -> object:
    """One epsilon of discrete and continuous noise together."""
    return compose(*((exactdp.mechanism(spec), n) for spec, n in MIXED)).epsilon("1e-6")


def skellam_audit() -> object:
    """One verdict about a discrete mechanism."""
    return exactdp.audit("skellam:variance=100", "approx:1,1e-6")


if __name__ == "__main__":
    for run in (mixed_epsilon, skellam_audit):
        functions, files = passed(run)
        print(f"{run.__name__}: {functions} functions in {files} files")
