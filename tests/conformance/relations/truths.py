"""The truth about tiny finite scenarios, by exact sums: the product of files, the same way round in
every use; additive noise with a choice of shift and sign at every use.
"""

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction

from conformance.relations.draw import EPSILONS, binomial, level, table
from conformance.relations.engine import AtMost, Statement, Told, equal
from conformance.relations.notions import rational
from conformance.relations.sameness import as_table
from conformance.relations.scenarios import Cost, Scenario, Table, pmf
from mpmath import iv

from exactdp import Enclosure

_ORDERS = (2, 3, 10, 64)
_INFINITE = Enclosure.infinite()


def joint(tables: Sequence[Table]) -> Table:
    """All of them seen together, D against D' throughout."""
    p, q = [Fraction(1)], [Fraction(1)]
    for one in tables:
        p = [a * b for a in p for b in one.p]
        q = [a * b for a in q for b in one.q]
    return Table(tuple(p), tuple(q))


def _logarithm(ratio: Fraction) -> Enclosure:
    if ratio == 1:
        return Enclosure.exactly(0)
    found = iv.log(iv.mpf(ratio.numerator)) - iv.log(iv.mpf(ratio.denominator))
    return Enclosure(rational(found, "a"), rational(found, "b"))


def pure_of(pair: Table) -> Enclosure:
    """log max P/Q, this way round."""
    rows = [(p, q) for p, q in zip(pair.p, pair.q, strict=True) if p]
    if any(not q for _, q in rows):
        return _INFINITE
    return _logarithm(max(p / q for p, q in rows))


def renyi_of(pair: Table, order: int) -> Enclosure:
    """log sum P^a Q^(1-a) over a - 1, exactly under the logarithm."""
    rows = [(p, q) for p, q in zip(pair.p, pair.q, strict=True) if p]
    if any(not q for _, q in rows):
        return _INFINITE
    found = _logarithm(sum((p**order * q ** (1 - order) for p, q in rows), Fraction(0)))
    return Enclosure(Fraction(found.lower) / (order - 1), Fraction(found.upper) / (order - 1))


def delta_of(pair: Table, odds: tuple[Fraction, Fraction]) -> Enclosure:
    """sum (P - e^epsilon Q)+, with e^epsilon between these two."""
    low, high = (
        sum((max(p - odd * q, Fraction(0)) for p, q in zip(pair.p, pair.q, strict=True)),
            Fraction(0))
        for odd in reversed(odds)
    )  # fmt: skip
    return Enclosure(low, high)


def _odds(epsilon: Fraction) -> tuple[Fraction, Fraction]:
    if not epsilon:
        return Fraction(1), Fraction(1)
    found = iv.exp(iv.mpf(epsilon.numerator) / epsilon.denominator)
    return rational(found, "a"), rational(found, "b")


def _both(pair: Table, measure: object) -> Enclosure:
    return measure(pair).maximum(measure(pair.swapped()))  # type: ignore[operator]


def files(rng: random.Random) -> Iterator[Statement]:
    """Several files, the same one swapped among them at times."""
    tables = [table(rng, 3) for _ in range(rng.choice((1, 1, 2)))]
    if rng.random() < 0.4:
        tables.append(tables[0].swapped())
    counts = [rng.choice((1, 1, 2)) for _ in tables]
    what = Scenario(tuple((pmf(one), k) for one, k in zip(tables, counts, strict=True)))
    pair = joint([one for one, k in zip(tables, counts, strict=True) for _ in range(k)])
    truth = _both(pair, pure_of)
    yield from equal(Cost(what, "pure"), truth, f"truth {truth}")
    order = rng.choice(_ORDERS)
    truth = _both(pair, lambda one: renyi_of(one, order))
    yield from equal(Cost(what, "renyi", Fraction(order)), truth, f"truth {truth}")
    yield AtMost(Enclosure(Fraction(truth.lower) / order, truth.upper) if truth.is_finite()
                 else truth, Cost(what, "zcdp"), "rho >= D_a/a")  # fmt: skip
    for text in rng.sample(EPSILONS, 2):
        odds = _odds(Fraction(text))
        truth = _both(pair, lambda one, odds=odds: delta_of(one, odds))
        yield from equal(Cost(what, "delta", Fraction(text)), truth, f"truth {truth}")
    cost = Cost(what, "epsilon", level(rng, what))
    yield from _epsilon(cost, pair)
    yield Told(cost)


def _epsilon(cost: Cost, pair: Table) -> Iterator[AtMost]:
    """epsilon(delta) = max over events of the largest ratios of log((P - delta)/Q)."""
    delta, best = cost.at or Fraction(0), Fraction(1)
    for one in (pair, pair.swapped()):
        p_mass = q_mass = Fraction(0)
        rows = [(p, q) for p, q in zip(one.p, one.q, strict=True) if p]
        for p, q in sorted(rows, key=lambda row: row[1] / row[0]):
            p_mass, q_mass = p_mass + p, q_mass + q
            if p_mass > delta and not q_mass:
                yield from equal(cost, _INFINITE, "truth: infinite")
                return
            if p_mass > delta:
                best = max(best, (p_mass - delta) / q_mass)
    truth = _logarithm(best)
    yield from equal(cost, truth, f"truth {truth}")


def choices(rng: random.Random) -> Iterator[Statement]:
    """Additive noise: every shift and sign may be chosen at every use, on seeing the others."""
    law = binomial(rng, rng.choice((1, 2, 3)))
    modulus = rng.choice((None, 2, 3, 4, 5))
    law = law.but(sensitivity=rng.choice((1, 2, 3, 9)), modulus=modulus)
    shifts = range(1, min(int(law["sensitivity"]), modulus or 9) + 1)
    tables = [as_table(law.but(sensitivity=shift)) for shift in shifts]
    menu = [way for one in tables for way in (one, one.swapped())]
    count = rng.choice((1, 2, 2, 3) if len(menu) <= 4 else (1, 2))
    what = Scenario.of((law, count))
    truth = _largest([pure_of(one) for one in menu]).times(count)
    yield from equal(Cost(what, "pure"), truth, f"truth {truth}")
    order = rng.choice(_ORDERS)
    truth = _largest([renyi_of(one, order) for one in menu]).times(count)
    yield from equal(Cost(what, "renyi", Fraction(order)), truth, f"truth {truth}")
    epsilon = Fraction(rng.choice(EPSILONS))
    low, high = (_adaptive(menu, count, odds) for odds in reversed(_odds(epsilon)))
    yield from equal(Cost(what, "delta", epsilon), Enclosure(low, high), f"truth {float(high)}")
    yield Told(Cost(what, "delta", epsilon))
    yield Told(Cost(what, "epsilon", level(rng, what)))


def _largest(each: Sequence[Enclosure]) -> Enclosure:
    best = Enclosure.exactly(0)
    for one in each:
        best = best.maximum(one)
    return best


def _adaptive(menu: Sequence[Table], count: int, odds: Fraction) -> Fraction:
    """What an adversary gets who chooses at every use: falls as the odds grow."""
    if count == 0:
        return max(1 - odds, Fraction(0))
    best = Fraction(0)
    for one in menu:
        total = Fraction(0)
        for p, q in zip(one.p, one.q, strict=True):
            if p:
                total += p * _adaptive(menu, count - 1, odds * q / p)
        best = max(best, total)
    return best


RELATIONS = (files, choices)
