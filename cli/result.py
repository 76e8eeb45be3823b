"""What a command returns: values for scripts, parts for people, the exit code; shown by one."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from fractions import Fraction
from functools import wraps
from typing import Any

from attrs import frozen
from typer import Exit

from ..common.table import Table, csv_text, html_text
from ..exact import OutOfTimeError, ParameterError, UndecidedError, decimal_text, within
from ..exact.budget import backstop
from .options import Budget, Form, Json, Time, read_budget
from .part import Line as Line
from .part import Part as Part


@frozen
class Result:
    """data: for JSON, by `to_json` where it has one; or what makes it, where that takes long.

    parts: for people, in their order. code: the exit code.
    """

    data: Any
    parts: Iterable[Part]
    code: int = 0


def printed(command: Callable[..., Result]) -> Callable[..., int]:
    """The command with `--json` and `--format`: what it returns is printed so.

    Where it has `--time`, what is computed has `--budget` as well.
    """
    signature = inspect.signature(command, eval_str=True)
    asks = "as_json" in signature.parameters  # the command itself: what it does depends on it
    seconds = signature.parameters.get("seconds")
    limit = seconds if seconds is not None and seconds.annotation == Time else None

    @wraps(command)
    def run(*given: Any, as_json: bool, form: str, budget: str | None = None, **named: Any) -> int:
        if form not in (*_FORMS, "table"):
            raise ParameterError(
                f"--format must be one of table, {', '.join(_FORMS)}, got {form[:40]!r}"
            )
        as_json |= form == "json"
        named |= {"as_json": as_json} if asks else {}
        work = last = math.inf
        if limit is not None:
            work, named["seconds"], last = read_budget(budget, named["seconds"], limit.default)
        try:
            with within(work, by_user=True), backstop(last):
                result = command(*given, **named)
            if as_json or form != "table":
                print(_FORMS["json" if as_json else form](result))
            else:
                from .render import show

                show(*result.parts)
        except OutOfTimeError as error:
            raise UndecidedError(str(error)) from error
        if result.code:  # also where the program is run by others than `main`
            raise Exit(result.code)
        return 0

    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=kind)
        for name, usual, kind in (("as_json", False, Json), ("form", "table", Form))
    ]
    if limit is not None:
        usual = inspect.Parameter("budget", more[0].kind, default=None, annotation=Budget)
        more.insert(0, usual)
    own = [each for each in signature.parameters.values() if each.name != "as_json"]
    vars(run)["__signature__"] = signature.replace(parameters=[*own, *more])
    vars(run)["__annotations__"] = command.__annotations__ | {
        parameter.name: parameter.annotation for parameter in more
    }
    return run


def as_json_text(result: Result) -> str:
    """The data; rationals in it as exact text, all else by its `to_json`."""
    data = result.data() if callable(result.data) else result.data
    return json.dumps(data, indent=2, default=_plain)


def as_csv(result: Result) -> str:
    """Facts in two columns, tables as they are, a blank line between them."""
    return "\n".join(_csv(part) for part in result.parts).rstrip("\n")


def as_html(result: Result) -> str:
    """Lists of facts, tables and paragraphs: the inside of a page."""
    return "\n".join(_html(part) for part in result.parts)


def _csv(part: Part) -> str:
    if isinstance(part, Table):
        return part.csv()
    return csv_text(part.items() if isinstance(part, Mapping) else [[_text(part)]])


def _html(part: Part) -> str:
    if isinstance(part, Table):
        return part.html()
    if not isinstance(part, Mapping):
        return f"<p>{html_text(_text(part))}</p>"
    facts = (f"<dt>{html_text(name)}</dt><dd>{html_text(fact)}</dd>" for name, fact in part.items())
    return "<dl>\n" + "\n".join(facts) + "\n</dl>"


def _text(part: Line | str) -> str:
    return part if isinstance(part, str) else part.strong + part.text


def _plain(value: Any) -> object:
    if isinstance(value, Fraction):
        return decimal_text(value)
    return value.value if isinstance(value, Enum) else value.to_json()


_FORMS: Mapping[str, Callable[[Result], str]] = {
    "json": as_json_text,
    "csv": as_csv,
    "html": as_html,
}
