"""Whether a charge fits: by what its uses cost at most, whatever is known from below."""

from fractions import Fraction

import pytest

from exactdp import Ledger
from exactdp.ledger import Limit, RefusedError
from exactdp.ledger.chain import Used
from exactdp.ledger.fitting import refusal, tried
from exactdp.ledger.written import costs_text, spent_text
from exactdp.mechanisms.specs.spec import parse

THIRD, HALF = Fraction(1, 3), Fraction(1, 2)
WIDE = costs_text((((Fraction(0), Fraction(9)),), ((THIRD, HALF),)))  # of the second limit
NONE = spent_text([Fraction(0)])


def uses(times: int) -> list[Used]:
    return [Used("it", times, WIDE)]


@pytest.mark.parametrize("room", [1, 2, 7])
def test_what_fits_is_what_is_said_to_fit(room: int) -> None:
    """At the edge, and a hair below it."""
    limit, spent = Limit.of(f"zcdp:{room}"), NONE
    assert tried(limit, 1, spent, uses(2 * room)).fits
    assert not tried(limit, 1, spent, uses(2 * room + 1)).fits
    found = refusal(limit, 1, spent, uses(2 * room + 1))
    assert (found.most, found.left.lower, found.left.upper) == (2 * room, room, room)
    hair = spent_text([Fraction(1, 10**300)])
    assert not tried(limit, 1, hair, uses(2 * room)).fits
    assert refusal(limit, 1, hair, uses(1)).most == 2 * room - 1


def test_what_is_known_from_two_sides_only_is_charged_from_above(tmp_path) -> None:
    spec = "skellam:variance=100,sensitivity=1"
    [cost] = Limit.of("zcdp:1").costs(parse(spec).mechanism)
    between = (Fraction(cost.lower) + Fraction(cost.upper)) / 2
    assert cost.lower < between
    with Ledger.create(str(tmp_path / "a.db"), f"zcdp:{between}") as ledger:
        with pytest.raises(RefusedError):
            ledger.charge(spec, "ada", "1")
        assert ledger.check().valid
