"""Cells of listed losses: no loss is above its cell, whatever floats make of it."""

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from exactdp.accounting.losses.law import Atoms
from exactdp.exact.precision import floor_of, working_precision

STEP = arb(1) / 64


@given(
    st.lists(
        st.tuples(st.integers(-300, 300), st.sampled_from([0, 1, -1, 1 << 30])), min_size=1
    ).map(lambda places: [arb(k) / 64 + arb(tiny) * arb(2) ** -90 for k, tiny in places])
)
def test_losses_at_and_beside_the_ends_of_cells(losses: list[arb]) -> None:
    with working_precision(128):
        law = Atoms([arb(1) / len(losses)] * len(losses), losses, arb(0), arb(0))
        found = law.cells(STEP, 1.0, 512)
        wanted = {floor_of(loss.upper() * 64) for loss in losses}
        assert {cell.low for cell in found.cells} == wanted
        assert sum((cell.p for cell in found.cells), arb(0)).overlaps(arb(1))
        q = sum(((-loss).exp() / len(losses) for loss in losses), arb(0))
        assert sum((cell.q for cell in found.cells), arb(0)).overlaps(q)


def test_no_losses_and_losses_too_large() -> None:
    assert Atoms([], [], arb(1), arb(0)).cells(STEP, 1.0, 512).cells == []
    far = Atoms([arb(1)], [arb(2) ** 80], arb(0), arb(0))
    with pytest.raises(ArithmeticError, match="too large"):
        far.cells(STEP, 1.0, 512)


def test_logarithms_of_masses_that_floats_do_not_hold() -> None:
    law = Atoms([arb(2) ** -3000, arb(1) / 2, arb(0)], [arb(1)] * 3, arb(0), arb(0))
    assert law.sketch()[1][0] == pytest.approx(-3000 * 0.6931471805599453)
    assert law.sketch()[1][1] == pytest.approx(-0.6931471805599453)
    assert law.sketch()[1][2] < -1e14
