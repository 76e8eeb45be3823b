"""Pictures: what is in them, and that they are the same every time."""

from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve

from exactdp.bandit.algorithms import DIST_DP_SE, DP_SE, KL_UCB
from exactdp.bandit.instances import published
from exactdp.bandit.lower_bound import lower_bound
from exactdp.bandit.plots import drawing as module
from exactdp.bandit.plots.drawing import draw
from exactdp.bandit.plots.pictures import Figure, Line, Panel, Place
from exactdp.bandit.plots.sweep import Sweep, sweep
from exactdp.bandit.prepare import Radius

from .conftest import SMALL, TRUST

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def drawn(small):
    return draw(TRUST, small)


@pytest.mark.slow
def test_the_same_bytes_again_whatever_the_user_has_set(drawn, small):
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "svg.hashsalt": "x"}):
        assert draw(TRUST, small) == drawn
        assert matplotlib.rcParams["font.size"] == 20


def test_the_lower_bound_is_drawn_where_it_is_known(monkeypatch):
    """As high as the bound of these coins, and only in the figure that has one."""
    monkeypatch.setattr(module, "rendered", lambda picture, kind, **_: picture.axes)
    panel = Panel(Place.COINS, Fraction(1))
    lines = (Line(DP_SE), Line(KL_UCB, None, Radius.CERTIFIED))
    for bound in (True, False):
        figure = Figure("small", "Small", ((panel,),), lines, bound=bound)
        found = sweep([figure], SMALL)
        (axes,) = draw(figure, found)["png"]
        curves = [line.get_ydata() for line in axes.get_lines()]
        assert len(curves) == len(lines) + bound
        assert axes.get_yscale() == ("log" if bound else "linear")
        if bound:
            at = float(lower_bound(found.places[Place.COINS].given, 1))
            assert curves[-1][-1] == pytest.approx(at * np.log(3000) / 3000)


def test_what_the_published_code_gives_is_marked(monkeypatch):
    """Where it is known, on published instances and with the published batches only."""
    monkeypatch.setattr(module, "rendered", lambda picture, kind, **_: picture.axes)
    panel = Panel(Place.EASY, Fraction(1, 2))
    figure = Figure("small", "Small", ((panel,),), (Line(DIST_DP_SE),), bound=True)
    for name, crosses in (("small", 2), ("figure4", 0)):
        shown = evolve(figure, name=name).as_published()
        scale = evolve(SMALL, published=True)
        (axes,) = draw(shown, sweep([shown], scale))["png"]
        assert [line.get_marker() for line in axes.get_lines()].count("+") == crosses
        assert bool(crosses) == (
            "published code" in module._remarks(shown, Sweep(scale, {Place.EASY: published()}, {}))
        )
