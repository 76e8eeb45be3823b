"""The first whole number at which a condition is met for certain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactdp.exact.roots import first_met, first_met_near


def test_what_is_unknown_is_not_met() -> None:
    assert first_met(lambda x: True if x > 7 else None if x > 3 else False, 0, 100) == 8


@given(
    first=st.integers(-(10**12), 10**12),
    start=st.integers(-(10**12), 10**12),
    below=st.none() | st.integers(1, 10**13),
    above=st.none() | st.integers(0, 10**13),
)
def test_the_first_near_a_start(first: int, start: int, below: int | None, above: int | None):
    low = None if below is None else first - below
    high = None if above is None else first + above
    start = start if low is None else max(low, start)
    start = start if high is None else min(start, high)
    calls = []

    def met(x: int) -> bool:
        calls.append(x)
        return x >= first

    assert first_met_near(met, start, low, high) == first
    assert len(calls) <= 3 + 2 * (abs(first - start) + 1).bit_length()
    assert all((low is None or low < x) and (high is None or x <= high) for x in calls)


@pytest.mark.parametrize("always", [True, False])
def test_a_crossing_that_is_nowhere_is_said_so(always: bool) -> None:
    with pytest.raises(ArithmeticError, match="crossing"):
        first_met_near(lambda _: always, 5)
