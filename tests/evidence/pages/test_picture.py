"""The figure of missing users: what is drawn, the same bytes, what it says without matplotlib."""

import sys
from fractions import Fraction

import pytest
from pages import picture
from pages.missing import remaining_pure

from exactdp.common.canvas import load
from exactdp.mechanisms.additive import papers


@pytest.mark.slow
def test_shares_keep_the_promise_as_far_as_they_were_made_for() -> None:
    protocol = papers.theorem1("0.5", 100, 100).protocol
    published, tenth, third = picture.curves(protocol, remaining_pure, 12)
    assert (published.way, tenth.way, third.way) == ("0", "0.1", "0.3")
    half = Fraction(1, 2)
    for curve, limit in ((published, 0), (tenth, Fraction(1, 10)), (third, Fraction(3, 10))):
        assert [share for share, _ in curve.points] == [Fraction(d, 100) for d in range(0, 61, 5)]
        for share, left in curve.points:
            assert left.at_most(half) is (share <= limit)


@pytest.mark.slow
def test_the_same_bytes_each_time() -> None:
    pytest.importorskip("matplotlib")
    first = picture.svg(users=16, horizon=10, steps=3)
    assert first == picture.svg(users=16, horizon=10, steps=3)
    assert first.startswith("<?xml") and "<dc:date>" not in first


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="figures"):
        load()
