"""The composed loss where it has few enough values to list them all: nothing but rounding is lost.

Uses of one law are counted outcome by outcome: a multiset of outcomes has a multinomial
probability, and its loss is the sum of theirs.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

from flint import arb

from ..divergences.privacy_profile import Event
from .law import Atoms


def count_values(parts: Sequence[tuple[Atoms, int]]) -> int:
    """How many values the composed loss may have."""
    return math.prod(math.comb(len(law) + times - 1, times) for law, times in parts)


class ListedLoss:
    """All values of a composed loss, at the working precision of its creation."""

    def __init__(self, parts: Sequence[tuple[Atoms, int]]) -> None:
        values = [(arb(1), arb(0))]
        for own in (_multisets(law, times) for law, times in parts):
            values = [(mass * other, loss + more) for mass, loss in values for other, more in own]
        values.sort(key=lambda value: float(value[1].mid()))
        self.masses = [mass for mass, _ in values]
        self.losses = [loss for _, loss in values]
        self._order = [float(loss.mid()) for loss in self.losses]
        self._widest = 2 * max((loss.rad() for loss in self.losses), default=arb(0)).upper()
        # p[k] = P(L is one of the values from k on), q likewise under Q = P e^(-L)
        self.p, self.q = [arb(0)], [arb(0)]
        for mass, loss in reversed(values):
            self.p.append(self.p[-1] + mass)
            self.q.append(self.q[-1] + mass * (-loss).exp())
        self.p.reverse()
        self.q.reverse()

    def exceeding(self, level: arb) -> Event:
        """The event {L > level} among the finite losses."""
        first = bisect_right(self._order, float(level.mid()))
        excess, clear = arb(0), self._widest + _ROUNDED * (1 + abs(level))
        for indices, sign in ((range(first, len(self.losses)), 1), (range(first - 1, -1, -1), -1)):
            # on either side, as far as the order in floats and the level can be in doubt
            for index in indices:
                gap = self.losses[index] - level
                if sign * gap > clear:
                    break
                if not sign * gap >= 0:
                    excess += (self.masses[index] * (1 - (-gap).exp())).abs_upper()
        return Event(self.p[first], self.q[first], excess)


_ROUNDED = arb(2) ** -50  # floats order what is farther apart than this, relative to the level


def _multisets(law: Atoms, times: int) -> list[tuple[arb, arb]]:
    """(probability, loss) of every multiset of so many outcomes."""
    done: list[tuple[arb, arb]] = []
    # still to choose -> probabilities without the factorial of `times`, and losses
    pending: dict[int, list[tuple[arb, arb]]] = {times: [(arb(times).fac(), arb(0))]}
    last = len(law) - 1
    for index, (mass, loss) in enumerate(zip(law.masses, law.losses, strict=True)):
        following: dict[int, list[tuple[arb, arb]]] = {}
        factors = [mass**k / arb(k).fac() for k in range(times + 1)]
        for left, values in pending.items():
            for k in range(left if index == last else 0, left + 1):
                taken = [(value * factors[k], sofar + k * loss) for value, sofar in values]
                if k == left:
                    done += taken
                else:
                    following.setdefault(left - k, []).extend(taken)
        pending = following
    return done
