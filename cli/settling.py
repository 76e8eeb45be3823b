"""Many audits, one after the other, in the time that there is for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias

import typer

from ..exact import time_left, time_limit
from ..verify import Audit
from . import options, output
from .options import CHECKING_TIME

TimeForAll: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="S", help=f"seconds for all together ({CHECKING_TIME} for each audit)"
    ),
]


def settled(jobs: Sequence[tuple[str, Callable[[], Audit]]], seconds: str | None) -> list[Audit]:
    """What each finds. seconds: of all of them, as typed; None: so many for each.

    Each has an equal share of what is left: one that is quick leaves more to the others.
    """
    allowed = float(CHECKING_TIME) * len(jobs) if seconds is None else options.read_time(seconds)
    found = []
    with time_limit(allowed), output.progress("auditing", len(jobs)) as done:
        for left, (name, find) in zip(range(len(jobs), 0, -1), jobs, strict=True):
            done(0, name)
            with time_limit(time_left() / left):
                found.append(find())
            done(1)
    return found
