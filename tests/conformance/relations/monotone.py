"""What grows: cost with sensitivity and uses, epsilon as delta shrinks, Rényi with its order."""

import random
from collections.abc import Iterator
from fractions import Fraction

from conformance.relations.draw import (
    DELTAS,
    EPSILONS,
    ORDERS,
    additive,
    any_spec,
    ask,
    scenario,
    small,
    times,
)
from conformance.relations.engine import AtMost
from conformance.relations.scenarios import Cost, Scenario


def sensitivity_grows(rng: random.Random) -> Iterator[AtMost]:
    """More neighbours cannot cost less."""
    larger = additive(rng) if rng.random() < 0.6 else small(rng)
    limit = int(larger["sensitivity"])
    fewer = {1, max(limit - 1, 1), rng.randint(1, limit)}
    if "modulus" in larger:
        fewer.add(min(int(larger["modulus"]) // 2 or 1, limit))
    others = scenario(rng).uses[:1] if rng.random() < 0.2 else ()
    count = times(rng)
    most = Scenario(((larger, count), *others))
    for cost in (Cost(most, "pure"), ask(rng, most)):
        for each in sorted(fewer):
            smaller = Scenario(((larger.but(sensitivity=each), count), *others))
            yield AtMost(Cost(smaller, cost.quantity, cost.at), cost, "sensitivity grows")


def a_use_is_added(rng: random.Random) -> Iterator[AtMost]:
    """The adversary may ignore what another use releases."""
    few = scenario(rng)
    cost = ask(rng, few)
    for more in (few.plus(rng.choice(few.uses)[0]), few.plus((any_spec(rng), times(rng)))):
        yield AtMost(cost, Cost(more, cost.quantity, cost.at), "a use is added")


def delta_shrinks(rng: random.Random) -> Iterator[AtMost]:
    """epsilon(delta) and delta(epsilon) do not grow."""
    what = scenario(rng)
    for quantity, levels in (("epsilon", DELTAS), ("delta", EPSILONS)):
        less, more = sorted(map(Fraction, rng.sample(levels, 2)))
        yield AtMost(Cost(what, quantity, more), Cost(what, quantity, less), "the level shrinks")


def order_grows(rng: random.Random) -> Iterator[AtMost]:
    """Rényi divergences do not fall with the order."""
    what = scenario(rng)
    less, more = sorted(map(Fraction, rng.sample(ORDERS, 2)))
    yield AtMost(Cost(what, "renyi", less), Cost(what, "renyi", more), "the order grows")


RELATIONS = (sensitivity_grows, a_use_is_added, delta_shrinks, order_grows)
