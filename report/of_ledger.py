"""The report of a ledger: its limits, how much of them users have spent, and what was charged.

No user is named: a page is handed on, and who took part in what is as secret as the data.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from ..common.table import Cell, Table
from ..exact import Enclosure, decimal_text
from .page import Picture, Section
from .pictures import spent_svg

if TYPE_CHECKING:
    from ..ledger.checking import Checked
    from ..ledger.limits import Limit
    from ..ledger.reading import Overview

STEPS = 20  # of the limit, in the distribution
_LIMITS = ("limit", "for every user", "counted", "spent most", "left to that user")
_CHARGED = ("mechanism", "state", "entries", "uses")
_OPEN = (
    "Whether everything that was released was charged: a ledger cannot know of what was not.",
    "Whether the chain was written anew as a whole: compare the head with one kept elsewhere.",
    "Whether users are who they seem: one person under two names has two balances.",
)


def of_ledger(url: str, found: Checked, overview: Overview | None) -> tuple[str, list[Section]]:
    """In one line, and as sections. overview: what is in it; None where it is not right."""
    state = "valid" if found.valid else "not valid"
    again = f"exactdp ledger check {shlex.quote(url)} --head {found.head}"
    facts: dict[str, Cell] = {"ledger": state, "why": found.reason, "head": found.head}
    checked = Section("checked", "What the check found", facts=facts, text=(f"Again: {again}",))
    if overview is None:
        return state, [checked]
    limits = [
        (
            limit.name,
            str(limit.claim),
            _counted(limit),
            *(_dearest(limit, overview.spent[number])),
        )
        for number, limit in enumerate(overview.limits)
    ]
    charged = [
        (mechanism, became, str(entries), str(uses))
        for (mechanism, became), (entries, uses) in sorted(overview.charged.items())
    ]
    sections = [
        checked,
        Section("limits", "Limits", tables=(Table(_LIMITS, limits, "Limits of every user"),)),
        *(_distribution(number, limit, overview) for number, limit in enumerate(overview.limits)),
        Section(
            "charged",
            "What was charged",
            text=("An entry is a mechanism that was charged to one user, with all its releases.",),
            tables=(Table(_CHARGED, charged, "Entries by mechanism"),),
        ),
        Section("open", "What was not checked", points=_OPEN),
    ]
    claims = " and ".join(str(limit.claim) for limit in overview.limits)
    return f"every user within {claims}: {state}", sections


def steps(limit: Limit, spent: Counter[Enclosure]) -> list[int]:
    """How many users have spent 0-5 %, 5-10 %, ... of the limit, by what was charged."""
    found = [0] * STEPS
    for each, users in spent.items():
        share = Fraction(each.upper) / limit.amount if limit.amount else Fraction(0)
        found[min(int(STEPS * share), STEPS - 1)] += users
    return found


def _distribution(number: int, limit: Limit, overview: Overview) -> Section:
    counts = steps(limit, overview.spent[number])
    ends = [f"{100 * k // STEPS} % to {100 * (k + 1) // STEPS} %" for k in range(STEPS)]
    rows = [(end, str(count)) for end, count in zip(ends, counts, strict=True)]
    text = f"Of {limit.claim}: {sum(counts)} users, by the share of the limit that is spent."
    caption = "How many users have spent how much of the limit, in %"
    return Section(
        f"spent-{number}",
        f"Spent of {limit.name}",
        text=(text,),
        tables=(Table(("spent", "users"), rows, caption, folded=True),),
        picture=Picture(spent_svg(counts), caption),
    )


def _counted(limit: Limit) -> str:
    what = f"project {limit.project}" if limit.project else "everything"
    if limit.is_planned:
        what += ", by a plan of " + ", ".join(f"{one.title}*{one.room}" for one in limit.levels)
    return what if limit.days is None else f"{what} in {limit.days} days"


def _dearest(limit: Limit, spent: Counter[Enclosure]) -> Sequence[Cell]:
    """What the user who has spent most has spent, and has left."""
    if not spent:
        return "0", decimal_text(limit.amount)
    most = max(spent, key=lambda each: Fraction(each.upper))
    return most, most.negated().plus(limit.amount)
