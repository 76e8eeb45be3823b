"""Events count what they say, whichever way the count is taken."""

import numpy as np
import pytest

from exactdp.verify.blackbox.event import Event

OUTCOMES = np.arange(-30, 31)


@pytest.mark.parametrize(
    ("intervals", "text"),
    [
        ((), "nothing"),
        (((None, None),), "x is anything"),
        (((None, 0),), "x <= 0"),
        (((5, None),), "x >= 5"),
        (((3, 7),), "3 <= x <= 7"),
        (((3, 3),), "x = 3"),
        (((None, -4), (0, 0), (3, 9)), "x <= -4 or x = 0 or 3 <= x <= 9"),
        (((-9, -4), (0, 0), (3, None)), "-9 <= x <= -4 or x = 0 or x >= 3"),
        (((None, -4), (7, None)), "x <= -4 or x >= 7"),
    ],
)
def test_counts(intervals, text):
    event = Event(intervals)
    inside = [
        x
        for x in OUTCOMES.tolist()
        if any((a is None or a <= x) and (b is None or x <= b) for a, b in intervals)
    ]
    assert event.count(OUTCOMES) == len(inside)
    assert str(event) == text
    assert event.to_json()["intervals"] == [list(part) for part in intervals]


def test_residues():
    odd = Event(((1, 1),), modulus=2)
    assert odd.count(OUTCOMES) == sum(x % 2 for x in OUTCOMES.tolist())
    assert str(odd) == "x mod 2 = 1"
    moved = Event(((0, 2),), modulus=10, origin=-4)
    assert moved.count(OUTCOMES) == sum((x + 4) % 10 <= 2 for x in OUTCOMES.tolist())
    assert str(moved) == "0 <= (x + 4) mod 10 <= 2"
    assert moved.to_json() == {"intervals": [[0, 2]], "modulus": 10, "origin": -4}
