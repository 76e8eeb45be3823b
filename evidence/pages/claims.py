"""The page of the papers' statements: a summary, then each with its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from exactdp.cli.evidence import claim_json, scope_of
from exactdp.evidence.claims import available_workers, read_claims, settle

from .page import link, table

_PAPERS = {
    "D": "Chowdhury and Zhou, Distributed differential privacy in multi-armed bandits (ICLR 2023)",
    "S": "Tenenbaum, Kaplan, Mansour, Stemmer, Differentially private multi-armed bandits in the "
    "shuffle model (NeurIPS 2021)",
    "V": "Kairouz, Liu, Steinke (ICML 2021) and Agarwal, Kairouz, Liu (NeurIPS 2021): vectors",
}
_INTRODUCTION = """\
# The papers' statements, checked

Written by `make pages`; run it again to check every figure here.

A verdict is **HOLDS**, **HOLDS_CORRECTED** (false as written, true with the correction given) or
**FAILS**. Its scope says how far the evidence reaches: *proved* (symbolically, or in interval
arithmetic over the whole range), *certified at points* (an enclosure at each point named, and
nothing is said beyond them) or *a certified counterexample* (a witness). Digits shown are certain.
"""
_Row = Mapping[str, Any]


def page() -> str:
    """All of them, checked now."""
    return text([claim_json(each) for each in settle(read_claims(), available_workers())])


def text(rows: Sequence[_Row]) -> str:
    """The page of these, each as in the JSON of `exactdp claims`."""
    counts = Counter(row["verdict"] for row in rows)
    names = ("HOLDS", "HOLDS_CORRECTED", "FAILS", "UNDECIDED")
    told = ", ".join(f"{counts[name]} {name}" for name in names if counts[name])
    columns = ("id", "verdict", "scope", "statement")
    cells = [(link(row["id"]), row["verdict"], scope_of(row), row["statement"]) for row in rows]
    lines = [_INTRODUCTION, f"{len(rows)} statements: {told}.", "", table(columns, cells, False)]
    for letter, title in _PAPERS.items():
        if ours := [row for row in rows if row["id"].startswith(f"{letter}-")]:
            lines += ["", f"## {title}", *map(_section, ours)]
    return "\n".join(lines) + "\n"


def _section(row: _Row) -> str:
    corrected = f"\n\n**Correction:** {row['correction']}" if row["correction"] else ""
    evidence = "".join(f"\n- {name}: {value}" for name, value in row["evidence"].items())
    return (
        f"\n### {row['id']}\n\n*{row['source']}.* {row['statement']}\n\n"
        f"**{row['verdict']}** ({scope_of(row) or 'open'}){corrected}\n{evidence}"
    )
