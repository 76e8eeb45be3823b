"""Commands whose options arrive as they were typed.

Typer converts them by pydantic, whose import takes as long as numpy's. Ours are text, lists of
text, paths and flags, and need no schema; what is anything else is left to Typer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from attrs import frozen
from typer.core import TyperCommand, TyperGroup

try:
    from typer import TyperException as CommandError
except ImportError:  # older Typers raise Click's, which they stand on
    from click import ClickException as CommandError  # type: ignore[assignment]

__all__ = ["NOTES", "CommandError", "PlainCommand", "PlainGroup", "note"]

NOTES: ContextVar[list[str] | None] = ContextVar("exactdp_notes", default=None)
"""Old spellings that were read, and the new ones; told once nothing was wrong with them."""


def note(text: str) -> None:
    """Have this told on stderr in the end."""
    if (notes := NOTES.get()) is not None:
        notes.append(text)


_KINDS: dict[Any, Callable[[Any], Any]] = {bool: bool, str: str, Path: Path, list[str]: list}


@frozen
class _AsTyped:
    """In the place of Typer's own conversion of one option."""

    convert: Callable[[Any], Any]

    def coerce(self, value: Any, **_: object) -> Any:
        if value is None:
            return () if self.convert is list else None
        return self.convert(value)


def _without_schema(params: list[Any]) -> list[Any]:
    for each in params:
        described = getattr(each, "type_descriptor", None)  # older Typers need no schema
        convert = described and _KINDS.get(described.annotation)
        if convert is bool and each.metavar is None:
            each.metavar = ""  # a flag is there or not, and takes nothing
        if convert is not None:
            vars(each).update(_runtime_param=_AsTyped(convert))  # Typer makes its own if missing
    return params


class PlainCommand(TyperCommand):
    """A command that takes text, lists of text, paths and flags, without a schema."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_schema(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """The same for a command of commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_schema(super().get_params(ctx))
