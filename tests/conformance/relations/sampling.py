"""Users who take part with some probability: more often costs no less, always is no sampling."""

import random
from collections.abc import Iterator
from fractions import Fraction

from conformance.relations.draw import additive, ask, response, small, table, times
from conformance.relations.engine import AtMost, equal
from conformance.relations.scenarios import Cost, Scenario, Spec, Table, pmf

from exactdp import Enclosure

_RATES = tuple(map(Fraction, ("1e-9", "0.001", "0.1", "1/3", "0.5", "0.9", "0.999999999", "1")))


def _plain(rng: random.Random) -> Spec:
    kind = rng.random()
    if kind < 0.25:
        return additive(rng)
    if kind < 0.6:
        return small(rng)
    return response(rng) if kind < 0.8 else pmf(table(rng))


def _sampled(one: Spec, rate: Fraction) -> Spec:
    return one.but(neighbours="add-remove", poisson=rate)


def sampled(rng: random.Random) -> Spec:
    """Any of them at any rate."""
    return _sampled(_plain(rng), rng.choice(_RATES))


def _two_rates(rng: random.Random) -> tuple[Fraction, Fraction]:
    less, more = sorted(rng.sample(_RATES, 2))
    return less, more


def rate_grows(rng: random.Random) -> Iterator[AtMost]:
    """Who takes part less often may draw again from the law without: post-processing."""
    one, count, (less, more) = _plain(rng), times(rng), _two_rates(rng)
    other = ((_sampled(small(rng), rng.choice(_RATES)), 1),) if rng.random() < 0.3 else ()
    few, many = (Scenario(((_sampled(one, rate), count), *other)) for rate in (less, more))
    for cost in (Cost(many, "pure"), ask(rng, many)):
        yield AtMost(Cost(few, cost.quantity, cost.at), cost, "users take part more often")


def always_there(rng: random.Random) -> Iterator[AtMost]:
    """With probability 1 it is the mechanism itself."""
    one, count = _plain(rng), times(rng)
    always = Scenario.of((_sampled(one, Fraction(1)), count))
    plain = Scenario.of((one, count))
    for cost in (Cost(always, "pure"), ask(rng, always)):
        yield from equal(cost, Cost(plain, cost.quantity, cost.at), "everybody takes part")


def rarely_there(rng: random.Random) -> Iterator[AtMost]:
    """delta(0) is at most the probability that the user takes part at all."""
    one, count, rate = _plain(rng), rng.choice((1, 1, 2, 5)), rng.choice(_RATES[:4])
    what = Scenario.of((_sampled(one, rate), count))
    most = Enclosure.exactly(min(count * rate, Fraction(1)))
    yield AtMost(Cost(what, "delta", Fraction(0)), most, "the user is rarely there")


def a_table_is_mixed(rng: random.Random) -> Iterator[AtMost]:
    """A table that is sampled is the table of the mixture."""
    two, rate, count = table(rng), rng.choice(_RATES), times(rng)
    pairs = zip(two.p, two.q, strict=True)
    mixture = Table(tuple(rate * p + (1 - rate) * q for p, q in pairs), two.q)
    sampled = Scenario.of((_sampled(pmf(two), rate), count))
    for cost in (Cost(sampled, "pure"), ask(rng, sampled)):
        other = Cost(Scenario.of((pmf(mixture), count)), cost.quantity, cost.at)
        yield from equal(cost, other, "the mixture")


def pure_bounds_all(rng: random.Random) -> Iterator[AtMost]:
    """Rényi divergences and epsilon(delta) are at most pure epsilon."""
    what = Scenario.of((sampled(rng), times(rng)))
    pure = Cost(what, "pure")
    yield AtMost(Cost(what, "renyi", Fraction(2)), pure, "Rényi is at most pure")
    yield AtMost(Cost(what, "renyi", Fraction(50)), pure, "Rényi is at most pure")
    yield AtMost(Cost(what, "epsilon", Fraction(1, 1000)), pure, "at delta > 0 at most at 0")


RELATIONS = (rate_grows, always_there, rarely_there, a_table_is_mixed, pure_bounds_all)
