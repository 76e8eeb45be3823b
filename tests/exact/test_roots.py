"""Roots of monotone functions, against functions whose roots are known."""

import math

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from exactdp.exact.roots import first_met, first_met_near, float_root, met_near

ROOTS = st.floats(1e-9, 1e9)
SHAPES = {
    "line": lambda x, r: x / r - 1,
    "log": lambda x, r: math.log(x / r) if x else -math.inf,
    "cube": lambda x, r: (x / r - 1) ** 3,
    "step": lambda x, r: 1.0 if x > r else -1.0,
    "infinite step": lambda x, r: math.inf if x > r else -math.inf,
    "flat, then steep": lambda x, r: math.expm1(min(700.0, 50 * (x / r - 1))),
    "steep, then flat": lambda x, r: 1 - (r / x) ** 3 if x > 1e-90 * r else -math.inf,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sign", [1, -1])
@given(root=ROOTS, below=st.floats(0, 0.999), above=st.floats(1.001, 1e6))
def test_the_root_is_found(shape: str, sign: int, root: float, below: float, above: float) -> None:
    calls = []

    def function(x: float) -> float:
        calls.append(x)
        return sign * SHAPES[shape](x, root)

    found = float_root(function, below * root, above * root, 1e-9)
    allowed = 1e-9 * max(root, 1e-3 * min(1, (above - below) * root))
    assert abs(found - root) <= (2e-9 if shape != "cube" else 1e-4) * root + allowed
    assert len(calls) <= 100
    assert all(below * root <= x <= above * root for x in calls)


@pytest.mark.parametrize("sign", [1, -1])
def test_without_a_crossing_it_is_the_nearer_end(sign: int) -> None:
    assert float_root(lambda x: sign * x, 1, 2) == 1
    assert float_root(lambda x: sign * (x - 3), 1, 2) == 2
    assert float_root(lambda x: sign * x, 0, 2) == 0
    assert float_root(lambda x: sign * (x - 2), 0, 2) == 2
    assert float_root(lambda x: sign, 5, 5) == 5


@given(
    first=st.integers(-(10**6), 10**30), below=st.integers(1, 10**9), above=st.integers(0, 10**9)
)
def test_the_first_that_is_met(first: int, below: int, above: int) -> None:
    calls = []

    def met(x: int) -> bool:
        calls.append(x)
        return x >= first

    assert first_met(met, first - below, first + above) == first
    assert len(calls) <= (below + above).bit_length()


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


@pytest.mark.parametrize("sign", [1, -1])
def test_where_it_is_met_for_certain(sign: int) -> None:
    found = met_near(lambda x: bool(sign * (x - 2) > 0), arb(2), arb(sign * 1e-9))
    assert found is not None and 0 < sign * (found - 2) < 2e-9
    far = met_near(lambda x: bool(abs(x - 2) > 1), arb(2), arb(sign * 1e-9))
    assert far is not None and 1 < sign * (far - 2) <= 2
    assert met_near(lambda _: False, arb(2), arb(sign * 1e-9)) is None
    assert met_near(lambda x: bool(x < 3), arb(2), arb(sign)) == 2
    assert met_near(lambda x: bool(x <= 0), arb(2), arb(sign)) == (0 if sign < 0 else None)
