"""Figures of a few cheap curves, and how small their runs are."""

from fractions import Fraction

import pytest

from exactdp.bandit.algorithms import DIST_DP_SE, LDP_SE
from exactdp.bandit.environments.environment import drawn_instance
from exactdp.bandit.instances import Fixed
from exactdp.bandit.plots.pictures import Figure, Line, Panel, Place, Scale
from exactdp.bandit.plots.sweep import sweep
from exactdp.bandit.prepare import Radius

SMALL = Scale(3, dict.fromkeys(Place, 3000), growth=4, arms=3)
RATINGS = Fixed(drawn_instance(5, 4, (0.1, 0.9), None, "coins"))
EASY, REAL = Panel(Place.EASY, Fraction(1, 2)), Panel(Place.RATINGS, Fraction(2))
CERTIFIED = Line(DIST_DP_SE, None, Radius.CERTIFIED)
TRUST = Figure("trust", "Trust", ((EASY,), (REAL,)), (Line(DIST_DP_SE), Line(LDP_SE)), "A remark")
RADII = Figure("radii", "Radii", ((EASY,),), (Line(DIST_DP_SE), CERTIFIED))


@pytest.fixture(scope="session")
def small():
    return sweep((TRUST, RADII), SMALL, RATINGS)
