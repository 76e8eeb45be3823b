"""How `exactdp ledger show` looks in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..exact import Enclosure
from .render import facts, grid, show, shown

_MOST = 50  # rows of a table


def ledger(url: str, data: Mapping[str, Any]) -> None:
    """Limits, what each user has spent and has left, and the latest entries."""
    limits = " and ".join(limit["claim"] for limit in data["limits"])
    people, entries = data["users"], data["entries"]
    spent = [(each["user"], _text(each["spent"]), _text(each["left"])) for each in people[:_MOST]]
    latest = [
        (each["key"], each["user"], each["mechanism"], str(each["times"]), each["state"])
        for each in entries[-_MOST:]
    ]
    show(
        facts({"ledger": url, "limit": limits, "head": data["head"]}),
        grid("user", "spent", "left", rows=spent, right=("spent", "left")),
        grid("key", "user", "mechanism", "times", "state", rows=latest, right=("times",)),
    )
    for what, every in (("users", people), ("entries", entries)):
        if len(every) > _MOST:
            show(facts({what: f"{len(every)} in all; --json or `ledger export` has every one"}))


def _text(ends: Mapping[str, str]) -> str:
    return shown(Enclosure.from_json(dict(ends)))
