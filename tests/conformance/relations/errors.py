"""Errors of tests: the trade-off curves hold Neyman and Pearson's, worked out in fractions."""

import random
from collections.abc import Iterator
from fractions import Fraction

from conformance.relations.draw import table
from conformance.relations.engine import Held
from conformance.relations.scenarios import Scenario, pmf
from conformance.relations.truths import joint
from oracles import least_type_2

from exactdp.accounting import compose


def tests_of_tables(rng: random.Random) -> Iterator[Held]:
    """Of two laws, once or twice: either direction, and what an adversary gets, the smaller."""
    tables = [table(rng) for _ in range(rng.choice((1, 1, 2)))]
    what = Scenario.of(*((pmf(one), 1) for one in tables))
    both = joint(tables)
    alphas = {Fraction(rng.randint(0, 100), 100), Fraction(1, rng.choice((3, 50, 10**6)))}
    alphas.add(min(1, sum((p for p, q in zip(both.p, both.q, strict=True) if not q), Fraction(0))))
    composition = compose(*((one.mechanism(), times) for one, times in what.uses))
    for row in composition.tradeoff(sorted(alphas), width="1e-6").rows():
        alpha = row["type_1"]
        forward = least_type_2(both.p, both.q, alpha)
        backward = least_type_2(both.q, both.p, alpha)
        for name, truth in (
            ("type_2_forward", forward),
            ("type_2_backward", backward),
            ("type_2", min(forward, backward)),
        ):
            found = row[name]
            why = f"{what} at {alpha}: {name} = {truth}"
            yield Held(found.contains(truth), why, found)
        hull, why = row["symmetric_hull"], f"{what} at {alpha}: no test is below the hull"
        yield Held(hull.lower <= min(forward, backward), why, hull)


RELATIONS = (tests_of_tables,)
