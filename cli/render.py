"""How parts of a result look in a terminal: facts, tables, bars and lines, by rich."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from ..common.table import Bar, Cell, Table, visible
from .part import Part

# a word of digits, an exponent, and the brackets and signs around them
_NUMBER = re.compile(r"(?<!\S)[^\s\w]*\d[\d.,/]*(?:e[+-]?\d+)?[^\s\w]*(?!\S)")
_SETTLED = "not violated at any point of the grid"
_OPEN = "no violation found; the grid is not settled"
_COLOURS = {
    **dict.fromkeys(("VERIFIED", "HOLDS", "NO VIOLATION FOUND", _SETTLED), "bold green"),
    **dict.fromkeys(("REFUTED", "FAILS", "VIOLATED", "VIOLATION FOUND"), "bold red"),
    **dict.fromkeys(("UNDECIDED", "HOLDS_CORRECTED", _OPEN), "bold yellow"),
    **dict.fromkeys(("UNKNOWN", "not computed", "does not apply"), "dim"),
}


class _Console(Console):
    """Does not cut off what cannot be broken."""

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*objects, **{"crop": False, **options})


def console() -> Console:
    """Standard output: plain where it is not a terminal."""
    return _Console(highlight=False, emoji=False)  # a colon is a colon, no list of emoji is read


def show(*parts: Part, out: Console | None = None) -> None:
    """Print these, one below the other."""
    out = out or console()
    for part in parts:
        if isinstance(part, Table):
            out.print(_table(part, out))
        elif isinstance(part, Mapping) and out.is_terminal:
            out.print(_facts(part, out))
        elif isinstance(part, Mapping):
            out.print(Text(_plain_facts(part, out)), soft_wrap=True)
        elif isinstance(part, str):
            out.print(_coloured(part), soft_wrap=True)
        else:
            text = Text.assemble((visible(part.strong), "bold"), (visible(part.text), part.style))
            out.print(Padding(text, (0, 0, 0, part.indent)) if part.indent else text)


def _facts(named: Mapping[str, Cell], out: Console) -> RichTable:
    """One fact a line, the names aligned."""
    table = RichTable.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    return _filled(table, [(name, fact) for name, fact in named.items()], out)


def _plain_facts(named: Mapping[str, Cell], out: Console) -> str:
    """The same where it is no terminal: no word is broken, for what is copied is a spec, say."""
    indent = max(map(cell_len, named), default=0) + 2
    lines = []
    for name, fact in named.items():
        text = _cell(fact, out).plain.splitlines() or [""]
        width = max(1, out.width - indent)
        wrapped = [each for line in text for each in _wrapped(line, width)]
        first = f"{visible(name)}{' ' * (indent - cell_len(name))}"
        lines += [first + wrapped[0], *(" " * indent + each for each in wrapped[1:])]
    return "\n".join(lines)


def _wrapped(line: str, width: int) -> list[str]:
    return wrap(line, width, break_long_words=False, break_on_hyphens=False) or [""]


def _table(shown: Table, out: Console) -> RichTable:
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in shown.columns:
        table.add_column(Text(column), overflow="fold")
        if column in shown.right:
            table.columns[-1].justify = "right"
    return _filled(table, shown.rows, out)


def _filled(table: RichTable, rows: Sequence[Sequence[Cell]], out: Console) -> RichTable:
    """No column is narrower than a number in it: a broken number reads as another."""
    filled = [[_cell(cell, out) for cell in row] for row in rows]
    for row in filled:
        table.add_row(*row)
    for place, column in enumerate(table.columns):
        texts = [row[place].plain for row in filled]
        numbers = [_NUMBER.findall(text) for text in (*texts, str(column.header))]
        column.min_width = max((cell_len(each) for held in numbers for each in held), default=0)
        column.no_wrap = all(
            text == "".join(held) for text, held in zip(texts, numbers, strict=False)
        )
    return table


def _cell(cell: Cell, out: Console) -> Text:
    if isinstance(cell, Bar):
        return Text(cell.drawn(out.options.ascii_only))
    return _coloured(str(cell))


def _coloured(text: str) -> Text:
    """A verdict in its colour, also where more follows it."""
    style = _COLOURS.get(text) or _COLOURS.get(word := text.partition(" ")[0], "")
    found = Text(visible(text))
    if style:
        found.stylize(style, 0, len(text) if text in _COLOURS else len(word))
    return found
