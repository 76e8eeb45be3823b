"""Many audits, one after the other, each by an equal share of what there is for all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, TypeAlias

import typer

from ..exact import time_limit, within
from ..exact.budget import SECOND, share
from ..verify import Audit
from . import options, output

_WORK = 30 * SECOND  # for each

TimeForAll: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--time", metavar="S", help="seconds for all together (as long as their work takes)"
    ),
]


def settled(jobs: Sequence[tuple[str, Callable[[], Audit]]], seconds: str | None) -> list[Audit]:
    """What each finds. seconds: of all of them, as typed; None: no limit of time, but of work.

    Each has an equal share of what is left: one that is quick leaves more to the others.
    """
    allowed = math.inf if seconds is None else options.read_time(seconds)
    found = []
    with (
        within(_WORK * len(jobs), by_user=True),
        time_limit(allowed),
        output.progress("auditing", len(jobs)) as done,
    ):
        for left, (name, find) in zip(range(len(jobs), 0, -1), jobs, strict=True):
            done(0, name)
            with share(1 / left):
                found.append(find())
            done(1)
    return found
