"""What is claimed of some uses: known defects and published deployments, as rows of data.

Of a defect also the twin that is right; of a deployment the mechanism as far as it is published.
"""

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


@frozen
class Bug:
    """A known defect: what is claimed, of which uses, and the twin that is right.

    id, source      its name, and where it is told
    defect          what is wrong, in words
    spec, claim     the uses that the defect leaves, and what is claimed of them, falsely
    repaired        the uses without the defect
    repaired_claim  what is true of these; None for the same claim
    note            more that a reader should know

    >>> bug = next(one for one in read_bugs() if one.id == "bandit-scale")
    >>> bug.stated.command
    'exactdp audit published:epsilon=0.1,batch=1024 --claim pure:0.1'
    """

    id: str
    source: str
    defect: str
    spec: tuple[str, ...]
    claim: str
    repaired: tuple[str, ...]
    repaired_claim: str | None = None
    note: str | None = None

    @property
    def stated(self) -> Stated:
        """What is claimed, and false."""
        return Stated(self.spec, self.claim)

    @property
    def twin(self) -> Stated:
        """What is true of the repaired uses."""
        return Stated(self.repaired, self.repaired_claim or self.claim)


@frozen
class Deployment:
    """What is published of a deployment.

    id, source, deployment  its name, where it is told, and what it is, in words
    spec, claim             the uses, empty where they are not published, and what is stated of them
    assumed                 what had to be assumed, in words

    >>> first = read_deployments()[0]
    >>> first.stated.claim == first.claim
    True
    """

    id: str
    source: str
    deployment: str
    spec: tuple[str, ...]
    claim: str
    assumed: tuple[str, ...]

    @property
    def stated(self) -> Stated | None:
        """What is stated of the mechanism; None where that is not published."""
        return Stated(self.spec, self.claim) if self.spec else None


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


def read_bugs() -> list[Bug]:
    """All of them, in their order.

    >>> read_bugs()[0].stated.command
    'exactdp audit published:epsilon=0.1,batch=1024 --claim pure:0.1'
    """
    return read_rows("bugs", Bug)


def read_deployments() -> list[Deployment]:
    """All of them, in their order.

    Raises nothing of its own.

    >>> len(read_deployments()) > 30
    True
    """
    return read_rows("deployments", Deployment)
