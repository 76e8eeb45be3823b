"""What pages are made of: paragraphs, and tables in Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

__all__ = ["filled", "table"]


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column is text, the others are numbers."""
    lines = [_line(columns), _line(["---", *["---:"] * (len(columns) - 1)])]
    return "\n".join([*lines, *map(_line, rows)])


def filled(text: str) -> str:
    """Its paragraphs in lines of equal length; tables, headings and pictures as they are."""
    return "\n\n".join(
        block
        if block.startswith(("|", "#", "!"))
        else textwrap.fill(block, 100, break_long_words=False, break_on_hyphens=False)
        for block in text.split("\n\n")
    )


def _line(cells: Iterable[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
