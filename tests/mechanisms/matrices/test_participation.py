"""Sums over who takes part: bounds of a search that is cut short, beside every pattern."""

import numpy as np
import pytest
from conformance.truth import patterns

from exactdp.mechanisms.matrices import participation
from exactdp.mechanisms.matrices.participation import Participation, search


def _most(products: np.ndarray, who: Participation) -> float:
    return max(
        float(products[np.ix_(each, each)].sum())
        for each in map(list, patterns(who.steps, who.times, who.separation, who.fixed))
    )


@pytest.mark.parametrize("branches", [0, 1, 3, 400])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("times", "separation"), [(1, 1), (2, 3), (3, 2), (4, 3)])
def test_no_pattern_has_more(
    times: int, separation: int, seed: int, branches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participation, "_MOST_BRANCHES", branches)
    factor = np.random.default_rng(seed).random((12, 12))
    products, who = factor @ factor.T, Participation(12, times, separation)
    pattern, bound = search(products, who)
    most = _most(products, who)
    held = list(pattern)
    assert float(products[np.ix_(held, held)].sum()) <= most * (1 + 1e-12)
    assert most <= bound
    if branches == 400:
        assert bound <= most * (1 + 1e-6)
        assert float(products[np.ix_(held, held)].sum()) >= most * (1 - 1e-6)


def test_a_bound_leaves_room_for_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the search is cut short at once, and the bound of its root is what is attained."""
    monkeypatch.setattr(participation, "_MOST_BRANCHES", 0)
    for products in (np.eye(6), np.full((6, 6), 0.1)):
        _, bound = search(products, Participation(6, 2, 2))
        assert _most(products, Participation(6, 2, 2)) * (1 + participation._SLACK) <= bound
