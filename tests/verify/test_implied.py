"""Which claims follow from which: no claim that holds implies one that fails, of pairs known."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import pytest

from exactdp.verify.checker.implied import implies
from exactdp.verify.checker.specs import claim_fields
from exactdp.verify.checker.statement import read_claim

NORMAL = NormalDist()
ORDERS = (1.01, 1.5, 2, 3, 8, 64)
LEVELS = (0, 0.1, 0.5, 1, 3)


def claim(text):
    return read_claim(claim_fields(text))


@dataclass
class Known:
    """What a pair of laws costs, either way round: by closed forms, in floats."""

    pure: float
    rdp: Callable[[float], float]
    delta: Callable[[float], float]
    zcdp: float
    gdp: float


def gaussian(mu):
    def delta(epsilon):
        first, second = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return NORMAL.cdf(first) - math.exp(epsilon) * NORMAL.cdf(second)

    return Known(math.inf, lambda order: order * mu**2 / 2, delta, mu**2 / 2, mu)


def finite(p, q):
    ways = [list(zip(p, q, strict=True)), list(zip(q, p, strict=True))]

    def rdp(order):
        sums = (sum(b * (a / b) ** order for a, b in way) for way in ways)
        return max(math.log(each) / (order - 1) for each in sums)

    def delta(epsilon):
        return max(sum(max(a - math.exp(epsilon) * b, 0) for a, b in way) for way in ways)

    def mu(way):
        """The trade-off function is linear between likelihood ratio tests."""
        tests, first, second = [], 1.0, 0.0
        for a, b in sorted(way, key=lambda pair: pair[1] / pair[0], reverse=True):
            first, second = first - a, second + b
            tests.append((1 - first, 1 - second))
        inside = [each for each in tests if 1e-9 < each[0] < 1 - 1e-9]
        return max(NORMAL.inv_cdf(1 - one) - NORMAL.inv_cdf(two) for one, two in inside)

    pure = max(math.log(a / b) for way in ways for a, b in way)
    rho = max(rdp(1 + 1.05**k / 1000) / (1 + 1.05**k / 1000) for k in range(230))
    return Known(pure, rdp, delta, rho, max(map(mu, ways)))


PAIRS = {
    "gaussian 0.1": gaussian(0.1),
    "gaussian 1": gaussian(1),
    "gaussian 3": gaussian(3),
    "response": finite((0.75, 0.25), (0.25, 0.75)),
    "strong response": finite((0.99, 0.01), (0.01, 0.99)),
    "weak response": finite((0.51, 0.49), (0.49, 0.51)),
    "table": finite((0.5, 0.3, 0.15, 0.05), (0.1, 0.3, 0.2, 0.4)),
    "rare": finite((0.999, 0.001), (0.9, 0.1)),
}


def claims(known, factor):
    """The least numbers times this: above 1 all of these hold, below 1 none does."""
    if known.pure < math.inf:
        yield "pure", {"epsilon": Fraction(known.pure * factor)}
        yield "approx", {"epsilon": Fraction(known.pure * factor), "delta": Fraction(0)}
    for level in LEVELS:
        if (delta := known.delta(level)) > 1e-12:
            yield "approx", {"epsilon": Fraction(level), "delta": Fraction(delta * factor)}
    for order in ORDERS:
        epsilon = Fraction(known.rdp(order) * factor)
        yield "rdp", {"order": Fraction(order), "epsilon": epsilon}
    yield "zcdp", {"rho": Fraction(known.zcdp * factor)}
    yield "gdp", {"mu": Fraction(known.gdp * factor)}


@pytest.mark.parametrize("name", PAIRS)
def test_no_claim_that_holds_implies_one_that_fails(name):
    true, false = (list(claims(PAIRS[name], factor)) for factor in (1.001, 0.999))
    for given in true:
        assert implies(given, given)
        for asked in false:
            assert not implies(given, asked), (given, asked)


FOLLOW = [
    ("pure:0.1", "pure:0.1"),
    ("pure:0.1", "pure:0.2"),
    ("pure:0.1", "approx:0.1,0"),
    ("approx:0.1,0", "pure:1/10"),
    ("pure:0.1", "approx:0.1,1e-9"),
    ("approx:1,1e-6", "approx:1.5,1e-5"),
    ("rdp:4,0.1", "rdp:2,0.1"),
    ("pure:0.1", "rdp:1000,0.1"),
    ("pure:0.1", "rdp:2,0.01"),
    ("approx:0.1,0", "rdp:2,0.01"),
    ("pure:0.1", "zcdp:0.005"),
    ("zcdp:0.005", "rdp:3,0.015"),
    ("gdp:0.1", "zcdp:0.005"),
    ("gdp:0.1", "rdp:3,0.015"),
    ("gdp:0.1", "gdp:0.2"),
]


@pytest.mark.parametrize(("given", "asked"), FOLLOW)
def test_what_follows(given, asked):
    assert implies(claim(given), claim(asked))


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("pure:0.1", "pure:0.0999999999999999999999999"),
        ("approx:1,1e-6", "approx:2,1e-7"),
        ("approx:1,1e-6", "approx:0.9,1e-5"),
        ("approx:0.1,1e-9", "pure:0.1"),
        ("rdp:2,0.1", "rdp:3,0.1"),
        ("rdp:2,0.1", "zcdp:0.05"),
        ("rdp:2,0.1", "approx:9,0.5"),
        ("zcdp:0.005", "rdp:3,0.0149"),
        ("zcdp:0.005", "pure:9"),
        ("zcdp:0.005", "gdp:0.1"),
        ("pure:0.1", "zcdp:0.00499"),
        ("gdp:0.1", "pure:9"),
    ],
)
def test_what_does_not_follow_or_is_not_known_to(given, asked):
    assert not implies(claim(given), claim(asked))
