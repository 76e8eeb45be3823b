"""Holds relations: statements "this costs at most that" of enclosures, which need no oracle.

A relation draws scenarios and yields such statements. One is contradicted only where it is certain:
where the lower end of what should be smaller lies above the upper end of what should be larger. An
answer too wide to tell passes, and is counted; so are answers that did not come in time, and inputs
that are refused.
"""

from __future__ import annotations

import json
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from conformance.relations.scenarios import Cost, Scenario
from typer.testing import CliRunner

from exactdp import (
    Composition,
    Enclosure,
    OutOfTimeError,
    ParameterError,
    UndecidedError,
    time_limit,
)
from exactdp.accounting import compose
from exactdp.cli.main import app
from exactdp.exact import decimal_text
from exactdp.exact.budget import spend
from exactdp.exact.enclosure import Endpoint

_WIDTH = Fraction(1, 10**6)
_WORK = 0.1  # seconds for losses off a lattice


@dataclass(frozen=True)
class AtMost:
    """The first costs at most as much as the second; why, in a few words."""

    smaller: Cost | Enclosure
    larger: Cost | Enclosure
    why: str


@dataclass(frozen=True)
class Held:
    """Something else that must hold; `found` is shown where it does not."""

    is_so: bool
    why: str
    found: object = None


@dataclass(frozen=True)
class Told:
    """Something is told of this cost, whose truth is plain: not everything from 0 on."""

    cost: Cost


Statement = AtMost | Held | Told
Relation = Callable[[random.Random], Iterator[Statement]]


def equal(one: Cost | Enclosure, other: Cost | Enclosure, why: str) -> tuple[AtMost, AtMost]:
    """Both cost the same."""
    return AtMost(one, other, why), AtMost(other, one, why)


