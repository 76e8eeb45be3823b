"""Slack: whatever is certified of a file with slack holds of every pair within it."""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from conformance.relations.draw import DELTAS, ask, scenario, table, times
from conformance.relations.engine import Statement, equal
from conformance.relations.scenarios import Cost, Scenario, Table, pmf

Masses: TypeAlias = tuple[Fraction, ...]


def _moved(rng: random.Random, masses: Masses, slack: Fraction) -> Masses:
    """The same with at most `slack` of mass at another outcome."""
    found = list(masses)
    source = rng.choice([place for place, mass in enumerate(found) if mass])
    unseen = [place for place, mass in enumerate(found) if not mass]
    target = rng.choice(unseen if unseen and rng.random() < 0.8 else range(len(found)))
    part = min(found[source], slack * rng.choice((Fraction(1), Fraction(1), Fraction(1, 3))))
    found[source] -= part
    found[target] += part
    return tuple(found)


def _lacking(rng: random.Random, masses: Masses, slack: Fraction) -> Masses:
    """The same with at most `slack` of mass missing."""
    found = list(masses)
    place = rng.randrange(len(found))
    found[place] -= min(found[place], slack)
    return tuple(found)


def members(rng: random.Random) -> Iterator[Statement]:
    """A member, for one use or many; mass is misplaced, or missing from the file."""
    slack = rng.choice((Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 100), Fraction(1, 5)))
    exact = table(rng)
    if rng.random() < 0.3:  # what is known lies apart; the truth need not
        one = (Fraction(1), Fraction(0))
        exact = Table(one, one[::-1])
    if rng.random() < 0.7:
        file, member = exact, Table(_moved(rng, exact.p, slack), _moved(rng, exact.q, slack))
    else:
        file, member = Table(_lacking(rng, exact.p, slack), _lacking(rng, exact.q, slack)), exact
    count = rng.choice((1, 2, 2, 3, times(rng)))
    others = scenario(rng).uses[:1] if rng.random() < 0.2 else ()
    told = Scenario(((pmf(member), count), *others))
    for cost in (Cost(told, "epsilon", Fraction(rng.choice(DELTAS))), ask(rng, told)):
        stated = Scenario(((pmf(file, slack), count), *others))
        yield from equal(cost, Cost(stated, cost.quantity, cost.at), "a pair within the slack")


def less_slack(rng: random.Random) -> Iterator[Statement]:
    """Fewer pairs lie within less slack, so both enclosures hold of them."""
    given, count = table(rng), times(rng)
    more = rng.choice((Fraction(1, 1000), Fraction(1, 10)))
    cost = ask(rng, Scenario.of((pmf(given, more), count)))
    for less in (Fraction(0), more / 10**6, more / 2):
        narrower = Scenario.of((pmf(given, less), count))
        yield from equal(Cost(narrower, cost.quantity, cost.at), cost, "less slack")


RELATIONS = (members, less_slack)
