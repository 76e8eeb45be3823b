"""The coarse grid and what is exact are of one number: they meet, whatever the mechanisms."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction

from relations.draw import EPSILONS, level, scenario
from relations.engine import Statement, composition_of, equal

from exactdp.accounting.composed_profile import _narrowly
from exactdp.accounting.figure import Figure
from exactdp.accounting.grid.rung import NotCoveredError, grid_delta, grid_epsilon
from exactdp.accounting.scenario import scenarios

_WIDTH, _CAP, _WORK = Fraction(1, 10**6), 6144, 0.1


def rungs_meet(rng: random.Random) -> Iterator[Statement]:
    """In every scenario, on fine grids and on grids so coarse that they hardly tell anything."""
    what, points = scenario(rng), rng.choice((8, 64, 512))
    figure = rng.choice(
        (Figure("delta", Fraction(rng.choice(EPSILONS))), Figure("epsilon", level(rng, what)))
    )
    assert figure.at is not None
    if figure.quantity == "epsilon" and not 0 < figure.at < 1:
        return
    for uses in scenarios(composition_of(what).uses):
        exact, why = _narrowly(uses), f"{what}: {figure} on {points} points"
        try:
            if figure.quantity == "delta":
                coarse = grid_delta(uses, figure.at, points)
                narrow = exact.delta(figure.at, _WIDTH, _CAP, _WORK)
            else:
                coarse = grid_epsilon(uses, figure.at, points)
                narrow = exact.epsilon(figure.at, _WIDTH, _CAP, _WORK)
        except NotCoveredError:
            return
        yield from equal(coarse, narrow, why)


RELATIONS = (rungs_meet,)
