"""The checker of certificates says yes to true costs, and never to less."""

from fractions import Fraction

import pytest

from exactdp.ledger import Limit, amounts
from exactdp.ledger.proving import unproved
from exactdp.ledger.written import costs_text
from exactdp.mechanisms.specs.spec import parse

LIMITS = [Limit.of(claim) for claim in ("pure:1", "zcdp:1", "gdp:1", "rdp:3,1", "approx:4,1e-3")]
SPECS = [
    "discrete-laplace:scale=2,sensitivity=1",
    "discrete-gaussian:sigma2=4,sensitivity=1",
    "randomized-response:epsilon=0.5",
    "gaussian:sigma=3,sensitivity=1",
]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("limit", LIMITS, ids=[str(limit.claim) for limit in LIMITS])
def test_true_costs_are_proved_and_less_is_not(spec: str, limit: Limit) -> None:
    costs = tuple(map(amounts.ends, limit.costs(parse(spec).mechanism)))
    assert list(unproved([limit], spec, costs_text((costs,)), 20)) == []
    less = [None if upper is None else upper * Fraction(999, 1000) for _, upper in costs]
    wrong = tuple((Fraction(0), upper) for upper in less)
    found = list(unproved([limit], spec, costs_text((wrong,)), 20))
    assert len(found) == sum(upper is not None for upper in less)
    assert all("REFUTED" in each for each in found)
