"""How costs and balances stand in the database: text that reads back as the same amounts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from . import amounts
from .amounts import Amount

Costs = tuple[tuple[tuple[Amount, Amount], ...], ...]  # limit, level: from below and above


def costs_text(costs: Costs) -> str:
    """What one use costs, as it stands in the database: a point as one amount, else as two."""
    return json.dumps([[_ends_text(*both) for both in levels] for levels in costs])


@lru_cache(maxsize=1 << 14)
def read_costs(text: str) -> Costs:
    """The costs that were written so. Raises ValueError for other text."""
    try:
        costs = tuple(tuple(map(_read_ends, levels)) for levels in json.loads(text))
    except (TypeError, AttributeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError(f"not costs: {text[:40]!r}") from error
    if costs_text(costs) != text:
        raise ValueError(f"not costs: {text[:40]!r}")
    return costs


def _ends_text(lower: Amount, upper: Amount) -> str:
    both = amounts.text(lower), amounts.text(upper)
    return both[0] if both[0] == both[1] else " ".join(both)


def _read_ends(text: str) -> tuple[Amount, Amount]:
    lower, _, upper = text.partition(" ")
    return amounts.read(lower), _at_least_nothing(upper or lower)


def _at_least_nothing(text: str) -> Amount:
    amount = amounts.read(text)
    if amount is not None and amount < 0:
        raise ValueError(f"below 0: {text[:40]!r}")
    return amount


def spent_text(spent: Sequence[Amount]) -> str:
    """A balance, as it stands in the database: an amount for each level."""
    return " ".join(map(amounts.text, spent))


@lru_cache(maxsize=1 << 14)
def read_spent(text: str) -> tuple[Amount, ...]:
    """The balance that was written so. Raises ValueError for other text."""
    return tuple(map(_at_least_nothing, text.split(" ")))
