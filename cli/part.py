"""What a command shows, part by part: facts, tables, text, lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from attrs import frozen

from ..common.table import Cell, Table


@frozen
class Line:
    """Text by itself. style: of a terminal. wraps: at its width; strong: how it begins, in bold."""

    text: str
    style: str = ""
    wraps: bool = True
    strong: str = ""
    indent: int = 0


# facts; rows; text; one line, however long
Part: TypeAlias = Mapping[str, Cell] | Table | Line | str
