"""Files of claims, for `exactdp check-claims`: what is claimed, of which uses, on which line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from ..accounting.composition.composed import Composition
from ..common.suggest import check_keys
from ..exact.number import ParameterError, located
from ..mechanisms.pairs.pair_file import read_text
from ..verify import Claim, parse_claim
from . import options
from .options import Uses

_KEYS = ("spec", "claim", "name")
_MOST = 10_000
_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*(?:claims|\"claims\"|'claims')[ \t]*\]\]", re.MULTILINE)


@frozen
class Stated:
    """One claim of a file. text: as it was written. line: where it begins, if that is known."""

    uses: Uses
    composition: Composition
    claim: Claim
    text: str
    name: str | None
    line: int | None

    @property
    def of(self) -> str:
        """Its name, or what is used."""
        return self.name or " ".join(
            spec.text if times == 1 else f"{spec.text}*{times}" for spec, times in self.uses
        )


def read_claims(path: Path) -> list[Stated]:
    """All claims of a TOML file: `[[claims]]` with spec (a text, or a list of them) and claim.

    Raises ParameterError, naming the file and the claim, before anything is computed.
    """
    import tomllib

    content = read_text(path)
    try:
        table = tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{path}: not TOML: {error}") from error
    with located(path):
        check_keys(table, ("claims",))
        listed = table.get("claims")
        if not isinstance(listed, list) or not listed:
            raise ParameterError("must have [[claims]] tables, with spec and claim")
        if len(listed) > _MOST:
            raise ParameterError(f"must have at most {_MOST} claims, got {len(listed)}")
    begins = [content.count("\n", 0, each.start()) + 1 for each in _HEADER.finditer(content)]
    lines = begins if len(begins) == len(listed) else [None] * len(listed)
    found = []
    for number, (each, line) in enumerate(zip(listed, lines, strict=True), start=1):
        where = f"claim {number}" + ("" if line is None else f", line {line}")
        with located(f"{path}: {where}"):
            found.append(_stated(each, line))
    return found


def _stated(table: Any, line: int | None) -> Stated:
    if not isinstance(table, dict):
        raise ParameterError("must be a table, with spec and claim")
    check_keys(table, _KEYS)
    if missing := [key for key in _KEYS[:2] if key not in table]:
        raise ParameterError(f"{', '.join(missing)} missing")
    specs = table["spec"] if isinstance(table["spec"], list) else [table["spec"]]
    for key, values in (("spec", specs), ("claim", [table["claim"]]), ("name", [_name(table)])):
        if not values or not all(isinstance(value, str) for value in values):
            also = " or a list of texts" if key == "spec" else ""
            raise ParameterError(f"{key} must be text{also}")
    uses = options.read_uses(specs)
    claim = parse_claim(table["claim"])
    composition = options.composed(uses)
    return Stated(uses, composition, claim, table["claim"], table.get("name"), line)


def _name(table: Mapping[str, Any]) -> Any:
    name = table.get("name", "")
    if isinstance(name, str) and not (len(name) <= 200 and (not name or name.isprintable())):
        raise ParameterError("name must be printable, of at most 200 characters")
    return name
