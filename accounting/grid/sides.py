"""A sum of privacy losses on a lattice from both sides: pairs that dominate it, and that it yields.

delta(level) = E_P (1 - e^(level - L))^+ + P(L = infinity). All that is known of each use are the
masses p, q of cells {a <= L <= b} under P and Q (`cells`), a and b points of the lattice h Z.

*Above: split.* Give a and b the P-masses that add up to p and keep q = p_a e^-a + p_b e^-b: p_b =
(p - q e^a)/(1 - e^(a-b)). Each outcome of the cell so split keeps its P- and its Q-mass and can be
put together again: the new pair dominates the old one, and so do products of such pairs. (1 -
e^(level - L))^+ does not fall in L nor in any mass, so that masses may be rounded up and losses be
raised.

*Below: an event.* The cell's number k is a statistic T of the outcome, its sum over all uses
another one, and delta(level) >= P(T >= t) - e^level Q(T >= t) for every t, with P's masses rounded
down and Q's up. An outcome that Q cannot have belongs to the event besides. As T h is about L, for
one t only outcomes with L within the rounding of the level are missed.

Both err by the second order of h where losses are spread. Sums of n losses may live on a lattice
coarser by sqrt(n): then points between are split once more above, and counted with the one below
them in T. P and Q have to be treated alike: they are of one statistic.

*What was cut off* above, of tilted mass r = E e^(tilt L) of it, adds to delta(level) at most
C r e^(-tilt level), since (1 - e^-x)^+ <= C e^(tilt x), C = tilt^tilt/(1 + tilt)^(1 + tilt) <= 1.
Of Q's, tilted by one more, {T >= t} has at most r e^(-(tilt + 1) t h).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from attrs import evolve, frozen
from flint import arb

from ...exact.number import ball
from ..losses.law import Atoms, Lattice
from .cells import Cell, CellLaw, Cells, cells_of
from .weights import Weights, power

_FEW = 512  # points of a lattice, of more of which blocks are finer
_ZERO = Fraction(0)


class Rule(NamedTuple):
    """How sums are kept: how fine, how long at most, and what each use may lose at either end."""

    step_for: Callable[[int], Fraction]  # for so many uses: powers of two
    longest: int
    bits: int
    most: int


def split(cell: Cell, step: Fraction) -> Iterator[tuple[int, arb]]:
    """P-masses at the cell's ends, to which all of it is moved."""
    low, high, p, q, excess = cell
    most = p.upper()
    if low < high:
        fall = (ball(step) * (low - high)).exp()
        excess = p - q * (ball(step) * low).exp() if excess is None else excess
        # more than its share can only raise delta
        raised = (excess / (1 - fall)).upper().max(arb(0)).min(most)
        yield high, raised
        most = (most - raised).upper()
    yield low, most


def moved(block: CellLaw, step: Fraction, log_tail: float) -> Atoms:
    """Losses on a lattice that dominate those of many outcomes. step: a power of two."""
    cells, masses = cells_of(block, step, 1.0, log_tail, _FEW), dict[int, arb]()
    for cell in cells.cells:
        for k, mass in split(cell, step):
            masses[k] = masses.get(k, arb(0)) + mass
    losses, lattice = [k * ball(step) for k in masses], Lattice(step, _ZERO, Fraction(1), None)
    return Atoms(list(masses.values()), losses, block.escaping(), cells.missing, lattice)


@frozen(eq=False)
class Sides:
    """Weights of the dominating pair, and P's and Q's of the statistic, of a number of uses."""

    above: Weights
    p: Weights
    q: Weights
    uses: int = 1

    @staticmethod
    def of(cells: Cells, step: Fraction, tilt: Fraction, rule: Rule) -> Sides:
        """Of one use, at the working precision."""
        above, below_p, below_q = dict[int, arb](), dict[int, arb](), dict[int, arb]()

        def add(masses: dict[int, arb], k: int, mass: arb) -> None:
            masses[k] = masses[k] + mass if k in masses else mass

        for cell in cells.cells:
            for k, mass in split(cell, step):
                add(above, k, mass)
        for low, high, p, q, _ in cells.cells if cells.attained is None else cells.attained:
            k = (low + high) // 2
            add(below_p, k, p.lower().max(arb(0)))
            add(below_q, k, q.upper())
        bits, most = rule.bits, rule.most
        return Sides(
            Weights.of(above, True, bits, step, tilt, most),
            Weights.of(below_p, False, bits, step, tilt, most),
            Weights.of(below_q, True, bits, step, tilt + 1, most),
        ).kept(rule)

    @property
    def step(self) -> Fraction:
        """That of the lattice."""
        return self.above.step

    def times(self, other: Sides, rule: Rule) -> Sides:
        """The sum of both losses, which are independent."""
        one = self
        while one.step < other.step:
            one = one._coarsened()
        while other.step < one.step:
            other = other._coarsened()
        uses = one.uses + other.uses
        return Sides(
            one.above.times(other.above).cut(rule.most * uses),
            one.p.times(other.p).cut(rule.most * uses),
            one.q.times(other.q).cut(rule.most * uses),
            uses,
        ).kept(rule)

    def power(self, count: int, rule: Rule) -> Sides:
        """The sum of so many of these."""
        return power(self, count, lambda one, other: one.times(other, rule))

    def kept(self, rule: Rule) -> Sides:
        """On a lattice as coarse as so many uses may have, or as the rule's length demands."""
        found = self
        while 2 * found.step <= rule.step_for(found.uses) or found._length > rule.longest:
            found = found._coarsened()
        return found

    @property
    def _length(self) -> int:
        return max(len(self.above), len(self.p), len(self.q))

    def _coarsened(self) -> Sides:
        """On a lattice of twice the step."""
        upper = 1 / (1 + (-ball(self.step)).exp())  # (1 - e^-h)/(1 - e^-2h)
        return evolve(
            self,
            above=self.above.coarsened((1 - upper, upper)),
            p=self.p.coarsened((arb(1), arb(0))),
            q=self.q.coarsened((arb(1), arb(0))),
        )

    def above_from(self, t: int) -> tuple[arb, arb]:
        """P and Q of the losses t h and more of the dominating pair."""
        return self.above.tail(t), self.above.tail(t, more=1)

    def cut_above(self, level: arb) -> arb:
        """What was cut off adds at most so much to delta(level)."""
        tilt = ball(self.above.tilt)
        most = (tilt * tilt.log() - (1 + tilt) * tilt.log1p()).exp()
        return most * self.above.untilted(self.above.rest, level)

    def event(self, t: int) -> tuple[arb, arb]:
        """P(T >= t), at least, and Q(T >= t), at most."""
        q = self.q.tail(t) + self.q.untilted(self.q.rest, t * ball(self.step))
        return self.p.tail(t).lower(), q.upper()