@dataclass
class Tally:
    """What was found: counts of everything, and every failure in words."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def fail(self, kind: str, message: str) -> None:
        """Count and keep it."""
        self.counts[kind] += 1
        self.failures.append(f"{kind}: {message}")

    def add(self, other: Tally) -> None:
        """What was found elsewhere, too."""
        self.counts.update(other.counts)
        self.failures += other.failures

    def __str__(self) -> str:
        return ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))


def examine(relation: Relation, seeds: Iterable[int], seconds: float, tally: Tally) -> Tally:
    """Draw a case for each seed and hold the relation on it; `seconds` for each case."""
    for seed in seeds:
        name = f"{relation.__name__} {seed}"
        tally.counts["cases"] += 1
        ways, start = _Ways(random.Random(f"way {name}"), tally, name), time.monotonic()
        try:
            with time_limit(seconds):
                for statement in relation(random.Random(name)):
                    _hold(statement, ways, tally, name)
        except ParameterError:
            tally.counts["refused"] += 1
        except (UndecidedError, NotImplementedError):
            tally.counts["undecided"] += 1
        except Exception as error:
            # callbacks of FLINT and operators of mpmath turn the end of the time into other errors
            if isinstance(error, OutOfTimeError) or time.monotonic() > start + seconds:
                tally.counts["out of time"] += 1
            elif type(error) is ArithmeticError:  # the library's word for "not known"
                tally.counts["undecided"] += 1
            else:
                tally.fail("crash", f"[{name}] {ways.asked}\n{traceback.format_exc(limit=-4)}")
    return tally


def _hold(statement: Statement, ways: _Ways, tally: Tally, name: str) -> None:
    spend()  # an answer for want of time is no answer
    tally.counts["statements"] += 1
    if isinstance(statement, Held):
        if not statement.is_so:
            tally.fail("contradiction", f"[{name}] {statement.why}: {statement.found}")
        return
    if isinstance(statement, Told):
        found = ways.measure(statement.cost)
        spend()
        if _is_vacuous(statement.cost, found):
            tally.fail("nothing told", f"[{name}] {statement.cost} = {found}")
        return
    smaller, larger = (
        side if isinstance(side, Enclosure) else ways.measure(side)
        for side in (statement.smaller, statement.larger)
    )
    if not _in_order(smaller.lower, larger.upper):
        tally.fail(
            "contradiction",
            f"[{name}] {statement.why}: {statement.smaller}"
            + ("" if isinstance(statement.smaller, Enclosure) else f" = {smaller}")
            + f"  is above  {statement.larger}"
            + ("" if isinstance(statement.larger, Enclosure) else f" = {larger}"),
        )


def _in_order(low: Endpoint, high: Endpoint) -> bool:
    """Is low <= high? Exactly, whatever their kinds and sizes."""
    try:
        Enclosure(low, high)
    except ParameterError:
        return False
    return True


# -- measuring ------------------------------------------------------------------------------------


class _Ways:
    """Measures each cost once, in Python or on the command line, whichever is drawn."""

    def __init__(self, rng: random.Random, tally: Tally, name: str) -> None:
        self.rng, self.tally, self.name = rng, tally, name
        self.found: dict[Cost, Enclosure] = {}
        self.asked: Cost | None = None

    def measure(self, cost: Cost) -> Enclosure:
        """Its enclosure, which is looked at by itself as well."""
        if cost not in self.found:
            self.asked = cost
            typed = cost.quantity in _OPTIONS and self.rng.random() < 0.3
            found = on_command_line(cost) if typed else in_python(cost)
            self._look_at(cost, found)
            self.found[cost] = found
        return self.found[cost]

    def _look_at(self, cost: Cost, found: Enclosure) -> None:
        self.tally.counts["answers"] += 1
        if not (_in_order(Fraction(0), found.upper) and _in_order(found.lower, _most(cost))):
            self.tally.fail("improper", f"[{self.name}] {cost} = {found}")
        self.tally.counts["vacuous"] += _is_vacuous(cost, found)


def _is_vacuous(cost: Cost, found: Enclosure) -> bool:
    return _in_order(found.lower, Fraction(0)) and _in_order(_most(cost), found.upper)


def _most(cost: Cost) -> Endpoint:
    return Fraction(1) if cost.quantity == "delta" else Decimal("Infinity")


def composition_of(scenario: Scenario) -> Composition:
    """All uses of a scenario together."""
    return compose(*((one.mechanism(), times) for one, times in scenario.uses))


def in_python(cost: Cost) -> Enclosure:
    """The cost as the library tells it."""
    composition = composition_of(cost.scenario)
    if cost.quantity == "pure":
        return composition.pure(_WIDTH)
    if cost.quantity == "zcdp":
        return composition.zcdp(_WIDTH)
    if cost.quantity == "gdp":
        return composition.gdp(_WIDTH)
    assert cost.at is not None
    if cost.quantity == "renyi":
        return composition.renyi(cost.at, _WIDTH)
    ask = composition.delta if cost.quantity == "delta" else composition.epsilon
    return ask(cost.at, _WIDTH, work=_WORK)


_OPTIONS = {"pure": "--pure", "renyi": "--order", "delta": "--epsilon", "epsilon": "--delta"}


def on_command_line(cost: Cost) -> Enclosure:
    """The cost as `exactdp compose` tells it; raises what the command refuses."""
    option = [_OPTIONS[cost.quantity], *([] if cost.at is None else [decimal_text(cost.at)])]
    shown = run("compose", *cost.scenario.typed(), *option, exits={0, 3})
    (result,) = shown["results"]
    return Enclosure.from_json({end: result[end] for end in ("lower", "upper")})


def run(*arguments: str, exits: set[int]) -> dict[str, object]:
    """What a command prints with --json; raises what it raised."""
    result = CliRunner().invoke(app, [*arguments, "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in exits:
        raise AssertionError(f"exit {result.exit_code} of {arguments}: {result.output[-300:]}")
    shown = json.loads(result.stdout)
    assert isinstance(shown, dict)
    return shown
