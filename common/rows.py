"""Results as rows: what notebooks show and pandas takes is made from the same list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from fractions import Fraction
from html import escape
from typing import Any

from ..exact.enclosure import Enclosure
from ..exact.number import decimal_text
from ..exact.rounding import float_above, float_below
from .extra import bring


class Rows(ABC):
    """A result that can be read as rows with the same keys."""

    @abstractmethod
    def rows(self) -> list[dict[str, object]]:
        """One dict a row; values are text, exact numbers, enclosures or None."""

    def to_json(self) -> list[dict[str, Any]]:
        """The rows for `json.dumps`: text, numbers, None, and enclosures by both their ends.

        Exact numbers are text; ends are rounded outward: what is read back contains the truth.
        """
        return [{name: _json(value) for name, value in row.items()} for row in self.rows()]

    def to_frame(self) -> Any:
        """The rows as a pandas.DataFrame of text and floats.

        An enclosure makes two columns, NAME_lower rounded down and NAME_upper rounded up. Raises
        ImportError where pandas is not installed.
        """
        return bring("pandas", "data").DataFrame([_cells(row) for row in self.rows()])

    def _repr_html_(self) -> str:
        rows = self.rows()
        head = "".join(f"<th>{escape(name)}</th>" for name in rows[0]) if rows else ""
        body = "".join(
            f"<tr>{''.join(f'<td>{_html(value)}</td>' for value in row.values())}</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def written(value: object) -> str:
    """An exact number, or a frozen value by its class and fields, as one would write it."""
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return decimal_text(value)
    if isinstance(value, Rows):
        return repr(value)
    named = getattr(value, "__attrs_attrs__", None) or (is_dataclass(value) and fields(value))
    if not named or isinstance(value, (type, Enclosure)):
        return str(value)
    held = ((part.name, getattr(value, part.name)) for part in named)
    parts = (f"{name}={written(one)}" for name, one in held if one is not None)
    return f"{type(value).__name__}({', '.join(parts)})"


def _json(value: object) -> object:
    if isinstance(value, Enclosure):
        return value.to_json()
    return value if value is None or isinstance(value, bool | int | str) else written(value)


def _html(value: object) -> str:
    if isinstance(value, Enclosure):
        return value._repr_html_()
    return "" if value is None else escape(written(value))


def _cells(row: dict[str, object]) -> dict[str, object]:
    cells: dict[str, object] = {}
    for name, value in row.items():
        if isinstance(value, Enclosure):
            cells[f"{name}_lower"] = float_below(value.lower)
            cells[f"{name}_upper"] = float_above(value.upper)
        else:
            cells[name] = float(value) if isinstance(value, Fraction) else value
    return cells
