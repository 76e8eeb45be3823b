"""What a benchmark is, and how the peer is asked for the same."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from exactdp.exact.enclosure import Enclosure
from exactdp.verify import Audit

# On Linux a child's peak memory starts at its parent's: nothing more is imported up here.

PEER, PRV = "dp_accounting", "prv_accountant"
PEERS = {"peer": PEER, "prv": PRV}  # the field of a case, and the module that is asked


@dataclass(frozen=True)
class Case:
    """One row: what to compute, its goals, and the same task for the peer (None: it cannot).

    seconds, width (relative), megabytes: at most. ratio: the peer takes at least so many times as
    long. prv: the same task for prv_accountant, a peer beside the other one.
    """

    name: str
    title: str
    compute: Callable[[], Sequence[Enclosure] | Audit]
    seconds: float = math.inf
    width: float = math.inf
    megabytes: float = 500
    verdict: str = ""
    peer: Callable[[], float] | None = None
    ratio: float = 0
    prv: Callable[[], float] | None = None


def show(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> None:
    """Print a table of text and figures; width: where it is not a terminal, for whole rows."""
    from rich.console import Console
    from rich.table import Table

    table = Table(headings[0], title=title)
    for heading in headings[1:]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else width).print(table)


def goal_cells(record: dict[str, Any]) -> list[str]:
    """The goal and whether it is met, where there is one."""
    return (
        [f"{record['goal']:,.0f}", "yes" if record["met"] else "NO"]
        if record.get("goal")
        else ["", ""]
    )


def peer_loss(build: str, *parameters: Any, **settings: Any) -> Any:
    """A privacy loss distribution of the peer, by default as coarse as it makes it by itself."""
    module = importlib.import_module(f"{PEER}.pld.privacy_loss_distribution")
    return getattr(module, build)(*parameters, **settings)


def peer_epsilon(build: str, *parameters: Any, step: float = 1e-4) -> float:
    loss = peer_loss(build, *parameters, value_discretization_interval=step)
    return float(loss.get_epsilon_for_delta(1e-6))


def peer_skellam_loss(variance: int, shift: int, rate: float = 1) -> Any:
    """Hand over both laws, cut 14 deviations out: it has no Skellam of its own."""
    skellam = importlib.import_module("scipy.stats").skellam
    cut = round(14 * math.sqrt(variance))
    outcomes = range(-cut, cut + shift + 1)
    half = variance / 2
    laws = (skellam.pmf([x - d for x in outcomes], half, half) for d in (0, shift))
    return peer_table_loss(
        *(dict(zip(outcomes, map(float, law), strict=True)) for law in laws), rate
    )


def peer_table_loss(
    without: Mapping[int, float], user: Mapping[int, float], rate: float = 1
) -> Any:
    """Of two laws, without a user and with one who takes part with this probability."""
    mixed = {x: (1 - rate) * p + rate * user[x] for x, p in without.items()}
    logs = ({x: math.log(p) for x, p in law.items()} for law in (without, mixed))
    return peer_loss("from_two_probability_mass_functions", *logs, symmetric=rate == 1)
