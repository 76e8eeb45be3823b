"""Post-processing: a reduction mod m, a merge of outcomes, a coarser modulus never cost more."""

import random
from collections.abc import Iterator
from fractions import Fraction

from conformance.relations.draw import additive, ask, scenario, small, table, times
from conformance.relations.engine import AtMost
from conformance.relations.scenarios import Cost, Scenario, Spec, Table, pmf


def reduction(rng: random.Random) -> Iterator[AtMost]:
    """What is seen mod m is seen of the sum; what is seen mod a divisor is seen mod m."""
    seen = additive(rng, modulus=True) if rng.random() < 0.3 else small(rng)
    if "modulus" not in seen:
        seen = seen.but(modulus=rng.choice((1, 2, 3, 7)))
    modulus, factor = int(seen["modulus"]), rng.choice((2, 3, 64))
    yield from _costs_less(rng, seen, seen.but(modulus=None), "reduced mod m")
    yield from _costs_less(rng, seen, seen.but(modulus=modulus * factor), "mod a divisor")


def merging(rng: random.Random) -> Iterator[AtMost]:
    """Outcomes that are not told apart."""
    fine = table(rng, 5)
    if len(fine.p) < 2:
        fine = Table((*fine.p, Fraction(0)), (*fine.q, Fraction(0)))
    first, second = rng.sample(range(len(fine.p)), 2)
    coarse = Table(_merged(fine.p, first, second), _merged(fine.q, first, second))
    yield from _costs_less(rng, pmf(coarse), pmf(fine), "outcomes merged")


def _merged(masses: tuple[Fraction, ...], first: int, second: int) -> tuple[Fraction, ...]:
    kept = [mass for i, mass in enumerate(masses) if i not in (first, second)]
    return (*kept, masses[first] + masses[second])


def _costs_less(rng: random.Random, coarse: Spec, fine: Spec, why: str) -> Iterator[AtMost]:
    count = times(rng)
    others = scenario(rng).uses[:1] if rng.random() < 0.3 else ()
    for _ in range(2):
        cost = ask(rng, Scenario(((coarse, count), *others)))
        full = Scenario(((fine, count), *others))
        yield AtMost(cost, Cost(full, cost.quantity, cost.at), why)


RELATIONS = (reduction, merging)
