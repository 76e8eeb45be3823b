"""The composed loss where its values are few enough to list them: only rounding is lost."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction

from flint import arb

from ..divergences.privacy_profile import Event
from .composite import Together
from .law import Atoms

_ROUNDED = arb(2) ** -50  # floats order what is farther from it than this, relative to the level


def count_values(parts: Sequence[tuple[Atoms, int]]) -> int:
    """How many values are listed on the way, at most."""
    return math.prod(math.comb(len(law) + times, times) for law, times in parts)


class ListedLoss:
    """All values of a composed loss, at the working precision of its creation.

    Uses of one law are counted outcome by outcome: a multiset of outcomes has a multinomial
    probability, and its loss is the sum of theirs.
    """

    def __init__(self, parts: Sequence[tuple[Atoms, int]]) -> None:
        values = [(arb(1), arb(0))]
        for law, times in parts:
            # outcomes in their order, the last one and its run: masses are divided by run!
            runs = [(0, 0, mass * arb(times).fac(), loss) for mass, loss in values]
            for _ in range(times):
                runs = [
                    (
                        k,
                        (again := run + 1 if k == last else 1),
                        mass * law.masses[k] / again,
                        loss + law.losses[k],
                    )
                    for last, run, mass, loss in runs
                    for k in range(last, len(law))
                ]
            values = [(mass, loss) for *_, mass, loss in runs]
        values.sort(key=lambda value: float(value[1].mid()))
        self.masses = [mass for mass, _ in values]
        self.losses = [loss for _, loss in values]
        self._order = [float(loss.mid()) for loss in self.losses]
        self._widest = 2 * max((loss.rad() for loss in self.losses), default=arb(0)).upper()
        whole = Together(parts)
        self._escaping, self._missing = whole.escaping(), whole.missing().upper()
        # p[k] = P(L is one of the values from k on), q likewise under Q = P e^(-L)
        self.p, self.q = [arb(0)], [arb(0)]
        for mass, loss in reversed(values):
            self.p.append(self.p[-1] + mass)
            self.q.append(self.q[-1] + mass * (-loss).exp())
        self.p.reverse()
        self.q.reverse()

    def exceeding(self, level: arb, exact_level: Fraction | None = None) -> Event:
        """The event {L > level}."""
        first = bisect_right(self._order, float(level.mid()))
        excess, clear = self._missing, self._widest + _ROUNDED * (1 + abs(level))
        for indices, sign in ((range(first, len(self.losses)), 1), (range(first - 1, -1, -1), -1)):
            # on either side, as far as the order in floats and the level can be in doubt
            for index in indices:
                gap = self.losses[index] - level
                if sign * gap > clear:
                    break
                if not sign * gap >= 0:
                    excess += (self.masses[index] * (1 - (-gap).exp())).abs_upper()
        return Event(self.p[first] + self._escaping, self.q[first], excess)
