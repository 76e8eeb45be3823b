"""Limits: what is within them has the claim, by the filters and odometers and by composition."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactdp import ParameterError
from exactdp.accounting import compose
from exactdp.accounting.participation.filters import (
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZcdpFilter,
)
from exactdp.accounting.participation.odometer import RenyiOdometer
from exactdp.ledger import Limit, amounts
from exactdp.ledger.levels import Level
from exactdp.mechanisms import Mechanism
from exactdp.mechanisms.specs.spec import parse
from exactdp.verify import parse_claim

SPECS = [
    "discrete-gaussian:sigma2=100",
    "discrete-laplace:epsilon=0.1",
    "skellam:variance=64,sensitivity=2",
    "gaussian:sigma=5",
    "randomized-response:epsilon=1/2",
]


def _charged(limit: Limit, spec: str, times: int) -> list[amounts.Amount]:
    costs = map(amounts.ends, limit.costs(parse(spec).mechanism))
    return [amounts.times(upper, times) for _, upper in costs]


def _most(limit: Limit, spec: str) -> int:
    return limit.most(limit.nothing, _charged(limit, spec, 1))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(
    ("claim", "reference"),
    [
        ("pure:3", PureFilter(3)),
        ("zcdp:0.1", ZcdpFilter("0.1")),
        ("gdp:1/2", GaussianFilter("1/2")),
        ("rdp:3/2,0.2", RenyiFilter("3/2", "0.2")),
    ],
)
def test_a_limit_allows_what_its_filter_allows(claim: str, reference, spec: str) -> None:
    limit = Limit.of(claim)
    most = _most(limit, spec)
    assert most == 0 or limit.fits(_charged(limit, spec, most))
    assert not limit.fits(_charged(limit, spec, most + 1))
    assert most == reference.most(parse(spec).mechanism)


@pytest.mark.parametrize("claim", ["approx:1,1e-6", "approx:8,1e-9", "approx:1/10,1/100"])
@pytest.mark.parametrize("spec", SPECS)
def test_what_an_approximate_limit_allows_has_the_claim(claim: str, spec: str) -> None:
    limit, stated = Limit.of(claim), parse_claim(claim)
    most = _most(limit, spec)
    assert sum(level.delta for level in limit.levels) <= stated.delta
    if most:
        total = compose((parse(spec).mechanism, most))
        assert total.epsilon(stated.delta, width=Fraction(1, 100)).lower <= stated.epsilon
        report = limit.report(limit.nothing, _charged(limit, spec, most))
        assert report.upper <= stated.epsilon
    # nearly as many as the odometer, whose orders were not chosen for this limit
    spent = RenyiOdometer(stated.delta, targets=[stated.epsilon])
    odometer = spent.spend(parse(spec).mechanism, max(1, 2 * most // 3)).epsilon()
    assert most == 0 or odometer.lower <= stated.epsilon


def test_mixed_charges_within_an_approximate_limit_have_the_claim() -> None:
    limit = Limit.of("approx:2,1e-6")
    uses: list[Mechanism] = []
    spent = limit.nothing
    for turn in range(100):
        spec = SPECS[turn % len(SPECS)]
        after = [amounts.plus(*both) for both in zip(spent, _charged(limit, spec, 1), strict=True)]
        if not limit.fits(after):
            break
        spent, uses = tuple(after), [*uses, parse(spec).mechanism]
    assert len(uses) > 3
    kinds = {use: uses.count(use) for use in uses}
    exact = compose(*kinds.items()).epsilon("1e-6", width=Fraction(1, 20))
    assert exact.lower <= limit.report(spent, spent).upper <= 2


@settings(max_examples=8, deadline=None)
@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=50),
    st.fractions(min_value=Fraction(1, 10**12), max_value=Fraction(99, 100)),
)
def test_levels_prove_their_claim_and_read_back(epsilon: Fraction, delta: Fraction) -> None:
    limit = Limit.of(f"approx:{epsilon},{delta}")
    assert limit.objection() is None
    assert tuple(Level.from_text(level.to_text()) for level in limit.levels) == limit.levels


def test_levels_that_prove_too_little_are_found() -> None:
    limit = Limit.of("approx:1,1e-6")
    claim, levels = limit.claim, limit.levels
    pure, first, *_ = levels
    for wrong in (
        (*levels, first),  # delta twice
        (Level("pure", Fraction(2)), first),
        (pure, Level("renyi", first.room * 2, first.order, first.delta)),
        (pure, Level("renyi", first.room, first.order, Fraction(0))),
        (pure, Level("rho", Fraction(1, 100))),
    ):
        assert Limit(claim, wrong).objection() is not None, wrong
    assert Limit(parse_claim("zcdp:1"), (Level("rho", Fraction(2)),)).objection() is not None
    assert Limit(parse_claim("zcdp:1"), (Level("pure", Fraction(1)),)).objection() is not None


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (("renyi", Fraction(1), Fraction(2), Fraction(-1, 10**6)), "delta"),
        (("renyi", Fraction(1), Fraction(2), Fraction(1)), "delta"),
        (("pure", Fraction(1), None, Fraction(-1, 10**6)), "delta"),
        (("pure", Fraction(-1)), "room"),
        (("renyi", Fraction(1), Fraction(1), Fraction(1, 2)), "order"),
        (("epsilon", Fraction(1)), "level"),
    ],
)
def test_a_level_that_proves_nothing_is_refused_when_it_is_made(given, name) -> None:
    with pytest.raises(ParameterError, match=f"{name}.* must be"):
        Level(*given)


def test_a_level_with_a_share_of_delta_that_it_does_not_take_proves_nothing() -> None:
    pure = Level("pure", Fraction(1), delta=Fraction(1, 10**7))
    assert Limit(parse_claim("approx:1,1e-6"), (pure,)).objection() is not None
