"""Tables as values: what a terminal, CSV, Markdown and HTML show is made from the same rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Any, TypeAlias

from attrs import frozen

from ..exact.enclosure import Enclosure

_FORMULAS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")  # the last four: of full width
_NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?")
_DIGITS = 9  # of a figure in a page; its ends are in the cell's title
VERDICTS = ("VERIFIED", "REFUTED", "UNDECIDED", "valid", "not valid", "undecided")  # have colours


@frozen
class Bar:
    """A share (0..1) of so many cells: drawn in a terminal, nothing elsewhere."""

    share: float
    cells: int = 20

    def drawn(self, ascii_only: bool = False) -> str:
        """In eighths of a cell, where the output can."""
        eighths = round(min(max(self.share, 0.0), 1.0) * self.cells * 8)
        if ascii_only:
            return "#" * round(eighths / 8)
        whole, rest = divmod(eighths, 8)
        return "█" * whole + (" ▏▎▍▌▋▊▉"[rest] if rest else "")

    def __str__(self) -> str:
        return ""


Cell: TypeAlias = str | Enclosure | Bar


@frozen
class Table:
    """Rows under columns.

    caption: what it shows. right: the columns that are aligned right. folded: whether a page shows
    it only when it is opened.

    >>> print(Table(("a", "b"), [("x|y", "1")], right=("b",)).markdown())
    | a | b |
    | --- | ---: |
    | x\\|y | 1 |
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    right: Collection[str] = ()
    folded: bool = False

    def to_json(self) -> dict[str, Any]:
        """Columns and rows; an enclosure with both its ends, rounded outward."""
        rows = [[str(cell) if isinstance(cell, Bar) else cell for cell in row] for row in self.rows]
        return {"caption": self.caption, "columns": [*self.columns], "rows": rows}

    def csv(self) -> str:
        """A line for the columns and one for each row."""
        return csv_text([self.columns, *self.rows])

    def markdown(self) -> str:
        """As GitHub and Sphinx read it."""
        rules = ("---:" if name in self.right else "---" for name in self.columns)
        return "\n".join(map(_markdown_line, [self.columns, [*rules], *self.rows]))

    def html(self) -> str:
        """A <table>; an enclosure with its ends as title and data, a verdict with its class."""
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.columns)
        body = "\n".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in self.rows)
        caption = f"<caption>{escape(self.caption)}</caption>\n" if self.caption else ""
        return (
            f"<table>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
        )


def visible(text: str) -> str:
    """Text without what acts on a terminal or turns its order: such characters by their escapes.

    Those are all that are not printable (Unicode's categories C and Z, but for the space), and no
    newline.

    >>> visible("eve\\u202eada\\x1b[31m")
    'eve\\\\u202eada\\\\x1b[31m'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows as lines of CSV; text that is no number and begins like a formula stays text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow(
            [cell if _NUMBER.fullmatch(str(cell)) else no_formula(_visible(cell)) for cell in row]
        )
    return text.getvalue()


def _visible(cell: object) -> object:
    return visible(cell) if isinstance(cell, str) else cell


def no_formula(value: Any) -> Any:
    """What a spreadsheet would take for a formula is text to it with an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value


def html_text(cell: Cell) -> str:
    """A cell inside HTML; of an enclosure not more digits than are read, rounded up."""
    text = escape(visible(str(cell)))
    if isinstance(cell, Enclosure):
        if len(text) > _DIGITS and not text.startswith("["):
            text = min(text, f"{cell:.{_DIGITS}g}", key=len)
        low, high = cell.to_json().values()
        ends = f'data-lower="{low}" data-upper="{high}"'
        return f'<span title="certified: [{low}, {high}]" {ends}>{text}</span>'
    return f'<span class="{text.replace(" ", "-")}">{text}</span>' if cell in VERDICTS else text


def _html_cell(cell: Cell) -> str:
    kind = ' class="number"' if isinstance(cell, Enclosure) else ""
    return f"<td{kind}>{html_text(cell)}</td>"


def _markdown_line(cells: Sequence[Cell]) -> str:
    escaped = (visible(str(cell)).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(escaped)} |"
