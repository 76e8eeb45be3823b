"""The search for the least noise, on costs whose answers are known."""

from fractions import Fraction

import pytest

from exactdp import Enclosure, UndecidedError
from exactdp.evidence.papers.appendix_i import least_noise
from exactdp.exact import refine
from exactdp.exact.number import ball

WIDTH = Fraction(1, 10**6)


def test_an_uncertain_target_is_met_below_and_missed_above() -> None:
    target = Enclosure(Fraction(1, 2), Fraction(1, 2) + Fraction(1, 10**9))
    found = least_noise(
        lambda v: refine(lambda: 1 / ball(v), width=Fraction(1, 10**10)), target, 1, WIDTH
    )
    assert 1 / Fraction(found.upper) <= target.lower
    assert 1 / Fraction(found.lower) > target.upper


@pytest.mark.parametrize("cost", [Enclosure.exactly(3), Enclosure.exactly(1)])
def test_a_target_that_is_never_or_always_met_is_said_so(cost: Enclosure) -> None:
    with pytest.raises(UndecidedError, match="certainly"):
        least_noise(lambda _: cost, Enclosure.exactly(2), 1, WIDTH)


def test_vague_costs_give_a_wide_answer() -> None:
    found = least_noise(
        lambda v: Enclosure(Fraction(99, 100) / v, Fraction(101, 100) / v),
        Enclosure.exactly(1),
        1,
        WIDTH,
    )
    assert found.lower < Fraction(99, 100)
    assert found.upper >= Fraction(101, 100)
    assert not found.is_within(WIDTH)
    assert found.is_within(Fraction(1, 20))


@pytest.mark.parametrize("place", range(10))
def test_a_middle_that_is_too_close_to_call_is_passed_by(place: int) -> None:
    """What was asked beside an edge is made the edge, and open: it is asked again."""
    asked: list[Fraction] = []

    def around(edge: Fraction, amount: Fraction) -> Enclosure:
        asked.append(amount)
        if abs(amount - edge) < edge / 10**9:
            return Enclosure(Fraction(1, 2), Fraction(2))
        return Enclosure.exactly(2 if amount < edge else Fraction(1, 2))

    def found(edge: Fraction) -> Enclosure:
        return least_noise(lambda v: around(edge, v), Enclosure.exactly(1), 90, WIDTH, -12)

    start = 100 + Fraction(place, 1013)
    found(start)
    for edge in sorted({each for each in asked if abs(each / start - 1) < 10 * WIDTH}):
        again = found(edge)
        assert again.lower < edge < again.upper
        assert again.is_within(WIDTH)
