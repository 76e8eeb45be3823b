"""All uses of a game of choices: their laws, the menus, and in which order they are played."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np
from flint import arb

from ...exact.number import Logarithm, Real, ball
from .composite import common_step
from .law import Atoms
from .of_pair import common_ratio

Menu: TypeAlias = tuple[Sequence[Atoms], int]  # the laws to pick from, and the number of uses
Table = TypeVar("Table")
Choices: TypeAlias = Sequence[tuple[Table, Sequence[int]]]  # what comes after, laws to pick from

_CALL = 600  # points that one more call of numpy is worth
_SLOPES = np.geomspace(1e-3, 1e6, 73)


class Game:
    """All uses: the laws, which of them each menu has, and how often it is used."""

    def __init__(self, menus: Sequence[Menu]) -> None:
        menus = [(list(laws), times) for laws, times in menus if times]
        self.laws = [law for laws, _ in menus for law in laws]
        numbers = iter(range(len(self.laws)))
        kinds = [([next(numbers) for _ in laws], times) for laws, times in menus]
        self.choosing = [kind for kind in kinds if len(kind[0]) > 1]
        self.plain = [kind for kind in kinds if len(kind[0]) == 1]
        self.is_void = not any(len(law) for law in self.laws)
        kept, certain = arb(1), arb(1)  # no infinite loss, and certainly none
        self.largest, self.least = arb(0), 0.0
        for laws, times in menus:
            kept *= (1 - max(law.escaping().lower() for law in laws)) ** times
            beyond = max((law.escaping() + law.missing()).upper() for law in laws)
            certain *= (1 - beyond).max(arb(0)) ** times
            self.largest += times * max(law.largest().upper() for law in laws)
            losses = [float(loss.mid()) for law in laws for loss in law.losses]
            self.least += times * min(losses, default=0.0)
        self.rest = (1 - kept).lower().max(arb(0)), (1 - certain).upper().min(arb(1))
        # of a grid, so that single losses are not far more steps than it has points
        farthest = max(
            (abs(float(loss.mid())) for law in self.laws for loss in law.losses), default=1
        )
        self.shortest = min(farthest, 50.0) / 50 or 1.0
        self._above = np.array([_cumulant(menus, c) for c in _SLOPES])
        self._below = np.array([_cumulant(menus, -1 - c) for c in _SLOPES])
        self._constants = _SLOPES * np.log(_SLOPES) - (1 + _SLOPES) * np.log1p(_SLOPES)

    @property
    def tables(self) -> int:
        """How many ways there are to count the uses of the menus that are left."""
        return math.prod(times + 1 for _, times in self.choosing)

    def chernoff(self, level: float) -> float:
        """The logarithm of a bound, about, of V_0 above its limit at infinity."""
        return float(np.min(self._above + self._constants - _SLOPES * level))

    def ends(self, level: float, log_delta: float, log_tail: float) -> tuple[float, float]:
        """Levels beyond which about e^log_tail of a delta of e^log_delta is decided."""
        lows = (log_tail - self._below - self._constants) / (1 + _SLOPES)
        highs = (self._above + self._constants - log_delta - log_tail) / _SLOPES
        # below the least loss all is linear, beyond the largest one constant
        low = min(max(float(lows.max()), self.least), 0.0)
        high = max(min(float(highs.min()), float(self.largest.mid())), level, 0.0)
        return low, max(high, low + self.shortest)

    def cost(self, points: float, step: float) -> float:
        """Weights times points: two weights a loss for chords, one in two arrays for policies."""
        cost = 0.0
        for laws, times in self.choosing + self.plain:
            for law in (self.laws[number] for number in laws):
                spread = float(max(law.losses) - min(law.losses)) if len(law) else 0.0
                weights = 4 * min(len(law), spread / step + 2) + 16
                cost += weights * (self.tables if len(laws) > 1 else times)
        return cost * (points + _CALL)


def first_choices(
    game: Game, table: Table, best: Callable[[Choices[Table]], Table]
) -> Choices[Table]:
    """What the very first use is chosen from: tables of what comes after it, and laws for it."""
    ends = tuple(times for _, times in game.choosing)
    tables = {(0,) * len(ends): table}
    for counts in itertools.product(*(range(end + 1) for end in ends)):
        choices = []
        for kind, (laws, _) in enumerate(game.choosing):
            if counts[kind]:
                before = (*counts[:kind], counts[kind] - 1, *counts[kind + 1 :])
                choices.append((tables[before], laws))
        if not choices:
            continue
        if counts == ends and not game.plain:
            return choices
        table = tables[counts] = best(choices)
        # this was the last one made of the table with one use less of the first menu
        tables.pop((counts[0] - 1, *counts[1:]), None)
    uses = [laws for laws, times in game.plain for _ in range(times)]
    for laws in uses[1:]:
        table = best([(table, laws)])
    return [(table, uses[0])]


def _cumulant(menus: Sequence[Menu], c: float) -> float:
    """The logarithm of the product over all uses of the largest E e^(cL), about."""
    return sum(
        times * max((law.cumulant(c).value for law in laws if len(law)), default=-math.inf)
        for laws, times in menus
    )


def common_unit(laws: Sequence[Atoms]) -> arb | None:
    """The largest number of which all losses are multiples, where that is known."""
    lattices = [law.lattice for law in laws if len(law)]
    known = [lattice for lattice in lattices if lattice is not None]
    scales = _commensurable([lattice.unit for lattice in known])
    if not known or len(known) < len(lattices) or scales is None:
        return None
    unit, steps = scales[0], Fraction(0)
    for lattice, scale in zip(known, scales[1], strict=True):
        for part in (lattice.origin * scale, lattice.step * scale):
            steps = common_step(steps, part)
    return ball(unit) * ball(steps) if steps else arb(1)  # all losses are 0


def _commensurable(units: Sequence[Real]) -> tuple[Real, Sequence[Fraction]] | None:
    """One unit for all, and how much of it each one is; None if none is found."""
    if all(unit == units[0] for unit in units):
        return (units[0], [Fraction(1)] * len(units)) if units else None
    rationals = [unit for unit in units if isinstance(unit, Fraction)]
    if len(rationals) == len(units):
        return Fraction(1), rationals
    arguments = [unit.argument for unit in units if isinstance(unit, Logarithm)]
    common = common_ratio(arguments) if len(arguments) == len(units) else None
    return None if common is None else (Logarithm(common[0]), [Fraction(k) for k in common[1]])
