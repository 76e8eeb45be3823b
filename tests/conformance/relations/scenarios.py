"""What is held against what: lists of mechanisms as one would type them, and what they cost.

Everything is a frozen value of exact text, so that a case that fails can be typed again.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from exactdp.exact import decimal_text
from exactdp.mechanisms import Mechanism
from exactdp.mechanisms.specs.spec import parse

_FOLDER = tempfile.TemporaryDirectory(prefix="exactdp-relations-")


@dataclass(frozen=True)
class Table:
    """Two laws on named outcomes, as a file holds them."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def swapped(self) -> Table:
        """The two datasets the other way round."""
        return Table(self.q, self.p)

    def text(self) -> str:
        """The file."""
        rows = zip(self.p, self.q, strict=True)
        return "outcome,p,q\n" + "".join(f"x{i},{p},{q}\n" for i, (p, q) in enumerate(rows))


@dataclass(frozen=True)
class Spec:
    """A mechanism: NAME:key=value,...; `table` is the content of a pmf file."""

    name: str
    keys: tuple[tuple[str, str], ...]
    table: Table | None = None

    def __getitem__(self, key: str) -> str:
        return dict(self.keys)[key]

    def __contains__(self, key: str) -> bool:
        return key in dict(self.keys)

    def but(self, **changed: object) -> Spec:
        """The same with other keys; None takes one away."""
        keys = dict(self.keys) | {key: _text(value) for key, value in changed.items()}
        return replace(self, keys=tuple((k, v) for k, v in keys.items() if v is not None))

    def typed(self) -> str:
        """What one types; a table is written to a file first."""
        keys = list(self.keys)
        if self.table is not None:
            keys.insert(0, ("file", str(_written(self.table))))
        return f"{self.name}:" + ",".join(f"{key}={value}" for key, value in keys)

    def mechanism(self) -> Mechanism:
        """What it names."""
        return _parsed(self.typed())

    def __str__(self) -> str:
        keys = ",".join(f"{key}={value}" for key, value in self.keys)
        if self.table is None:
            return f"{self.name}:{keys}"
        p, q = (" ".join(map(str, column)) for column in (self.table.p, self.table.q))
        return f"{self.name}:{keys}<p: {p}; q: {q}>"


def spec(name: str, **keys: object) -> Spec:
    """A spec without a file."""
    return Spec(name, tuple((k, t) for k, v in keys.items() if (t := _text(v)) is not None))


def pmf(table: Table, slack: Fraction = Fraction(0)) -> Spec:
    """A user's own pair."""
    return Spec("pmf", (("slack", decimal_text(slack)),) if slack else (), table)


@dataclass(frozen=True)
class Scenario:
    """Specs and how often each is used."""

    uses: tuple[tuple[Spec, int], ...]

    @staticmethod
    def of(*uses: Spec | tuple[Spec, int]) -> Scenario:
        """Specs, or (spec, times)."""
        return Scenario(tuple(use if isinstance(use, tuple) else (use, 1) for use in uses))

    @property
    def times(self) -> int:
        """How many uses there are altogether."""
        return sum(times for _, times in self.uses)

    def plus(self, *uses: Spec | tuple[Spec, int]) -> Scenario:
        """More uses."""
        return Scenario(self.uses + Scenario.of(*uses).uses)

    def typed(self) -> list[str]:
        """The arguments of the command line."""
        return [one.typed() + (f"*{times}" if times > 1 else "") for one, times in self.uses]

    def __str__(self) -> str:
        return " + ".join(f"{one}*{times}" for one, times in self.uses)


@dataclass(frozen=True)
class Cost:
    """A quantity of a scenario: pure, zcdp, gdp, renyi at an order, delta at epsilon, epsilon."""

    scenario: Scenario
    quantity: str
    at: Fraction | None = None

    def __str__(self) -> str:
        at = "" if self.at is None else f"({decimal_text(self.at)})"
        return f"{self.quantity}{at} of {self.scenario}"


def _text(value: object) -> str | None:
    return decimal_text(value) if isinstance(value, int | Fraction) else value


@cache
def _written(table: Table) -> Path:
    content = table.text()
    path = Path(_FOLDER.name) / f"{hashlib.sha256(content.encode()).hexdigest()[:16]}.csv"
    path.write_text(content)
    return path


@cache
def _parsed(typed: str) -> Mechanism:
    return parse(typed).mechanism
