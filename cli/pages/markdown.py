"""What pages are made of: tables in Markdown and numbers whose digits are all certain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from ...exact import Enclosure

__all__ = ["shown", "table"]

_DIGITS = 6


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column is text, the others are numbers."""
    lines = [_line(columns), _line(["---", *["---:"] * (len(columns) - 1)])]
    return "\n".join([*lines, *map(_line, rows)])


def shown(value: Enclosure, digits: int = _DIGITS) -> str:
    """At most this many significant digits, certain to a unit of the last; else both ends."""
    text = str(value)
    return text if text.startswith("[") or text == "inf" else f"{Decimal(text):.{digits}g}".lower()


def _line(cells: Iterable[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
