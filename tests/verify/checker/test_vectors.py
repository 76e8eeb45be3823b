"""What lies between others: each of its proofs in turn, whatever number of them others have."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import exactdp
from exactdp.verify.checker import vectors
from exactdp.verify.checker.arithmetic import OpenError
from exactdp.verify.checker.keys import Optimal, Thresholded
from exactdp.verify.checker.laws import DiscreteLaplace
from exactdp.verify.checker.mechanisms import Additive
from exactdp.verify.checker.reading import read
from exactdp.verify.checker.vectors import _ways, parts


def test_families_with_different_numbers_of_proofs_are_tried_together() -> None:
    noise = Additive(DiscreteLaplace(Fraction(3)), 1, None)
    counts = Thresholded(noise, Fraction(30), 1, False, Fraction(1))
    families = (Optimal(Fraction(1), Fraction(1, 10**6), 1), counts)
    plain = read(exactdp.certify("randomized-response:epsilon=1", "pure:1").content)
    statement = replace(
        plain, uses=tuple((one, 1) for one in families), along=((), ()), above=(None, None)
    )
    most = max(len(one.above()) for one in families)
    assert min(len(one.above()) for one in families) < most
    ways = _ways(statement, True)
    assert len(ways) == most
    for at, way in enumerate(ways):
        parts = [one.above()[min(at, len(one.above()) - 1)] for one in families]
        assert list(way.uses) == [each for part in parts for each in part]


def test_a_way_of_which_nothing_is_left_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    statement = read(exactdp.certify("guarantee:pure:1", "approx:1,1e-6").content)
    noise = Optimal(Fraction(1), Fraction(1, 10**6), 1)
    statement = replace(statement, uses=((noise, 1),), along=((),), above=(None,))
    assert parts(statement)
    monkeypatch.setattr(vectors, "_sides", lambda statement: [])
    with pytest.raises(OpenError, match="no use is left"):
        parts(statement)
