"""Losses that are known by a bound of their privacy profile, and the pair that has it.

H(g) = sup over S of P(S) - g Q(S), g = e^level > 0, tells everything of a pair (P, Q), and a pair
whose profile is nowhere below dominates it in every list (Zhu, Dong, Wang, AISTATS 2022, Theorem
10). Of (Q, P) it is 1 - g + g H(1/g), so that bounds at levels >= 0 of both ways round are bounds
at all levels. Chords between values at points are such a profile (`losses.listed`): that of the
losses which the chords of either way round tell above 0, and of none with what is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from flint import arb, ctx

from ...exact import ball, spend, working_precision
from ...exact.precision import enclose
from ...exact.roots import first_met_near, float_root
from ...mechanisms.laws.normal import upper
from ...mechanisms.pairs.pair import ListedPair, Masses
from ..divergences.privacy_profile import Event, overlooked, shortfall, value_at
from ..losses.listed import of_profile

_BITS = 256
_STEP = Fraction(1, 10**4)  # between nodes near 0
_FINE = 1500  # nodes between a level and e times that, about
_LEAST = Fraction(1, 10**60)  # of P and Q, that have no loss
_NEAR = 2.0**-46  # of a threshold
_BEYOND = 1000.0  # deviations
_FARTHEST = 150  # levels from which on losses are taken for infinite


class Profiled(Protocol):
    """What one use costs, in one direction: a hashable value."""

    def __hash__(self) -> int: ...

    def profile(self, level: arb) -> arb:
        """H(e^level), level >= 0, at most, at the working precision."""
        ...


class _Side(NamedTuple):
    """Masses of the losses above 0 under P and Q, rising, and of P on an infinite one."""

    p: list[arb]
    q: list[arb]
    lost: arb


@lru_cache(maxsize=64)
def _side(one: Profiled, tail: Fraction) -> _Side:
    with working_precision(_BITS):
        step, end = ball(_STEP), math.ceil(_FARTHEST / _STEP)

        def is_end(k: int) -> bool:
            return k >= end or bool(one.profile(k * step) <= ball(tail))

        last, nodes = first_met_near(is_end, 1, 0), [0]
        while nodes[-1] < last:  # farther apart from each other farther out
            nodes.append(min(nodes[-1] + max(1, nodes[-1] // _FINE), last))
        spend(1000 * len(nodes))
        points = [k * step for k in nodes]
        heights = [one.profile(at).upper().min(arb(1)) for at in points]
        masses = of_profile(points, heights, arb(1)).masses[1:]
        p = [mass if mass > 0 else mass.upper() for mass in masses]  # more, where it is not told
        q = [mass * (-at).exp() for mass, at in zip(p, points[1:], strict=True)]
        return _Side(p, q, heights[-1])


@frozen
class ProfiledPair(ListedPair):
    """A pair that dominates whatever has these profiles, or lower ones, in every list.

    ahead, back: of (P, Q), and of (Q, P). tail: of P and of Q, what may be taken to have an
    infinite loss. is_finite: without these.
    """

    ahead: Profiled
    back: Profiled
    neighbours: str
    tail: Fraction = Fraction(1, 10**30)
    is_finite: bool = False

    def masses(self) -> Masses:
        above, below = self._sides()
        p, q = [*below.q[::-1], arb(0), *above.p], [*below.p[::-1], arb(0), *above.q]
        for masses, lost in ((p, above.lost), (q, below.lost)):
            masses[len(below.p)] = (1 - lost - sum(masses, arb(0))).max(ball(_LEAST))
        return (p, q) if self.is_finite else ([arb(0), *p, above.lost], [below.lost, *q, arb(0)])

    def lost(self) -> Fraction:
        """How likely a loss is infinite, at most, whichever dataset is the first."""
        return max(Fraction(enclose(side.lost).upper) for side in self._sides())

    def swapped(self) -> ProfiledPair:
        return evolve(self, ahead=self.back, back=self.ahead)

    def reversed(self) -> ProfiledPair:
        return self.swapped()

    def _sides(self) -> list[_Side]:
        return [_side(way, self.tail) for way in (self.ahead, self.back)]


@frozen(eq=False)
class Told:
    """One of several, drawn alike on both sides and told; all is told with probability `lost`.

    With what is left of 1 there is no loss.
    """

    parts: tuple[tuple[arb, Profiled], ...]
    lost: arb = field(factory=arb)

    def profile(self, level: arb) -> arb:
        return sum((weight * part.profile(level) for weight, part in self.parts), self.lost)


Weighted: TypeAlias = tuple[tuple[Fraction, Fraction], ...]


@frozen
class NormalMixtures:
    """Mixtures of N(m, 1), (weight, m) each; no m of P is below one of Q, so that dP/dQ rises.

    The best S is then all x beyond some z, which floats find, and balls say what is lost there.
    (Q, P) is such a pair too, of -x.
    """

    p: Weighted
    q: Weighted

    def swapped(self) -> NormalMixtures:
        """(Q, P)."""
        p, q = (tuple((w, -m) for w, m in side) for side in (self.q, self.p))
        return NormalMixtures(p, q)

    def profile(self, level: arb) -> arb:
        z = self._about(float(level.mid()))
        at = arb(z - _NEAR * (1 + abs(z)))
        p, q = self._sums(lambda m: upper(at - m))
        above, below = self._sums(lambda m: (m * (at - m / 2)).exp())
        loss = (above / below).log()
        event = Event(p, q, shortfall(p, level, loss) + overlooked(level, loss))
        return value_at(level, event)

    def _sums(self, term: Callable[[arb], arb]) -> Iterator[arb]:
        """Of P and of Q: the weights times this of their means."""
        for side in (self.p, self.q):
            yield sum((weight * term(m) for weight, m in _balls(side, ctx.prec)), arb(0))

    def _about(self, level: float) -> float:
        """Where log dP/dQ is this, in floats."""
        sides = [
            np.array([(math.log(w), m, m * m / 2) for w, m in side if w], float).T
            for side in (self.p, self.q)
        ]

        def excess(z: float) -> float:
            p, q = (float(np.logaddexp.reduce(log + m * z - half)) for log, m, half in sides)
            return p - q - level

        return float_root(excess, -_BEYOND, _BEYOND, 1e-15)


@lru_cache(maxsize=64)
def _balls(side: Weighted, bits: int) -> list[tuple[arb, arb]]:
    return [(ball(weight), ball(mean)) for weight, mean in side]
