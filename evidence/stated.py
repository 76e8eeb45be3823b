"""A claim about some uses, as texts; the command that audits it, and what that finds."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, TypeVar

import attrs
from attrs import frozen

from ..accounting.composition.composed import Composition, compose
from ..common.suggest import one_of
from ..exact.number import ParameterError, located
from ..mechanisms.specs.spec import parse_use
from ..verify import Audit, audit, parse_claim

_Row = TypeVar("_Row", bound="Any")


@frozen
class Stated:
    """SPEC[*K] of each use, and CLAIM.

    uses: texts. claim: one.

    >>> Stated(("discrete-laplace:epsilon=0.1",), "pure:0.1").claim
    'pure:0.1'
    """

    uses: tuple[str, ...]
    claim: str

    @property
    def command(self) -> str:
        """What shows it, on the command line."""
        return shlex.join(["exactdp", "audit", *self.uses, "--claim", self.claim])

    def composition(self) -> Composition:
        """All uses together. Raises ParameterError where they cannot be read."""
        uses = (parse_use(text) for text in self.uses)
        return compose(*((spec.mechanism, times) for spec, times in uses))


def settle(stated: Stated) -> Audit:
    """What is certain about it, in the time allowed.

    stated: uses and a claim. Returns an Audit. Raises ParameterError where they cannot be read.

    >>> settle(Stated(("discrete-laplace:epsilon=0.1",), "pure:0.1")).verified
    True
    """
    return audit(stated.composition(), parse_claim(stated.claim))


def read_rows(name: str, make: type[_Row]) -> list[_Row]:
    """The rows of NAME.toml beside this file, each by its fields; ids are distinct."""
    table = tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text("utf-8"))[name]
    known = {each.name for each in attrs.fields(make)}
    rows = []
    for row in table:
        with located(row.get("id")):
            if odd := sorted(row.keys() - known):
                raise ParameterError(f"{odd[0]} is no field of {name}")
        lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
        rows.append(make(**(row | lists)))
    assert len({row.id for row in rows}) == len(rows)
    return rows


def chosen(rows: Iterable[_Row], ids: Sequence[str]) -> list[_Row]:
    """Those of these ids, in their order; all where none is given. Raises ParameterError."""
    known = {row.id: row for row in rows}
    for name in ids:
        one_of(name, known, "ID")
    return [known[name] for name in dict.fromkeys(ids)] if ids else list(known.values())
